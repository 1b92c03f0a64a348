// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/log_run.hpp"

#include <deque>
#include <future>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "core/base/clock.hpp"
#include "core/entry/batch.hpp"
#include "core/log/entry_log.hpp"
#include "core/node/shard.hpp"
#include "core/storage/posix_storage.hpp"
#include "runtime/bench/counting_storage.hpp"

namespace sluice::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kSyncThreads = 32;
constexpr std::uint32_t kInFlightMax = 1024;

// A log as a node has it.
log::LogOptions options_of(const std::filesystem::path& directory, std::uint32_t partition, node::Shard& shard) {
  log::LogOptions options;
  options.directory = (directory / std::to_string(partition)).string();
  options.group = GroupId(partition + 1);
  options.incarnation = Incarnation(1);
  options.clock = &system_clock();
  options.defer = [&shard](std::move_only_function<void()> task) { shard.post(std::move(task)); };
  options.after = [&shard](std::chrono::nanoseconds delay, std::move_only_function<void()> task) { shard.after(delay, std::move(task)); };
  return options;
}

// One shard with the logs of a run on it. Closes them in the end.
class LogShard {
 public:
  LogShard() : threads_(kSyncThreads), storage_(storage::posix_storage()), shard_(0, threads_) {}
  ~LogShard() { stop(); }
  LogShard(const LogShard&) = delete;
  LogShard& operator=(const LogShard&) = delete;

  Result<void> open(const std::filesystem::path& directory, const LogLoad& load) {
    const auto unsynced = std::make_shared<log::UnsyncedBudget>();
    const auto prewrite = std::make_shared<log::PrewriteBudget>();
    for (std::uint32_t i = 0; i < load.partitions; ++i) {
      log::LogOptions options = options_of(directory, i, shard_);
      options.unsynced = unsynced;
      options.prewrite = load.zeros_ahead ? prewrite : nullptr;
      options.index_sync = load.index_sync;
      if (load.index_sync) options.index_stride_bytes = 1;
      SLUICE_TRY(log::OpenedLog opened, log::EntryLog::open(storage_, shard_.io(), std::move(options)));
      logs_.push_back(std::move(opened.log));
    }
    shard_.start();
    return {};
  }

  // Syncs and closes every log; the first error of any.
  Result<void> close() {
    Result<void> outcome;
    for (const auto& log : logs_) {
      std::promise<Result<void>> closed;
      shard_.post([&] { log->close([&](Result<void> result) { closed.set_value(std::move(result)); }); });
      if (auto result = closed.get_future().get(); !result && outcome) outcome = std::move(result);
    }
    return outcome;
  }

  node::Shard& shard() { return shard_; }
  log::EntryLog& log(std::uint32_t index) { return *logs_[index % logs_.size()]; }
  [[nodiscard]] std::uint64_t syncs() const { return storage_.syncs(); }

 private:
  void stop() {
    if (logs_.empty()) return;
    std::promise<void> gone;
    shard_.post([&] {
      logs_.clear();
      gone.set_value();
    });
    gone.get_future().wait();
    shard_.stop();
  }

  storage::IoThreads threads_;
  CountingStorage storage_;
  node::Shard shard_;
  std::vector<std::unique_ptr<log::EntryLog>> logs_;
};

// A closed loop: as many batches on their way as allowed, the next one when one completes. All but the constructor and finished() runs
// on the shard's thread.
class InShardProducer {
 public:
  InShardProducer(log::EntryLog& log, std::deque<entry::EntryDraft> drafts, const LogLoad& load)
      : log_(log), drafts_(std::move(drafts)), fsync_(load.fsync), in_flight_max_(load.in_flight), left_(drafts_.size()) {
    latencies_.reserve(left_);
  }

