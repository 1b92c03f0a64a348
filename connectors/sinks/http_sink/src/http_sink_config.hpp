// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <sluice/binding.hpp>

namespace sluice::http_sink {

enum class Mode : std::uint8_t {
  kIndividual,  // one record, one request: its payload, with an Idempotency-Key
  kNdjson,      // records as lines of JSON objects
  kJsonArray,   // records as one JSON array
};
enum class Method : std::uint8_t { kPost, kPut, kPatch };
// The request that open makes before the first record.
enum class Probe : std::uint8_t { kHead, kOptions, kGet, kNone };

constexpr auto enum_names(Mode) {
  return std::to_array<EnumName<Mode>>({{"individual", Mode::kIndividual}, {"ndjson", Mode::kNdjson}, {"json_array", Mode::kJsonArray}});
}
constexpr auto enum_names(Method) {
  return std::to_array<EnumName<Method>>({{"POST", Method::kPost}, {"PUT", Method::kPut}, {"PATCH", Method::kPatch}});
}
constexpr auto enum_names(Probe) {
  return std::to_array<EnumName<Probe>>(
      {{"HEAD", Probe::kHead}, {"OPTIONS", Probe::kOptions}, {"GET", Probe::kGet}, {"none", Probe::kNone}});
}

// Where an answer of class 2xx says what became of each record: JSON pointers.
struct ItemsConfig {
  std::string list;    // from the root to a list with one item per record, in order; empty = the root is the list
  std::string status;  // from an item to its HTTP status; empty = not used
  std::string error;   // from an item to something that is there only if it failed; empty = not used

  static void bind(Binding<ItemsConfig>& b);
  [[nodiscard]] bool is_used() const { return !status.empty() || !error.empty(); }
};

struct HttpSinkConfig {
  std::string url;
  Method method = Method::kPost;
  Mode mode = Mode::kIndividual;
  std::map<std::string, Secret> headers;
  bool idempotent = false;
  std::uint32_t max_records = 0;
  Size max_bytes;
  Duration connect_timeout{0};
  Duration timeout{0};
  std::string ca_file;
  Probe probe = Probe::kHead;
  ItemsConfig items;

  static void bind(Binding<HttpSinkConfig>& b);
  void validate() const;
};

// Names of headers are the same in upper and lower case.
[[nodiscard]] bool is_same_header(std::string_view a, std::string_view b);

}  // namespace sluice::http_sink
