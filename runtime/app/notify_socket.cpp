// SPDX-License-Identifier: Apache-2.0
#include "runtime/app/notify_socket.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "runtime/base/parse_number.hpp"

namespace sluice::app {
namespace {

std::string take(const char* name) {
  const char* const value = std::getenv(name);
  std::string out = value == nullptr ? "" : value;
  unsetenv(name);
  return out;
}

}  // namespace

NotifySocket NotifySocket::from_environment() {
  NotifySocket out;
  out.socket_ = take("NOTIFY_SOCKET");
  const auto interval = parse_number<std::uint64_t>(take("WATCHDOG_USEC"));
  const auto process = parse_number<std::uint64_t>(take("WATCHDOG_PID"));
  // Without a process it is meant for whoever reads it.
  const bool is_meant = !process || *process == static_cast<std::uint64_t>(getpid());
  if (interval && *interval > 0 && *interval <= std::uint64_t{INT64_MAX} / 1000 && is_meant)
    out.watchdog_interval_ = std::chrono::microseconds(*interval);
  return out;
}

Result<void> NotifySocket::tell(std::string_view state) const {
  if (socket_.empty()) return {};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if ((socket_[0] != '/' && socket_[0] != '@') || socket_.size() >= sizeof(address.sun_path))
    return fail(Errc::kInvalidArgument, fmt::format("NOTIFY_SOCKET = \"{}\" is no path and no abstract name of at most {} bytes", socket_,
                                                    sizeof(address.sun_path) - 1));
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (socket_[0] == '@') address.sun_path[0] = '\0';
  const auto failed = [&](const char* call) { return fail(errno_error(errno, fmt::format("{} {}", call, socket_))); };
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return failed("socket for");
  // One that does not read holds nobody up for long.
  const timeval wait{.tv_sec = 1, .tv_usec = 0};
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  const auto sent = ::sendto(socket, state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), bytes);
  Result<void> outcome;
  if (sent < 0) outcome = failed("send to");
  ::close(socket);
  return outcome;
}

}  // namespace sluice::app
