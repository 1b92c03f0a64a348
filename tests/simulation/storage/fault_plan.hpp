// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::sim {

enum class OperationKind : std::uint8_t {
  kOpen,    // an existing file
  kCreate,  // kCreateNew and kReplace
  kRead,
  kWrite,
  kSync,
  kTruncate,
  kStat,  // size(), and what make_directories looks up
  kRename,
  kRemove,
  kMakeDirectory,  // one of them: make_directories is as many operations as system calls
  kRemoveDirectory,
  kList,
  kSyncDirectory,
};
[[nodiscard]] std::string_view to_string(OperationKind kind);
// Whether it can change what anybody reads or what survives.
[[nodiscard]] bool is_change(OperationKind kind);

// One operation on the storage.
struct Operation {
  std::uint64_t number = 0;  // from 1
  OperationKind kind = OperationKind::kOpen;
  std::string path = {};
  std::string to = {};  // of a rename
  std::uint64_t position = 0;
  std::uint64_t bytes = 0;  // to be written or read; the size of a truncation
  std::string fault = {};   // that it met, in words
};
// "17 write /data/x.log at 4096, 300 bytes; crash half-way"
[[nodiscard]] std::string to_string(const Operation& operation);

// Where a fault comes. Half-way is meant for writes: a prefix of the bytes is written. A sync that fails has reached the device with
// nothing (kBefore), with a random part (kHalf) or with everything (kAfter), and is over in any case. For the rest, half-way is before.
enum class FaultPoint : std::uint8_t { kBefore, kHalf, kAfter };
enum class FaultEffect : std::uint8_t {
  kCrash,  // the process is dead: this operation and all later ones give sim.crashed
  kError,  // the operation returns `error_number`
  kSlow,   // the operation is done; the completion of its job comes `slow_steps` of the queue later
  kStuck,  // the operation is done; the completion of its job never comes, until the queue releases it
};

// Which operation meets which fault.
struct Fault {
  std::uint64_t at = 1;                    // the how many-th that matches, from when the fault was added
  std::uint64_t lasts = 1;                 // so many in a row
  std::optional<OperationKind> kind = {};  // only these match
  std::string path_part = {};              // only paths with this in them match
  FaultPoint point = FaultPoint::kBefore;
  FaultEffect effect = FaultEffect::kCrash;
  int error_number = EIO;
  // The prefix that a write half-way applies. By default it ends at the middle one of the sector borders inside the write, and is empty
  // if there is none: no sector is torn, as the log format may assume.
  std::optional<std::uint64_t> half_bytes = {};
  std::uint64_t slow_steps = 0;

  [[nodiscard]] static Fault crash(std::uint64_t at, FaultPoint point = FaultPoint::kBefore) { return {.at = at, .point = point}; }
  [[nodiscard]] static Fault error(std::uint64_t at, int error_number, FaultPoint point = FaultPoint::kBefore) {
    return {.at = at, .point = point, .effect = FaultEffect::kError, .error_number = error_number};
  }
};

// Operations that are kept for the trace; older ones are forgotten.
inline constexpr std::size_t kTraceMax = 65'536;

// Numbers the operations, keeps a trace of them, and says which meet a fault.
class FaultPlan {
 public:
  void add(Fault fault) { faults_.push_back({std::move(fault), 0}); }
  // No more faults.
  void clear() { faults_.clear(); }
  // No faults, no trace, and the next operation is number 1.
  void restart();

  [[nodiscard]] std::uint64_t operations() const { return operations_; }
  [[nodiscard]] const std::deque<Operation>& trace() const { return trace_; }
  [[nodiscard]] std::string trace_text() const;

  // The storage's side: counts the operation; the crash or error that is due.
  [[nodiscard]] std::optional<Fault> begin(Operation operation);

  struct Delay {
    std::uint64_t steps = 0;
    bool stuck = false;
  };
  // The queue's side: the delay of the operations since the last call.
  [[nodiscard]] Delay take_delay();

 private:
  struct Armed {
    Fault fault;
    std::uint64_t seen = 0;
  };

  std::vector<Armed> faults_;
  std::uint64_t operations_ = 0;
  std::deque<Operation> trace_;
  Delay delay_;
};

}  // namespace sluice::sim
