// SPDX-License-Identifier: Apache-2.0
#include <sluice/testing/loopback_server.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace sluice::testing {
namespace {

constexpr std::size_t kRequestBytesMax = 64 << 20;

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {
    if (fd < 0) throw std::system_error(errno, std::generic_category(), "loopback server");
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { ::close(fd_); }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

// The head of a request, without its body; nothing if it is not one.
std::optional<HttpSeen> parse_head(std::string_view head) {
  HttpSeen seen;
  const std::size_t line_end = head.find("\r\n");
  const std::string_view first = head.substr(0, line_end);
  const std::size_t space = first.find(' ');
  const std::size_t second = first.find(' ', space + 1);
  if (space == first.npos || second == first.npos) return std::nullopt;
  seen.method = first.substr(0, space);
  seen.target = first.substr(space + 1, second - space - 1);
  head.remove_prefix(line_end + 2);
  while (!head.empty()) {
    const std::size_t end = head.find("\r\n");
    const std::string_view line = head.substr(0, end);
    const std::size_t colon = line.find(':');
    if (colon != line.npos) {
      std::string_view value = line.substr(colon + 1);
      while (value.starts_with(' ')) value.remove_prefix(1);
      seen.headers.emplace_back(lower(line.substr(0, colon)), value);
    }
    if (end == head.npos) break;
    head.remove_prefix(end + 2);
  }
  return seen;
}

std::string rendered(const HttpReply& reply) {
  std::string out = "HTTP/1.1 " + std::to_string(reply.status) + " Scripted\r\n";
  for (const auto& [name, value] : reply.headers) out.append(name).append(": ").append(value).append("\r\n");
  return out + "Content-Length: " + std::to_string(reply.body.size()) + "\r\n\r\n" + reply.body;
}

}  // namespace

std::optional<std::string> HttpSeen::header(std::string_view lower_case_name) const {
  for (const auto& [name, value] : headers) {
    if (name == lower_case_name) return value;
  }
  return std::nullopt;
}

class LoopbackServer::Impl {
 public:
  explicit Impl(Script script)
      : script_(std::move(script)), stop_event_(::eventfd(0, EFD_CLOEXEC)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* raw = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_->get(), raw, length) != 0 || ::listen(listener_->get(), 64) != 0 ||
        ::getsockname(listener_->get(), raw, &length) != 0) {
      throw std::system_error(errno, std::generic_category(), "loopback server");
    }
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { stop(); }

  void stop() {
    if (!acceptor_.joinable()) return;
    constexpr std::uint64_t kOne = 1;
    // An eventfd that is written once stays readable: every thread that polls it ends.
    if (::write(stop_event_.get(), &kOne, sizeof kOne) != sizeof kOne) std::abort();
    acceptor_.join();
    for (std::thread& connection : connections_) connection.join();
    connections_.clear();
    listener_.reset();
  }

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::vector<HttpSeen> seen() const {
    const std::scoped_lock lock(mutex_);
    return seen_;
  }
  [[nodiscard]] bool wait_for_requests(std::size_t count, Duration patience) const {
    std::unique_lock lock(mutex_);
    return more_seen_.wait_for(lock, patience, [&] { return seen_.size() >= count; });
  }

 private:
  // False: stop, or nothing within `patience_ms` (-1 = for ever).
  [[nodiscard]] bool wait_readable(int fd, int patience_ms = -1) const {
    pollfd fds[2] = {{fd, POLLIN, 0}, {stop_event_.get(), POLLIN, 0}};
    return ::poll(fds, 2, patience_ms) > 0 && (fds[1].revents & POLLIN) == 0;
  }
  // A nap that a stop ends.
  [[nodiscard]] bool sleep_unless_stopped(int ms) const {
    pollfd event{stop_event_.get(), POLLIN, 0};
    return ::poll(&event, 1, ms) == 0;
  }

  void accept_all() {
    std::uint64_t number = 0;
    while (wait_readable(listener_->get())) {
      const int fd = ::accept4(listener_->get(), nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) continue;
      connections_.emplace_back([this, fd, number] {
        const Descriptor connection(fd);
        serve(connection.get(), number);
      });
      ++number;
    }
  }

  void serve(int fd, std::uint64_t connection) {
    std::string buffer;
    while (auto request = read_request(fd, buffer)) {
      request->connection = connection;
      HttpReply reply;
      {
        const std::scoped_lock lock(mutex_);
        request->number = seen_.size();
        seen_.push_back(*request);
        reply = script_(*request);
      }
      more_seen_.notify_all();
      if (!answer(fd, reply)) return;
    }
  }

  [[nodiscard]] std::optional<HttpSeen> read_request(int fd, std::string& buffer) const {
    std::size_t head_end = 0;
    while ((head_end = buffer.find("\r\n\r\n")) == buffer.npos) {
      if (!read_more(fd, buffer)) return std::nullopt;
    }
    auto request = parse_head(std::string_view(buffer).substr(0, head_end));
    buffer.erase(0, head_end + 4);
    if (!request) return std::nullopt;
    std::size_t length = 0;
    const std::string text = request->header("content-length").value_or("0");
    std::from_chars(text.data(), text.data() + text.size(), length);
    while (buffer.size() < length) {
      if (!read_more(fd, buffer)) return std::nullopt;
    }
    request->body = buffer.substr(0, length);
    buffer.erase(0, length);
    return request;
  }

  [[nodiscard]] bool read_more(int fd, std::string& buffer) const {
    char chunk[16'384];
    if (buffer.size() > kRequestBytesMax || !wait_readable(fd)) return false;
    const ssize_t got = ::recv(fd, chunk, sizeof chunk, 0);
    if (got <= 0) return false;
    buffer.append(chunk, static_cast<std::size_t>(got));
    return true;
  }

  // False: the connection ends.
  [[nodiscard]] bool answer(int fd, const HttpReply& reply) const {
    if (reply.delay.count() > 0 && !sleep_unless_stopped(static_cast<int>(reply.delay.count()))) return false;
    switch (reply.action) {
      case HttpReply::Action::kHang:
        return sleep_unless_stopped(-1);
      case HttpReply::Action::kReset: {
        const linger now{1, 0};
        ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        return false;
      }
      case HttpReply::Action::kClose:
        return false;
      case HttpReply::Action::kAnswer:
        break;
    }
    std::string_view out;
    const std::string text = rendered(reply);
    for (out = text; !out.empty();) {
      const ssize_t sent = ::send(fd, out.data(), out.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      out.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  Script script_;
  Descriptor stop_event_;
  std::optional<Descriptor> listener_;
  std::uint16_t port_ = 0;
  mutable std::mutex mutex_;
  mutable std::condition_variable more_seen_;
  std::vector<HttpSeen> seen_;
  std::vector<std::thread> connections_;  // of the acceptor until it is joined
  std::thread acceptor_;
};

LoopbackServer::LoopbackServer(Script script) : impl_(std::make_unique<Impl>(std::move(script))) {}
LoopbackServer::~LoopbackServer() = default;

std::uint16_t LoopbackServer::port() const {
  return impl_->port();
}
std::string LoopbackServer::url(std::string_view path) const {
  return ("http://127.0.0.1:" + std::to_string(port())).append(path);
}
std::vector<HttpSeen> LoopbackServer::seen() const {
  return impl_->seen();
}
bool LoopbackServer::wait_for_requests(std::size_t count, Duration patience) const {
  return impl_->wait_for_requests(count, patience);
}
void LoopbackServer::stop() {
  impl_->stop();
}

}  // namespace sluice::testing
