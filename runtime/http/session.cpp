// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/session.hpp"

#include <array>
#include <chrono>
#include <memory>
#include <utility>

#include <sys/socket.h>

#include <fmt/format.h>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include "runtime/http/errc.hpp"
#include "runtime/http/server.hpp"

namespace sluice::http {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace bhttp = boost::beast::http;

constexpr auto kTupleToken = asio::as_tuple(asio::use_awaitable);
constexpr std::uint64_t kDiscardBytesMax = 1ULL << 20;  // of a refused body, so that the peer reads the refusal and not a reset
constexpr std::chrono::seconds kDiscardTimeout{2};
constexpr std::size_t kBufferBytesMax = 128u << 10;

Response answer(const Route& route, const Request& request) {
  try {
    return route.handler(request);
  } catch (const std::exception& e) {
    return problem(Error(sluice::Errc::kInternal, fmt::format("the handler of {} failed: {}", request.path, e.what())));
  }
}

// Hands the request to a worker and resumes on the I/O thread. The work guard keeps the I/O context alive meanwhile.
// Not a coroutine itself: gcc 12 destroys capturing lambdas twice inside co_await expressions.
asio::awaitable<Response> run_on_worker(asio::io_context& workers, asio::any_io_executor io, const Route& route, const Request& request) {
  return asio::async_initiate<const asio::use_awaitable_t<>, void(Response)>(
      [&workers, io, &route, &request](auto handler) {
        auto guard = asio::make_work_guard(io);
        asio::post(workers, [handler = std::move(handler), guard = std::move(guard), &route, &request]() mutable {
          Response response = answer(route, request);
          auto executor = guard.get_executor();
          asio::post(executor, [handler = std::move(handler), response = std::move(response)]() mutable { handler(std::move(response)); });
        });
      },
      asio::use_awaitable);
}

std::string peer_name(asio::ip::tcp::socket& socket) {
  boost::system::error_code error;
  const auto endpoint = socket.remote_endpoint(error);
  return error ? "unknown" : fmt::format("{}:{}", endpoint.address().to_string(), endpoint.port());
}

std::string peer_name(asio::local::stream_protocol::socket& socket) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return "unix";
  return fmt::format("unix uid={} pid={}", credentials.uid, credentials.pid);
}

// Adds to a counter of SessionShared for as long as it lives.
class Share {
 public:
  Share(std::uint64_t& counter, std::uint64_t amount) : counter_(counter), amount_(amount) { counter_ += amount_; }
  ~Share() { counter_ -= amount_; }
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

 private:
  std::uint64_t& counter_;
  std::uint64_t amount_;
};

