// SPDX-License-Identifier: Apache-2.0
#include <sluice/retry.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace sluice {
namespace {

constexpr std::int64_t kWaitMaxMs = std::numeric_limits<std::int64_t>::max() / 4;
constexpr std::int64_t kRetryAfterMaxS = 366LL * 86'400;  // a hint beyond a year is as good as a year

std::int64_t doubled(std::int64_t base, std::uint64_t times, std::int64_t limit) {
  if (base >= limit || base == 0) return std::min(base, limit);
  std::int64_t value = base;
  for (; times > 0 && value < limit; --times) value = value > limit / 2 ? limit : value * 2;
  return value;
}

// ± 20 %, in steps of a millionth; 128 bits hold the product.
std::int64_t jittered(std::int64_t nominal, std::uint64_t random_bits) {
  const auto per_million = static_cast<std::int64_t>(800'000 + random_bits % 400'001);
  __extension__ using Wide = __int128;
  return static_cast<std::int64_t>((static_cast<Wide>(nominal) * per_million + 500'000) / 1'000'000);
}

struct HttpDate {
  int day = 0;
  int month = 0;  // 1…12
  int year = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
};

// Reads the pieces of a date, strictly and in order. After a failure everything fails.
class DateReader {
 public:
  explicit DateReader(std::string_view text) : text_(text) {}

  void literal(std::string_view expected) {
    ok_ = ok_ && text_.starts_with(expected);
    if (ok_) text_.remove_prefix(expected.size());
  }
  void digits(std::size_t count, int& out) {
    ok_ = ok_ && text_.size() >= count &&
          std::all_of(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(count), [](char c) { return c >= '0' && c <= '9'; });
    if (!ok_) return;
    std::from_chars(text_.data(), text_.data() + count, out);
    text_.remove_prefix(count);
  }
  void month(int& out) {
    constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const std::size_t at = text_.size() < 3 ? std::string_view::npos : kMonths.find(text_.substr(0, 3));
    ok_ = ok_ && at != std::string_view::npos && at % 3 == 0;
    if (!ok_) return;
    out = static_cast<int>(at / 3) + 1;
    text_.remove_prefix(3);
  }
  void time(HttpDate& date) {
    digits(2, date.hour);
    literal(":");
    digits(2, date.minute);
    literal(":");
    digits(2, date.second);
  }
  [[nodiscard]] bool next_is(char c) const { return ok_ && text_.starts_with(c); }
  [[nodiscard]] bool finished() const { return ok_ && text_.empty(); }

 private:
  std::string_view text_;
  bool ok_ = true;
};

// RFC 9110 §5.6.7: "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994". The day's name is not
// checked.
std::optional<HttpDate> read_http_date(std::string_view text, std::int64_t now_unix_s) {
  HttpDate date;
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos) {
    if (text.size() < 4) return std::nullopt;
    DateReader reader(text.substr(3));
    reader.literal(" ");
    reader.month(date.month);
    reader.literal(" ");
    if (reader.next_is(' ')) {
      reader.literal(" ");
      reader.digits(1, date.day);
    } else {
      reader.digits(2, date.day);
    }
    reader.literal(" ");
    reader.time(date);
    reader.literal(" ");
    reader.digits(4, date.year);
    return reader.finished() ? std::optional(date) : std::nullopt;
  }
  DateReader reader(text.substr(comma + 1));
  const bool old_form = comma > 3;
  const std::string_view separator = old_form ? "-" : " ";
  reader.literal(" ");
  reader.digits(2, date.day);
  reader.literal(separator);
  reader.month(date.month);
  reader.literal(separator);
  reader.digits(old_form ? 2 : 4, date.year);
  reader.literal(" ");
  reader.time(date);
  reader.literal(" GMT");
  if (!reader.finished()) return std::nullopt;
  if (old_form) {
    // Two digits mean the year of this century, unless that is more than 50 years ahead.
    const auto this_year = static_cast<int>(1970 + now_unix_s / 31'556'952);
    date.year += this_year / 100 * 100;
    if (date.year > this_year + 50) date.year -= 100;
  }
  return date;
}

std::optional<std::int64_t> unix_seconds(const HttpDate& date) {
  const std::chrono::year_month_day day{std::chrono::year(date.year), std::chrono::month(static_cast<unsigned>(date.month)),
                                        std::chrono::day(static_cast<unsigned>(date.day))};
  if (!day.ok() || date.hour > 23 || date.minute > 59 || date.second > 60) return std::nullopt;
  const auto days = std::chrono::sys_days(day).time_since_epoch().count();
  return static_cast<std::int64_t>(days) * 86'400 + date.hour * 3600 + date.minute * 60 + date.second;
}

}  // namespace

Duration RetryPolicy::backoff(std::uint64_t n, std::uint64_t random_bits) const {
  const std::int64_t cap = std::clamp<std::int64_t>(max_delay.count(), 0, kWaitMaxMs);
  const std::int64_t base = std::max<std::int64_t>(base_delay.count(), 0);
  // Twice the cap is beyond it for every jitter, so the doubling may stop there.
  return Duration{std::min(jittered(doubled(base, n == 0 ? 0 : n - 1, cap * 2), random_bits), cap)};
}

Duration RetryPolicy::wait(std::uint64_t n, std::uint64_t random_bits, std::optional<Duration> retry_after) const {
  if (retry_after && retry_after->count() > 0) return std::min(*retry_after, std::max(max_delay, Duration{0}));
  return backoff(n, random_bits);
}

std::optional<Duration> parse_retry_after(std::string_view value, std::int64_t now_unix_s) {
  while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
  while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.remove_suffix(1);
  if (value.empty()) return std::nullopt;

  std::int64_t seconds = 0;
  if (value.find_first_not_of("0123456789") == std::string_view::npos) {
    const auto parsed = std::from_chars(value.data(), value.data() + value.size(), seconds);
    if (parsed.ec == std::errc::result_out_of_range) seconds = kRetryAfterMaxS;
  } else {
    const auto date = read_http_date(value, now_unix_s);
    const auto at = date ? unix_seconds(*date) : std::nullopt;
    if (!at) return std::nullopt;
    seconds = *at - now_unix_s;
  }
  if (seconds <= 0) return std::nullopt;
  return std::chrono::seconds(std::min(seconds, kRetryAfterMaxS));
}

bool is_transient_status(int status) {
  constexpr std::array<int, 7> kTransient{408, 425, 429, 500, 502, 503, 504};
  return std::find(kTransient.begin(), kTransient.end(), status) != kTransient.end();
}

}  // namespace sluice
