// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/clock.hpp"
#include "core/entry/batch.hpp"
#include "core/log/entry_log.hpp"
#include "core/log/segment_page.hpp"
#include "tests/unit/core/log/memory_storage.hpp"

namespace sluice::test {

inline const std::string kDirectory = "/data/partition";

inline entry::EntryDraft batch_of(std::uint32_t count, const std::string& payload) {
  entry::BatchBuilder builder;
  for (std::uint32_t i = 0; i < count; ++i) {
    RecordView record;
    record.id = U128{i, 7};
    const std::string text = payload + std::to_string(i);
    record.payload = as_bytes(text);
    record.origin_timestamp = TimestampUs{1'000 + i};
    EXPECT_TRUE(builder.add(record).has_value());
  }
  return *std::move(builder).finish();
}

inline entry::EntryDraft operation_of(const std::string& body) {
  return *entry::EntryDraft::operation(entry::EntryKind::kPartitionOp, as_bytes(body));
}

// Entries of one size, so that a test can name the position of the n-th.
inline entry::EntryDraft filler() {
  return batch_of(2, "x");
}
inline constexpr std::uint64_t kFilledBytes = 296;
constexpr std::uint64_t position_of(std::uint64_t index) {
  return log::kSegmentPageBytes + index * kFilledBytes;
}

// A log on a storage in memory, with jobs that run when the test says so (by default, at once after each call).
class LogFixture : public ::testing::Test {
 protected:
  static log::LogOptions options() {
    log::LogOptions out;
    out.directory = kDirectory;
    out.group = GroupId{7};
    out.incarnation = Incarnation{3};
    return out;
  }
  // With segments of a few entries.
  static log::LogOptions small() {
    auto out = options();
    out.segment_bytes = 6000;
    return out;
  }

  // The process dies: what it wrote is there, and its witness is too.
  void kill() {
    if (log_ && log_->acknowledged_op() != Op{0})
      witness_ = log::Witness{log_->acknowledged().op, log_->acknowledged().id, log_->acknowledged_op()};
    log_.reset();
    queue_.run_all();
  }
  // The process closes the log and ends.
  void close_log() {
    std::optional<Result<void>> outcome;
    log_->close([&](Result<void> result) { outcome = std::move(result); });
    queue_.run_all();
    ASSERT_TRUE(outcome.has_value());
    ASSERT_TRUE(outcome->has_value()) << outcome->error().to_string();
    kill();
  }
  Result<void> open(log::LogOptions with = options()) {
    kill();
    with.witness = witness_;
    auto opened = log::EntryLog::open(storage_, queue_, std::move(with));
    if (!opened) return fail(opened.error());
    log_ = std::move(opened->log);
    report_ = opened->report;
    checkpoint_ = std::move(opened->checkpoint);
    return {};
  }
  void must_open(log::LogOptions with = options()) {
    const auto opened = open(std::move(with));
    ASSERT_TRUE(opened.has_value()) << opened.error().to_string();
  }
  // The code of the error that opening gives.
  std::string open_code() {
    const auto opened = open();
    return opened ? "opened" : std::string(opened.error().code());
  }

  entry::SharedEntry stamped(entry::EntryDraft draft, bool must_sync = false) {
    entry::EntryStamp stamp = log_->next_stamp(draft, clock_.wall(), must_sync);
    stamp.commit = log_->acknowledged_op();
    return std::move(draft).stamp(stamp);
  }
  // What the owner does first if offsets are in doubt.
  void close_gap() {
    const auto from = log_->mint_from();
    if (!from) return;
    log_->append(stamped(entry::EntryDraft::gap(*from), true), [](Result<void>) {});
  }
  // Appends and runs what that started; the outcome.
  Result<void> append(entry::EntryDraft draft, bool must_sync = false) {
    close_gap();
    const auto outcome = std::make_shared<std::optional<Result<void>>>();
    log_->append(stamped(std::move(draft), must_sync), [outcome](Result<void> result) { *outcome = std::move(result); });
    queue_.run_all();
    return *outcome ? **outcome : fail(sluice::Errc::kInternal, "no outcome");
  }
  void must_append(entry::EntryDraft draft, bool must_sync = false) {
    const auto appended = append(std::move(draft), must_sync);
    ASSERT_TRUE(appended.has_value()) << appended.error().to_string();
  }
  void fill(int count, bool must_sync = false) {
    for (int i = 0; i < count; ++i) must_append(filler(), must_sync);
  }
  Result<void> checkpoint(const std::string& body) {
    const auto outcome = std::make_shared<std::optional<Result<void>>>();
    log_->write_checkpoint(log_->acknowledged_op(), ByteVector(as_bytes(body).begin(), as_bytes(body).end()),
                           [outcome](Result<void> result) { *outcome = std::move(result); });
    queue_.run_all();
    return *outcome ? **outcome : fail(sluice::Errc::kInternal, "no outcome");
  }
  Result<std::size_t> drop_before(Offset floor) {
    std::optional<Result<std::size_t>> outcome;
    log_->drop_before(floor, [&](Result<std::size_t> result) { outcome = std::move(result); });
    queue_.run_all();
    return outcome ? *outcome : fail(sluice::Errc::kInternal, "no outcome");
  }
  Result<void> sync() {
    const auto outcome = std::make_shared<std::optional<Result<void>>>();
    log_->sync([outcome](Result<void> result) { *outcome = std::move(result); });
    queue_.run_all();
    return *outcome ? **outcome : fail(sluice::Errc::kInternal, "no outcome");
  }
  Result<log::ReadResult> read(Offset from, std::uint64_t bytes_max = 1u << 20, std::optional<log::ReadCursor> cursor = std::nullopt) {
    std::optional<Result<log::ReadResult>> outcome;
    log_->read({from, log_->acknowledged_op(), bytes_max, cursor}, [&](Result<log::ReadResult> result) { outcome = std::move(result); });
    queue_.run_all();
    return outcome ? std::move(*outcome) : fail(sluice::Errc::kInternal, "no outcome");
  }
  // Every payload from `from` on, by as many polls as it takes.
  std::vector<std::string> payloads(Offset from, std::uint64_t bytes_max = 1u << 20, bool with_cursor = true) {
    std::vector<std::string> out;
    std::optional<log::ReadCursor> cursor;
    Offset next = from;
    while (true) {
      auto result = read(next, bytes_max, with_cursor ? cursor : std::nullopt);
      EXPECT_TRUE(result.has_value()) << result.error().to_string();
      if (!result || result->entries.empty()) return out;
      for (const entry::SharedEntry& shared : result->entries) {
        if (shared.header().kind != entry::EntryKind::kMessages) continue;
        const auto batch = entry::BatchView::parse(shared.view);
        EXPECT_TRUE(batch.has_value());
        for (auto it = batch->from(next); it != batch->end(); ++it) out.emplace_back(as_text(*(*it).record.payload));
      }
      next = result->cursor.offset;
      cursor = result->cursor;
    }
  }

  static std::string path_of(Op first_op) { return kDirectory + "/" + log::segment_name(first_op); }
  static std::string index_path_of(Op first_op) { return kDirectory + "/" + log::index_name(first_op); }
  ByteVector& segment(std::uint64_t first_op = 1) { return storage_.bytes(path_of(Op{first_op})); }

  MemoryStorage storage_;
  ManualQueue queue_;
  ManualClock clock_;
  std::unique_ptr<log::EntryLog> log_;
  log::RecoveryReport report_;
  std::optional<log::Witness> witness_;
  std::optional<log::Checkpoint> checkpoint_;
};

}  // namespace sluice::test
