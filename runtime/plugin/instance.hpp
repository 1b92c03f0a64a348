// SPDX-License-Identifier: Apache-2.0
// What sink and source instances have in common: how they are called, watched, cancelled and given up.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sluice/abi/call.h>

#include "core/base/clock.hpp"
#include "core/base/u128.hpp"
#include "core/entry/limits.hpp"
#include "runtime/plugin/host_table.hpp"
#include "runtime/plugin/outcome.hpp"

namespace sluice::plugin {

class LoadedPlugin;

inline constexpr Clock::Monotonic kNoDeadline = Clock::Monotonic::max();

struct InstanceOptions {
  std::string connector_key{};
  std::vector<std::string> secrets{};                     // masked in every text that the plugin gives
  std::shared_ptr<HostServices> services{};               // may be null
  U128 cluster_id{};                                      // sinks
  std::size_t record_bytes_max = entry::kRecordBytesMax;  // sources
  std::size_t state_bytes_max = 1u << 20;                 // sources
  Clock* clock = &system_clock();
  Random* random = &system_random();
};

// What every worker call carries.
struct CallOptions {
  std::uint32_t attempt = 1;  // how often the host makes this call for the same thing
  Clock::Monotonic deadline = kNoDeadline;
};

// The plugin's call that runs right now.
struct RunningCall {
  std::string_view name;  // "open", "write", "poll", …
  Clock::Monotonic started;
};

// The part of an instance that outlives it if its call never returns: options, host table, what runs. Each kind adds the plugin's table.
class InstanceCore {
 public:
  // `plugin` may be null: a factory of this program.
  InstanceCore(std::shared_ptr<LoadedPlugin> plugin, InstanceOptions options);
  InstanceCore(const InstanceCore&) = delete;
  InstanceCore& operator=(const InstanceCore&) = delete;
  virtual ~InstanceCore() = default;

  // [any-thread]
  [[nodiscard]] std::optional<RunningCall> running_call() const;
  [[nodiscard]] bool cancelled() const { return cancelled_.load(std::memory_order_acquire); }
  [[nodiscard]] bool abandoned() const { return abandoned_.load(std::memory_order_acquire); }
  void set_cancelled() { cancelled_.store(true, std::memory_order_release); }
  void set_abandoned();

  [[nodiscard]] HostTable& host() { return host_; }
  [[nodiscard]] const InstanceOptions& options() const { return options_; }

  // Runs one call of the plugin, timed, with whatever it throws turned into an outcome. `function` returns a sluice_status; `outcome` is
  // what the plugin's writer got meanwhile. Nothing: the call succeeded.
  template <typename Function>
  [[nodiscard]] std::optional<Outcome> call(const char* name, std::optional<Outcome>& outcome, Function&& function) {
    const CallTimer timer(*this, name);
    try {
      return verdict(name, function(), std::move(outcome));
    } catch (const std::exception& thrown) {
      return threw(name, thrown.what());
    } catch (...) {
      return threw(name, "something that is not a std::exception");
    }
  }

  // The same for a call that says no more than whether it failed.
  template <typename Function>
  [[nodiscard]] CallResult<void> simple_call(const char* name, Function&& function) {
    OutcomeSlot slot(host().secrets());
    auto failure = call(name, slot.outcome(), [&] { return function(slot.writer()); });
    if (failure) return std::unexpected(*std::move(failure));
    return {};
  }
  template <typename Function>
  [[nodiscard]] CallResult<void> simple_call_unless_cancelled(const char* name, Function&& function) {
    if (cancelled()) return std::unexpected(cancelled_outcome(name));
    return simple_call(name, function);
  }

  // Held around [control] calls; nothing to hold without a library.
  [[nodiscard]] std::unique_lock<std::mutex> control() const;
  // The plugin's own functions, which may throw.
  virtual void destroy_plugin() = 0;  // [control]
  virtual void cancel_plugin() = 0;   // [any-thread]

  // The outcome of a call that the host does not make any more.
  [[nodiscard]] Outcome cancelled_outcome(const char* name) const;
  [[nodiscard]] static sluice_call call_of(const CallOptions& options);

 private:
  class CallTimer {
   public:
    CallTimer(InstanceCore& core, const char* name) : core_(core) {
      core_.call_started_.store(core_.options_.clock->monotonic().count(), std::memory_order_relaxed);
      core_.call_name_.store(name, std::memory_order_release);
    }
    CallTimer(const CallTimer&) = delete;
    CallTimer& operator=(const CallTimer&) = delete;
    ~CallTimer() { core_.call_name_.store(nullptr, std::memory_order_release); }

   private:
    InstanceCore& core_;
  };

  [[nodiscard]] std::optional<Outcome> verdict(const char* name, std::int32_t status, std::optional<Outcome>&& outcome) const;
  [[nodiscard]] Outcome threw(const char* name, std::string_view what) const;

  std::shared_ptr<LoadedPlugin> plugin_;
  InstanceOptions options_;
  HostTable host_;
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> abandoned_{false};
  std::atomic<const char*> call_name_{nullptr};
  std::atomic<std::int64_t> call_started_{0};
};

// What sinks and sources have in common: watched, cancelled and given up from any thread while the object lives. Destruction calls destroy;
// the instance is closed then, or was never open. One that was abandoned, or whose call still runs, is leaked on purpose.
class Instance {
 public:
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;
  virtual ~Instance();

  // [any-thread]
  void cancel();
  [[nodiscard]] std::optional<RunningCall> running_call() const { return core_->running_call(); }
  [[nodiscard]] std::vector<std::pair<std::string, double>> metrics() const { return core_->host().metrics(); }
  // Gives up on a call that never returns: from now on the plugin's calls to its host do nothing, and destruction leaks the plugin's side.
  void abandon() { core_->set_abandoned(); }
  [[nodiscard]] bool abandoned() const { return core_->abandoned(); }

 protected:
  explicit Instance(std::unique_ptr<InstanceCore> core) : core_(std::move(core)) {}

  std::unique_ptr<InstanceCore> core_;
};

}  // namespace sluice::plugin
