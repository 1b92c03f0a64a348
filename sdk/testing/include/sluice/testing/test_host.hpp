// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/abi/host.h>
#include <sluice/context.hpp>
#include <sluice/outcome.hpp>

namespace sluice::testing {

// One side broke the ABI's contract; the text says which rule. Thrown by the drivers, so that a test fails where it happened.
class ContractViolation : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

struct LogLine {
  LogLevel level;
  std::string text;
};

struct RetryNote {
  std::uint32_t attempt;
  Duration wait;
  Outcome error;
};

// A host table that remembers what a connector does with it and checks its arguments. Must outlive every instance made with it.
// Like the daemon it makes the process ignore SIGPIPE: a connection that the other end has closed fails the call that writes to it.
// Thread-safe.
class TestHost {
 public:
  explicit TestHost(std::string connector_key = "test");
  TestHost(const TestHost&) = delete;
  TestHost& operator=(const TestHost&) = delete;

  [[nodiscard]] const sluice_host& table() const { return table_; }

  // From now on time moves only by advance. It starts at one second after zero, wall time at 2023-11-14T22:13:20Z.
  void use_manual_clock();
  void advance(Duration by) { manual_ns_ += static_cast<std::uint64_t>(by.count()) * 1'000'000; }
  [[nodiscard]] std::uint64_t monotonic_ns() const;

  [[nodiscard]] std::vector<LogLine> logs() const;
  [[nodiscard]] std::vector<RetryNote> retries() const;
  [[nodiscard]] std::uint64_t wakes() const { return wakes_; }
  // The value of a counter or gauge, nothing if the connector never asked for it.
  [[nodiscard]] std::optional<double> metric(std::string_view name) const;

  // A broken rule noticed where nothing can be thrown: on a plugin's stack. The first one is kept until taken.
  void note_violation(std::string text);
  void throw_if_violated();

 private:
  struct Metric {
    std::string name;
    std::int32_t kind;
    double value;
  };

  static TestHost& self(void* host_data) { return *static_cast<TestHost*>(host_data); }
  void fill_table();
  std::uint32_t metric_handle(std::int32_t kind, std::string_view name);
  void change_metric(std::uint32_t handle, std::int32_t kind, double value);

  std::string key_;
  sluice_host table_{};
  std::atomic<bool> manual_clock_{false};
  std::atomic<std::uint64_t> manual_ns_{1'000'000'000};
  std::atomic<std::uint64_t> wakes_{0};
  std::atomic<std::uint64_t> random_{0x5EED};
  mutable std::mutex mutex_;
  std::vector<LogLine> logs_;
  std::vector<RetryNote> retries_;
  std::vector<Metric> metrics_;
  std::optional<std::string> violation_;
};

// Copies an outcome that a plugin gave; a broken one is noted as a violation at the host.
[[nodiscard]] Outcome checked_outcome(TestHost& host, const sluice_outcome* outcome);

// The calls of one instance: which are allowed when, and never two at a time. Throws ContractViolation against whoever calls.
class CallOrder {
 public:
  enum class State : std::uint8_t { kClosed, kOpen };

  // Alive during one call.
  class Call {
   public:
    Call(CallOrder& order, State needed, const char* name);
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    ~Call() { order_.running_ = false; }

   private:
    CallOrder& order_;
  };

  void set(State state) { state_ = state; }
  [[nodiscard]] bool is_open() const { return state_ == State::kOpen; }

 private:
  std::atomic<bool> running_{false};
  State state_ = State::kClosed;
};

// What a call gave back: its status must fit to whether an outcome was written, and after cancel it must be the class cancelled.
// Nothing = the call succeeded.
[[nodiscard]] std::optional<Outcome> checked_status(TestHost& host, const char* call, sluice_status status, std::optional<Outcome> outcome,
                                                    bool must_be_cancelled);

// A writer that collects the outcome of one call.
class OutcomeCollector {
 public:
  explicit OutcomeCollector(TestHost& host);
  OutcomeCollector(const OutcomeCollector&) = delete;
  OutcomeCollector& operator=(const OutcomeCollector&) = delete;

  [[nodiscard]] const sluice_outcome_writer* abi() const { return &abi_; }
  [[nodiscard]] std::optional<Outcome> take() { return std::move(outcome_); }

 private:
  TestHost& host_;
  sluice_outcome_writer abi_{};
  std::optional<Outcome> outcome_;
};

}  // namespace sluice::testing
