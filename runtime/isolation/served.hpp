// SPDX-License-Identifier: Apache-2.0
// The plugin's side: an instance in its own process, called as the messages say. Internal to runtime/isolation.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <sluice/abi/connector.h>

#include "runtime/isolation/message.hpp"
#include "runtime/plugin/outcome.hpp"

namespace sluice::isolation {

inline constexpr std::int32_t kUnreadable = INT32_MIN;  // the answer to arguments that are none: a fault of the daemon

// What masks nothing: the daemon does.
[[nodiscard]] inline const std::vector<std::string>& no_secrets() {
  static const std::vector<std::string> none;
  return none;
}

class Served {
 public:
  virtual ~Served() = default;
  // Puts the call's own results into `out`, and into `outcome` what the plugin gave to an outcome writer. Answers the plugin's status.
  [[nodiscard]] virtual std::int32_t call(CallKind kind, const sluice_call& call, ByteReader& in, ByteWriter& out,
                                          plugin::OutcomeSlot& outcome) = 0;
  virtual void cancel() noexcept = 0;  // [any-thread]
};

struct ServedLimits {
  std::uint64_t record_bytes_max = 0;
  std::uint64_t state_bytes_max = 0;
};

// Null: `failure` has the reason, or the plugin gave none.
[[nodiscard]] std::unique_ptr<Served> serve_sink(const sluice_connector_factory& factory, std::uint32_t index, const sluice_host* host,
                                                 plugin::OutcomeSlot& failure);
[[nodiscard]] std::unique_ptr<Served> serve_source(const sluice_connector_factory& factory, std::uint32_t index, const sluice_host* host,
                                                   const ServedLimits& limits, plugin::OutcomeSlot& failure);

}  // namespace sluice::isolation
