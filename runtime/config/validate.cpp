// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/validate.hpp"

#include <algorithm>
#include <cmath>
#include <regex>

#include <fmt/format.h>
#include <sluice/duration.hpp>
#include <sluice/size.hpp>

#include "runtime/base/parse_number.hpp"
#include "runtime/base/text.hpp"
#include "runtime/config/suggest.hpp"
#include "runtime/config/toml_reader.hpp"

namespace sluice::config {
namespace {

constexpr std::size_t kShownValueBytesMax = 80;
// std::regex recurses on the length of the text.
constexpr std::size_t kPatternTextBytesMax = 4096;

class Validation {
 public:
  explicit Validation(std::vector<Finding>& findings) : findings_(findings) {}

  // False if the value is of no use and has been reported.
  bool visit(Tree& tree, const Schema& schema, const std::string& path) {
    if (is_leaf(schema)) return leaf(tree, schema, path);
    if (schema.kind == Kind::kArray) return array(tree, schema, path);
    auto* table = tree.get<Tree::Table>();
    if (table == nullptr) return report(tree.origin, fmt::format("`{}` must be a table, not {}", path, type_name(tree)));
    if (schema.kind == Kind::kMap) {
      if (auto problem = wrong_count(table->size(), schema)) return report(tree.origin, fmt::format("`{}` {}", path, *problem));
      return visit_members(*table, path, [&](const std::string&) { return &schema.members.at(0); });
    }
    const bool good = visit_members(
        *table, path,
        [&](const std::string& key) -> const Schema* {
          const Schema* member = schema.find(key);
          return member == nullptr || member->is_environment_only ? nullptr : member;
        },
        &schema);
    for (const Schema& member : schema.members) {
      if (member.is_required && tree.find(member.name) == nullptr && !reported_as_bad(path, member.name)) {
        report(tree.origin, fmt::format("`{}` is required and missing: {}", member_path(path, member.name), member.description));
      }
    }
    return good;
  }

 private:
  bool report(const Origin& origin, std::string message) {
    if (findings_.size() < kFindingsMax) findings_.push_back(error_at(origin, std::move(message)));
    return false;
  }
  // A required value that was there and wrong is not missing as well.
  [[nodiscard]] bool reported_as_bad(std::string_view path, std::string_view key) const {
    return std::ranges::find(removed_, member_path(path, key)) != removed_.end();
  }

  template <typename Find>
  bool visit_members(Tree::Table& table, const std::string& path, Find find, const Schema* schema = nullptr) {
    Tree::Table kept;
    for (TreeMember& member : table) {
      const Schema* wanted = find(member.key);
      const std::string name = member_path(path, member.key);
      if (wanted == nullptr) {
        report(member.key_origin, unknown_key(member, *schema, path));
      } else if (visit(member.value, *wanted, name)) {
        kept.push_back(std::move(member));
        continue;
      }
      removed_.push_back(name);
    }
    table = std::move(kept);
    return true;
  }

  static std::string unknown_key(const TreeMember& member, const Schema& schema, const std::string& path) {
    const std::string where = path.empty() ? "" : fmt::format(" in `{}`", path);
    const std::string shown = clean_text(member.key, kShownValueBytesMax);
    if (const Schema* known = schema.find(member.key)) return fmt::format("unknown key `{}`{}: {}", shown, where, known->description);
    const std::vector<std::string> names = schema.member_names();
    std::string hint = did_you_mean(member.key, names);
    if (hint.empty()) {
      for (const Schema& sibling : schema.members) {
        if (sibling.find(member.key) != nullptr) hint = fmt::format("; it belongs into `[{}]`", member_path(path, sibling.name));
      }
    }
    if (hint.empty()) hint = names.empty() ? "; no keys are known here" : fmt::format("; known here: {}", fmt::join(names, ", "));
    return fmt::format("unknown key `{}`{}{}", shown, where, hint);
  }

  bool array(Tree& tree, const Schema& schema, const std::string& path) {
    auto* items = tree.get<Tree::Array>();
    if (items == nullptr) {
      const bool of_tables = schema.members.at(0).kind == Kind::kTable;
      const std::string hint = of_tables ? fmt::format(": write it as [[{}]]", path) : ": put it in [ ]";
      return report(tree.origin, fmt::format("`{}` must be an array, not {}{}", path, type_name(tree), hint));
    }
    if (auto problem = wrong_count(items->size(), schema)) return report(tree.origin, fmt::format("`{}` {}", path, *problem));
    bool good = true;
    for (std::size_t i = 0; i < items->size(); ++i) good = visit((*items)[i], schema.members.at(0), item_path(path, i)) && good;
    return good;
  }

