// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/environment.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <unistd.h>

#include "runtime/base/parse_number.hpp"
#include "runtime/base/text.hpp"
#include "runtime/config/suggest.hpp"
#include "runtime/config/validate.hpp"

namespace sluice::config {
namespace {

constexpr std::string_view kSeparator = "__";

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return out;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> out;
  while (true) {
    const std::size_t at = text.find(kSeparator);
    out.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return out;
    text.remove_prefix(at + kSeparator.size());
  }
}

// Every name below the schema as a variable would spell it. Items of arrays as item 0; what is free is left out.
void add_flat_names(const Schema& schema, const std::string& prefix, std::vector<std::string>& out) {
  const std::string below = prefix.empty() ? "" : prefix + std::string(kSeparator);
  if (schema.kind == Kind::kTable) {
    for (const Schema& member : schema.members) add_flat_names(member, below + upper(member.name), out);
  } else if (schema.kind == Kind::kArray) {
    add_flat_names(schema.members.at(0), below + "0", out);
  } else {
    out.push_back(prefix);
  }
}

// Lays one variable over a tree.
class VariableOverlay {
 public:
  VariableOverlay(const EnvironmentVariable& variable, std::vector<Finding>& findings) : variable_(variable), findings_(findings) {
    origin_.variable = variable.name;
  }

  void apply(Tree& tree, const Schema& schema, std::size_t at) {
    if (at == variable_.segments.size()) return set(tree, schema);
    const std::string& segment = variable_.segments[at];
    switch (schema.kind) {
      case Kind::kTable:
        return into_table(tree, schema, at);
      case Kind::kArray:
        return into_array(tree, schema, at);
      case Kind::kMap:
        return into_map(tree, schema.members.at(0), at);
      case Kind::kAny:
        return into_map(tree, schema, at);
      default:
        return report(
            fmt::format("`{}` is a single value and has no key `{}`; the variable would be {}", path_, lower(segment), spelled_until(at)));
    }
  }

 private:
  void report(std::string message) { findings_.push_back(error_at(origin_, std::move(message))); }

  [[nodiscard]] std::string spelled_until(std::size_t at) const {
    std::string out(kEnvironmentPrefix.substr(0, kEnvironmentPrefix.size() - kSeparator.size()));
    for (std::size_t i = 0; i < at; ++i) out.append(kSeparator).append(upper(variable_.segments[i]));
    return out;
  }

  void set(Tree& tree, const Schema& schema) {
    if (is_leaf(schema)) {
      if (!is_utf8(variable_.value)) return report(fmt::format("the value for `{}` is not UTF-8", path_));
      tree = typed_from_text(schema, variable_.value, origin_);
      return;
    }
    std::vector<std::string> names;
    add_flat_names(schema, spelled_until(variable_.segments.size()), names);
    const std::string_view what = schema.kind == Kind::kArray ? "an array: set its items, as in" : "a table: set its keys, as in";
    const std::string example = schema.kind == Kind::kMap ? names.at(0) + "__NAME" : names.at(0);
    if (path_.empty()) return report(fmt::format("names a connector and no key of it; a variable is, for example, {}", example));
    report(fmt::format("`{}` is {} {}", path_, what, example));
  }

  void into_table(Tree& tree, const Schema& schema, std::size_t at) {
    const std::string& segment = variable_.segments[at];
    std::vector<const Schema*> found;
    for (const Schema& member : schema.members) {
      if (equals_ignoring_case(member.name, segment)) found.push_back(&member);
    }
    if (found.empty()) return report(unknown(schema, at));
    if (found.size() > 1) {
      return report(fmt::format("ambiguous: `{}` and `{}` differ only in letter case, which variables do not have; set it in the file",
                                member_path(path_, found[0]->name), member_path(path_, found[1]->name)));
    }
    path_ = member_path(path_, found[0]->name);
    if (Tree* member = open_member(tree, found[0]->name)) apply(*member, *found[0], at + 1);
  }

  void into_map(Tree& tree, const Schema& element, std::size_t at) {
    const std::string& segment = variable_.segments[at];
    if (segment.empty()) return report(fmt::format("a key of `{}` is empty: there are too many underscores", path_));
    std::vector<std::string> found;
    if (const auto* table = tree.get<Tree::Table>()) {
      for (const TreeMember& member : *table) {
        if (equals_ignoring_case(member.key, segment)) found.push_back(member.key);
      }
    }
    if (found.size() > 1) {
      return report(fmt::format("ambiguous: `{}` has the keys `{}` and `{}`, which differ only in letter case; set it in the file", path_,
                                found[0], found[1]));
    }
    const std::string key = found.empty() ? lower(segment) : found[0];
    path_ = member_path(path_, key);
    if (Tree* member = open_member(tree, key)) apply(*member, element, at + 1);
  }

  void into_array(Tree& tree, const Schema& schema, std::size_t at) {
    const std::string& segment = variable_.segments[at];
    const auto index = parse_number<std::size_t>(segment);
    if (!index)
      return report(
          fmt::format("`{}` is an array, and `{}` is no number; its first item is {}", path_, segment, spelled_until(at) + "__0"));
    auto* items = tree.get<Tree::Array>();
    if (items == nullptr) {
      if (const auto* table = tree.get<Tree::Table>(); table == nullptr || !table->empty()) return report(not_that(tree, "an array"));
      tree = Tree(Tree::Array{}, origin_);
      items = tree.get<Tree::Array>();
    }
    if (*index > items->size()) {
      return report(fmt::format("item {} of `{}` would leave a gap: there are {} items, so the next one is {}", *index, path_,
                                items->size(), fmt::format("{}__{}", spelled_until(at), items->size())));
    }
    if (*index == items->size()) items->push_back(Tree(Tree::Table{}, origin_));
    path_ = item_path(path_, *index);
    apply((*items)[*index], schema.members.at(0), at + 1);
  }

