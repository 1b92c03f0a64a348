// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/client.hpp"

#include <optional>
#include <utility>

#include <fmt/format.h>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/url.hpp>

#include "runtime/http/errc.hpp"

namespace sluice::http {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace bhttp = boost::beast::http;

constexpr auto kClientToken = asio::as_tuple(asio::use_awaitable);

template <typename Protocol>
asio::awaitable<Result<Response>> exchange(typename Protocol::endpoint peer, const Endpoint& endpoint, const Call& request) {
  beast::basic_stream<Protocol> stream(co_await asio::this_coro::executor);
  stream.expires_after(kConnectTimeout);
  auto [connect_error] = co_await stream.async_connect(peer, kClientToken);
  if (connect_error) {
    co_return fail(Error(Errc::kNoDaemon, fmt::format("no daemon answers at {}: {}", to_string(endpoint), connect_error.message())));
  }
  bhttp::request<bhttp::string_body> message(bhttp::string_to_verb(request.method), request.target, 11);
  message.set(bhttp::field::host, "localhost");
  message.set(bhttp::field::user_agent, "sluice");
  message.set(bhttp::field::connection, "close");
  if (request.method != "GET") {
    message.set(bhttp::field::content_type, request.content_type);
    message.set("X-Sluice-Request", "cli");
  }
  message.body() = request.body;
  message.prepare_payload();
  stream.expires_after(request.timeout);
  // A refusal may come, and the connection close, before all of the body is taken; the answer is read whether the write succeeded or not.
  auto [write_error, written] = co_await bhttp::async_write(stream, message, kClientToken);
  beast::flat_buffer buffer;
  bhttp::response_parser<bhttp::string_body> parser;
  parser.body_limit(kAnswerBytesMax);
  auto [read_error, read] = co_await bhttp::async_read(stream, buffer, parser, kClientToken);
  if (read_error) {
    const beast::error_code error = write_error ? write_error : read_error;
    co_return fail(
        Error(Errc::kProtocol, fmt::format("{} {} at {}: {}", request.method, request.target, to_string(endpoint), error.message())));
  }
  Response response{.status = parser.get().result_int(),
                    .content_type = std::string(parser.get()[bhttp::field::content_type]),
                    .body = {},
                    .headers = {}};
  for (const auto& field : parser.get()) response.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
  response.body = std::move(parser.get().body());
  co_return response;
}

template <typename Protocol>
Result<Response> run_exchange(const typename Protocol::endpoint& peer, const Endpoint& endpoint, const Call& request) {
  asio::io_context io(1);
  std::optional<Result<Response>> outcome;
  std::exception_ptr failure;
  asio::co_spawn(io, exchange<Protocol>(peer, endpoint, request), [&](std::exception_ptr thrown, Result<Response> result) {
    failure = thrown;
    if (!thrown) outcome = std::move(result);
  });
  io.run();
  if (failure) std::rethrow_exception(failure);
  return *std::move(outcome);
}

}  // namespace

std::string to_string(const Endpoint& endpoint) {
  if (!endpoint.socket.empty()) return "unix:" + endpoint.socket.string();
  if (endpoint.host.find(':') != std::string::npos) return fmt::format("http://[{}]:{}", endpoint.host, endpoint.port);
  return fmt::format("http://{}:{}", endpoint.host, endpoint.port);
}

Result<Endpoint> parse_endpoint(std::string_view url) {
  if (url.starts_with("unix:")) {
    std::string_view path = url.substr(5);
    while (path.starts_with("//")) path.remove_prefix(1);
    if (path.empty()) return fail(sluice::Errc::kInvalidArgument, "unix: needs the path of a socket after it");
    return Endpoint{.host = {}, .port = 0, .socket = std::filesystem::path(path)};
  }
  const auto parsed = boost::urls::parse_uri({url.data(), url.size()});
  if (parsed.has_error() || parsed->scheme() != "http" || !parsed->has_port() ||
      (parsed->encoded_path() != "" && parsed->encoded_path() != "/")) {
    return fail(sluice::Errc::kInvalidArgument, fmt::format("'{}' is not http://HOST:PORT or unix:/PATH", url));
  }
  return Endpoint{.host = std::string(parsed->host_address()), .port = parsed->port_number(), .socket = {}};
}

Result<Response> call(const Endpoint& endpoint, const Call& request) {
  if (!endpoint.socket.empty()) {
    using UnixSocket = asio::local::stream_protocol;
    if (endpoint.socket.string().size() > 107)
      return fail(Errc::kNoDaemon, fmt::format("{} is too long for a Unix socket", endpoint.socket.string()));
    return run_exchange<UnixSocket>(UnixSocket::endpoint(endpoint.socket.string()), endpoint, request);
  }
  boost::system::error_code error;
  const auto address = asio::ip::make_address(endpoint.host == "localhost" ? "127.0.0.1" : endpoint.host, error);
  if (error) return fail(Errc::kBadRequest, fmt::format("'{}' is not an IP address or localhost", endpoint.host));
  return run_exchange<asio::ip::tcp>(asio::ip::tcp::endpoint(address, endpoint.port), endpoint, request);
}

std::string encode_component(std::string_view text) {
  return boost::urls::encode({text.data(), text.size()}, boost::urls::unreserved_chars);
}

}  // namespace sluice::http
