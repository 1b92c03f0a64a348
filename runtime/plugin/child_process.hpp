// SPDX-License-Identifier: Apache-2.0
// The processes that plugins run in, as their parent starts and reaps them.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.hpp"

namespace sluice::plugin {

inline constexpr std::size_t kHostStderrBytesKept = 2048;

// A file descriptor that is closed with the object.
class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() { reset(); }
  void reset();
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool is_open() const { return fd_ >= 0; }

 private:
  int fd_;
};

struct Pipe {
  Fd read;
  Fd write;
};
// Closed on exec.
[[nodiscard]] Result<Pipe> make_pipe();

// Starts words[0] with these words, in a process group of its own, with default signals, and fds[i] as its descriptor i; it finds no other
// of ours open. The caller reaps it. Any thread.
[[nodiscard]] Result<pid_t> start_child(std::vector<std::string> words, std::span<const int> fds);
// Ends the whole group, whatever it does, and waits for the leader. Called once.
siginfo_t end_child(pid_t child);

// "was killed by SIGSEGV (Segmentation fault)" or "ended with exit code 3".
[[nodiscard]] std::string how_it_ended(const siginfo_t& exit);
// "the end of its standard error: …", clean and cut.
[[nodiscard]] std::string last_words(std::string_view standard_error);

}  // namespace sluice::plugin
