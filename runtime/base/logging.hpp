// SPDX-License-Identifier: Apache-2.0
// The daemon's log: one line an event on stderr, text or JSON. spdlog does the writing and stays behind logging.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sluice::logging {

enum class Level : std::uint8_t { kTrace, kDebug, kInfo, kWarn, kError };
[[nodiscard]] std::string_view to_string(Level level);
[[nodiscard]] std::optional<Level> parse_level(std::string_view text);

enum class Format : std::uint8_t { kText, kJson };

// Until start() lines of level info and above go to stderr as text. Call it before other threads log; again changes level and format.
void start(Level level, Format format);
// Values that must never be seen: masked in every line from now on. [any thread]
void add_secrets(const std::vector<std::string>& secrets);
// Writes what is still held back (counts of repeated lines). Call before the process ends.
void flush();

[[nodiscard]] bool enabled(Level level);

// Writes lines that carry the connector's key (none for the daemon itself). A warning or error that repeats within 30 s is written once and
// then counted; the count follows with the next line after that. Bytes are made valid UTF-8 and control bytes escaped. A value type;
// every function may be called by any thread.
class Logger {
 public:
  Logger() = default;
  explicit Logger(std::string connector) : connector_(std::move(connector)) {}

  template <typename... Args>
  void trace(fmt::format_string<Args...> format, Args&&... args) const {
    log(Level::kTrace, format, std::forward<Args>(args)...);
  }
  template <typename... Args>
  void debug(fmt::format_string<Args...> format, Args&&... args) const {
    log(Level::kDebug, format, std::forward<Args>(args)...);
  }
  template <typename... Args>
  void info(fmt::format_string<Args...> format, Args&&... args) const {
    log(Level::kInfo, format, std::forward<Args>(args)...);
  }
  template <typename... Args>
  void warn(fmt::format_string<Args...> format, Args&&... args) const {
    log(Level::kWarn, format, std::forward<Args>(args)...);
  }
  template <typename... Args>
  void error(fmt::format_string<Args...> format, Args&&... args) const {
    log(Level::kError, format, std::forward<Args>(args)...);
  }

  template <typename... Args>
  void log(Level level, fmt::format_string<Args...> format, Args&&... args) const {
    if (enabled(level)) write(level, fmt::format(format, std::forward<Args>(args)...));
  }
  void write(Level level, std::string_view message) const;

 private:
  std::string connector_;
};

}  // namespace sluice::logging
