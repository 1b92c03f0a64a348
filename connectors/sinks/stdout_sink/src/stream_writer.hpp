// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <stop_token>
#include <string_view>

namespace sluice::stdout_sink {

// Writes to a descriptor that may be a terminal, a file or a pipe whose reader sleeps, without ever being held by it: it waits for room and
// can be interrupted there. Does not own the descriptor. Worker only, but for the stop token, which anyone may set.
class StreamWriter {
 public:
  // Throws std::system_error.
  StreamWriter(int fd, std::stop_token stop);
  StreamWriter(const StreamWriter&) = delete;
  StreamWriter& operator=(const StreamWriter&) = delete;
  ~StreamWriter();

  // Returns the bytes written: fewer than given only when stopped. Throws std::system_error.
  [[nodiscard]] std::size_t write(std::string_view bytes);

 private:
  [[nodiscard]] bool wait_for_room() const;

  int fd_;
  int interrupted_;
  std::stop_callback<std::function<void()>> on_stop_;
};

}  // namespace sluice::stdout_sink
