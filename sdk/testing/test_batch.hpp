// SPDX-License-Identifier: Apache-2.0
// Memory of a batch, or of assignments, for the length of one call.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/abi/record.h>
#include <sluice/abi/sink.h>
#include <sluice/testing/sink_driver.hpp>

namespace sluice::testing {

// Owns everything a call may point to; overwrites it before it lets go of it.
class CallMemory {
 public:
  CallMemory() = default;
  CallMemory(const CallMemory&) = delete;
  CallMemory& operator=(const CallMemory&) = delete;
  ~CallMemory() { overwrite(); }

  void overwrite();
  [[nodiscard]] sluice_text text(std::string_view from);
  [[nodiscard]] sluice_bytes bytes(std::string_view from);
  [[nodiscard]] void* zeroed(std::size_t size);

  [[nodiscard]] const sluice_assignment* assignment(const TestPartition& part);
  [[nodiscard]] std::vector<const sluice_assignment*> assignments(const std::vector<TestPartition>& parts);
  // Records lie further apart than they are long, as in a host that is newer than the plugin.
  [[nodiscard]] const sluice_batch* batch(const TestPartition& part, const std::vector<TestRecord>& records, std::uint64_t first_offset);

 private:
  struct Block {
    std::unique_ptr<std::byte[]> memory;
    std::size_t size;
  };
  void fill(sluice_record& out, const TestRecord& record, std::uint64_t offset);

  std::vector<Block> blocks_;
};

}  // namespace sluice::testing
