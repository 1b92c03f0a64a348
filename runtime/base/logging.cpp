// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/logging.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "core/base/clock.hpp"
#include "runtime/base/repeat_filter.hpp"
#include "runtime/base/text.hpp"
#include "runtime/base/time_format.hpp"

namespace sluice::logging {
namespace {

constexpr std::chrono::seconds kRepeatWindow{30};
constexpr std::size_t kMessageBytesMax = 16 * 1024;
constexpr std::size_t kSecretsMax = 4096;
constexpr std::array<std::string_view, 5> kLevelNames{"trace", "debug", "info", "warn", "error"};

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

// What a line is apart from its time; also what makes two lines equal.
std::string line_body(Format format, Level level, std::string_view connector, std::string_view message) {
  if (format == Format::kJson) {
    std::string out = fmt::format(R"("level":"{}",)", to_string(level));
    if (!connector.empty()) out += fmt::format(R"("connector":{},)", json_string(connector));
    return out + fmt::format(R"("message":{})", json_string(message));
  }
  if (connector.empty()) return fmt::format("{:<5} {}", to_string(level), message);
  return fmt::format("{:<5} [{}] {}", to_string(level), connector, message);
}

class LogWriter {
 public:
  void start(Level level, Format format) {
    const std::lock_guard lock(mutex_);
    write_held_back(repeats_.drain());
    level_.store(level, std::memory_order_relaxed);
    format_ = format;
  }
  void add_secrets(const std::vector<std::string>& secrets) {
    const std::lock_guard lock(mutex_);
    for (const std::string& secret : secrets) {
      if (!secret.empty() && secrets_.size() < kSecretsMax && std::ranges::find(secrets_, secret) == secrets_.end())
        secrets_.push_back(secret);
    }
  }
  void flush() {
    const std::lock_guard lock(mutex_);
    write_held_back(repeats_.drain());
    spdlog_.flush();
  }
  [[nodiscard]] bool enabled(Level level) const { return level >= level_.load(std::memory_order_relaxed); }

  void write(Level level, std::string_view connector, std::string_view message) {
    const std::lock_guard lock(mutex_);
    const auto now = system_clock().monotonic();
    const std::string body = line_body(format_, level, connector, clean_text(message, kMessageBytesMax, secrets_));
    write_held_back(repeats_.expired(now));
    if (level >= Level::kWarn && !repeats_.admit(body, now)) return;
    write_line(body, 0);
  }

 private:
  void write_held_back(const std::vector<RepeatFilter::Summary>& summaries) {
    for (const auto& summary : summaries) write_line(summary.line, summary.count);
  }
  void write_line(std::string_view body, std::uint64_t repeated) {
    const std::string time = format_rfc3339(system_clock().wall());
    const bool json = format_ == Format::kJson;
    std::string line = json ? fmt::format(R"({{"time":"{}",{})", time, body) : fmt::format("{} {}", time, body);
    if (repeated > 0) line += json ? fmt::format(R"(,"repeated":{})", repeated) : fmt::format(" (repeated {} times more)", repeated);
    if (json) line += '}';
    spdlog_.log(spdlog::level::critical, spdlog::string_view_t(line.data(), line.size()));
  }

  static spdlog::logger make_logger() {
    spdlog::logger logger("sluice", std::make_shared<spdlog::sinks::stderr_sink_st>());
    logger.set_pattern("%v");
    logger.flush_on(spdlog::level::trace);
    return logger;
  }

  std::mutex mutex_;
  std::atomic<Level> level_{Level::kInfo};
  Format format_ = Format::kText;
  std::vector<std::string> secrets_;
  RepeatFilter repeats_{kRepeatWindow};
  spdlog::logger spdlog_ = make_logger();
};

// Never destroyed: an abandoned plugin thread may log until the very end of the process.
LogWriter& log_writer() {
  static LogWriter* const writer = new LogWriter;
  return *writer;
}

}  // namespace

std::string_view to_string(Level level) {
  return kLevelNames[static_cast<std::size_t>(level)];
}

std::optional<Level> parse_level(std::string_view text) {
  const auto found = std::ranges::find(kLevelNames, text);
  if (found == kLevelNames.end()) return std::nullopt;
  return static_cast<Level>(found - kLevelNames.begin());
}

void start(Level level, Format format) {
  log_writer().start(level, format);
}
void add_secrets(const std::vector<std::string>& secrets) {
  log_writer().add_secrets(secrets);
}
void flush() {
  log_writer().flush();
}
bool enabled(Level level) {
  return log_writer().enabled(level);
}

void Logger::write(Level level, std::string_view message) const {
  if (enabled(level)) log_writer().write(level, connector_, message);
}

}  // namespace sluice::logging
