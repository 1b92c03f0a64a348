// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/log_bench.hpp"

#include <algorithm>
#include <functional>
#include <tuple>

#include <fmt/format.h>

#include "core/base/random.hpp"
#include "core/log/segment_page.hpp"
#include "core/log/unsynced_budget.hpp"
#include "runtime/bench/log_floor.hpp"
#include "runtime/bench/log_run.hpp"
#include "runtime/bench/warm_memory.hpp"

namespace sluice::bench {
namespace {

constexpr std::uint32_t kFloorFlushes = 2000;
constexpr std::uint64_t kPollBytes = 1u << 20;
constexpr std::uint64_t kWarmBytes = 2 * kBenchFileBytesMax;  // batches in memory, and the file that they go to
constexpr std::uint64_t kOnTheirWayBytes = 2u << 20;          // of a producer that does not wait for each answer
constexpr std::uint64_t kOnTheirWayMin = 8;
constexpr std::uint64_t kOnTheirWayMax = 256;

// The shapes of the cases: records of a batch and bytes of a record.
struct Shape {
  std::uint32_t records;
  std::uint32_t record_bytes;
};
constexpr Shape kSmall{10, 100};    // 1.7 kB stored
constexpr Shape kMedium{8, 100};    // 1.4 kB
constexpr Shape kLarge{126, 1000};  // 132 kB
constexpr Shape kTiny{1, 160};      // 400 B

constexpr const char* kOneProducer = "1 producer, fsync";
constexpr const char* kEightProducers = "8 producers, fsync, 1 partition";
constexpr const char* kManyPartitions = "64 partitions, 1 producer each, fsync";
constexpr const char* kOffLarge = "fsync off, 132 KB batches";
constexpr const char* kOffMedium = "fsync off, 1.3 KB batches";
constexpr const char* kPoll = "sequential poll, warm";
constexpr const char* kWalkSmall = "recovery walk, 1.7 KB entries";
constexpr const char* kWalkTiny = "recovery walk, 400 B entries";
constexpr const char* kLadder = "ladder";

struct Case {
  const char* name;
  std::function<Result<void>()> measure;
};

const char* name_of(Placement placement) {
  return placement == Placement::kInShard ? "in_shard" : "own";
}

// Carries what one run of the bench needs from case to case.
class LogBench {
 public:
  explicit LogBench(const LogBenchOptions& options) : options_(options) {}

  Result<std::vector<LogFigure>> run() {
    std::vector<Case> cases;
    for (const Placement placement : {Placement::kInShard, Placement::kOwnThreads}) {
      cases.push_back({kOneProducer, [this, placement] { return one_producer(placement); }});
      cases.push_back({kEightProducers, [this, placement] { return eight_producers(placement); }});
      cases.push_back({kOffLarge, [this, placement] { return fsync_off(kOffLarge, kLarge, placement, 0.9, 0.8); }});
      cases.push_back({kOffMedium, [this, placement] { return fsync_off(kOffMedium, kMedium, placement, 1.2, 0.5); }});
    }
    cases.push_back({kManyPartitions, [this] { return many_partitions(); }});
    cases.push_back({kPoll, [this] { return sequential_poll(); }});
    cases.push_back({kWalkSmall, [this] { return recovery_walk(kWalkSmall, kSmall, 0.8); }});
    cases.push_back({kWalkTiny, [this] { return recovery_walk(kWalkTiny, kTiny, 0.55); }});
    SeededRandom random(options_.seed);
    for (std::size_t i = cases.size(); i > 1; --i) std::swap(cases[i - 1], cases[random.below(i)]);
    cases.push_back({kLadder, [this] { return ladder(); }});
    for (const Case& one : cases) {
      if (std::string_view(one.name).find(options_.only) == std::string_view::npos) continue;
      SLUICE_CHECK(use_memory_once(options_.scratch, kWarmBytes));
      SLUICE_CHECK(one.measure());
    }
    std::ranges::sort(figures_, {}, [](const LogFigure& figure) { return std::tie(figure.name, figure.placement, figure.metric); });
    return std::move(figures_);
  }

 private:
  [[nodiscard]] std::uint32_t scaled(std::uint32_t batches) const {
    return std::max<std::uint32_t>(20, static_cast<std::uint32_t>(batches * options_.scale));
  }
  [[nodiscard]] std::filesystem::path floor_file() const { return options_.scratch / "floor"; }

  // A run in a directory of its own, which `after` may still read and which is gone then.
  Result<LogRun> measure(const LogLoad& load, const std::function<Result<void>(const std::filesystem::path&)>& after = {}) {
    const std::filesystem::path directory = options_.scratch / fmt::format("log-{}", runs_++);
    std::filesystem::create_directories(directory);
    auto run = run_log_load(load, directory);
    Result<void> outcome;
    if (run && after) outcome = after(directory);
    std::filesystem::remove_all(directory);
    if (!outcome) return fail(std::move(outcome).error());
    return run;
  }

