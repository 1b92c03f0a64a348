// SPDX-License-Identifier: Apache-2.0
#include "stream_writer.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <system_error>

namespace sluice::stdout_sink {
namespace {

int make_stop_event() {
  const int fd = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (fd < 0) throw std::system_error(errno, std::generic_category(), "cannot make an eventfd");
  return fd;
}

}  // namespace

StreamWriter::StreamWriter(int fd, std::stop_token stop)
    : fd_(fd), interrupted_(make_stop_event()), on_stop_(std::move(stop), [this] {
        const std::uint64_t one = 1;
        (void)!::write(interrupted_, &one, sizeof(one));
      }) {}

StreamWriter::~StreamWriter() {
  ::close(interrupted_);
}

bool StreamWriter::wait_for_room() const {
  std::array<pollfd, 2> fds{{{fd_, POLLOUT, 0}, {interrupted_, POLLIN, 0}}};
  while (::poll(fds.data(), fds.size(), -1) < 0) {
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "cannot wait for the standard output");
  }
  return fds[1].revents == 0;
}

std::size_t StreamWriter::write(std::string_view bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    if (!wait_for_room()) break;
    // A pipe that is ready takes PIPE_BUF bytes without blocking, and promises no more.
    const ssize_t written = ::write(fd_, bytes.data() + done, std::min<std::size_t>(bytes.size() - done, PIPE_BUF));
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (written < 0) throw std::system_error(errno, std::generic_category(), "cannot write to the standard output");
    done += static_cast<std::size_t>(written);
  }
  return done;
}

}  // namespace sluice::stdout_sink
