// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/secrets.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include <fmt/format.h>

#include "runtime/base/url_secrets.hpp"
#include "runtime/config/validate.hpp"

namespace sluice::config {
namespace {

const Schema& any_schema(bool is_secret) {
  static const Schema kPlain{.kind = Kind::kAny};
  static const Schema kSecret{.kind = Kind::kAny, .is_secret = true};
  return is_secret ? kSecret : kPlain;
}

const Schema& member_schema(const Schema& schema, std::string_view key) {
  if (schema.kind == Kind::kMap) return schema.members.at(0);
  const Schema* member = schema.find(key);
  return member != nullptr ? *member : any_schema(schema.is_secret);
}

std::string secret_text(const Tree& tree) {
  if (const auto* text = tree.get<std::string>()) return *text;
  if (const auto* integer = tree.get<std::int64_t>()) return fmt::format("{}", *integer);
  return {};
}

}  // namespace

void collect_secrets(const Tree& tree, const Schema& schema, const std::string& path, Secrets& out) {
  if (const auto* table = tree.get<Tree::Table>()) {
    for (const TreeMember& member : *table) {
      collect_secrets(member.value, member_schema(schema, member.key), member_path(path, member.key), out);
    }
    return;
  }
  if (const auto* items = tree.get<Tree::Array>()) {
    const Schema& item_schema = schema.kind == Kind::kArray ? schema.members.at(0) : any_schema(schema.is_secret);
    for (std::size_t i = 0; i < items->size(); ++i) collect_secrets((*items)[i], item_schema, item_path(path, i), out);
    return;
  }
  const std::string text = secret_text(tree);
  std::vector<std::string> found;
  if (tree.get<std::string>() != nullptr) found = url_secrets(text);
  if (schema.is_secret && !text.empty()) found.push_back(text);
  // Of "Bearer ${env:TOKEN}" the token alone may come up somewhere.
  if (schema.is_secret)
    std::ranges::copy_if(tree.inserted, std::back_inserter(found), [&](const std::string& part) { return !part.empty() && part != text; });
  if (found.empty()) return;
  out.values.insert(out.values.end(), found.begin(), found.end());
  if (!tree.is_external && !tree.origin.file.empty()) out.literals.push_back({tree.origin, path});
}

void warn_of_literals(const std::string& file, const std::vector<LiteralSecret>& literals, std::vector<Finding>& findings) {
  std::error_code error;
  const auto mode = std::filesystem::status(file, error).permissions();
  if (error || (mode & std::filesystem::perms::others_read) == std::filesystem::perms::none) return;
  for (const LiteralSecret& literal : literals) {
    findings.push_back({.severity = Severity::kWarning,
                        .origin = literal.origin,
                        .message = fmt::format("the secret `{}` is written out in a file that every user of this machine can read: use "
                                               "${{env:NAME}} or ${{file:/path}}, or run chmod o-r {}",
                                               literal.path, file)});
  }
}

}  // namespace sluice::config
