// SPDX-License-Identifier: Apache-2.0
// What sink and source instances have in common: how they are made, watched, cancelled and given up.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
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

// The part of an instance that both kinds share. Owned by SinkInstance or SourceInstance through `Retained`.
class InstanceCore {
 public:
  explicit InstanceCore(InstanceOptions options);
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

  InstanceOptions options_;
  HostTable host_;
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> abandoned_{false};
  std::atomic<const char*> call_name_{nullptr};
  std::atomic<std::int64_t> call_started_{0};
};

// Keeps a core for the rest of the process: a call of its plugin may still return into it. Reachable, so that no leak check reports it.
void retain_for_ever(std::unique_ptr<InstanceCore> core);

}  // namespace sluice::plugin