template <typename Protocol>
class Session {
 public:
  Session(typename Protocol::socket socket, SessionShared& shared)
      : shared_(shared), peer_(peer_name(socket)), stream_(std::move(socket)), buffer_(kBufferBytesMax) {
    shared_.live.push_front({.busy = false, .close = [this] { stream_.close(); }});
    place_ = shared_.live.begin();
  }
  ~Session() { shared_.live.erase(place_); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  asio::awaitable<void> run() {
    while (!shared_.stop.stop_requested()) {
      Parser parser;
      parser.header_limit(kHeaderBytesMax);
      parser.body_limit(kBodyBytesMax);
      stream_.expires_after(kHeadTimeout);
      auto [error, bytes] = co_await bhttp::async_read_header(stream_, buffer_, parser, kTupleToken);
      if (error) {
        co_await refuse_unread(error);
        co_return;
      }
      place_->busy = true;
      const bool go_on = co_await exchange(parser);
      place_->busy = false;
      if (!go_on) co_return;
    }
  }

 private:
  using Parser = bhttp::request_parser<bhttp::string_body>;

  // One request whose head has been read. Answers false if the connection is to be closed.
  asio::awaitable<bool> exchange(Parser& parser) {
    const auto& message = parser.get();
    const std::shared_ptr<const Router> router = shared_.router;
    Request request;
    request.method = std::string(message.method_string());
    request.peer = peer_;
    request.stop = shared_.stop;
    const bool has_body = parser.content_length().value_or(0) > 0 || message.chunked();
    auto route = admit(*router, parser, request);
    if (!route) {
      Response refusal = problem(route.error());
      if (route.error().is(Errc::kMethodNotAllowed)) refusal.headers.emplace_back("Allow", router->allowed_methods(request));
      if (request.method != "GET") log_admin(request, refusal.status);
      const bool keep = message.keep_alive() && !has_body;
      const bool written = co_await write(std::move(refusal), message.version(), keep, request.method == "HEAD");
      if (written && has_body) co_await discard();
      co_return written&& keep;
    }
    const std::uint64_t length = parser.content_length().value_or(0);
    const Share body_share(shared_.body_bytes_in_flight, length);
    if (has_body && !co_await read_body(parser)) co_return false;
    request.body = std::move(parser.get().body());
    Response response = co_await dispatch(**route, request);
    // Peers that do not read must not pile up answers. What changed something is told in any case; those answers are small.
    if (request.method == "GET" && shared_.answer_bytes_in_flight + response.body.size() > kAnswerBytesInFlightMax) {
      response = problem(Error(Errc::kBusy, fmt::format("answers of {} bytes are being sent already", shared_.answer_bytes_in_flight)));
    }
    const Share answer_share(shared_.answer_bytes_in_flight, response.body.size());
    if (request.method != "GET") log_admin(request, response.status);
    const bool keep = message.keep_alive() && !shared_.stop.stop_requested();
    const bool written = co_await write(std::move(response), message.version(), keep, false);
    co_return written&& keep;
  }

  Result<const Route*> admit(const Router& router, const Parser& parser, Request& request) const {
    const auto& message = parser.get();
    SLUICE_CHECK(parse_target({message.target().data(), message.target().size()}, request));
    const Head head{.method = request.method,
                    .host = std::string(message[bhttp::field::host]),
                    .content_type = std::string(message[bhttp::field::content_type]),
                    .has_request_header = message.find("X-Sluice-Request") != message.end()};
    SLUICE_TRY(const Route* route, router.admit(head, request));
    if (message.chunked()) return fail(Errc::kLengthRequired, "chunked request bodies are not taken");
    const std::uint64_t length = parser.content_length().value_or(0);
    if (length > route->body_bytes_max) {
      return fail(Errc::kBodyTooLarge,
                  fmt::format("the body has {} bytes; {} takes at most {}", length, request.path, route->body_bytes_max));
    }
    if (shared_.body_bytes_in_flight + length > kBodyBytesInFlightMax) {
      return fail(Errc::kBusy, fmt::format("request bodies of {} bytes are being taken already", shared_.body_bytes_in_flight));
    }
    return route;
  }

  asio::awaitable<bool> read_body(Parser& parser) {
    stream_.expires_after(kBodyTimeout);
    if (beast::iequals(parser.get()[bhttp::field::expect], "100-continue")) {
      bhttp::response<bhttp::empty_body> go_ahead(bhttp::status::continue_, parser.get().version());
      auto [error, bytes] = co_await bhttp::async_write(stream_, go_ahead, kTupleToken);
      if (error) co_return false;
    }
    auto [error, bytes] = co_await bhttp::async_read(stream_, buffer_, parser, kTupleToken);
    co_return !error;
  }

  asio::awaitable<Response> dispatch(const Route& route, const Request& request) {
    if (shared_.requests_in_flight >= kRequestsInFlightMax || (route.waits && shared_.waiting_requests >= kWaitingRequestsMax)) {
      co_return problem(
          Error(Errc::kBusy, route.waits ? "too many requests are waiting for records" : "too many requests are being served"));
    }
    shared_.requests_in_flight += 1;
    shared_.waiting_requests += route.waits ? 1 : 0;
    stream_.expires_never();
    Response response = co_await run_on_worker(shared_.workers, stream_.get_executor(), route, request);
    shared_.requests_in_flight -= 1;
    shared_.waiting_requests -= route.waits ? 1 : 0;
    co_return response;
  }

  asio::awaitable<bool> write(Response from, unsigned version, bool keep_alive, bool head_only) {
    bhttp::response<bhttp::string_body> message(static_cast<bhttp::status>(from.status), version);
    message.set(bhttp::field::server, "sluice");
    message.set(bhttp::field::content_type, from.content_type);
    message.set(bhttp::field::cache_control, "no-store");
    message.set("X-Content-Type-Options", "nosniff");
    for (const auto& [name, value] : from.headers) message.set(name, value);
    message.keep_alive(keep_alive);
    if (head_only) {
      message.content_length(from.body.size());
    } else {
      message.body() = std::move(from.body);
      message.prepare_payload();
    }
    stream_.expires_after(kWriteTimeout);
    auto [error, bytes] = co_await bhttp::async_write(stream_, message, kTupleToken);
    co_return !error;
  }

  // A head that could not be read: too large, malformed or never complete.
  asio::awaitable<void> refuse_unread(beast::error_code error) {
    if (error == bhttp::error::header_limit) {
      co_await write(problem(431, Error(Errc::kBadRequest, fmt::format("request line and headers are beyond {} bytes", kHeaderBytesMax))),
                     11, false, false);
    } else if (error == bhttp::error::body_limit) {
      co_await write(problem(Error(Errc::kBodyTooLarge, fmt::format("no route takes more than {} bytes", kBodyBytesMax))), 11, false,
                     false);
    } else if (error.category() == bhttp::make_error_code(bhttp::error::bad_method).category() && error != bhttp::error::end_of_stream &&
               error != bhttp::error::partial_message) {
      co_await write(problem(Error(Errc::kBadRequest, fmt::format("not an HTTP request: {}", error.message()))), 11, false, false);
    } else {
      co_return;
    }
    co_await discard();
  }

  asio::awaitable<void> discard() {
    beast::error_code ignored;
    stream_.socket().shutdown(Protocol::socket::shutdown_send, ignored);
    stream_.expires_after(kDiscardTimeout);
    std::array<char, 4096> sink;
    std::uint64_t taken = 0;
    while (taken < kDiscardBytesMax) {
      auto [error, bytes] = co_await stream_.async_read_some(asio::buffer(sink), kTupleToken);
      if (error) co_return;
      taken += bytes;
    }
  }

  void log_admin(const Request& request, unsigned status) const {
    if (shared_.log_admin) shared_.log_admin(fmt::format("{} {} by {}: {}", request.method, request.path, peer_, status));
  }

  SessionShared& shared_;
  std::string peer_;
  beast::basic_stream<Protocol> stream_;
  beast::flat_buffer buffer_;
  std::list<SessionShared::Live>::iterator place_;
};

}  // namespace

asio::awaitable<void> serve(asio::ip::tcp::socket socket, SessionShared& shared) {
  Session<asio::ip::tcp> session(std::move(socket), shared);
  co_await session.run();
}

asio::awaitable<void> serve(asio::local::stream_protocol::socket socket, SessionShared& shared) {
  Session<asio::local::stream_protocol> session(std::move(socket), shared);
  co_await session.run();
}

}  // namespace sluice::http
