// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/schema.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>
#include <sluice/duration.hpp>
#include <sluice/size.hpp>

namespace sluice::config {
namespace {

std::string limit_text(const Schema& schema, std::int64_t limit) {
  switch (schema.kind) {
    case Kind::kDuration:
      return format_duration(std::chrono::milliseconds{limit});
    case Kind::kSize:
      return format_size(Size{static_cast<std::uint64_t>(std::max<std::int64_t>(limit, 0))});
    default:
      return fmt::format("{}", limit);
  }
}

std::string range_between(const std::optional<std::string>& low, const std::optional<std::string>& high) {
  if (low && high) return fmt::format("{} to {}", *low, *high);
  if (low) return fmt::format("at least {}", *low);
  if (high) return fmt::format("at most {}", *high);
  return {};
}

}  // namespace

const Schema* Schema::find(std::string_view key) const {
  if (kind != Kind::kTable) return nullptr;
  const auto found = std::ranges::find(members, key, &Schema::name);
  return found == members.end() ? nullptr : &*found;
}

std::vector<std::string> Schema::member_names() const {
  std::vector<std::string> out;
  if (kind != Kind::kTable) return out;
  for (const Schema& member : members) {
    if (!member.is_environment_only) out.push_back(member.name);
  }
  return out;
}

bool is_leaf(const Schema& schema) {
  return schema.kind != Kind::kTable && schema.kind != Kind::kArray && schema.kind != Kind::kMap;
}

std::string_view expectation(const Schema& schema) {
  switch (schema.kind) {
    case Kind::kBool:
      return "true or false";
    case Kind::kInteger:
      return "an integer";
    case Kind::kNumber:
      return "a number";
    case Kind::kString:
      return "a string";
    case Kind::kDuration:
      return R"(a duration such as "30s" or "500ms")";
    case Kind::kSize:
      return R"(a size such as "8MiB" or "64KiB")";
    case Kind::kPolicy:
      return R"("unlimited", a number of attempts, or a duration such as "30m")";
    case Kind::kArray:
      return "an array";
    case Kind::kTable:
    case Kind::kMap:
      return "a table";
    case Kind::kAny:
      return "a value";
  }
  return "a value";
}

std::string range_text(const Schema& schema) {
  if (!schema.choices.empty()) return fmt::format("`{}`", fmt::join(schema.choices, "`, `"));
  std::optional<std::string> low;
  std::optional<std::string> high;
  if (schema.kind == Kind::kNumber) {
    if (std::isfinite(schema.number_minimum)) low = fmt::format("{}", schema.number_minimum);
    if (std::isfinite(schema.number_maximum)) high = fmt::format("{}", schema.number_maximum);
  } else {
    if (schema.minimum != std::numeric_limits<std::int64_t>::min()) low = limit_text(schema, schema.minimum);
    if (schema.maximum != std::numeric_limits<std::int64_t>::max()) high = limit_text(schema, schema.maximum);
  }
  const std::string range = range_between(low, high);
  if (range.empty()) return range;
  if (schema.kind == Kind::kString) return range + " characters";
  return schema.kind == Kind::kArray || schema.kind == Kind::kMap ? range + " items" : range;
}

}  // namespace sluice::config
