// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/pipe_bench.hpp"

#include <curl/curl.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "runtime/bench/daemon_start.hpp"
#include "runtime/bench/http_answerer.hpp"
#include "runtime/bench/pipeline_run.hpp"
#include "runtime/bench/raw_pair.hpp"
#include "runtime/bench/warm_memory.hpp"

namespace sluice::bench {
namespace {

constexpr std::uint64_t kFloorFileBytesMax = 128ULL << 20;
constexpr std::uint64_t kStoredRecordBytes = 160;  // a little more than a record of 100 bytes takes
constexpr double kPipeAim = 0.25;                  // of the floor, at batch 1000
constexpr double kPartitionsAim = 0.5;             // 16 partitions against one
constexpr double kAbiAimNs = 100;
constexpr double kHttpAim = 0.6;
constexpr double kIdleRssAimMib = 40;
constexpr double kReadyAimMs = 200;
constexpr std::uint64_t kHttpRequests = 30'000;
constexpr std::uint64_t kAbiRecords = 5'000'000;

struct PipeCase {
  std::uint32_t batch_records;
  std::uint64_t records;
};
constexpr PipeCase kPipeCases[] = {{1, 60'000}, {100, 1'500'000}, {1000, 4'000'000}};

std::uint64_t scaled(std::uint64_t records, double scale) {
  return std::max<std::uint64_t>(1000, static_cast<std::uint64_t>(static_cast<double>(records) * scale));
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

Result<double> measure_floor(plugin::PluginCatalog& plugins, const std::filesystem::path& scratch, const PipeCase& pipe_case,
                             double scale) {
  SLUICE_TRY(const std::unique_ptr<RawPair> pair, RawPair::open(plugins, pipe_case.batch_records));
  const std::string path = (scratch / "floor").string();
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return fail(errno_error(errno, "create " + path));
  const std::uint64_t wanted = scaled(pipe_case.records, scale);
  std::uint64_t done = 0;
  std::uint64_t position = 0;
  const auto begin = std::chrono::steady_clock::now();
  Result<void> outcome;
  while (done < wanted && outcome) {
    if (position > kFloorFileBytesMax) position = 0;
    const Result<std::uint64_t> batch = pair->log_one_batch(file, position);
    if (batch)
      done += *batch;
    else
      outcome = fail(batch.error());
  }
  const double seconds = seconds_since(begin);
  ::close(file);
  ::unlink(path.c_str());
  if (!outcome) return fail(outcome.error());
  return static_cast<double>(done) / seconds;
}

// The same with the sink in a process of its own, over the sink in this one.
Result<void> isolated_case(plugin::PluginCatalog& plugins, const PipeOptions& options, const PipeCase& pipe_case, double in_process,
                           std::vector<Figure>& figures) {
  const std::filesystem::path directory = options.scratch / fmt::format("pipe-{}-isolated", pipe_case.batch_records);
  SLUICE_TRY(const double rate, measure_pipeline(plugins, directory,
                                                 {.records = scaled(pipe_case.records, options.scale),
                                                  .batch_records = pipe_case.batch_records,
                                                  .sink_isolation = config::Isolation::kProcess}));
  std::filesystem::remove_all(directory);
  figures.push_back({.name = fmt::format("pipe batch={} sink in a process", pipe_case.batch_records),
                     .metric = "records_per_s",
                     .value = rate,
                     .floor = in_process,
                     .aim = std::nullopt});
  return {};
}

Result<void> pipe_cases(plugin::PluginCatalog& plugins, const PipeOptions& options, std::vector<Figure>& figures) {
  for (const PipeCase& pipe_case : kPipeCases) {
    SLUICE_TRY(const double floor, measure_floor(plugins, options.scratch, pipe_case, options.scale));
    SLUICE_CHECK(use_memory_once(options.scratch, scaled(pipe_case.records, options.scale) * kStoredRecordBytes));
    std::optional<double> one_partition;
    for (const std::uint32_t partitions : {1u, 16u}) {
      const std::filesystem::path directory = options.scratch / fmt::format("pipe-{}-{}", pipe_case.batch_records, partitions);
      SLUICE_TRY(const double rate, measure_pipeline(plugins, directory,
                                                     {.records = scaled(pipe_case.records, options.scale),
                                                      .batch_records = pipe_case.batch_records,
                                                      .partitions = partitions}));
      std::filesystem::remove_all(directory);
      const std::string name = fmt::format("pipe batch={} partitions={}", pipe_case.batch_records, partitions);
      figures.push_back({.name = name,
                         .metric = "records_per_s",
                         .value = rate,
                         .floor = floor,
                         .aim = pipe_case.batch_records == 1000 && partitions == 1 ? std::optional(kPipeAim) : std::nullopt});
      if (one_partition) {
        figures.push_back({.name = fmt::format("pipe batch={} 16 over 1 partition", pipe_case.batch_records),
                           .metric = "records_per_s",
                           .value = rate,
                           .floor = one_partition,
                           .aim = kPartitionsAim});
      }
      one_partition = rate;
      if (partitions == 1) SLUICE_CHECK(isolated_case(plugins, options, pipe_case, rate, figures));
    }
  }
  return {};
}

Result<void> abi_case(plugin::PluginCatalog& plugins, const PipeOptions& options, std::vector<Figure>& figures) {
  SLUICE_TRY(const std::unique_ptr<RawPair> pair, RawPair::open(plugins, 100));
  const std::uint64_t wanted = scaled(kAbiRecords, options.scale);
  std::uint64_t done = 0;
  const auto begin = std::chrono::steady_clock::now();
  while (done < wanted) {
    SLUICE_TRY(const std::uint64_t batch, pair->pass_one_batch());
    done += batch;
  }
  figures.push_back({.name = "ABI poll + write, batch=100",
                     .metric = "ns_per_record",
                     .value = seconds_since(begin) * 1e9 / static_cast<double>(done),
                     .floor = std::nullopt,
                     .aim = kAbiAimNs,
                     .better = Better::kLower});
  return {};
}

// The peer of http_sink in individual mode: one easy handle, one connection, one POST of the same size after the other.
Result<double> bare_curl_rate(const std::string& url, std::uint64_t requests) {
  CURL* const curl = curl_easy_init();
  if (curl == nullptr) return fail(Errc::kInternal, "curl_easy_init failed");
  curl_slist* headers = curl_slist_append(nullptr, "Content-Type: application/octet-stream");
  headers = curl_slist_append(headers, "Idempotency-Key: 00000000000000000000000000000000:bench:pipe:0:2:0");
  headers = curl_slist_append(headers, "Expect:");
  const std::string body(100, 'x');
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.c_str());
  curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, static_cast<long>(body.size()));
  CURLcode code = CURLE_OK;
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < requests && code == CURLE_OK; ++i) code = curl_easy_perform(curl);
  const double seconds = seconds_since(begin);
  curl_slist_free_all(headers);
  curl_easy_cleanup(curl);
  if (code != CURLE_OK) return fail(Errc::kIo, fmt::format("the bare curl loop failed: {}", curl_easy_strerror(code)));
  return static_cast<double>(requests) / seconds;
}

Result<void> http_case(plugin::PluginCatalog& plugins, const PipeOptions& options, std::vector<Figure>& figures) {
  SLUICE_TRY(const std::unique_ptr<HttpAnswerer> server, HttpAnswerer::start());
  const std::string url = fmt::format("http://127.0.0.1:{}/records", server->port());
  const std::uint64_t requests = scaled(kHttpRequests, options.scale);
  SLUICE_TRY(const double floor, bare_curl_rate(url, requests));
  const std::filesystem::path directory = options.scratch / "http";
  SLUICE_TRY(const double rate, measure_pipeline(plugins, directory,
                                                 {.records = requests,
                                                  .batch_records = 1000,
                                                  .partitions = 1,
                                                  .sink = "http_sink",
                                                  .sink_config_json = fmt::format(R"({{"url":"{}","mode":"individual"}})", url)}));
  std::filesystem::remove_all(directory);
  figures.push_back({.name = "http_sink individual", .metric = "requests_per_s", .value = rate, .floor = floor, .aim = kHttpAim});
  return {};
}

}  // namespace

Result<std::vector<Figure>> run_pipe_bench(const PipeOptions& options) {
  plugin::PluginCatalog& plugins = *options.plugins;
  std::vector<Figure> figures;
  SLUICE_CHECK(pipe_cases(plugins, options, figures));
  SLUICE_CHECK(abi_case(plugins, options, figures));
  SLUICE_CHECK(http_case(plugins, options, figures));
  const std::filesystem::path directory = options.scratch / "start";
  SLUICE_TRY(const DaemonStart start, measure_daemon_start(options.program, directory, options.plugin_path));
  figures.push_back({.name = "start to ready, 10 connectors",
                     .metric = "ms",
                     .value = start.ready_ms,
                     .floor = std::nullopt,
                     .aim = kReadyAimMs,
                     .better = Better::kLower});
  figures.push_back({.name = "idle memory, 10 connectors",
                     .metric = "MiB",
                     .value = start.idle_rss_mib,
                     .floor = std::nullopt,
                     .aim = kIdleRssAimMib,
                     .better = Better::kLower});
  return figures;
}

}  // namespace sluice::bench
