// SPDX-License-Identifier: Apache-2.0
#include "settings.hpp"

#include <algorithm>
#include <chrono>

namespace sink_template {

void Settings::bind(sluice::Binding<Settings>& b) {
  using std::chrono::hours;
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  b.required("connection_string", &Settings::connection_string, {.min = 1, .max = 4096}, "Where the back end is, and who we are to it.");
  b.required("target", &Settings::target, {.min = 1, .max = 128}, "Where records go in it: letters, digits and underscores.");
  b.optional("auth_token", &Settings::auth_token, sluice::Secret(), {.min = 0, .max = 4096}, "Sent with every request; empty = none.");
  b.optional("max_records", &Settings::max_records, 100, {1, 10'000}, "Records of one push.");
  b.optional("timeout", &Settings::timeout, seconds(30), {milliseconds(10), hours(1)}, "Longest wait for an answer.");
}

void Settings::validate() const {
  if (!is_identifier(target)) {
    throw sluice::ConfigError("/target", "\"" + target + "\" is no name of a target", "use letters, digits and underscores only");
  }
}

bool is_identifier(std::string_view name) {
  const auto is_allowed = [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; };
  return !name.empty() && std::all_of(name.begin(), name.end(), is_allowed);
}

}  // namespace sink_template
