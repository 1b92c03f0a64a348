// SPDX-License-Identifier: Apache-2.0
#include "random_source.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace sluice::random_source {
namespace {

constexpr std::uint64_t kTextBytes = 1 << 16;  // payloads are windows of it, so that making one costs no more than a hash
constexpr std::uint64_t kRateMax = 100'000'000;
constexpr std::uint64_t kNsPerSecond = 1'000'000'000;

// The finalizer of SplitMix64.
std::uint64_t mixed(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15ULL;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ULL;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBULL;
  return value ^ (value >> 31);
}

}  // namespace

void RandomSourceConfig::bind(Binding<RandomSourceConfig>& binding) {
  constexpr std::uint64_t kAny = std::numeric_limits<std::int64_t>::max();
  binding.optional("count", &RandomSourceConfig::count, 0, {0, kAny}, "Records to make in all, over all runs; 0 = without end.");
  binding.optional("rate", &RandomSourceConfig::rate, 1000, {0, kRateMax}, "Records per second; 0 = as fast as they are taken.");
  binding.optional("payload_min", &RandomSourceConfig::payload_min, Size{100}, {Size{0}, 8 * kMiB}, "Smallest payload.");
  binding.optional("payload_max", &RandomSourceConfig::payload_max, Size{100}, {Size{0}, 8 * kMiB}, "Largest payload.");
  binding.optional("seed", &RandomSourceConfig::seed, 1, {0, kAny}, "The same seed gives the same records.");
}

void RandomSourceConfig::validate() const {
  if (payload_min <= payload_max) return;
  throw ConfigError("/payload_min", "payload_min " + format_size(payload_min) + " is above payload_max " + format_size(payload_max));
}

RandomSource::RandomSource(const Config& config, Context& context) : config_(config), context_(context) {
  in_flight_.reserve(kDescriptor.max_batches_in_flight);
  // The window of a payload starts anywhere in the first kTextBytes.
  text_.resize(kTextBytes + config_.payload_max.bytes);
  constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  for (std::size_t i = 0; i < text_.size(); ++i) text_[i] = kAlphabet[mixed(config_.seed + i) % kAlphabet.size()];
}

void RandomSource::open(std::optional<std::string_view> state) {
  if (state) {
    const auto [end, error] = std::from_chars(state->data(), state->data() + state->size(), next_);
    if (error != std::errc{} || end != state->data() + state->size()) {
      throw FatalError("random_source.state", "the stored state is not a record number",
                       {.hint = "give the source another key to start again from record 0"});
    }
  }
  restart_rate();
}

void RandomSource::poll(const PollRequest& request, SourceWriter& writer) {
  const std::uint64_t left = config_.count == 0 ? request.max_records : config_.count - std::min(config_.count, next_);
  if (left == 0) return;
  const std::uint64_t wanted = std::min({std::uint64_t{request.max_records}, left, due(request.wait_until_ns)});
  const std::uint64_t first = next_;
  const std::int64_t now_us = context_.wall_us();
  for (std::uint64_t i = 0; i < wanted; ++i) {
    SourceRecord record;
    record.payload = payload_of(next_);
    record.format = Format::kText;
    record.origin_timestamp_us = now_us;
    if (writer.append(record) == AppendResult::kFull) break;
    ++next_;
  }
  if (next_ == first) return;
  rate_made_ += next_ - first;
  in_flight_.push_back({request.batch_id, first});
  std::array<char, 20> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), next_).ptr;
  writer.set_state({digits.data(), end});
}

void RandomSource::on_result(std::uint64_t batch_id, BatchResult result) {
  const auto batch = std::find_if(in_flight_.begin(), in_flight_.end(), [&](const InFlight& b) { return b.batch_id == batch_id; });
  if (batch == in_flight_.end()) return;
  // Results come in order, and every batch after a lost one is lost as well.
  if (result == BatchResult::kNacked) next_ = std::min(next_, batch->first);
  in_flight_.erase(batch);
}

std::string_view RandomSource::payload_of(std::uint64_t number) const {
  const std::uint64_t bits = mixed(mixed(config_.seed) ^ number);
  const std::uint64_t sizes = config_.payload_max.bytes - config_.payload_min.bytes + 1;
  const std::uint64_t size = config_.payload_min.bytes + (bits >> 32) % sizes;
  return std::string_view(text_).substr(bits % kTextBytes, size);
}

std::uint64_t RandomSource::due(std::uint64_t wait_until_ns) {
  if (config_.rate == 0) return std::numeric_limits<std::uint64_t>::max();
  __extension__ using Wide = unsigned __int128;  // a rate times nanoseconds does not fit 64 bits for long
  const auto allowed = [this] {
    const std::uint64_t elapsed_ns = context_.monotonic_ns() - rate_start_ns_;
    return static_cast<std::uint64_t>(static_cast<Wide>(elapsed_ns) * config_.rate / kNsPerSecond);
  };
  std::uint64_t total = allowed();
  if (total <= rate_made_) {
    const std::uint64_t next_due_ns = rate_start_ns_ + static_cast<std::uint64_t>(Wide{rate_made_ + 1} * kNsPerSecond / config_.rate) + 1;
    context_.wait_until_ns(std::min(next_due_ns, wait_until_ns));
    total = allowed();
  }
  const std::uint64_t records = total > rate_made_ ? total - rate_made_ : 0;
  // Who could not take the rate for a second does not get it all at once later.
  if (records > config_.rate) restart_rate();
  return std::min(records, config_.rate);
}

void RandomSource::restart_rate() {
  rate_start_ns_ = context_.monotonic_ns();
  rate_made_ = 0;
}

}  // namespace sluice::random_source
