// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/plugin_host.hpp"

#include <fcntl.h>
#include <poll.h>
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

#include "runtime/plugin/child_process.hpp"

namespace sluice::plugin {

namespace {

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
  SLUICE_TRY(const Fd in, make_input(call.input));
  SLUICE_TRY(Pipe out, make_pipe());
  SLUICE_TRY(Pipe err, make_pipe());
  std::vector<std::string> words{call.program.string()};
  words.insert(words.end(), call.arguments.begin(), call.arguments.end());
  SLUICE_TRY(const pid_t pid, start_child(std::move(words), std::array{in.get(), out.write.get(), err.write.get()}));
  out.write.reset();
  err.write.reset();

  HostRun run;
  const Fd child(::pidfd_open(pid, 0));
  const int unwatched = child.is_open() ? 0 : errno;
  if (unwatched == 0) watch(run, out, err, child, std::chrono::steady_clock::now() + call.timeout);
  run.exit = end_child(pid);
  if (unwatched != 0) return fail(errno_error(unwatched, "watching the plugin's process"));
  return run;
}

}  // namespace

Result<std::string> ask_plugin_host(const HostCall& call) {
  auto ran = run(call);
  if (!ran) return fail(Errc::kLoadFailed, fmt::format("{} was not {}: {}", call.name, call.done, ran.error().message()));
  if (ran->timed_out) {
    return fail(Errc::kProbeTimeout, fmt::format("{} did not finish {} within {} ms in the process that {} it; {}", call.name, call.doing,
                                                 call.timeout.count(), call.done, last_words(ran->err)));
  }
  if (ran->too_much) {
    return fail(Errc::kBadDescriptor, fmt::format("{} describes itself with more than {} bytes", call.name, kHostOutputBytesMax));
  }
  if (ran->exit.si_code != CLD_EXITED || ran->exit.si_status != 0 || ran->out.empty()) {
    return fail(Errc::kProbeCrashed,
                fmt::format("the process that {} {} {}; {}", call.done, call.name, how_it_ended(ran->exit), last_words(ran->err)));
  }
  return std::move(ran->out);
}

}  // namespace sluice::plugin
