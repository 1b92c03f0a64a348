// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/instance.hpp"

#include <mutex>

#include <fmt/format.h>
#include <sluice/abi/bytes.h>

#include "runtime/base/text.hpp"
#include "runtime/plugin/loaded_plugin.hpp"

namespace sluice::plugin {

namespace {

// Keeps a core for the rest of the process: a call of its plugin may still return into it. Reachable, so that no leak check reports it.
void retain_for_ever(std::unique_ptr<InstanceCore> core) {
  static std::mutex mutex;
  static auto* retained = new std::vector<std::unique_ptr<InstanceCore>>();
  const std::lock_guard lock(mutex);
  retained->push_back(std::move(core));
}

}  // namespace

InstanceCore::InstanceCore(std::shared_ptr<LoadedPlugin> plugin, InstanceOptions options)
    : plugin_(std::move(plugin)),
      options_(std::move(options)),
      host_({.connector_key = options_.connector_key,
             .secrets = options_.secrets,
             .services = options_.services,
             .clock = options_.clock,
             .random = options_.random}) {}

std::optional<RunningCall> InstanceCore::running_call() const {
  // Name, time, name again: a time that belongs to another call than the name is never shown.
  const char* name = call_name_.load(std::memory_order_acquire);
  if (name == nullptr) return std::nullopt;
  const Clock::Monotonic started(call_started_.load(std::memory_order_acquire));
  if (call_name_.load(std::memory_order_acquire) != name) return std::nullopt;
  return RunningCall{name, started};
}

void InstanceCore::set_abandoned() {
  abandoned_.store(true, std::memory_order_release);
  host_.silence();
}

Outcome InstanceCore::cancelled_outcome(const char* name) const {
  Outcome outcome;
  outcome.outcome_class = OutcomeClass::kCancelled;
  outcome.code = kCancelledCode;
  outcome.text = fmt::format("{} was not called: the instance is cancelled", name);
  return outcome;
}

sluice_call InstanceCore::call_of(const CallOptions& options) {
  const auto deadline = options.deadline == kNoDeadline ? SLUICE_NO_DEADLINE : static_cast<std::uint64_t>(options.deadline.count());
  return {.struct_size = sizeof(sluice_call), .attempt = options.attempt, .deadline_ns = deadline};
}

std::optional<Outcome> InstanceCore::verdict(const char* name, std::int32_t status, std::optional<Outcome>&& outcome) const {
  if (status == SLUICE_OK) {
    if (!outcome) return std::nullopt;
    return contract_violation(fmt::format("{} returned success after it had reported a failure: {}", name, outcome->text));
  }
  if (status != SLUICE_FAILED) return contract_violation(fmt::format("{} returned the unknown status {}", name, status));
  if (!outcome) {
    Outcome unexplained = contract_violation(fmt::format("{} failed without saying why", name));
    unexplained.code = kNoReasonCode;
    return unexplained;
  }
  if (outcome->outcome_class == OutcomeClass::kCancelled && !cancelled()) {
    return contract_violation(fmt::format("{} reported that it was cancelled, but nobody had cancelled it: {}", name, outcome->text));
  }
  return std::move(outcome);
}

Outcome InstanceCore::threw(const char* name, std::string_view what) const {
  Outcome outcome = contract_violation(
      fmt::format("{} threw an exception across the plugin interface: {}", name, clean_text(what, kOutcomeTextBytesMax, options_.secrets)));
  outcome.code = kThrewCode;
  return outcome;
}

std::unique_lock<std::mutex> InstanceCore::control() const {
  return plugin_ ? std::unique_lock(plugin_->control()) : std::unique_lock<std::mutex>();
}

Instance::~Instance() {
  if (core_->abandoned() || core_->running_call()) {
    core_->set_abandoned();
    retain_for_ever(std::move(core_));
    return;
  }
  std::optional<Outcome> none;
  (void)core_->call("destroy", none, [&] {
    const auto control = core_->control();
    core_->destroy_plugin();
    return SLUICE_OK;
  });
}

void Instance::cancel() {
  core_->set_cancelled();
  try {
    core_->cancel_plugin();
  } catch (...) {
    // The flag is set: whatever the running call returns, no other follows.
  }
}

}  // namespace sluice::plugin
