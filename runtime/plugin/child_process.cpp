// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/child_process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "runtime/base/text.hpp"

namespace sluice::plugin {

namespace {

// What posix_spawn needs, released on every path.
struct SpawnSettings {
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};

  explicit SpawnSettings(std::span<const Fd> fds) {
    posix_spawn_file_actions_init(&actions);
    for (std::size_t i = 0; i < fds.size(); ++i) posix_spawn_file_actions_adddup2(&actions, fds[i].get(), static_cast<int>(i));
    // The plugin's code must not find the daemon's files and sockets.
    posix_spawn_file_actions_addclosefrom_np(&actions, static_cast<int>(fds.size()));
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
};

std::string signal_name(int signal) {
  const char* abbreviation = ::sigabbrev_np(signal);
  const char* description = ::sigdescr_np(signal);
  return fmt::format("SIG{} ({})", abbreviation == nullptr ? std::to_string(signal) : abbreviation,
                     description == nullptr ? "unknown" : description);
}

}  // namespace

void Fd::reset() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(errno_error(errno, "making a pipe for the plugin's process"));
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

Result<pid_t> start_child(std::vector<std::string> words, std::span<const int> fds) {
  // Copies above all targets: one that is a target itself would be overwritten before its turn.
  constexpr int kAboveTargets = 16;
  std::vector<Fd> copies;
  for (const int fd : fds) {
    copies.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, kAboveTargets));
    if (!copies.back().is_open()) return fail(errno_error(errno, "handing a descriptor to the plugin's process"));
  }
  const SpawnSettings settings(copies);
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, words[0].c_str(), &settings.actions, &settings.attributes, arguments.data(), environ);
  if (failed != 0) return fail(errno_error(failed, fmt::format("starting {}, which runs plugins", words[0])));
  return child;
}

siginfo_t end_child(pid_t child) {
  // The group goes in any case: a plugin may have left processes behind.
  ::kill(-child, SIGKILL);
  siginfo_t exit{};
  while (::waitid(P_PID, static_cast<id_t>(child), &exit, WEXITED) < 0 && errno == EINTR) {
  }
  return exit;
}

std::string how_it_ended(const siginfo_t& exit) {
  if (exit.si_code == CLD_EXITED) return fmt::format("ended with exit code {}", exit.si_status);
  return fmt::format("was killed by {}", signal_name(exit.si_status));
}

std::string last_words(std::string_view standard_error) {
  if (standard_error.size() > kHostStderrBytesKept) standard_error.remove_prefix(standard_error.size() - kHostStderrBytesKept);
  while (!standard_error.empty() && (standard_error.back() == '\n' || standard_error.back() == ' ')) standard_error.remove_suffix(1);
  if (standard_error.empty()) return "it wrote nothing to its standard error";
  return fmt::format("the end of its standard error: {}", clean_text(standard_error, 2 * kHostStderrBytesKept));
}

}  // namespace sluice::plugin