  // The member of that name, made if missing. Null, and reported, if the tree holds something else than a table.
  Tree* open_member(Tree& tree, const std::string& key) {
    auto* table = tree.get<Tree::Table>();
    if (table == nullptr) {
      report(not_that(tree, "a table"));
      return nullptr;
    }
    if (Tree* member = tree.find(key)) return member;
    table->push_back({.key = key, .key_origin = origin_, .value = Tree(Tree::Table{}, origin_)});
    return &table->back().value;
  }
  static std::string not_that(const Tree& tree, std::string_view wanted) {
    return fmt::format("cannot be laid over {}, where {} is instead of {}", to_string(tree.origin), type_name(tree), wanted);
  }

  [[nodiscard]] std::string unknown(const Schema& schema, std::size_t at) const {
    const std::string where = path_.empty() ? "" : fmt::format(" in `{}`", path_);
    const std::string message = fmt::format("unknown key `{}`{}", lower(variable_.segments[at]), where);
    std::vector<std::string> names;
    for (const Schema& member : schema.members) names.push_back(upper(member.name));
    // Either one wrong segment with the rest as it is, or all that follows at once: an underscore too many or too few moves borders.
    const std::vector<std::string> rest(variable_.segments.begin() + static_cast<std::ptrdiff_t>(at), variable_.segments.end());
    const std::string rest_text = fmt::format("{}", fmt::join(rest, kSeparator));
    std::vector<std::string> flat;
    add_flat_names(schema, "", flat);
    std::vector<std::string> candidates = nearest(variable_.segments[at], names);
    const std::vector<std::string> flat_candidates = nearest(rest_text, flat);
    const auto distance = [](std::string_view word, const std::vector<std::string>& found) {
      return found.empty() ? std::numeric_limits<std::size_t>::max() : edit_distance(word, found.front());
    };
    const std::size_t segment_distance = distance(variable_.segments[at], candidates);
    const std::size_t flat_distance = distance(rest_text, flat_candidates);
    if (flat_distance < segment_distance) candidates.clear();
    for (std::string& candidate : candidates) {
      for (std::size_t i = at + 1; i < variable_.segments.size(); ++i) candidate.append(kSeparator).append(upper(variable_.segments[i]));
    }
    for (const std::string& candidate : flat_candidates) {
      const bool is_new = std::ranges::find(candidates, candidate) == candidates.end();
      if (flat_distance <= segment_distance && is_new) candidates.push_back(candidate);
    }
    if (candidates.empty()) {
      return message + (names.empty() ? "; no keys are known here"
                                      : fmt::format("; known here: {}", lower(fmt::format("{}", fmt::join(names, ", ")))));
    }
    const std::string prefix = spelled_until(at) + std::string(kSeparator);
    std::string hint;
    for (const std::string& candidate : candidates) hint += fmt::format("{}{}{}", hint.empty() ? "" : " or ", prefix, candidate);
    return fmt::format("{}; did you mean {}?", message, hint);
  }

  const EnvironmentVariable& variable_;
  std::vector<Finding>& findings_;
  Origin origin_;
  std::string path_;
};

}  // namespace

Environment process_environment() {
  Environment out;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) out.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return out;
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && lower(a) == lower(b);
}

std::vector<EnvironmentVariable> environment_variables(const Environment& environment) {
  std::vector<EnvironmentVariable> out;
  for (const auto& [name, value] : environment) {
    if (name.starts_with(kEnvironmentPrefix)) out.push_back({name, value, split(std::string_view(name).substr(kEnvironmentPrefix.size()))});
  }
  std::ranges::sort(out, [](const EnvironmentVariable& a, const EnvironmentVariable& b) {
    const auto rank = [](const std::string& segment) { return std::tuple(parse_number<std::size_t>(segment).value_or(0), lower(segment)); };
    return std::ranges::lexicographical_compare(a.segments, b.segments, {}, rank, rank) ||
           (!std::ranges::lexicographical_compare(b.segments, a.segments, {}, rank, rank) && a.name < b.name);
  });
  return out;
}

void overlay(Tree& tree, const Schema& schema, const std::vector<EnvironmentVariable>& variables, std::size_t from,
             std::vector<Finding>& findings) {
  std::map<std::vector<std::string>, std::string> seen;
  for (const EnvironmentVariable& variable : variables) {
    std::vector<std::string> place;
    for (const std::string& segment : variable.segments) place.push_back(lower(segment));
    const auto [earlier, is_new] = seen.emplace(std::move(place), variable.name);
    if (is_new) {
      // On a copy: a variable that turns out to be wrong half-way leaves no trace to complain about a second time.
      Tree changed = tree;
      const std::size_t findings_before = findings.size();
      VariableOverlay(variable, findings).apply(changed, schema, from);
      if (findings.size() == findings_before) tree = std::move(changed);
    } else {
      Origin origin;
      origin.variable = variable.name;
      findings.push_back(error_at(origin, fmt::format("ambiguous: {} sets the same key; remove one of the two", earlier->second)));
    }
  }
}

}  // namespace sluice::config