  static LogFigure figure_of(const std::string& name, const LogLoad& load, const LogRun& run) {
    LogFigure figure;
    figure.name = name;
    figure.placement = name_of(load.placement);
    figure.producers = load.producers;
    figure.batch_records = load.records;
    figure.batch_bytes = run.bytes / run.batches;
    figure.records_per_s = static_cast<double>(run.records) / run.seconds;
    figure.mb_per_s = static_cast<double>(run.bytes) / run.seconds / 1e6;
    figure.latency = run.latencies.summary();
    figure.flushes = run.flushes;
    if (run.flushes > 0) figure.batches_per_flush = static_cast<double>(run.batches) / static_cast<double>(run.flushes);
    return figure;
  }
  void report(LogFigure figure, std::string metric, double ratio, std::optional<double> aim, Better better = Better::kHigher) {
    figure.metric = std::move(metric);
    figure.ratio = ratio;
    figure.aim = aim;
    figure.better = better;
    figures_.push_back(std::move(figure));
  }

  // p50 of a durable write of the bytes that one flush of the run had.
  Result<double> flush_floor_us(const LogRun& run) {
    const std::uint64_t flushes = std::max<std::uint64_t>(run.flushes, 1);
    SLUICE_TRY(const Samples floor, floor_prewritten_dsync(floor_file(), std::max<std::uint64_t>(run.bytes / flushes, 512), kFloorFlushes));
    return floor.summary()->p50_us;
  }

  Result<void> one_producer(Placement placement) {
    const LogLoad load{.records = kSmall.records, .record_bytes = kSmall.record_bytes, .batches = scaled(4000), .placement = placement};
    SLUICE_TRY(const LogRun run, measure(load));
    LogFigure figure = figure_of(kOneProducer, load, run);
    SLUICE_TRY(figure.floor_p50_us, flush_floor_us(run));
    report(figure, "p50", figure.latency->p50_us / *figure.floor_p50_us, placement == Placement::kInShard ? 1.4 : 2.0, Better::kLower);
    return {};
  }

  Result<void> eight_producers(Placement placement) {
    const bool in_shard = placement == Placement::kInShard;
    const LogLoad load{
        .producers = 8, .records = kSmall.records, .record_bytes = kSmall.record_bytes, .batches = scaled(3000), .placement = placement};
    SLUICE_TRY(const LogRun run, measure(load));
    LogFigure figure = figure_of(kEightProducers, load, run);
    SLUICE_TRY(figure.floor_p50_us, flush_floor_us(run));
    const double batches_per_s = static_cast<double>(run.batches) / run.seconds;
    report(figure, "batches per flush", figure.batches_per_flush.value_or(0), 7);
    report(figure, "rate x floor", batches_per_s * *figure.floor_p50_us / 1e6, in_shard ? 5 : 3);
    report(figure, "p50", figure.latency->p50_us / *figure.floor_p50_us, in_shard ? 1.5 : 2.5, Better::kLower);
    return {};
  }

  Result<void> many_partitions() {
    const LogLoad one{.records = kSmall.records, .record_bytes = kSmall.record_bytes, .batches = scaled(2000)};
    SLUICE_TRY(const LogRun alone, measure(one));
    LogLoad many = one;
    many.producers = many.partitions = 64;
    many.batches = scaled(300);
    SLUICE_TRY(const LogRun run, measure(many));
    const auto rate = [](const LogRun& of) { return static_cast<double>(of.flushes) / of.seconds; };
    report(figure_of(kManyPartitions, many, run), "flushes over one's", rate(run) / rate(alone), 4);
    return {};
  }