  // A completion may come inside append(): the loop goes on here then, not in the completion, or the stack would grow with the run.
  void pump() {
    if (pumping_) return;
    pumping_ = true;
    while (!drafts_.empty() && in_flight_ < in_flight_max_) {
      entry::EntryDraft draft = std::move(drafts_.front());
      drafts_.pop_front();
      ++in_flight_;
      const auto begin = SteadyClock::now();
      const entry::EntryStamp stamp = log_.next_stamp(draft, system_clock().wall(), fsync_);
      log_.append(std::move(draft).stamp(stamp), [this, begin](Result<void> outcome) {
        latencies_.add(SteadyClock::now() - begin);
        --in_flight_;
        --left_;
        if (!outcome) drafts_.clear(), left_ = in_flight_, failure_ = std::move(outcome).error();
        if (left_ == 0) return done_.set_value();
        pump();
      });
    }
    pumping_ = false;
  }

  std::future<void> finished() { return done_.get_future(); }
  [[nodiscard]] const Samples& latencies() const { return latencies_; }
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }

 private:
  log::EntryLog& log_;
  std::deque<entry::EntryDraft> drafts_;
  bool fsync_;
  std::uint32_t in_flight_max_;
  std::size_t left_;
  std::uint32_t in_flight_ = 0;
  bool pumping_ = false;
  Samples latencies_;
  std::optional<Error> failure_;
  std::promise<void> done_;
};

// The same from a thread of its own.
class ThreadProducer {
 public:
  ThreadProducer(node::Shard& shard, log::EntryLog& log, std::deque<entry::EntryDraft> drafts, const LogLoad& load)
      : shard_(shard), log_(log), drafts_(std::move(drafts)), fsync_(load.fsync), in_flight_max_(load.in_flight), slots_(load.in_flight) {
    latencies_.reserve(drafts_.size());
  }

  void run() {
    for (entry::EntryDraft& draft : drafts_) {
      slots_.acquire();
      shard_.post([this, draft = std::move(draft), begin = SteadyClock::now()]() mutable {
        const entry::EntryStamp stamp = log_.next_stamp(draft, system_clock().wall(), fsync_);
        log_.append(std::move(draft).stamp(stamp), [this, begin](Result<void> outcome) {
          latencies_.add(SteadyClock::now() - begin);
          if (!outcome) failure_ = std::move(outcome).error();
          slots_.release();
        });
      });
    }
    for (std::uint32_t i = 0; i < in_flight_max_; ++i) slots_.acquire();
  }

  [[nodiscard]] const Samples& latencies() const { return latencies_; }
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }

 private:
  node::Shard& shard_;
  log::EntryLog& log_;
  std::deque<entry::EntryDraft> drafts_;
  bool fsync_;
  std::uint32_t in_flight_max_;
  std::counting_semaphore<kInFlightMax> slots_;
  Samples latencies_;  // on the shard's thread until the last slot came back
  std::optional<Error> failure_;
};

template <typename Producer>
Result<void> collect(const std::deque<Producer>& producers, LogRun& run) {
  for (const Producer& producer : producers) {
    if (producer.failure()) return fail(*producer.failure());
    run.latencies.merge(producer.latencies());
  }
  return {};
}

Result<void> run_in_shard(LogShard& shard, std::deque<std::deque<entry::EntryDraft>> drafts, const LogLoad& load, LogRun& run) {
  std::deque<InShardProducer> producers;
  for (std::uint32_t i = 0; i < load.producers; ++i) producers.emplace_back(shard.log(i), std::move(drafts[i]), load);
  std::vector<std::future<void>> finished;
  finished.reserve(load.producers);
  for (InShardProducer& producer : producers) finished.push_back(producer.finished());
  const auto begin = SteadyClock::now();
  shard.shard().post([&] {
    for (InShardProducer& producer : producers) producer.pump();
  });
  for (std::future<void>& done : finished) done.wait();
  run.seconds = std::chrono::duration<double>(SteadyClock::now() - begin).count();
  // Whatever the last completion was inside of has returned when this task runs.
  std::promise<void> settled;
  shard.shard().post([&] { settled.set_value(); });
  settled.get_future().wait();
  return collect(producers, run);
}

