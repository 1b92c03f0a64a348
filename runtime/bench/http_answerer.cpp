// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/http_answerer.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <map>
#include <string>
#include <string_view>

namespace sluice::bench {
namespace {

constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

std::size_t content_length(std::string_view head) {
  constexpr std::string_view kName = "Content-Length: ";
  const std::size_t at = head.find(kName);
  std::size_t length = 0;
  if (at != std::string_view::npos) std::from_chars(head.data() + at + kName.size(), head.data() + head.size(), length);
  return length;
}

// Removes whole requests from the front of `input`; how many there were.
std::size_t take_requests(std::string& input) {
  std::size_t count = 0;
  std::size_t at = 0;
  while (true) {
    const std::size_t head_end = input.find("\r\n\r\n", at);
    if (head_end == std::string::npos) break;
    const std::size_t end = head_end + 4 + content_length(std::string_view(input).substr(at, head_end - at));
    if (end > input.size()) break;
    at = end;
    ++count;
  }
  input.erase(0, at);
  return count;
}

// Reads what there is and answers every whole request; false when the peer has gone.
bool answer(int connection, std::string& input, std::atomic<std::uint64_t>& requests) {
  std::array<char, 65536> buffer{};
  const ssize_t got = ::recv(connection, buffer.data(), buffer.size(), 0);
  if (got <= 0) return false;
  input.append(buffer.data(), static_cast<std::size_t>(got));
  const std::size_t count = take_requests(input);
  for (std::size_t i = 0; i < count; ++i) {
    if (::send(connection, kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL) < 0) return false;
  }
  requests.fetch_add(count, std::memory_order_relaxed);
  return true;
}

void watch(int epoll, int descriptor) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = descriptor;
  ::epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
}

}  // namespace

HttpAnswerer::HttpAnswerer(int listener, int epoll, int stop_event, std::uint16_t port)
    : listener_(listener), epoll_(epoll), stop_event_(stop_event), port_(port), thread_([this] { serve(); }) {}

Result<std::unique_ptr<HttpAnswerer>> HttpAnswerer::start() {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0) return fail(errno_error(errno, "socket"));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener, 16) != 0 ||
      ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    const int error = errno;
    ::close(listener);
    return fail(errno_error(error, "listen on loopback"));
  }
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  const int stop_event = ::eventfd(0, EFD_CLOEXEC);
  watch(epoll, listener);
  watch(epoll, stop_event);
  return std::unique_ptr<HttpAnswerer>(new HttpAnswerer(listener, epoll, stop_event, ntohs(address.sin_port)));
}

HttpAnswerer::~HttpAnswerer() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(stop_event_, &one, sizeof one);
  thread_.join();
  for (const int descriptor : {listener_, epoll_, stop_event_}) ::close(descriptor);
}

void HttpAnswerer::serve() {
  std::map<int, std::string> connections;
  std::array<epoll_event, 16> events{};
  for (bool running = true; running;) {
    const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < count; ++i) {
      const int descriptor = events.at(static_cast<std::size_t>(i)).data.fd;
      if (descriptor == stop_event_) {
        running = false;
      } else if (descriptor == listener_) {
        const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (connection < 0) continue;
        const int on = 1;
        ::setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        connections[connection];
        watch(epoll_, connection);
      } else if (!answer(descriptor, connections[descriptor], requests_)) {
        connections.erase(descriptor);
        ::close(descriptor);
      }
    }
  }
  for (const auto& [descriptor, input] : connections) ::close(descriptor);
}

}  // namespace sluice::bench
