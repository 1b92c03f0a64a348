// SPDX-License-Identifier: Apache-2.0
// Connectors in a process of their own, as the ABI has them: whoever holds the tables need not know where the plugin runs.
#pragma once

#include <cstdint>

#include <sluice/abi/connector.h>

#include "runtime/isolation/plugin_process.hpp"

namespace sluice::isolation {

struct RemoteOptions {
  ProcessOptions process;
  std::uint64_t record_bytes_max = 0;  // sources
  std::uint64_t state_bytes_max = 0;   // sources
};

// As create_sink and create_source of a factory, with a new process per instance. [control], though it starts a process.
[[nodiscard]] const sluice_sink* create_remote_sink(const RemoteOptions& options, std::uint32_t index, const sluice_host* host,
                                                    const sluice_outcome_writer* failure);
[[nodiscard]] const sluice_source* create_remote_source(const RemoteOptions& options, std::uint32_t index, const sluice_host* host,
                                                        const sluice_outcome_writer* failure);

}  // namespace sluice::isolation
