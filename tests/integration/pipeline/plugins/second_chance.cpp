// SPDX-License-Identifier: Apache-2.0
// A sink as its author writes one with the SDK, whose back end is busy at the first sight of every tenth record.
#include <set>

#include <sluice/binding.hpp>
#include <sluice/plugin.hpp>
#include <sluice/sink.hpp>

namespace {

struct NoConfig {
  static void bind(sluice::Binding<NoConfig>& /*b*/) {}
};

class SecondChanceSink final : public sluice::Sink {
 public:
  using Config = NoConfig;
  static constexpr sluice::Descriptor kDescriptor{.id = "second_chance_sink", .summary = "Takes every tenth record at the second attempt"};

  SecondChanceSink(NoConfig /*config*/, sluice::Context& /*context*/) {}

  void write(const sluice::Batch& batch, sluice::WriteResult& result) override {
    for (std::uint32_t i = 0; i < batch.size(); ++i) {
      if (batch[i].offset() % 10 != 5 || !seen_.insert(batch[i].offset()).second) continue;
      result.fail(i, sluice::TransientError("http.status", "busy", {.http_status = 503}).outcome());
    }
    result.deliver_all();
  }

 private:
  std::set<std::uint64_t> seen_;
};

}  // namespace

SLUICE_PLUGIN("second_chance", "1.0", SecondChanceSink);
