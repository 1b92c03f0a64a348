// SPDX-License-Identifier: Apache-2.0
// A lane with the rest of the worker around it, reduced to what a test wants to see.
#pragma once

#include "runtime/pipeline/lane.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace sluice::pipeline {

using namespace std::chrono_literals;
using config::Disposition;
using config::Ordering;
using plugin::OutcomeClass;
using plugin::Scope;

inline plugin::Outcome outcome(OutcomeClass outcome_class, Scope scope = Scope::kRecord) {
  plugin::Outcome out;
  out.outcome_class = outcome_class;
  out.scope = scope;
  out.code = "test.failed";
  out.text = "no";
  return out;
}

struct OwnedRead {
  std::vector<Record> records;
  client::ReadResult result;
};

// A read of the given offsets, each with the key of its place in `keys`.
inline std::shared_ptr<const client::ReadResult> read(std::uint64_t from, const std::vector<std::uint64_t>& offsets, std::uint64_t next,
                                                      std::string_view keys = {}) {
  auto owned = std::make_shared<OwnedRead>();
  owned->records.resize(offsets.size());
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const Bytes payload = as_bytes("0123456789");
    owned->records[i].payload.emplace(payload.begin(), payload.end());
    if (!keys.empty()) owned->records[i].key = ByteVector{static_cast<std::byte>(keys[i])};
    owned->result.records.push_back({Offset(offsets[i]), TimestampUs(1), owned->records[i].view()});
  }
  owned->result.next = Offset(next);
  owned->result.gap_offsets = next - from - offsets.size();
  return {owned, &owned->result};
}

inline std::shared_ptr<const client::ReadResult> read(std::uint64_t from, std::uint64_t next, std::string_view keys = {}) {
  std::vector<std::uint64_t> offsets;
  for (std::uint64_t offset = from; offset < next; ++offset) offsets.push_back(offset);
  return read(from, offsets, next, keys);
}

class LaneTest : public testing::Test {
 protected:
  LaneTest() { options_.commit_before_next = false; }

  void start(std::uint64_t committed = 0, std::uint64_t resume = 0) {
    lane_.emplace(options_, PartitionProgress(Offset(committed), Offset(committed), {}), Offset(std::max(committed, resume)));
  }
  void add(std::shared_ptr<const client::ReadResult> result) { ASSERT_TRUE(lane_->add(std::move(result), now_)); }
  std::vector<std::uint64_t> take(std::uint64_t max = 1'000'000) {
    std::vector<std::uint64_t> offsets;
    if (!lane_->take(now_, max, batch_)) return offsets;
    for (const auto& item : batch_.items) offsets.push_back(item.record->offset.value());
    in_flight_ = batch_.offered_before ? 0 : offsets.size();
    return offsets;
  }
  // Answers the batch that was taken last. `durable` absent: durable as far as accepted.
  LaneVerdict answer(std::uint64_t accepted_next, std::vector<std::pair<std::uint32_t, plugin::Outcome>> failures = {},
                     std::optional<std::uint64_t> durable = std::nullopt, std::optional<plugin::Outcome> failure = std::nullopt) {
    plugin::WriteReport report{
        Offset(accepted_next), Offset(std::max(durable.value_or(accepted_next), reported_)), {}, {}, std::move(failure)};
    reported_ = report.durable_next.value();
    for (auto& [index, why] : failures) report.failures.push_back({index, std::move(why)});
    const LaneVerdict verdict = lane_->wrote(batch_, report, window_, now_, random_);
    in_flight_ = 0;
    expect_identity();
    return verdict;
  }
  std::uint64_t commit() {
    const auto commit = lane_->begin_commit();
    if (!commit) return lane_->progress().committed_next().value();
    lane_->commit_succeeded();
    expect_identity();
    return commit->next.value();
  }
  // in = every bucket + pending, with pending counted from the queues.
  void expect_identity() {
    const PartitionProgress& progress = lane_->progress();
    std::uint64_t pending = lane_->queued_records() + in_flight_;
    EXPECT_EQ(pending, progress.count(Fate::kPending));
    for (const Fate fate :
         {Fate::kAccepted, Fate::kDelivered, Fate::kFiltered, Fate::kSkipped, Fate::kDeadLettered, Fate::kExpired, Fate::kGap}) {
      pending += progress.count(fate);
    }
    EXPECT_EQ(progress.accounting().sum() + pending, progress.read_next() - progress.start_offset());
  }
  const client::Accounting& accounting() { return lane_->progress().accounting(); }

  LaneOptions options_;
  std::optional<Lane> lane_;
  LaneBatch batch_;
  OutcomeWindow window_{0.5};
  SeededRandom random_{1};
  Instant now_ = 1000s;
  std::uint64_t reported_ = 0;
  std::uint64_t in_flight_ = 0;  // fresh records that were taken and not answered
};
using Offsets = std::vector<std::uint64_t>;

}  // namespace sluice::pipeline
