// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/clock.hpp"
#include "core/base/random.hpp"
#include "core/client/topic.hpp"
#include "runtime/app/json_text.hpp"
#include "runtime/app/online.hpp"
#include "runtime/app/table.hpp"
#include "runtime/base/text.hpp"
#include "runtime/http/base64.hpp"
#include "runtime/http/errc.hpp"
#include "runtime/http/record_json.hpp"

namespace sluice::app {

namespace json = boost::json;

namespace {

constexpr std::size_t kProduceBytesPerRequest = 4u << 20;
constexpr std::size_t kProduceRecordsPerRequest = 10'000;
constexpr std::chrono::seconds kProduceRetryFor{30};  // a request without an answer, or that is refused for the moment
constexpr std::chrono::milliseconds kProduceRetryPause{200};
constexpr std::uint64_t kConsumePage = 1000;
constexpr std::uint64_t kFollowWaitMs = 10'000;
constexpr std::uint64_t kFollowWaitManyMs = 500;  // with several partitions, each waits its turn

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

std::string as_record(std::string_view line, const Produce& options) {
  json::object record;
  if (!options.key.empty()) record["key"] = options.key;
  if (is_utf8(line)) {
    record["payload"] = line;
  } else {
    record["payload_base64"] = http::base64_encode(as_bytes(line));
  }
  return json::serialize(record);
}

void pause_for(std::chrono::milliseconds pause) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable never;
  never.wait_for(lock, pause);
}

// Collects lines by partition and sends them, a numbered request for each partition, so that one whose answer is lost can be sent again.
class Upload {
 public:
  Upload(const Remote& remote, std::string target, std::optional<std::uint32_t> partition, std::uint32_t partitions)
      : remote_(remote), target_(std::move(target)), partition_(partition), partitions_(partitions) {}

  // One JSON object, which goes where `produced` does.
  Result<void> add(std::string_view line, const http::ProducedRecord& produced) {
    if (bytes_ > 0 && (bytes_ + line.size() > kProduceBytesPerRequest || records_ == kProduceRecordsPerRequest)) SLUICE_CHECK(send());
    Part& part = parts_[http::partition_of(produced, partition_, partitions_, turn_)];
    part.body += line;
    part.body += '\n';
    ++part.records;
    bytes_ += line.size() + 1;
    ++records_;
    return {};
  }
  Result<void> send() {
    for (auto& [partition, part] : parts_) {
      if (part.records == 0) continue;
      SLUICE_CHECK(send_part(partition, part));
      sent_ += part.records;
      part.records = 0;
      part.body.clear();
    }
    bytes_ = records_ = 0;
    ++turn_;
    return {};
  }
  [[nodiscard]] std::uint64_t sent() const { return sent_; }

 private:
  struct Part {
    std::string body;
    std::size_t records = 0;
    std::uint64_t request = 0;  // number of the last one
  };

  Result<void> send_part(std::uint64_t partition, Part& part) {
    const http::Call call{.method = "POST",
                          .target = fmt::format("{}?partition={}&producer={}&request={}&origin_timestamp_us={}", target_, partition,
                                                to_hex(producer_), ++part.request, system_clock().wall()),
                          .content_type = std::string(http::kNdjson),
                          .body = part.body};
    const auto give_up_at = std::chrono::steady_clock::now() + kProduceRetryFor;
    while (true) {
      auto answer = remote_.fetch(call);
      if (answer) return {};
      Error error = std::move(answer).error();
      // Nobody has said what came of it, or it may go well later. Its number makes that safe.
      const bool may_come_again = error.kind() == ErrorKind::kRetry || error.is(http::Errc::kProtocol);
      if (!may_come_again || std::chrono::steady_clock::now() >= give_up_at)
        return fail(std::move(error).with("appended before this request", std::to_string(sent_)));
      pause_for(kProduceRetryPause);
    }
  }

