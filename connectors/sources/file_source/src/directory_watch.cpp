// SPDX-License-Identifier: Apache-2.0
#include "directory_watch.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace sluice::file_source {
namespace {

constexpr std::uint32_t kNameEvents = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF;
constexpr std::uint32_t kLostEvents = IN_Q_OVERFLOW | IN_IGNORED | IN_UNMOUNT;

}  // namespace

DirectoryWatch::DirectoryWatch() : events_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
  if (!events_) throw_errno(errno, "cannot start inotify (see fs.inotify.max_user_instances)");
  interrupted_ = FileHandle(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!interrupted_) throw_errno(errno, "cannot make an eventfd");
}

std::set<std::string> DirectoryWatch::watch(const std::set<std::string>& directories) {
  for (auto it = watches_.begin(); it != watches_.end();) {
    if (directories.contains(it->first)) {
      ++it;
      continue;
    }
    ::inotify_rm_watch(events_.get(), it->second);
    it = watches_.erase(it);
  }
  std::set<std::string> refused;
  for (const std::string& directory : directories) {
    // Also for one already watched: a directory that was deleted and made again needs a new watch, and adding one twice does no harm.
    const int id = ::inotify_add_watch(events_.get(), directory.c_str(), kNameEvents | IN_MODIFY | IN_ONLYDIR);
    if (id >= 0) {
      watches_[directory] = id;
    } else {
      refused.insert("cannot watch " + directory + ": " + std::strerror(errno) + "; it is looked at once a second instead");
    }
  }
  return refused;
}

bool DirectoryWatch::take_events() {
  bool names_changed = false;
  alignas(inotify_event) std::array<char, 16 * 1024> buffer;
  while (true) {
    const ssize_t got = ::read(events_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return names_changed;
    for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof(event));
      names_changed = names_changed || (event.mask & (kNameEvents | kLostEvents)) != 0;
      at += sizeof(event) + event.len;
    }
  }
}

void DirectoryWatch::wait(std::uint64_t timeout_ns) const {
  std::array<pollfd, 2> fds{{{events_.get(), POLLIN, 0}, {interrupted_.get(), POLLIN, 0}}};
  const timespec timeout{.tv_sec = static_cast<time_t>(timeout_ns / 1'000'000'000),
                         .tv_nsec = static_cast<long>(timeout_ns % 1'000'000'000)};
  // Any return, also by a signal, only makes the caller look.
  (void)::ppoll(fds.data(), fds.size(), &timeout, nullptr);
}

void DirectoryWatch::interrupt() const {
  const std::uint64_t one = 1;
  // It fails only if it is set already.
  (void)!::write(interrupted_.get(), &one, sizeof(one));
}

}  // namespace sluice::file_source