  static std::optional<std::string> wrong_count(std::size_t size, const Schema& schema) {
    const auto count = static_cast<std::int64_t>(size);
    if (count >= schema.minimum && count <= schema.maximum) return std::nullopt;
    return fmt::format("has {} items; allowed: {}", count, range_text(schema));
  }

  bool leaf(Tree& tree, const Schema& schema, const std::string& path) {
    if (schema.kind == Kind::kAny) return true;
    if (tree.is_external && tree.get<std::string>() != nullptr) tree = typed_from_text(schema, *tree.get<std::string>(), tree.origin);
    if (auto problem = wrong_type(tree, schema))
      return report(tree.origin, fmt::format("`{}` must be {}, {}", path, expectation(schema), *problem));
    if (auto problem = wrong_value(tree, schema)) return report(tree.origin, fmt::format("`{}` {}", path, *problem));
    return true;
  }

  static std::string shown_value(const Tree& tree, const Schema& schema) {
    if (const std::string* text = tree.get<std::string>()) {
      return schema.is_secret ? "this secret text" : fmt::format("\"{}\"", clean_text(*text, kShownValueBytesMax));
    }
    if (schema.is_secret) return std::string(type_name(tree));
    if (const auto* number = tree.get<std::int64_t>()) return fmt::format("the integer {}", *number);
    if (const auto* number = tree.get<double>()) return fmt::format("the number {}", *number);
    if (const auto* flag = tree.get<bool>()) return *flag ? "true" : "false";
    return std::string(type_name(tree));
  }

  // "not …" and, where one can be told, the cure.
  static std::optional<std::string> wrong_type(Tree& tree, const Schema& schema) {
    const std::string* text = tree.get<std::string>();
    const auto* integer = tree.get<std::int64_t>();
    bool good = false;
    switch (schema.kind) {
      case Kind::kBool:
        good = tree.get<bool>() != nullptr;
        break;
      case Kind::kInteger:
        good = integer != nullptr;
        break;
      case Kind::kNumber:
        if (integer != nullptr) tree.value = static_cast<double>(*integer);
        good = tree.get<double>() != nullptr && std::isfinite(*tree.get<double>());
        break;
      case Kind::kString:
        good = text != nullptr;
        break;
      case Kind::kDuration:
        good = text != nullptr && parse_duration(*text);
        break;
      case Kind::kSize:
        good = text != nullptr && parse_size(*text);
        break;
      case Kind::kPolicy:
        good = integer != nullptr || (text != nullptr && (*text == "unlimited" || parse_duration(*text)));
        break;
      default:
        good = true;
    }
    if (good) return std::nullopt;
    return fmt::format("not {}{}", shown_value(tree, schema), cure(tree, schema));
  }

  static std::string_view cure(const Tree& tree, const Schema& schema) {
    const bool unit_missing = schema.kind == Kind::kDuration || schema.kind == Kind::kSize;
    if (unit_missing && (tree.get<std::int64_t>() != nullptr || tree.get<double>() != nullptr))
      return ": write it in quotes and with a unit";
    const std::string* text = tree.get<std::string>();
    if (unit_missing && text != nullptr && parse_number<std::int64_t>(*text)) return ": a unit is missing";
    const bool quoted = text != nullptr && !tree.is_external;
    if (quoted && schema.kind == Kind::kBool && (*text == "true" || *text == "false")) return ": remove the quotes";
    if (quoted && schema.kind == Kind::kInteger && parse_number<std::int64_t>(*text)) return ": remove the quotes";
    if (schema.kind == Kind::kString && text == nullptr && tree.get<Tree::Array>() == nullptr && tree.get<Tree::Table>() == nullptr) {
      return ": put it in quotes";
    }
    return "";
  }

  static std::optional<std::int64_t> magnitude(const Tree& tree, const Schema& schema) {
    const std::string* text = tree.get<std::string>();
    if (const auto* integer = tree.get<std::int64_t>()) return *integer;
    if (text == nullptr) return std::nullopt;
    if (schema.kind == Kind::kDuration) return parse_duration(*text)->count();
    if (schema.kind == Kind::kSize) return static_cast<std::int64_t>(parse_size(*text)->bytes);
    if (schema.kind == Kind::kString) return std::ranges::count_if(*text, [](char c) { return (c & 0xC0) != 0x80; });
    return std::nullopt;
  }

