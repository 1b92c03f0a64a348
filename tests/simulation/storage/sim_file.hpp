// SPDX-License-Identifier: Apache-2.0
// The inside of SimStorage: one open file, and how any operation meets its fault.
#pragma once

#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "tests/simulation/storage/sim_process.hpp"

namespace sluice::sim {

// What an operation that meets the fault returns. A crash kills the process.
[[nodiscard]] Error meet(SimState& state, const Fault& fault, const char* verb, const std::string& path);
// Whether the process lives.
[[nodiscard]] Result<void> check_alive(const SimState& state, std::uint64_t generation);

// Runs one operation under the plan of faults. `body` returns an Outcome.
template <typename Body>
auto perform(SimState& state, std::uint64_t generation, Operation operation, const char* verb, Body body)
    -> Result<typename std::invoke_result_t<Body>::value_type> {
  SLUICE_CHECK(check_alive(state, generation));
  const std::string path = operation.path;
  const std::optional<Fault> fault = state.plan.begin(std::move(operation));
  if (fault && fault->point != FaultPoint::kAfter) return fail(meet(state, *fault, verb, path));
  auto outcome = body();
  if (fault) return fail(meet(state, *fault, verb, path));
  if (!outcome) return fail(errno_error(outcome.error(), fmt::format("{} {}", verb, path)).with("file", path));
  if constexpr (std::is_void_v<typename std::invoke_result_t<Body>::value_type>) {
    return {};
  } else {
    return *std::move(outcome);
  }
}

class SimFile final : public storage::File {
 public:
  SimFile(SimState& state, std::uint64_t generation, FileTree::Id id, std::string path, bool writable)
      : state_(state),
        generation_(generation),
        id_(id),
        handle_(state.tree.hold(id)),
        path_(std::move(path)),
        writable_(writable),
        failures_told_(contents().failed_syncs()) {}

  const std::string& path() const override { return path_; }
  Result<void> write(std::uint64_t position, std::span<const Bytes> parts) override;
  Result<std::size_t> read(std::uint64_t position, MutableBytes out) override;
  Result<void> sync() override;
  // Any un-synced byte may be written back at any time, asked for or not.
  void start_writeback(std::uint64_t, std::uint64_t) override {}
  Result<void> truncate(std::uint64_t size) override;
  Result<std::uint64_t> size() override;

 private:
  [[nodiscard]] FileContents& contents() { return state_.tree.contents(id_); }
  [[nodiscard]] std::uint64_t bytes_that_fit(std::uint64_t position, std::uint64_t bytes);

  SimState& state_;
  std::uint64_t generation_;
  FileTree::Id id_;
  FileTree::Handle handle_;
  std::string path_;
  bool writable_;
  std::uint64_t failures_told_;  // failed syncs of the file that this descriptor knows of, or that were before its time
};

}  // namespace sluice::sim
