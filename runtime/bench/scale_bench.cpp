// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/scale_bench.hpp"

#include <malloc.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <future>

#include <fmt/format.h>

#include "core/client/client.hpp"
#include "core/log/entry_log.hpp"
#include "core/node/node.hpp"
#include "core/node/shard.hpp"
#include "core/storage/posix_storage.hpp"
#include "runtime/bench/counting_storage.hpp"
#include "runtime/bench/large_log.hpp"

namespace sluice::bench {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kTopics = 20;
constexpr std::uint32_t kPartitionsOfTopic = 500;  // made within the deadline of one call also on a busy machine
constexpr double kManyRssAimMib = 400;
constexpr double kMib = 1 << 20;
constexpr auto kNodeCloseDeadline = 300s;
constexpr std::size_t kIoThreads = 4;

double rss_mib() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t size = 0;
  std::uint64_t resident = 0;
  statm >> size >> resident;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / kMib;
}

double ms_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

Figure figure(std::string name, std::string metric, double value, std::optional<double> aim = std::nullopt) {
  return {
      .name = std::move(name), .metric = std::move(metric), .value = value, .floor = std::nullopt, .aim = aim, .better = Better::kLower};
}

Result<std::unique_ptr<node::Node>> open_node(const std::filesystem::path& directory) {
  node::NodeOptions options;
  options.data_dir = directory.string();
  return node::Node::open(std::move(options));
}

Result<void> many_partitions(const std::filesystem::path& directory, std::vector<Figure>& figures) {
  const std::string name = fmt::format("{} idle partitions", kTopics * kPartitionsOfTopic);
  {
    SLUICE_TRY(const std::unique_ptr<node::Node> node, open_node(directory));
    client::Client client(*node);
    for (std::uint32_t i = 0; i < kTopics; ++i) {
      client::TopicOptions options;
      options.partitions = kPartitionsOfTopic;
      SLUICE_CHECK(client.create_topic({"scale", fmt::format("t{}", i)}, options));
    }
    figures.push_back(figure(name + ", made", "rss_mib", rss_mib(), kManyRssAimMib));
    SLUICE_CHECK(node->close(kNodeCloseDeadline));
  }
  ::malloc_trim(0);
  const auto begin = std::chrono::steady_clock::now();
  SLUICE_TRY(const std::unique_ptr<node::Node> node, open_node(directory));
  figures.push_back(figure(name + ", open", "ms", ms_since(begin)));
  figures.push_back(figure(name + ", open", "rss_mib", rss_mib(), kManyRssAimMib));
  return node->close(kNodeCloseDeadline);
}

// Reads a little at `from`; how many bytes that took from the files.
Result<double> read_at(node::Shard& shard, log::EntryLog& log, const CountingStorage& storage, Offset from) {
  const std::uint64_t before = storage.bytes_read();
  std::promise<Result<log::ReadResult>> answer;
  shard.post([&] {
    log.read({.from = from, .up_to = log.head().op, .bytes_max = 1, .cursor = std::nullopt},
             [&](Result<log::ReadResult> result) { answer.set_value(std::move(result)); });
  });
  SLUICE_TRY(const log::ReadResult result, answer.get_future().get());
  if (result.entries.empty()) return fail(Errc::kInternal, fmt::format("nothing was read at offset {}", from));
  return static_cast<double>(storage.bytes_read() - before) / kMib;
}

Result<void> large_partition(const std::filesystem::path& directory, std::vector<Figure>& figures) {
  const LargeLog large{.directory = directory.string(), .group = GroupId(2), .incarnation = Incarnation(1)};
  SLUICE_TRY(const Offset end, make_large_log(large));
  ::malloc_trim(0);

  CountingStorage storage(storage::posix_storage());
  storage::IoThreads threads(kIoThreads);
  node::Shard shard(0, threads);
  log::LogOptions options;
  options.directory = large.directory;
  options.group = large.group;
  options.incarnation = large.incarnation;
  options.verify_sealed = false;
  const double rss_before = rss_mib();
  const auto begin = std::chrono::steady_clock::now();
  SLUICE_TRY(log::OpenedLog opened, log::EntryLog::open(storage, shard.io(), std::move(options)));
  const double took = ms_since(begin);
  const std::string name = fmt::format("a partition of {} GiB", opened.log->size_bytes() >> 30);
  figures.push_back(figure(name + ", open", "ms", took));
  figures.push_back(figure(name + ", open", "mib_read", static_cast<double>(storage.bytes_read()) / kMib));
  figures.push_back(figure(name + ", open", "rss_mib_more", rss_mib() - rss_before));

  shard.start();
  const auto first = read_at(shard, *opened.log, storage, Offset(0));
  const auto last = read_at(shard, *opened.log, storage, Offset(end.value() - 1));
  // The log belongs to its shard's thread.
  std::promise<void> gone;
  shard.post([&] {
    opened.log.reset();
    gone.set_value();
  });
  gone.get_future().get();
  shard.stop();
  if (!first) return fail(first.error());
  if (!last) return fail(last.error());
  figures.push_back(figure(name + ", read of its first record", "mib_read", *first));
  figures.push_back(figure(name + ", read of its last record", "mib_read", *last));
  return {};
}

}  // namespace

Result<std::vector<Figure>> run_scale_bench(const std::filesystem::path& scratch) {
  std::vector<Figure> figures;
  SLUICE_CHECK(many_partitions(scratch / "many", figures));
  std::filesystem::remove_all(scratch / "many");
  SLUICE_CHECK(large_partition(scratch / "large", figures));
  return figures;
}

}  // namespace sluice::bench
