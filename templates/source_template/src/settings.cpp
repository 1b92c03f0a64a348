// SPDX-License-Identifier: Apache-2.0
#include "settings.hpp"

#include <chrono>

namespace source_template {

void Settings::bind(sluice::Binding<Settings>& b) {
  using std::chrono::hours;
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  b.required("connection_string", &Settings::connection_string, {.min = 1, .max = 4096}, "Where the back end is, and who we are to it.");
  b.optional("auth_token", &Settings::auth_token, sluice::Secret(), {.min = 0, .max = 4096}, "Sent with every request; empty = none.");
  b.optional("page_size", &Settings::page_size, 500, {1, 10'000}, "Items of one fetch.");
  b.optional("timeout", &Settings::timeout, seconds(30), {milliseconds(10), hours(1)}, "Longest wait for an answer.");
}

}  // namespace source_template
