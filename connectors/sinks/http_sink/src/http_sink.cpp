// SPDX-License-Identifier: Apache-2.0
#include "http_sink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include <sluice/record_json.hpp>

#include "item_report.hpp"

namespace sluice::http_sink {
namespace {

constexpr std::size_t kExcerptBytes = 300;
// Of an answer that is only shown, and of one whose items are read.
constexpr Size kMaxAnswer = 64 * kKiB;
constexpr Size kMaxItemsAnswer = 64 * kMiB;

template <typename Enum>
std::string_view name_of(Enum value) {
  static constexpr auto kNames = enum_names(Enum{});
  return std::find_if(kNames.begin(), kNames.end(), [value](const auto& entry) { return entry.value == value; })->name;
}

std::string_view payload_content_type(Format format) {
  switch (format) {
    case Format::kJson:
      return "application/json";
    case Format::kText:
      return "text/plain; charset=utf-8";
    case Format::kCsv:
      return "text/csv";
    default:
      return "application/octet-stream";
  }
}

// Without what may hold credentials: user, query and fragment.
std::string url_to_show(std::string_view url) {
  const std::size_t authority = url.find("//") + 2;
  url = url.substr(0, url.find_first_of("?#"));
  const std::size_t path = url.find('/', authority);
  const std::size_t at = url.substr(0, path).rfind('@');
  if (at == std::string_view::npos || at < authority) return std::string(url);
  return std::string(url.substr(0, authority)) + std::string(url.substr(at + 1));
}

bool is_for_good(const Outcome& outcome) {
  return outcome.outcome_class == OutcomeClass::kPermanent && outcome.scope == OutcomeScope::kRecord;
}

}  // namespace

HttpSink::HttpSink(Config config, Context& context) : config_(std::move(config)), context_(context), shown_url_(url_to_show(config_.url)) {
  for (const auto& [name, value] : config_.headers) {
    headers_.push_back({name, value.reveal()});
    has_content_type_ = has_content_type_ || is_same_header(name, "Content-Type");
  }
}

void HttpSink::open() {
  client_ = std::make_unique<HttpClient>(HttpOptions{.connect_timeout = config_.connect_timeout,
                                                     .total_timeout = config_.timeout,
                                                     .max_body = config_.items.is_used() ? kMaxItemsAnswer : kMaxAnswer,
                                                     .ca_file = config_.ca_file},
                                         context_.stop());
  if (config_.probe != Probe::kNone) probe();
}

void HttpSink::probe() {
  const std::string_view method = name_of(config_.probe);
  const HttpResult& answer =
      client_->perform({.method = method, .url = config_.url, .headers = headers_, .body = {}, .deadline_ns = context_.deadline_ns()});
  std::optional<Outcome> outcome = http_outcome(answer, true);
  if (!outcome) return;
  if (outcome->outcome_class == OutcomeClass::kCancelled) throw CancelledError();
  if (answer.end == HttpEnd::kAnswered) {
    // A server may well not know the method of the probe, or be busy: the records will tell.
    if (outcome->scope == OutcomeScope::kRecord || answer.status == 405) return;
    if (!outcome->hint.empty()) outcome->hint += "; ";
    outcome->hint += fmt::format("if only {} is answered so, and {} would not be, set probe to another method or to none", method,
                                 name_of(config_.method));
  }
  throw ConnectorError(outcome->code, fmt::format("{} {}: {}", method, shown_url_, outcome->text),
                       {.hint = outcome->hint, .http_status = outcome->http_status, .retry_after = outcome->retry_after});
}

void HttpSink::write(const Batch& batch, WriteResult& result) {
  for (std::uint32_t first = 0; first < batch.size();) {
    const Chunk chunk = next_chunk(batch, first);
    if (deliver(batch, chunk, result) == Attempt::kEnded) return;
    first += chunk.count;
  }
}

HttpSink::Chunk HttpSink::next_chunk(const Batch& batch, std::uint32_t first) {
  if (config_.mode == Mode::kIndividual) return {first, 1};
  const std::uint32_t most = std::min(batch.size() - first, config_.max_records);
  std::string record;
  std::uint64_t bytes = 0;
  for (std::uint32_t count = 0; count < most; ++count) {
    record.clear();
    append_record_json(batch, batch[first + count], record);
    bytes += record.size() + 1;
    if (count > 0 && bytes > config_.max_bytes.bytes) return {first, count};
  }
  return {first, most};
}

std::string_view HttpSink::encode(const Batch& batch, Chunk chunk) {
  body_.clear();
  if (config_.mode == Mode::kIndividual) {
    body_.append(batch[chunk.first].payload_or_empty());
    return payload_content_type(batch[chunk.first].format());
  }
  const bool is_array = config_.mode == Mode::kJsonArray;
  if (is_array) body_.push_back('[');
  for (std::uint32_t i = 0; i < chunk.count; ++i) {
    if (is_array && i > 0) body_.push_back(',');
    append_record_json(batch, batch[chunk.first + i], body_);
    if (!is_array) body_.push_back('\n');
  }
  if (is_array) body_.push_back(']');
  return is_array ? "application/json" : "application/x-ndjson";
}

const HttpResult& HttpSink::send(const Batch& batch, Chunk chunk) {
  const std::size_t configured = headers_.size();
  const std::string_view content_type = encode(batch, chunk);
  if (!has_content_type_) headers_.push_back({"Content-Type", content_type});
  if (config_.mode == Mode::kIndividual) {
    key_ = dedup_key(batch, batch[chunk.first]);
    headers_.push_back({"Idempotency-Key", key_});
  }
  const HttpResult& answer = client_->perform(
      {.method = name_of(config_.method), .url = config_.url, .headers = headers_, .body = body_, .deadline_ns = context_.deadline_ns()});
  headers_.resize(configured);
  return answer;
}

HttpSink::Attempt HttpSink::deliver(const Batch& batch, Chunk chunk, WriteResult& result) {
  context_.throw_if_cancelled();
  if (config_.mode == Mode::kIndividual && batch[chunk.first].is_tombstone()) {
    result.fail(chunk.first, RecordError("http.no_payload", "a record without payload (a tombstone) has no body to send",
                                         {.hint = "use mode ndjson or json_array, or filter tombstones out"})
                                 .outcome());
    return Attempt::kEnded;
  }
  const HttpResult& answer = send(batch, chunk);
  std::optional<Outcome> outcome = http_outcome(answer, resending_is_harmless());
  if (!outcome) {
    if (config_.items.is_used()) return settle_items(chunk, answer, result);
    result.deliver_until(chunk.first + chunk.count);
    return Attempt::kGoesOn;
  }
  if (is_for_good(*outcome) && chunk.count > 1) {
    const std::uint32_t half = chunk.count / 2;
    const Attempt first = deliver(batch, {chunk.first, half}, result);
    return first == Attempt::kEnded ? first : deliver(batch, {chunk.first + half, chunk.count - half}, result);
  }
  outcome->text = fmt::format("{} {}: {}", name_of(config_.method), shown_url_, outcome->text);
  if (outcome->scope == OutcomeScope::kConnector) throw OutcomeError(*std::move(outcome));
  result.fail(chunk.first, *outcome);
  return Attempt::kEnded;
}

HttpSink::Attempt HttpSink::settle_items(Chunk chunk, const HttpResult& answer, WriteResult& result) {
  std::vector<Item> items;
  try {
    if (answer.body_cut) throw UnreadableReport("the answer is too long");
    items = read_items(config_.items, answer.body, chunk.count);
  } catch (const UnreadableReport& e) {
    throw ConnectorError(
        "http.unreadable_items",
        fmt::format("{} answered {}, but {}: {}", shown_url_, answer.status, e.what(), answer.body.substr(0, kExcerptBytes)),
        {.hint = "see plugin_config.items", .http_status = answer.status});
  }
  for (std::uint32_t i = 0; i < chunk.count; ++i) {
    const Item& item = items[i];
    if (!item.failed) continue;
    const std::uint32_t index = chunk.first + i;
    // An item that failed without a status that says how will not do better next time.
    const Verdict verdict =
        classify_http_status(item.status == 0 ? 422 : item.status).value_or(Verdict{OutcomeClass::kPermanent, OutcomeScope::kRecord});
    Outcome outcome{.outcome_class = verdict.outcome_class,
                    .scope = verdict.scope,
                    .code = "http.item",
                    .text = fmt::format("{} answered {}, and for this record: {}", shown_url_, answer.status, item.error),
                    .http_status = item.status,
                    .retry_after = answer.retry_after};
    if (!is_for_good(outcome)) {
      // What comes after it is sent again, so that the last word on each key is the right one.
      result.deliver_until(index);
      if (outcome.scope == OutcomeScope::kConnector) throw OutcomeError(std::move(outcome));
      result.fail(index, outcome);
      return Attempt::kEnded;
    }
    result.fail(index, outcome);
  }
  result.deliver_until(chunk.first + chunk.count);
  return Attempt::kGoesOn;
}

}  // namespace sluice::http_sink
