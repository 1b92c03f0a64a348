// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/time_format.hpp"

#include <array>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

namespace sluice {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// Takes fixed-width fields off the front of a timestamp.
class TimeScanner {
 public:
  explicit TimeScanner(std::string_view text) : text_(text) {}

  std::optional<int> digits(std::size_t count) {
    if (text_.size() < count) return std::nullopt;
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (text_[i] < '0' || text_[i] > '9') return std::nullopt;
      value = value * 10 + (text_[i] - '0');
    }
    text_.remove_prefix(count);
    return value;
  }
  std::optional<char> one_of(std::string_view choices) {
    if (text_.empty() || choices.find(text_.front()) == std::string_view::npos) return std::nullopt;
    const char found = text_.front();
    text_.remove_prefix(1);
    return found;
  }
  [[nodiscard]] bool at_end() const { return text_.empty(); }
  [[nodiscard]] bool at_digit() const { return !text_.empty() && text_.front() >= '0' && text_.front() <= '9'; }

 private:
  std::string_view text_;
};

std::optional<seconds> scan_offset(TimeScanner& scanner) {
  if (scanner.one_of("Zz")) return seconds{0};
  const auto sign = scanner.one_of("+-");
  if (!sign) return std::nullopt;
  const auto offset_hours = scanner.digits(2);
  if (!offset_hours || !scanner.one_of(":")) return std::nullopt;
  const auto offset_minutes = scanner.digits(2);
  if (!offset_minutes || *offset_hours > 23 || *offset_minutes > 59) return std::nullopt;
  const seconds offset = hours{*offset_hours} + minutes{*offset_minutes};
  return *sign == '-' ? -offset : offset;
}

std::optional<microseconds> scan_fraction(TimeScanner& scanner) {
  if (!scanner.one_of(".")) return microseconds{0};
  if (!scanner.at_digit()) return std::nullopt;
  std::int64_t value = 0;
  int taken = 0;
  while (scanner.at_digit()) {
    const int digit = *scanner.digits(1);
    if (taken < 6) {
      value = value * 10 + digit;
      ++taken;
    }
  }
  for (; taken < 6; ++taken) value *= 10;
  return microseconds{value};
}

std::optional<TimestampUs> scan_rfc3339(std::string_view text) {
  TimeScanner scanner(text);
  const auto year = scanner.digits(4);
  if (!year || !scanner.one_of("-")) return std::nullopt;
  const auto month = scanner.digits(2);
  if (!month || !scanner.one_of("-")) return std::nullopt;
  const auto day = scanner.digits(2);
  if (!day || !scanner.one_of("Tt ")) return std::nullopt;
  const auto hour = scanner.digits(2);
  if (!hour || !scanner.one_of(":")) return std::nullopt;
  const auto minute = scanner.digits(2);
  if (!minute || !scanner.one_of(":")) return std::nullopt;
  const auto second = scanner.digits(2);
  if (!second || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  const auto fraction = scan_fraction(scanner);
  if (!fraction) return std::nullopt;
  const auto offset = scan_offset(scanner);
  if (!offset || !scanner.at_end()) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{*year}, std::chrono::month{static_cast<unsigned>(*month)},
                                         std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok() || *year < 1970) return std::nullopt;
  const microseconds since_epoch = std::chrono::sys_days(date).time_since_epoch() + hours{*hour} + minutes{*minute} + seconds{*second};
  return TimestampUs{(since_epoch + *fraction - *offset).count()};
}

}  // namespace

std::string format_rfc3339(TimestampUs time) {
  const std::chrono::sys_time<microseconds> point{microseconds{time.value()}};
  const auto day = std::chrono::floor<days>(point);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{point - day};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()), clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

Result<TimestampUs> parse_rfc3339(std::string_view text) {
  const auto time = scan_rfc3339(text);
  if (!time) {
    return fail(Errc::kInvalidArgument,
                fmt::format("`{}` is not a time; write it as RFC 3339 with an offset, as in 2026-03-01T12:30:00Z", text));
  }
  return *time;
}

std::string format_span(std::chrono::milliseconds span) {
  if (span < std::chrono::milliseconds{0}) return "-" + format_span(-span);
  if (span < seconds{1}) return fmt::format("{}ms", span.count());
  struct Unit {
    std::int64_t seconds;
    char name;
  };
  constexpr std::array<Unit, 4> kUnits{{{86'400, 'd'}, {3'600, 'h'}, {60, 'm'}, {1, 's'}}};
  const std::int64_t total = std::chrono::duration_cast<seconds>(span).count();
  for (std::size_t i = 0; i < kUnits.size(); ++i) {
    if (total < kUnits[i].seconds) continue;
    std::string out = fmt::format("{}{}", total / kUnits[i].seconds, kUnits[i].name);
    if (i + 1 < kUnits.size()) {
      const std::int64_t next = total % kUnits[i].seconds / kUnits[i + 1].seconds;
      if (next != 0) out += fmt::format(" {}{}", next, kUnits[i + 1].name);
    }
    return out;
  }
  return "0ms";
}

}  // namespace sluice
