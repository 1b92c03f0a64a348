// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/markdown.hpp"

#include <fmt/format.h>

#include "runtime/config/validate.hpp"

namespace sluice::config {
namespace {

std::string_view short_type(const Schema& schema) {
  switch (schema.kind) {
    case Kind::kBool:
      return "boolean";
    case Kind::kInteger:
      return "integer";
    case Kind::kNumber:
      return "number";
    case Kind::kString:
      return "string";
    case Kind::kDuration:
      return "duration";
    case Kind::kSize:
      return "size";
    case Kind::kPolicy:
      return "\"unlimited\", integer or duration";
    case Kind::kArray:
      return schema.members.at(0).kind == Kind::kTable ? "array of tables" : "array of strings";
    case Kind::kTable:
    case Kind::kMap:
    case Kind::kAny:
      return "table";
  }
  return "";
}

std::string default_text(const Schema& schema) {
  if (schema.is_required) return "**required**";
  if (!schema.default_note.empty()) return schema.default_note;
  return schema.default_toml.empty() ? "" : fmt::format("`{}`", schema.default_toml);
}

// Keys of plain sub-tables are listed with their dots; arrays of tables get a table of their own.
void add_rows(const Schema& table, const std::string& prefix, std::string& out) {
  for (const Schema& member : table.members) {
    if (member.is_environment_only) continue;
    const std::string name = prefix + member.name;
    if (member.kind == Kind::kTable) {
      add_rows(member, name + ".", out);
    } else {
      out += fmt::format("| `{}` | {} | {} | {} | {}{} |\n", name, short_type(member), default_text(member), range_text(member),
                         member.is_sink_only ? "Sinks only. " : "", member.description);
    }
  }
}

void add_table(const std::string& heading, const std::string& introduction, const Schema& table, std::string& out) {
  if (!heading.empty()) out += fmt::format("\n### {}\n\n{}\n", heading, introduction);
  out += "\n| key | type | default | allowed | meaning |\n|---|---|---|---|---|\n";
  add_rows(table, "", out);
}

}  // namespace

std::string markdown_tables(const Schema& schema) {
  Schema top{.kind = Kind::kTable};
  for (const Schema& member : schema.members) {
    if (member.kind != Kind::kTable) top.members.push_back(member);
  }
  std::string out;
  add_table("", "", top, out);
  for (const Schema& member : schema.members) {
    if (member.kind == Kind::kTable) add_table(fmt::format("`[{}]`", member.name), member.description, member, out);
    const bool is_tables = member.kind == Kind::kArray && member.members.at(0).kind == Kind::kTable;
    if (is_tables) add_table(fmt::format("`[[{}]]`", member.name), member.description, member.members.at(0), out);
  }
  return out;
}

std::string with_section(std::string document, const std::string& name, const std::string& text) {
  const std::string begin = fmt::format("<!-- begin {} -->\n", name);
  const std::size_t from = document.find(begin);
  const std::size_t to = document.find(fmt::format("<!-- end {} -->", name));
  if (from == std::string::npos || to == std::string::npos || to < from) return document;
  return document.replace(from + begin.size(), to - from - begin.size(), text + "\n");
}

}  // namespace sluice::config