  const Remote& remote_;
  const std::string target_;
  const std::optional<std::uint32_t> partition_;
  const std::uint32_t partitions_;
  const U128 producer_ = system_random().next_u128();
  std::uint32_t turn_ = static_cast<std::uint32_t>(producer_.low);
  std::map<std::uint64_t, Part> parts_;  // by partition
  std::size_t bytes_ = 0;                // of all parts
  std::size_t records_ = 0;
  std::uint64_t sent_ = 0;
};

struct Cursor {
  std::uint32_t partition = 0;
  std::string from;  // query: "offset=…" or "time=…"
};

struct Page {
  std::uint64_t records = 0;
  std::uint64_t next_offset = 0;
  std::uint64_t high_watermark = 0;
};

std::uint64_t header_number(const http::Response& response, std::string_view name) {
  const auto text = response.header(name);
  return text ? std::strtoull(std::string(*text).c_str(), nullptr, 10) : 0;
}

Result<Page> print_page(const Console& console, const Remote& remote, const std::string& target, const Cursor& cursor, std::uint64_t limit,
                        std::uint64_t wait_ms) {
  SLUICE_TRY(const auto response,
             remote.fetch({.target = fmt::format("{}/records?partition={}&{}&limit={}&wait_ms={}", target, cursor.partition, cursor.from,
                                                 std::min(limit, kConsumePage), wait_ms)}));
  console.print(response.body);
  return Page{.records = static_cast<std::uint64_t>(std::ranges::count(response.body, '\n')),
              .next_offset = header_number(response, "Sluice-Next-Offset"),
              .high_watermark = header_number(response, "Sluice-High-Watermark")};
}

Result<std::vector<Cursor>> cursors_for(const Remote& remote, const std::string& target, const Consume& options) {
  std::string from = options.offset.empty() ? "offset=earliest" : "offset=" + http::encode_component(options.offset);
  if (!options.time.empty()) from = "time=" + http::encode_component(options.time);
  if (options.partition) return std::vector<Cursor>{{.partition = *options.partition, .from = from}};
  SLUICE_TRY(const auto topic, remote.get(target));
  std::vector<Cursor> out;
  for (const json::value& partition : array_field(topic, "partitions")) {
    out.push_back({.partition = static_cast<std::uint32_t>(number_or_zero(partition, "partition")), .from = from});
  }
  return out;
}

}  // namespace

Result<ExitCode> produce(const Console& console, const ServerOptions& server, const Produce& options) {
  SLUICE_TRY(std::string target, topic_target(options.topic));
  SLUICE_TRY(const Remote remote, Remote::find(server));
  SLUICE_TRY(const auto topic, remote.get(target));
  std::ifstream file;
  if (options.file != "-") {
    file.open(options.file, std::ios::binary);
    if (!file) return fail(errno_error(errno, "cannot read " + options.file));
  }
  std::istream& input = options.file == "-" ? std::cin : file;
  const std::size_t partitions = array_field(topic, "partitions").size();
  if (partitions == 0 || partitions > client::kPartitionsMax)
    return fail(http::Errc::kProtocol, fmt::format("the daemon says that {} has {} partitions", options.topic, partitions));
  Upload upload(remote, target + "/records", options.partition, static_cast<std::uint32_t>(partitions));
  http::ProducedRecord produced;
  if (!options.key.empty()) produced.record.key.emplace(as_bytes(options.key).begin(), as_bytes(options.key).end());
  std::uint64_t number = 0;
  for (std::string line; std::getline(input, line);) {
    ++number;
    if (options.lines) {
      SLUICE_CHECK(upload.add(as_record(line, options), produced));
    } else if (!is_blank(line)) {
      // Where there is a choice, the record says where it goes.
      auto parsed = partitions > 1 ? http::record_from_json(line) : Result<http::ProducedRecord>();
      if (!parsed) return fail(std::move(parsed).error().with("line", std::to_string(number)));
      SLUICE_CHECK(upload.add(line, *parsed));
    }
  }
  SLUICE_CHECK(upload.send());
  // A read error ends the lines as the end of the file does.
  if (input.bad()) {
    return fail(sluice::Errc::kIo, fmt::format("cannot read {} to its end; {} record(s) were appended to {}",
                                               options.file == "-" ? "standard input" : options.file, upload.sent(), options.topic));
  }
  if (console.json()) {
    json::object out;
    out["appended"] = upload.sent();
    console.print_json(out);
  } else {
    console.print(fmt::format("appended {} record(s) to {}\n", upload.sent(), options.topic));
  }
  return ExitCode::kOk;
}

Result<ExitCode> consume(const Console& console, const ServerOptions& server, const Consume& options) {
  SLUICE_TRY(const std::string target, topic_target(options.topic));
  SLUICE_TRY(const Remote remote, Remote::find(server));
  SLUICE_TRY(auto cursors, cursors_for(remote, target, options));
  std::uint64_t left = options.limit.value_or(std::numeric_limits<std::uint64_t>::max());
  const std::uint64_t wait_ms = !options.follow ? 0 : cursors.size() == 1 ? kFollowWaitMs : kFollowWaitManyMs;
  bool waiting = false;
  for (bool more = true; more && left > 0;) {
    more = options.follow;
    bool any = false;
    for (Cursor& cursor : cursors) {
      if (left == 0) break;
      SLUICE_TRY(const Page page, print_page(console, remote, target, cursor, left, waiting ? wait_ms : 0));
      left -= std::min(left, page.records);
      cursor.from = fmt::format("offset={}", page.next_offset);
      any = any || page.records > 0;
      more = more || page.next_offset < page.high_watermark;
    }
    waiting = !any;
    if (!flush_output()) return fail(sluice::Errc::kIo, "cannot write to standard output");
  }
  return ExitCode::kOk;
}

}  // namespace sluice::app