Result<void> run_on_threads(LogShard& shard, std::deque<std::deque<entry::EntryDraft>> drafts, const LogLoad& load, LogRun& run) {
  std::deque<ThreadProducer> producers;
  for (std::uint32_t i = 0; i < load.producers; ++i) producers.emplace_back(shard.shard(), shard.log(i), std::move(drafts[i]), load);
  const auto begin = SteadyClock::now();
  std::vector<std::thread> threads;
  threads.reserve(load.producers);
  for (ThreadProducer& producer : producers) threads.emplace_back([&producer] { producer.run(); });
  for (std::thread& thread : threads) thread.join();
  run.seconds = std::chrono::duration<double>(SteadyClock::now() - begin).count();
  return collect(producers, run);
}

}  // namespace

Result<entry::EntryDraft> make_batch(std::uint32_t records, std::uint32_t record_bytes) {
  const ByteVector payload(record_bytes, std::byte{'x'});
  entry::BatchBuilder batch;
  for (std::uint32_t i = 0; i < records; ++i) {
    RecordView record;
    record.payload = Bytes(payload);
    SLUICE_CHECK(batch.add(record));
  }
  return std::move(batch).finish();
}

Result<LogRun> run_log_load(const LogLoad& load, const std::filesystem::path& directory) {
  LogRun run;
  std::deque<std::deque<entry::EntryDraft>> drafts(load.producers);
  for (auto& of_one : drafts) {
    for (std::uint32_t i = 0; i < load.batches; ++i) {
      SLUICE_TRY(entry::EntryDraft draft, make_batch(load.records, load.record_bytes));
      run.bytes += draft.stored_bytes();
      of_one.push_back(std::move(draft));
    }
  }
  run.batches = std::uint64_t{load.producers} * load.batches;
  run.records = run.batches * load.records;
  LogShard shard;
  SLUICE_CHECK(shard.open(directory, load));
  const std::uint64_t syncs_before = shard.syncs();
  if (load.placement == Placement::kInShard)
    SLUICE_CHECK(run_in_shard(shard, std::move(drafts), load, run));
  else
    SLUICE_CHECK(run_on_threads(shard, std::move(drafts), load, run));
  run.flushes = (shard.syncs() - syncs_before) / (load.index_sync ? 2 : 1);
  SLUICE_CHECK(shard.close());
  return run;
}

Result<PollRun> run_sequential_poll(const std::filesystem::path& directory, std::uint64_t bytes_max) {
  LogShard shard;
  SLUICE_CHECK(shard.open(directory, {}));
  PollRun run;
  std::promise<Result<void>> done;
  log::ReadRequest request;
  request.bytes_max = bytes_max;
  // Each answer asks for the next; the first empty one ends it.
  std::function<void()> next = [&] {
    shard.log(0).read(request, [&](Result<log::ReadResult> result) {
      if (!result) return done.set_value(fail(std::move(result).error()));
      if (result->entries.empty()) return done.set_value({});
      for (const entry::SharedEntry& shared : result->entries) run.bytes += shared.header().stored_bytes();
      request.from = result->cursor.offset;
      request.cursor = result->cursor;
      shard.shard().post([&] { next(); });
    });
  };
  const auto begin = SteadyClock::now();
  shard.shard().post([&] {
    request.from = shard.log(0).first_offset();
    request.up_to = shard.log(0).head().op;
    next();
  });
  auto outcome = done.get_future().get();
  run.seconds = std::chrono::duration<double>(SteadyClock::now() - begin).count();
  SLUICE_CHECK(std::move(outcome));
  return run;
}

Result<PollRun> run_recovery_walk(const std::filesystem::path& directory) {
  LogShard shard;
  PollRun run;
  const auto begin = SteadyClock::now();
  SLUICE_CHECK(shard.open(directory, {}));
  run.seconds = std::chrono::duration<double>(SteadyClock::now() - begin).count();
  run.bytes = shard.log(0).size_bytes();
  return run;
}

}  // namespace sluice::bench
