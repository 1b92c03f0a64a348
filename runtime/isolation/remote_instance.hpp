// SPDX-License-Identifier: Apache-2.0
// What remote sinks and sources have in common. Internal to runtime/isolation.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "runtime/isolation/remote.hpp"

namespace sluice::isolation {

class RemoteInstance {
 public:
  RemoteInstance(std::unique_ptr<PluginProcess> process, const sluice_host& host) : process_(std::move(process)), host_(host) {}

  // Starts a process and makes the instance in it. Null: `failure` has the reason.
  [[nodiscard]] static std::unique_ptr<PluginProcess> create(const RemoteOptions& options, bool is_sink, std::uint32_t index,
                                                             const sluice_host& host, const sluice_outcome_writer* failure);

  [[nodiscard]] static auto fail_to(const sluice_outcome_writer* failure) {
    return [failure](const sluice_outcome& outcome) { failure->fail(failure->host_data, &outcome); };
  }
  // For the arguments of the next call.
  [[nodiscard]] ByteWriter begin() {
    arguments_.clear();
    return ByteWriter(arguments_);
  }
  // `read(ByteReader&)` takes the call's own results and says whether they could be read; `fail(const sluice_outcome&)` gets the reason of
  // a call that failed.
  template <typename Read, typename Fail>
  [[nodiscard]] sluice_status run(CallKind kind, const sluice_call& call, const Read& read, const Fail& fail,
                                  std::uint64_t wait_until_ns = 0) {
    const auto answer = process_->call(kind, call, arguments_, wait_until_ns);
    if (!answer) return failed(answer.error(), fail);
    ByteReader in(answer->results);
    if (!read(in)) return failed(process_->distrust(kind), fail);
    std::uint8_t has_outcome = 0;
    if (!get(in, has_outcome)) return failed(process_->distrust(kind), fail);
    if (has_outcome != 0) {
      const auto outcome = get_outcome(in);
      if (!outcome) return failed(process_->distrust(kind), fail);
      (void)failed(*outcome, fail);
    }
    if (!take_metrics(in) || !in.finished()) return failed(process_->distrust(kind), fail);
    return answer->status;
  }
  // The same for calls whose arguments and results are nothing more.
  [[nodiscard]] sluice_status run(CallKind kind, const sluice_call& call, const sluice_outcome_writer* failure) {
    return run(kind, call, [](ByteReader&) { return true; }, fail_to(failure));
  }
  void cancel() { process_->cancel(); }

 private:
  template <typename Fail>
  [[nodiscard]] static sluice_status failed(const plugin::Outcome& outcome, const Fail& fail) {
    fail(abi_outcome(outcome));
    return SLUICE_FAILED;
  }
  [[nodiscard]] bool take_metrics(ByteReader& in);

  std::unique_ptr<PluginProcess> process_;
  const sluice_host& host_;
  ByteVector arguments_;
  struct Metric {
    std::uint32_t handle = 0;
    std::uint64_t value = 0;
  };
  std::map<std::string, Metric, std::less<>> metrics_;  // as last told; the daemon's table bounds them
};

}  // namespace sluice::isolation