  static std::optional<std::string> wrong_value(const Tree& tree, const Schema& schema) {
    const std::string* text = tree.get<std::string>();
    if (!schema.choices.empty() && text != nullptr && std::ranges::find(schema.choices, *text) == schema.choices.end()) {
      const std::string shown = schema.is_secret ? "" : fmt::format("is `{}`; it ", clean_text(*text, kShownValueBytesMax));
      return fmt::format("{}must be one of {}{}", shown, fmt::join(schema.choices, ", "), did_you_mean(*text, schema.choices));
    }
    const auto size = magnitude(tree, schema);
    if (size && (*size < schema.minimum || *size > schema.maximum)) {
      if (schema.kind == Kind::kString) return fmt::format("has {} characters; allowed: {}", *size, range_text(schema));
      return fmt::format("is {}; allowed: {}", text != nullptr ? *text : fmt::format("{}", *size), range_text(schema));
    }
    if (const double* number = tree.get<double>();
        number != nullptr && (*number < schema.number_minimum || *number > schema.number_maximum)) {
      return fmt::format("is {}; allowed: {}", *number, range_text(schema));
    }
    if (text != nullptr && !schema.pattern.empty()) {
      if (auto problem = wrong_pattern(*text, schema)) return problem;
    }
    return schema.judge == nullptr ? std::nullopt : schema.judge(tree);
  }

  static std::optional<std::string> wrong_pattern(const std::string& text, const Schema& schema) {
    if (text.size() > kPatternTextBytesMax) return fmt::format("has {} bytes; it can have {}", text.size(), kPatternTextBytesMax);
    try {
      if (std::regex_search(text, std::regex(schema.pattern, std::regex::ECMAScript))) return std::nullopt;
    } catch (const std::regex_error&) {
      return fmt::format("cannot be judged: the plugin's pattern `{}` is not a regular expression", schema.pattern);
    }
    const std::string shown = schema.is_secret ? "" : fmt::format("is `{}`; it ", clean_text(text, kShownValueBytesMax));
    return fmt::format("{}must match {}", shown, schema.pattern);
  }

  std::vector<Finding>& findings_;
  std::vector<std::string> removed_;
};

}  // namespace

Finding error_at(const Origin& origin, std::string message) {
  return {.severity = Severity::kError, .origin = origin, .message = std::move(message)};
}

bool has_errors(const std::vector<Finding>& findings) {
  return std::ranges::any_of(findings, [](const Finding& finding) { return finding.severity == Severity::kError; });
}

std::string joined(const std::vector<Finding>& findings) {
  std::string out;
  for (const Finding& finding : findings) {
    if (!out.empty()) out += '\n';
    out += to_string(finding);
  }
  return out;
}

std::string member_path(std::string_view path, std::string_view key) {
  const std::string shown = clean_text(key, kShownValueBytesMax);
  return path.empty() ? shown : fmt::format("{}.{}", path, shown);
}

std::string item_path(std::string_view path, std::size_t index) {
  return fmt::format("{}[{}]", path, index);
}

Tree typed_from_text(const Schema& schema, std::string text, Origin origin) {
  Tree out(std::move(text), std::move(origin));
  out.is_external = true;
  const std::string& from = *out.get<std::string>();
  if (schema.kind == Kind::kBool && (from == "true" || from == "false")) {
    out.value = from == "true";
  } else if (schema.kind == Kind::kInteger || schema.kind == Kind::kPolicy) {
    if (const auto number = parse_number<std::int64_t>(from)) out.value = *number;
  } else if (schema.kind == Kind::kNumber) {
    if (const auto number = parse_number<double>(from)) out.value = *number;
  }
  return out;
}

void validate(Tree& tree, const Schema& schema, std::string_view path, std::vector<Finding>& findings) {
  Validation(findings).visit(tree, schema, std::string(path));
}

void fill_defaults(Tree& tree, const Schema& schema) {
  if (auto* items = tree.get<Tree::Array>(); items != nullptr && schema.kind == Kind::kArray) {
    for (Tree& item : *items) fill_defaults(item, schema.members.at(0));
    return;
  }
  auto* table = tree.get<Tree::Table>();
  if (table == nullptr || schema.kind != Kind::kTable) return;
  for (const Schema& member : schema.members) {
    if (tree.find(member.name) == nullptr && !member.is_environment_only) {
      if (member.kind == Kind::kTable) {
        table->push_back({.key = member.name, .key_origin = {}, .value = Tree()});
      } else if (!member.default_toml.empty()) {
        auto parsed = parse_toml("default = " + member.default_toml, {});
        Tree value = std::move(*parsed->find("default"));
        value.origin = {};
        table->push_back({.key = member.name, .key_origin = {}, .value = std::move(value)});
      }
    }
    if (Tree* value = tree.find(member.name)) fill_defaults(*value, member);
  }
}

}  // namespace sluice::config
