// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include <sluice/context.hpp>
#include <sluice/outcome.hpp>
#include <sluice/record.hpp>

namespace sluice {

// Where a sink says what became of a batch. Made by the SDK for one call to Sink::write. [worker]
//
// The taken records are a prefix of the batch, minus those that failed. A record counts as taken when the sink will make it durable without
// being given it again, and as durable when the back end has it for good; only what is durable is committed. A sink whose records are safe
// as soon as they are written calls deliver*, one that buffers calls accept* and later makes them durable with durable_until or in flush.
class WriteResult {
 public:
  WriteResult(const Batch& batch, sluice_write_result& abi) : batch_(batch), abi_(abi) {}
  WriteResult(const WriteResult&) = delete;
  WriteResult& operator=(const WriteResult&) = delete;

  // The first `count` records of the batch are taken, or failed. Never goes back.
  void accept_until(std::uint32_t count);
  void accept_all() { accept_until(batch_.size()); }
  // Taken and durable, and with them everything of this partition that was taken before.
  void deliver_until(std::uint32_t count) {
    accept_until(count);
    // Not back: a record that failed before is below what was delivered beyond it.
    abi_.durable_next = std::max(abi_.durable_next, abi_.accepted_next);
  }
  void deliver_all() { deliver_until(batch_.size()); }
  // Everything of this partition below `next` that was taken is durable.
  void durable_until(std::uint64_t next) { abi_.durable_next = next; }
  // The same for another assigned partition.
  void durable_until(const Assignment& partition, std::uint64_t next) { abi_.durable(abi_.host_data, &partition.abi(), next); }

  // The record at this index failed; indexes ascend. All before it must be counted by the end of the call. To go on after it, count it as
  // well; to end the attempt there (ordering = partition), return.
  void fail(std::uint32_t index, const Outcome& outcome);

  // The SDK's: an error of scope record was thrown; it belongs to the first record that is not counted. False: there is none, or records
  // were failed that are not counted yet, so the call as a whole has failed.
  bool fail_next(const sluice_outcome& outcome) noexcept;

  // Records that accept_until and deliver_until have counted so far.
  [[nodiscard]] std::uint32_t accepted() const { return accepted_; }

 private:
  const Batch& batch_;
  sluice_write_result& abi_;
  std::uint32_t accepted_ = 0;
  std::uint32_t next_failed_ = 0;  // the lowest index that may still fail
};

// Where Sink::flush says, before it throws, what became durable all the same. After a plain return everything accepted is durable. [worker]
class FlushResult {
 public:
  explicit FlushResult(const sluice_flush_result& abi) : abi_(abi) {}
  void durable_until(const Assignment& partition, std::uint64_t next) { abi_.durable(abi_.host_data, &partition.abi(), next); }

 private:
  const sluice_flush_result& abi_;
};

// A connector that takes records out. One object lives from open to close: the SDK makes it with its parsed configuration and its Context,
// calls open, and destroys it after close or after a failed open. All functions are [worker]: one at a time, they may block, but must end
// within a second after Context::stop() is requested. To fail, throw an error of outcome.hpp; any other exception is fatal for the
// connector.
class Sink {
 public:
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  virtual ~Sink() = default;

  // Connects. Throw ConnectorError if the back end cannot be reached; the host tries again.
  virtual void open() {}
  // Owns these partitions from now on, beside those it has. resume_next[i] is preset to parts[i].committed_next(); a sink with durable
  // positions of its own (capability own_positions) puts the first offset that it does not have.
  virtual void assign(std::span<const Assignment> parts, std::span<std::uint64_t> resume_next);
  // One attempt. An error of scope record thrown here belongs to the first record that is not accepted yet.
  virtual void write(const Batch& batch, WriteResult& result) = 0;
  // Makes everything accepted durable.
  virtual void flush(FlushResult& result);
  // Owns these partitions no more and forgets what was accepted but not durable.
  virtual void revoke(std::span<const Assignment> parts);
  virtual void close() {}
};

}  // namespace sluice
