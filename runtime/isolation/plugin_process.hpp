// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <sluice/abi/call.h>
#include <sluice/abi/host.h>

#include "core/base/result.hpp"
#include "runtime/isolation/message.hpp"
#include "runtime/isolation/shared_area.hpp"
#include "runtime/plugin/child_process.hpp"
#include "runtime/plugin/outcome.hpp"

namespace sluice::isolation {

inline constexpr std::chrono::milliseconds kCancelGrace{1200};  // the interface gives a cancelled call a second
inline constexpr std::chrono::milliseconds kLeaveTime{1000};    // from the end of the calls to the end of the process

struct ProcessOptions {
  std::filesystem::path program;  // sluice-plugin-host
  std::filesystem::path file;     // the plugin
  std::chrono::milliseconds call_timeout{60'000};
  std::uint64_t memory_bytes_max = 1ULL << 30;
};

// The process of one plugin instance, as the daemon calls it. Once the process has ended, for whatever reason, every call answers with the
// outcome that says so: class transient, scope connector, code plugin.process_ended or plugin.process_hung. Another one is another object.
// Thread: one call at a time, cancel() at any time, the events of the child come on a thread of its own.
class PluginProcess {
 public:
  // `host` takes the child's logs and wakes, and outlives the object.
  [[nodiscard]] static Result<std::unique_ptr<PluginProcess>> start(const ProcessOptions& options, const sluice_host& host);
  PluginProcess(const PluginProcess&) = delete;
  PluginProcess& operator=(const PluginProcess&) = delete;
  // The child destroys its instance and leaves, or is ended.
  ~PluginProcess();

  struct Answer {
    std::int32_t status = 0;
    Bytes results;  // until the next call; the child may change them at any time
  };
  // `wait_until_ns`: until then the call may wait for input, and its time has not begun.
  [[nodiscard]] plugin::CallResult<Answer> call(CallKind kind, const sluice_call& call, Bytes arguments, std::uint64_t wait_until_ns = 0);
  void cancel();
  // Ends a process whose answer cannot be read.
  [[nodiscard]] plugin::Outcome distrust(CallKind kind);

 private:
  using Instant = std::chrono::steady_clock::time_point;
  enum class Waited : std::uint8_t { kAnswer, kEnded, kLate };

  PluginProcess(ProcessOptions options, const sluice_host& host, SharedArea area)
      : options_(std::move(options)), host_(host), area_(std::move(area)) {}
  [[nodiscard]] Result<void> launch();
  [[nodiscard]] Waited wait_for_answer(Instant until);
  // Kills and reaps it, and takes what it has said until then.
  void end();
  [[nodiscard]] plugin::Outcome ended_during(CallKind kind);
  [[nodiscard]] plugin::Outcome hung_in(CallKind kind, std::chrono::milliseconds time);

  // On the thread of the events.
  void take_events();
  enum class Took : std::uint8_t { kSome, kNothing, kEnd };
  [[nodiscard]] Took take_event();
  [[nodiscard]] Took take_stderr();
  void handle(Bytes event);

  ProcessOptions options_;
  const sluice_host& host_;
  SharedArea area_;
  pid_t child_ = 0;
  plugin::Fd watched_;  // a pidfd
  plugin::Fd calls_;
  plugin::Fd events_;
  plugin::Fd stderr_;
  plugin::Fd cancelled_;  // eventfds
  plugin::Fd finish_;
  bool cancel_seen_ = false;
  std::thread thread_;
  std::string stderr_tail_;  // the thread's, until it is joined
  std::string stderr_line_;
  std::optional<siginfo_t> exit_;
  std::optional<plugin::Outcome> ended_;
};

}  // namespace sluice::isolation
