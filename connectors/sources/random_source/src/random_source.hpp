// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/plugin.hpp>
#include <sluice/size.hpp>
#include <sluice/source.hpp>

namespace sluice::random_source {

struct RandomSourceConfig {
  std::uint64_t count = 0;
  std::uint64_t rate = 0;
  Size payload_min;
  Size payload_max;
  std::uint64_t seed = 0;

  static void bind(Binding<RandomSourceConfig>& binding);
  void validate() const;
};

// Makes records of random printable text. Record number n is a function of seed and n alone: the same configuration gives the same records,
// in every run and after every restart. State: the number of the next record, as decimal text.
class RandomSource final : public Source {
 public:
  using Config = RandomSourceConfig;
  static constexpr Descriptor kDescriptor{
      .id = "random_source", .summary = "Makes random records at a given rate", .ordered = true, .max_batches_in_flight = 16};

  RandomSource(const Config& config, Context& context);

  void open(std::optional<std::string_view> state) override;
  void poll(const PollRequest& request, SourceWriter& writer) override;
  void on_result(std::uint64_t batch_id, BatchResult result) override;

 private:
  struct InFlight {
    std::uint64_t batch_id;
    std::uint64_t first;  // number of its first record
  };
  [[nodiscard]] std::string_view payload_of(std::uint64_t number) const;
  // Records that the rate allows by now; waits for the first one until wait_until_ns.
  [[nodiscard]] std::uint64_t due(std::uint64_t wait_until_ns);
  void restart_rate();

  Config config_;
  Context& context_;
  std::string text_;                 // what payloads are cut from
  std::uint64_t next_ = 0;           // number of the record to make next
  std::vector<InFlight> in_flight_;  // in order; at most max_batches_in_flight
  std::uint64_t rate_start_ns_ = 0;  // since when the rate counts
  std::uint64_t rate_made_ = 0;      // records made since then
};

}  // namespace sluice::random_source
