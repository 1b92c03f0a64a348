// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/server.hpp"

#include <cerrno>
#include <thread>
#include <utility>
#include <vector>

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "runtime/http/errc.hpp"
#include "runtime/http/session.hpp"

namespace sluice::http {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Local = asio::local::stream_protocol;

constexpr std::size_t kSocketPathMax = 107;
constexpr std::chrono::milliseconds kAcceptRetryDelay{100};  // after accept failed, for example for want of descriptors
constexpr int kBacklog = 64;

Result<tcp::endpoint> loopback_endpoint(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  const auto malformed = [&] { return fail(Errc::kAddressNotAllowed, fmt::format("[http] address '{}' is not host:port", address)); };
  if (colon == std::string::npos || colon + 1 == address.size()) return malformed();
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  if (host == "localhost") host = "127.0.0.1";
  std::uint32_t port = 0;
  for (const char c : address.substr(colon + 1)) {
    if (c < '0' || c > '9' || port > 65'535) return malformed();
    port = port * 10 + static_cast<std::uint32_t>(c - '0');
  }
  boost::system::error_code error;
  const auto ip = asio::ip::make_address(host, error);
  if (error || port > 65'535) return malformed();
  if (!ip.is_loopback()) return fail(Errc::kAddressNotAllowed, fmt::format("[http] address '{}' is not a loopback address", address));
  return tcp::endpoint(ip, static_cast<std::uint16_t>(port));
}

Result<void> bind_port(tcp::acceptor& acceptor, const std::string& address) {
  SLUICE_TRY(const tcp::endpoint endpoint, loopback_endpoint(address));
  boost::system::error_code error;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(kBacklog, error);
  if (error == asio::error::address_in_use) return fail(Errc::kAddressInUse, fmt::format("{} is taken by another process", address));
  if (error) return fail(errno_error(error.value(), fmt::format("cannot listen on {}", address)));
  return {};
}

// Takes a stale socket away; a live one, or something that is no socket, is refused.
Result<void> clear_stale_socket(asio::io_context& io, const std::filesystem::path& path) {
  struct stat info{};
  if (lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return {};
    return fail(errno_error(errno, fmt::format("cannot look at {}", path.string())));
  }
  if (!S_ISSOCK(info.st_mode)) return fail(Errc::kSocketInUse, fmt::format("{} exists and is not a socket", path.string()));
  Local::socket probe(io);
  boost::system::error_code error;
  probe.connect(Local::endpoint(path.string()), error);
  if (!error) return fail(Errc::kSocketInUse, fmt::format("a live process answers on {}", path.string()));
  if (unlink(path.c_str()) != 0) return fail(errno_error(errno, fmt::format("cannot remove the stale socket {}", path.string())));
  return {};
}

Result<void> bind_socket(asio::io_context& io, Local::acceptor& acceptor, const std::filesystem::path& path) {
  if (path.string().size() > kSocketPathMax) {
    return fail(sluice::Errc::kInvalidArgument,
                fmt::format("[http] socket {} is longer than the {} bytes the system allows", path.string(), kSocketPathMax));
  }
  SLUICE_CHECK(clear_stale_socket(io, path));
  boost::system::error_code error;
  acceptor.open(Local(), error);
  // The mode is set before the name exists, so that there is no moment in which others may connect; umask can only narrow it.
  if (!error && fchmod(acceptor.native_handle(), 0660) != 0) error.assign(errno, boost::system::system_category());
  if (!error) acceptor.bind(Local::endpoint(path.string()), error);
  if (!error && chmod(path.c_str(), 0660) != 0) error.assign(errno, boost::system::system_category());
  if (!error) acceptor.listen(kBacklog, error);
  if (error) return fail(errno_error(error.value(), fmt::format("cannot listen on {}", path.string())));
  return {};
}

}  // namespace

struct Server::Impl {
  Impl(Options given, Router rules) : options(std::move(given)) { shared.router = std::make_shared<const Router>(std::move(rules)); }

  template <typename Acceptor>
  asio::awaitable<void> accept_loop(Acceptor& acceptor) {
    while (acceptor.is_open()) {
      auto [error, socket] = co_await acceptor.async_accept(asio::as_tuple(asio::use_awaitable));
      if (error == asio::error::operation_aborted) co_return;
      if (error) {
        asio::steady_timer timer(io, kAcceptRetryDelay);
        co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
        continue;
      }
      if (shared.live.size() >= kConnectionsMax) continue;  // the socket closes as it goes
      spawn(serve(std::move(socket), shared));
    }
  }

  // Every coroutine lives on `io`, whose run() returns only when the last of them has ended: that is the join.
  void spawn(asio::awaitable<void> coroutine) {
    asio::co_spawn(io, std::move(coroutine), [this](std::exception_ptr failure) {
      if (!failure || !options.log_admin) return;
      try {
        std::rethrow_exception(failure);
      } catch (const std::exception& e) {
        options.log_admin(fmt::format("a connection ended with an exception: {}", e.what()));
      }
    });
  }

  asio::awaitable<void> close_late_sessions() {
    co_await grace.async_wait(asio::as_tuple(asio::use_awaitable));
    for (auto& session : shared.live) session.close();
  }

  void run() {
    io_thread = std::thread([this] {
      pthread_setname_np(pthread_self(), "sluice-http");
      io.run();
    });
    for (std::size_t i = 0; i < kWorkers; ++i) {
      workers.emplace_back([this, i] {
        pthread_setname_np(pthread_self(), fmt::format("sluice-http-w{}", i).c_str());
        work.run();
      });
    }
  }

  void stop() {
    if (!io_thread.joinable()) return;
    stop_source.request_stop();
    asio::post(io, [this] {
      boost::system::error_code ignored;
      tcp_acceptor.close(ignored);
      local_acceptor.close(ignored);
      for (auto& session : shared.live) {
        if (!session.busy) session.close();
      }
      grace.expires_after(kStopGrace);
      spawn(close_late_sessions());
      io_guard.reset();
      watch_for_last_session();
    });
    io_thread.join();
    work_guard.reset();
    for (std::thread& worker : workers) worker.join();
    if (!options.socket.empty()) unlink(options.socket.c_str());
  }

  // Ends the grace as soon as nobody needs it.
  void watch_for_last_session() {
    if (shared.live.empty()) {
      grace.cancel();
      return;
    }
    poll.expires_after(std::chrono::milliseconds(10));
    poll.async_wait([this](boost::system::error_code) { watch_for_last_session(); });
  }

  Options options;
  asio::io_context io{1};
  asio::io_context work;
  asio::executor_work_guard<asio::io_context::executor_type> io_guard{io.get_executor()};
  asio::executor_work_guard<asio::io_context::executor_type> work_guard{work.get_executor()};
  tcp::acceptor tcp_acceptor{io};
  Local::acceptor local_acceptor{io};
  asio::steady_timer grace{io};
  asio::steady_timer poll{io};
  std::stop_source stop_source;
  SessionShared shared{.router = nullptr, .workers = work, .log_admin = options.log_admin, .stop = stop_source.get_token(), .live = {}};
  std::uint16_t port = 0;
  std::thread io_thread;
  std::vector<std::thread> workers;
};

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() {
  stop();
}

Result<std::unique_ptr<Server>> Server::start(Options options, Router router) {
  auto impl = std::make_unique<Impl>(std::move(options), std::move(router));
  SLUICE_CHECK(bind_port(impl->tcp_acceptor, impl->options.address));
  impl->port = impl->tcp_acceptor.local_endpoint().port();
  if (!impl->options.socket.empty()) SLUICE_CHECK(bind_socket(impl->io, impl->local_acceptor, impl->options.socket));
  impl->spawn(impl->accept_loop(impl->tcp_acceptor));
  if (!impl->options.socket.empty()) impl->spawn(impl->accept_loop(impl->local_acceptor));
  impl->run();
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

void Server::replace_routes(Router router) {
  asio::post(impl_->io, [impl = impl_.get(), next = std::make_shared<const Router>(std::move(router))]() mutable {
    impl->shared.router = std::move(next);
  });
}

std::uint16_t Server::port() const {
  return impl_->port;
}

void Server::stop() {
  impl_->stop();
}

}  // namespace sluice::http
