// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/toml_reader.hpp"

#include <algorithm>
#include <sstream>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "runtime/base/text.hpp"

namespace sluice::config {
namespace {

constexpr std::size_t kParserMessageBytesMax = 500;

Origin origin_of(const toml::source_region& region, const std::string& file) {
  return Origin{.file = file, .line = region.begin.line, .column = region.begin.column, .variable = {}};
}

template <typename T>
std::string rfc3339(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

Tree convert(const toml::node& node, const std::string& file);

Tree::Table convert_table(const toml::table& table, const std::string& file) {
  Tree::Table out;
  for (const auto& [key, value] : table) {
    out.push_back({.key = std::string(key.str()), .key_origin = origin_of(key.source(), file), .value = convert(value, file)});
  }
  // toml++ sorts by key; the order of the file is what people expect of messages.
  std::ranges::sort(out, {}, [](const TreeMember& member) {
    return std::tuple(member.key_origin.line, member.key_origin.column, std::string_view(member.key));
  });
  return out;
}

Tree convert(const toml::node& node, const std::string& file) {
  Tree out;
  out.origin = origin_of(node.source(), file);
  node.visit([&](const auto& value) {
    using T = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<T, toml::table>) {
      out.value = convert_table(value, file);
    } else if constexpr (std::is_same_v<T, toml::array>) {
      Tree::Array items;
      for (const toml::node& item : value) items.push_back(convert(item, file));
      out.value = std::move(items);
    } else if constexpr (toml::is_chronological<T>) {
      out.value = rfc3339(value.get());
    } else {
      out.value = value.get();
    }
  });
  return out;
}

}  // namespace

std::expected<Tree, Finding> parse_toml(std::string_view text, const std::string& file) {
  try {
    const toml::table table = toml::parse(text, file);
    Tree out(convert_table(table, file), Origin{.file = file, .line = 1, .column = 1, .variable = {}});
    return out;
  } catch (const toml::parse_error& error) {
    return std::unexpected(Finding{.severity = Severity::kError,
                                   .origin = origin_of(error.source(), file),
                                   .message = fmt::format("not valid TOML: {}", clean_text(error.description(), kParserMessageBytesMax))});
  }
}

}  // namespace sluice::config
