// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/plugin_host.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

// glibc 2.36 forgot the C linkage here; later ones have it.
extern "C" {
#include <sys/pidfd.h>
}

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "runtime/base/text.hpp"

namespace sluice::plugin {

namespace {

class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() { reset(); }
  void reset() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

struct Pipe {
  Fd read;
  Fd write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(errno_error(errno, "making a pipe for the plugin's process"));
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

// What posix_spawn needs, released on every path.
struct SpawnSettings {
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};

  SpawnSettings(int in, int out, int err) {
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
    // The plugin's code must not find the daemon's files and sockets.
    posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
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

struct HostRun {
  std::string out;
  std::string err;  // its end
  bool timed_out = false;
  bool too_much = false;
  siginfo_t exit{};
};

// Reads what is there. False at the end of the stream.
bool drain(int fd, std::string& into) {
  std::array<char, 65536> buffer;
  const ssize_t got = ::read(fd, buffer.data(), buffer.size());
  if (got > 0) into.append(buffer.data(), static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

// Collects output until the child has ended. A grandchild that holds the pipes open does not prolong it.
void watch(HostRun& run, Pipe& out, Pipe& err, const Fd& child, std::chrono::steady_clock::time_point deadline) {
  bool ended = false;
  while (!ended) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      run.timed_out = true;
      return;
    }
    std::array<pollfd, 3> fds{{{out.read.get(), POLLIN, 0}, {err.read.get(), POLLIN, 0}, {child.get(), POLLIN, 0}}};
    if (::poll(fds.data(), fds.size(), static_cast<int>(left.count()) + 1) < 0 && errno != EINTR) return;
    const bool has_output = (fds[0].revents | fds[1].revents) & POLLIN;
    if (fds[0].revents != 0 && !drain(out.read.get(), run.out)) out.read.reset();
    if (fds[1].revents != 0 && !drain(err.read.get(), run.err)) err.read.reset();
    if (run.err.size() > 2 * kHostStderrBytesKept) run.err.erase(0, run.err.size() - kHostStderrBytesKept);
    run.too_much = run.out.size() > kHostOutputBytesMax;
    // Everything that it wrote before it ended is read first.
    ended = run.too_much || (fds[2].revents != 0 && !has_output);
  }
}

// A file in memory, at its beginning: unlike a pipe it takes everything before anybody reads.
Result<Fd> make_input(std::string_view text) {
  Fd file(::memfd_create("sluice-plugin-input", MFD_CLOEXEC));
  if (file.get() < 0) return fail(errno_error(errno, "making the input of the plugin's process"));
  while (!text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return fail(errno_error(errno, "writing the input of the plugin's process"));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::lseek(file.get(), 0, SEEK_SET) != 0) return fail(errno_error(errno, "rewinding the input of the plugin's process"));
  return file;
}

Result<HostRun> run(const HostCall& call) {
  SLUICE_TRY(Fd in, make_input(call.input));
  SLUICE_TRY(Pipe out, make_pipe());
  SLUICE_TRY(Pipe err, make_pipe());
  const SpawnSettings settings(in.get(), out.write.get(), err.write.get());
  std::vector<std::string> words{call.program.string()};
  words.insert(words.end(), call.arguments.begin(), call.arguments.end());
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t pid = 0;
  const int failed = ::posix_spawn(&pid, words[0].c_str(), &settings.actions, &settings.attributes, arguments.data(), environ);
  if (failed != 0) return fail(errno_error(failed, fmt::format("starting {}, which tries plugins", words[0])));
  out.write.reset();
  err.write.reset();

  HostRun run;
  const Fd child(::pidfd_open(pid, 0));
  const int unwatched = child.get() < 0 ? errno : 0;
  if (unwatched == 0) watch(run, out, err, child, std::chrono::steady_clock::now() + call.timeout);
  // The group goes in any case: a plugin may have left processes behind.
  ::kill(-pid, SIGKILL);
  while (::waitid(P_PID, static_cast<id_t>(pid), &run.exit, WEXITED) < 0 && errno == EINTR) {
  }
  if (unwatched != 0) return fail(errno_error(unwatched, "watching the plugin's process"));
  return run;
}

std::string last_words(const HostRun& run) {
  std::string_view end = run.err;
  if (end.size() > kHostStderrBytesKept) end.remove_prefix(end.size() - kHostStderrBytesKept);
  while (!end.empty() && (end.back() == '\n' || end.back() == ' ')) end.remove_suffix(1);
  if (end.empty()) return "it wrote nothing to its standard error";
  return fmt::format("the end of its standard error: {}", clean_text(end, 2 * kHostStderrBytesKept));
}

std::string signal_name(int signal) {
  const char* abbreviation = ::sigabbrev_np(signal);
  const char* description = ::sigdescr_np(signal);
  return fmt::format("SIG{} ({})", abbreviation == nullptr ? std::to_string(signal) : abbreviation,
                     description == nullptr ? "unknown" : description);
}

}  // namespace

Result<std::string> ask_plugin_host(const HostCall& call) {
  auto ran = run(call);
  if (!ran) return fail(Errc::kLoadFailed, fmt::format("{} was not {}: {}", call.name, call.done, ran.error().message()));
  if (ran->timed_out) {
    return fail(Errc::kProbeTimeout, fmt::format("{} did not finish {} within {} ms in the process that {} it; {}", call.name, call.doing,
                                                 call.timeout.count(), call.done, last_words(*ran)));
  }
  if (ran->too_much) {
    return fail(Errc::kBadDescriptor, fmt::format("{} describes itself with more than {} bytes", call.name, kHostOutputBytesMax));
  }
  if (ran->exit.si_code != CLD_EXITED) {
    return fail(Errc::kProbeCrashed, fmt::format("{} killed the process that {} it: {}; {}", call.name, call.done,
                                                 signal_name(ran->exit.si_status), last_words(*ran)));
  }
  if (ran->exit.si_status != 0 || ran->out.empty()) {
    return fail(Errc::kProbeCrashed, fmt::format("{} ended the process that {} it with exit code {}; {}", call.name, call.done,
                                                 ran->exit.si_status, last_words(*ran)));
  }
  return std::move(ran->out);
}

}  // namespace sluice::plugin
