// SPDX-License-Identifier: Apache-2.0
// A source and a sink called through the bare ABI, in one thread, without host checks: what the floor and the ABI cost are measured with.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <sluice/abi/connector.h>

#include "core/base/bytes.hpp"
#include "core/base/result.hpp"
#include "runtime/plugin/host_table.hpp"
#include "runtime/plugin/plugin.hpp"

namespace sluice::bench {

// Polls batches of `batch_records` from random_source and hands them to null_sink. Not thread-safe.
class RawPair {
 public:
  [[nodiscard]] static Result<std::unique_ptr<RawPair>> open(plugin::PluginCatalog& plugins, std::uint32_t batch_records);
  ~RawPair();

  // Each returns the number of records that went from the source to the sink.
  // The ABI alone: the source's records are passed on as they are.
  [[nodiscard]] Result<std::uint64_t> pass_one_batch();
  // The floor of a log between them: frame, hash, pwrite, pread, hash, unframe. `file` is an open descriptor, `position` moves on.
  [[nodiscard]] Result<std::uint64_t> log_one_batch(int file, std::uint64_t& position);

 private:
  explicit RawPair(std::uint32_t batch_records);
  [[nodiscard]] Result<void> poll();
  [[nodiscard]] Result<void> write();
  static std::int32_t on_append(void* self, const sluice_record* record, std::uint32_t output, std::int32_t partition);
  [[nodiscard]] Result<void> write_and_read_back(int file, std::uint64_t position);
  [[nodiscard]] Result<void> unframe();

  std::uint32_t batch_records_;
  plugin::HostTable host_;
  std::shared_ptr<plugin::LoadedPlugin> source_plugin_;
  std::shared_ptr<plugin::LoadedPlugin> sink_plugin_;
  const sluice_source* source_ = nullptr;
  const sluice_sink* sink_ = nullptr;
  std::uint64_t batch_id_ = 0;
  std::uint64_t next_offset_ = 0;
  ByteVector frames_;  // header and payload of each record, one after the other
  ByteVector read_back_;
  std::vector<sluice_record> records_;
};

}  // namespace sluice::bench