  Result<void> fsync_off(const std::string& name, Shape shape, Placement placement, double aim_in_shard, double aim_own) {
    const bool in_shard = placement == Placement::kInShard;
    SLUICE_TRY(const entry::EntryDraft sample, make_batch(shape.records, shape.record_bytes));
    // Less than a shard may have without a sync: beyond that it is the device that is measured.
    const auto batches = static_cast<std::uint32_t>(log::kUnsyncedBytesMax * 3 / 4 / sample.stored_bytes());
    // Producers keep several batches on their way, as the client does.
    const LogLoad load{
        .records = shape.records,
        .record_bytes = shape.record_bytes,
        .batches = std::min(batches, scaled(60'000)),
        .fsync = false,
        .placement = placement,
        .in_flight = static_cast<std::uint32_t>(std::clamp(kOnTheirWayBytes / sample.stored_bytes(), kOnTheirWayMin, kOnTheirWayMax))};
    SLUICE_TRY(const LogRun run, measure(load));
    LogFigure figure = figure_of(name, load, run);
    SLUICE_TRY(const double floor, floor_pwrite(floor_file(), figure.batch_bytes, run.bytes));
    figure.floor_mb_per_s = floor / 1e6;
    report(figure, "bytes per second", *figure.mb_per_s / *figure.floor_mb_per_s, in_shard ? aim_in_shard : aim_own);
    return {};
  }

  // A log of some 64 MiB with entries of that shape, and the file of its only segment.
  Result<void> with_filled_log(Shape shape,
                               const std::function<Result<void>(const std::filesystem::path&, const std::filesystem::path&)>& use) {
    SLUICE_TRY(const entry::EntryDraft sample, make_batch(shape.records, shape.record_bytes));
    const LogLoad load{.records = shape.records,
                       .record_bytes = shape.record_bytes,
                       .batches = std::max<std::uint32_t>(100, static_cast<std::uint32_t>(options_.scale * (64u << 20)) /
                                                                   static_cast<std::uint32_t>(sample.stored_bytes())),
                       .fsync = false};
    const auto run =
        measure(load, [&](const std::filesystem::path& directory) { return use(directory, directory / "0" / log::segment_name(Op(1))); });
    if (!run) return fail(run.error());
    return {};
  }

  void report_throughput(std::string name, const PollRun& run, double floor, double aim) {
    LogFigure figure;
    figure.name = std::move(name);
    figure.mb_per_s = static_cast<double>(run.bytes) / run.seconds / 1e6;
    figure.floor_mb_per_s = floor / 1e6;
    report(figure, "bytes per second", *figure.mb_per_s / *figure.floor_mb_per_s, aim);
  }

  Result<void> sequential_poll() {
    return with_filled_log(kSmall, [this](const auto& directory, const auto& segment) -> Result<void> {
      SLUICE_TRY(const PollRun run, run_sequential_poll(directory, kPollBytes));
      SLUICE_TRY(const double floor, floor_pread(segment, kPollBytes, false));
      report_throughput(kPoll, run, floor, 0.7);
      return {};
    });
  }

  Result<void> recovery_walk(const std::string& name, Shape shape, double aim) {
    return with_filled_log(shape, [&](const auto& directory, const auto& segment) -> Result<void> {
      SLUICE_TRY(const PollRun run, run_recovery_walk(directory));
      SLUICE_TRY(const double floor, floor_pread(segment, kPollBytes, true));
      report_throughput(name, run, floor, aim);
      return {};
    });
  }

  // 8 producers, one idea after the other: the first two by hand, then the log in its modes, then the log as it is.
  Result<void> ladder() {
    SLUICE_TRY(const entry::EntryDraft sample, make_batch(kSmall.records, kSmall.record_bytes));
    const LadderLoad by_hand{.batch_bytes = sample.stored_bytes(), .flushes = scaled(2000)};
    const std::pair<LadderStep, const char*> steps[] = {{LadderStep::kSerialSync, "ladder 1: log, then index synced"},
                                                        {LadderStep::kConcurrentSync, "ladder 2: + both at once"}};
    std::optional<double> first;
    for (const auto& [step, name] : steps) {
      SLUICE_TRY(const Samples samples, climb(step, by_hand, options_.scratch));
      LogFigure figure;
      figure.name = name;
      figure.producers = 8;
      figure.batch_records = kSmall.records;
      figure.batch_bytes = by_hand.batch_bytes;
      figure.latency = samples.summary();
      figure.batches_per_flush = 1;
      figure.records_per_s = kSmall.records * 1e6 / figure.latency->p50_us;
      if (!first) first = figure.records_per_s;
      report(figure, "records over step 1", *figure.records_per_s / *first, std::nullopt);
    }
    LogLoad eight{.producers = 8, .records = kSmall.records, .record_bytes = kSmall.record_bytes, .batches = scaled(3000)};
    const auto climb_on = [&](const char* name, bool index_sync, bool zeros_ahead) -> Result<void> {
      eight.index_sync = index_sync;
      eight.zeros_ahead = zeros_ahead;
      SLUICE_TRY(const LogRun run, measure(eight));
      LogFigure figure = figure_of(name, eight, run);
      report(figure, "records over step 1", *figure.records_per_s / *first, std::nullopt);
      return {};
    };
    SLUICE_CHECK(climb_on("ladder 3: + group commit", true, false));
    SLUICE_CHECK(climb_on("ladder 4: + pre-written", true, true));
    return climb_on("ladder 5: the log as it is", false, true);
  }

  const LogBenchOptions& options_;
  std::vector<LogFigure> figures_;
  int runs_ = 0;
};

}  // namespace

Result<std::vector<LogFigure>> run_log_bench(const LogBenchOptions& options) {
  return LogBench(options).run();
}

}  // namespace sluice::bench
