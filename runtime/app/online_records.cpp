// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "runtime/app/json_text.hpp"
#include "runtime/app/online.hpp"
#include "runtime/app/table.hpp"
#include "runtime/base/text.hpp"
#include "runtime/http/base64.hpp"
#include "runtime/http/errc.hpp"

namespace sluice::app {

namespace json = boost::json;

namespace {

constexpr std::size_t kProduceBytesPerRequest = 4u << 20;
constexpr std::size_t kProduceRecordsPerRequest = 10'000;
constexpr std::uint64_t kConsumePage = 1000;
constexpr std::uint64_t kFollowWaitMs = 10'000;
constexpr std::uint64_t kFollowWaitManyMs = 500;  // with several partitions, each waits its turn

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

// Collects lines and sends them a request at a time.
class ProduceRequest {
 public:
  ProduceRequest(const Remote& remote, std::string target) : remote_(remote), target_(std::move(target)) {}

  Result<void> add(std::string_view line) {
    if (!body_.empty() && (body_.size() + line.size() > kProduceBytesPerRequest || records_ == kProduceRecordsPerRequest))
      SLUICE_CHECK(send());
    body_ += line;
    body_ += '\n';
    ++records_;
    return {};
  }
  Result<void> send() {
    if (records_ == 0) return {};
    auto answer =
        remote_.fetch({.method = "POST", .target = target_, .content_type = std::string(http::kNdjson), .body = std::move(body_)});
    if (!answer) return fail(std::move(answer).error().with("appended before this request", std::to_string(sent_)));
    sent_ += records_;
    records_ = 0;
    body_.clear();
    return {};
  }
  [[nodiscard]] std::uint64_t sent() const { return sent_; }

 private:
  const Remote& remote_;
  std::string target_;
  std::string body_;
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
  target += "/records";
  if (options.partition) target += fmt::format("?partition={}", *options.partition);
  std::ifstream file;
  if (options.file != "-") {
    file.open(options.file, std::ios::binary);
    if (!file) return fail(errno_error(errno, "cannot read " + options.file));
  }
  std::istream& input = options.file == "-" ? std::cin : file;
  ProduceRequest request(remote, target);
  for (std::string line; std::getline(input, line);) {
    if (options.lines) {
      SLUICE_CHECK(request.add(as_record(line, options)));
    } else if (!line.empty()) {
      SLUICE_CHECK(request.add(line));
    }
  }
  SLUICE_CHECK(request.send());
  // A read error ends the lines as the end of the file does.
  if (input.bad()) {
    return fail(sluice::Errc::kIo, fmt::format("cannot read {} to its end; {} record(s) were appended to {}",
                                               options.file == "-" ? "standard input" : options.file, request.sent(), options.topic));
  }
  if (console.json()) {
    json::object out;
    out["appended"] = request.sent();
    console.print_json(out);
  } else {
    console.print(fmt::format("appended {} record(s) to {}\n", request.sent(), options.topic));
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
