// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>

namespace sluice::log {

inline constexpr std::uint64_t kUnsyncedBytesMax = 64u << 20;  // of all logs of a shard

// How many bytes the logs of one shard may have in the page cache without a sync. Who finds no room waits in a line, and everybody who has
// such bytes is asked to sync them, once for the same bytes. [one thread]
class UnsyncedBudget {
 public:
  explicit UnsyncedBudget(std::uint64_t bytes_max = kUnsyncedBytesMax) : bytes_max_(bytes_max) {}
  UnsyncedBudget(const UnsyncedBudget&) = delete;
  UnsyncedBudget& operator=(const UnsyncedBudget&) = delete;

  class Share;

 private:
  std::uint64_t bytes_max_;
  std::uint64_t bytes_ = 0;
  std::set<Share*> unasked_;    // who has bytes that nobody has started a sync of since they were added
  std::deque<Share*> waiting_;  // each at most once
  Share* next_ = nullptr;       // who has been let in and not tried yet
  bool waking_ = false;
};

// One log's part of it. Without a budget there is always room.
class UnsyncedBudget::Share {
 public:
  // `sync` starts one of everything if it can, says so, and calls nothing; `on_room` may do anything, also destroy shares.
  Share(std::shared_ptr<UnsyncedBudget> budget, std::function<bool()> sync, std::function<void()> on_room)
      : budget_(std::move(budget)), sync_(std::move(sync)), on_room_(std::move(on_room)) {}
  ~Share();
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  // Whether so many bytes may be written now; they may if nobody has any. If not, syncs are asked for, and `on_room` is called later.
  [[nodiscard]] bool may_add(std::uint64_t bytes);
  void add(std::uint64_t bytes) { set(bytes_ + bytes); }
  // At most what there is.
  void subtract(std::uint64_t bytes) { set(bytes_ - (bytes < bytes_ ? bytes : bytes_)); }
  void clear() { set(0); }
  // Lets those in who wait, in their order, as far as there is room. Call it when nothing of the caller's is half done.
  void let_others_in();

 private:
  void set(std::uint64_t bytes);

  std::shared_ptr<UnsyncedBudget> budget_;
  std::function<bool()> sync_;
  std::function<void()> on_room_;
  std::uint64_t bytes_ = 0;
  bool is_known_ = false;  // before, it touches nothing of the budget: a log that cannot be opened goes on the thread that tried
};

}  // namespace sluice::log
