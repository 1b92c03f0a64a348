// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/server.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>

#include "runtime/http/client.hpp"
#include "runtime/http/errc.hpp"
#include "tests/unit/core/temporary_directory.hpp"

namespace sluice::http {
namespace {

namespace asio = boost::asio;
using testing::HasSubstr;
using testing::StartsWith;

class ServerTest : public testing::Test {
 protected:
  ~ServerTest() override { server_.reset(); }

  Router router() {
    Router out;
    out.add({.method = "GET", .pattern = "/hello", .handler = [](const Request&) { return Response{.body = "world"}; }});
    out.add({.method = "POST", .pattern = "/echo", .handler = [](const Request& request) { return Response{.body = request.body}; }});
    out.add({.method = "GET", .pattern = "/throws", .handler = [](const Request&) -> Response { throw std::runtime_error("oh"); }});
    out.add({.method = "GET",
             .pattern = "/waits",
             .handler = [this](const Request& request) { return wait_for_stop(request); },
             .waits = true});
    out.add({.method = "GET", .pattern = "/large", .handler = [](const Request&) {
               return Response{.body = std::string(kAnswerBytesInFlightMax / 4, 'x')};
             }});
    return out;
  }

  Response wait_for_stop(const Request& request) {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    std::stop_callback wake(request.stop, [this] {
      const std::lock_guard inner(wake_mutex_);
      changed_.notify_all();
    });
    changed_.wait(lock, [&] { return released_ || request.stop.stop_requested(); });
    return Response{.body = "waited"};
  }

  void start() {
    auto started = Server::start({.address = "127.0.0.1:0",
                                  .socket = folder_ / "s.sock",
                                  .log_admin =
                                      [this](const std::string& line) {
                                        const std::lock_guard lock(mutex_);
                                        admin_lines_.push_back(line);
                                      }},
                                 router());
    ASSERT_TRUE(started) << started.error().to_string();
    server_ = *std::move(started);
    endpoint_ = {.host = "127.0.0.1", .port = server_->port(), .socket = {}};
  }

  // Sends bytes as they are and reads until the server closes.
  std::string raw(const std::string& bytes) {
    asio::io_context io;
    asio::ip::tcp::socket socket(io);
    socket.connect({asio::ip::make_address("127.0.0.1"), server_->port()});
    boost::system::error_code ignored;
    asio::write(socket, asio::buffer(bytes), ignored);
    std::string answer;
    asio::read(socket, asio::dynamic_buffer(answer), ignored);
    return answer;
  }

  const test::TemporaryDirectory temporary_;
  const std::filesystem::path folder_ = temporary_.path();
  std::mutex mutex_;
  std::mutex wake_mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;
  bool released_ = false;
  std::vector<std::string> admin_lines_;
  std::unique_ptr<Server> server_;
  Endpoint endpoint_;
};

TEST_F(ServerTest, AnswersOnThePortAndOnTheSocket) {
  start();
  EXPECT_EQ(call(endpoint_, {.target = "/hello"})->body, "world");
  EXPECT_EQ(call({.host = {}, .port = 0, .socket = folder_ / "s.sock"}, {.target = "/hello"})->body, "world");
}

TEST_F(ServerTest, TakesOtherRoutesWhileItServes) {
  start();
  // One that is being served is answered by the routes that it came for.
  std::thread waiting([this] { EXPECT_EQ(call(endpoint_, {.target = "/waits"})->body, "waited"); });
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_ == 1; });
  }
  Router next;
  next.add({.method = "GET", .pattern = "/next", .handler = [](const Request&) { return Response{.body = "next"}; }});
  server_->replace_routes(std::move(next));
  EXPECT_EQ(call(endpoint_, {.target = "/next"})->body, "next");
  EXPECT_EQ(call(endpoint_, {.target = "/hello"})->status, 404U);
  {
    const std::lock_guard lock(mutex_);
    released_ = true;
  }
  changed_.notify_all();
  waiting.join();
}

TEST_F(ServerTest, GivesTheSocketMode0660) {
  start();
  struct stat info{};
  ASSERT_EQ(stat((folder_ / "s.sock").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0660U);
}

TEST_F(ServerTest, ReplacesAStaleSocketAndRefusesALiveOne) {
  {
    asio::io_context io;
    asio::local::stream_protocol::acceptor stale(io, asio::local::stream_protocol::endpoint((folder_ / "s.sock").string()));
  }
  ASSERT_TRUE(std::filesystem::exists(folder_ / "s.sock"));
  start();
  const auto second = Server::start({.address = "127.0.0.1:0", .socket = folder_ / "s.sock"}, Router());
  ASSERT_FALSE(second);
  EXPECT_TRUE(second.error().is(Errc::kSocketInUse)) << second.error().to_string();
  EXPECT_EQ(call(endpoint_, {.target = "/hello"})->status, 200U);
}

TEST_F(ServerTest, LeavesAFileThatIsNoSocketAlone) {
  std::ofstream(folder_ / "s.sock") << "precious";
  const auto started = Server::start({.address = "127.0.0.1:0", .socket = folder_ / "s.sock"}, Router());
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message(), HasSubstr("is not a socket"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "s.sock"));
}

TEST_F(ServerTest, RefusesAddressesThatAreNotLoopback) {
  for (const char* address :
       {"0.0.0.0:0", "[::]:0", "192.0.2.1:80", "example.com:80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", ":80"}) {
    const auto started = Server::start({.address = address, .socket = {}}, Router());
    ASSERT_FALSE(started) << address;
    EXPECT_TRUE(started.error().is(Errc::kAddressNotAllowed)) << address;
  }
}

TEST_F(ServerTest, SaysThatAPortIsTaken) {
  start();
  const auto second = Server::start({.address = fmt::format("127.0.0.1:{}", server_->port()), .socket = {}}, Router());
  ASSERT_FALSE(second);
  EXPECT_TRUE(second.error().is(Errc::kAddressInUse));
}

TEST_F(ServerTest, RefusesWithoutTakingTheBody) {
  start();
  const std::string answer =
      raw("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 403"));
}

TEST_F(ServerTest, RefusesABodyBeyondItsRoute) {
  start();
  const auto answer = call(endpoint_, {.method = "POST", .target = "/echo", .body = std::string(kBodyBytesMaxDefault + 1, 'x')});
  ASSERT_TRUE(answer) << answer.error().to_string();
  EXPECT_EQ(answer->status, 413U);
  EXPECT_EQ(call(endpoint_, {.method = "POST", .target = "/echo", .body = std::string(kBodyBytesMaxDefault, 'x')})->status, 200U);
}

TEST_F(ServerTest, RefusesChunkedBodies) {
  start();
  EXPECT_THAT(raw("POST /echo HTTP/1.1\r\nHost: localhost\r\nX-Sluice-Request: 1\r\nContent-Type: application/json\r\n"
                  "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
              StartsWith("HTTP/1.1 411"));
}

TEST_F(ServerTest, AnswersMalformedAndOversizedHeads) {
  start();
  EXPECT_THAT(raw("nonsense\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(raw("GET /hello HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(kHeaderBytesMax, 'x') + "\r\n\r\n"),
              StartsWith("HTTP/1.1 431"));
}

TEST_F(ServerTest, ListsAllowedMethodsAndNeverGrantsCrossOriginRequests) {
  start();
  const std::string answer = raw("OPTIONS /echo HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(answer, HasSubstr("Allow: POST\r\n"));
  EXPECT_THAT(answer, testing::Not(HasSubstr("Access-Control")));
}

TEST_F(ServerTest, ServesSeveralRequestsOnOneConnection) {
  start();
  const std::string one = "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const std::string answer = raw(one + one + "GET /hello HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  std::size_t count = 0;
  for (std::size_t at = answer.find("world"); at != std::string::npos; at = answer.find("world", at + 1)) ++count;
  EXPECT_EQ(count, 3U);
}

TEST_F(ServerTest, TurnsAnExceptionOfAHandlerIntoA500) {
  start();
  const auto answer = call(endpoint_, {.target = "/throws"});
  EXPECT_EQ(answer->status, 500U);
  EXPECT_THAT(answer->body, HasSubstr("base.internal"));
}

TEST_F(ServerTest, LogsRequestsThatMayChangeSomethingAlsoWhenRefused) {
  start();
  ASSERT_EQ(call(endpoint_, {.method = "POST", .target = "/echo", .body = "{}"})->status, 200U);
  ASSERT_EQ(call(endpoint_, {.method = "POST", .target = "/nowhere", .body = "{}"})->status, 404U);
  ASSERT_EQ(call(endpoint_, {.target = "/hello"})->status, 200U);
  const std::lock_guard lock(mutex_);
  ASSERT_EQ(admin_lines_.size(), 2U);
  EXPECT_THAT(admin_lines_[0], StartsWith("POST /echo by 127.0.0.1:"));
  EXPECT_THAT(admin_lines_[1], HasSubstr("404"));
}

TEST_F(ServerTest, BoundsLongPollsAndKeepsServingOthers) {
  start();
  std::vector<std::thread> pollers;
  for (std::size_t i = 0; i < kWaitingRequestsMax; ++i) {
    pollers.emplace_back([this] { EXPECT_EQ(call(endpoint_, {.target = "/waits"})->status, 200U); });
  }
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_ == static_cast<int>(kWaitingRequestsMax); });
  }
  EXPECT_EQ(call(endpoint_, {.target = "/waits"})->status, 503U);
  EXPECT_EQ(call(endpoint_, {.target = "/hello"})->status, 200U);
  {
    const std::lock_guard lock(mutex_);
    released_ = true;
  }
  changed_.notify_all();
  for (std::thread& poller : pollers) poller.join();
}

TEST_F(ServerTest, BoundsAnswersThatNobodyReads) {
  start();
  asio::io_context io;
  std::vector<asio::ip::tcp::socket> deaf;
  for (int i = 0; i < 4; ++i) {
    asio::ip::tcp::socket& socket = deaf.emplace_back(io);
    socket.connect({asio::ip::make_address("127.0.0.1"), server_->port()});
    asio::write(socket, asio::buffer(std::string_view("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")));
    // The head of the answer: it is on its way, and more of it than the system keeps for a peer that does not read.
    std::string head;
    asio::read_until(socket, asio::dynamic_buffer(head), "\r\n\r\n");
    ASSERT_THAT(head, HasSubstr("200 OK"));
  }
  EXPECT_EQ(call(endpoint_, {.target = "/large"})->status, 503U);
  EXPECT_EQ(call(endpoint_, {.method = "POST", .target = "/echo", .body = "{}"})->status, 200U);
  deaf.clear();
}

TEST_F(ServerTest, StopEndsIdleConnections) {
  start();
  asio::io_context io;
  asio::ip::tcp::socket idle(io);
  idle.connect({asio::ip::make_address("127.0.0.1"), server_->port()});
  server_->stop();
  char byte = 0;
  boost::system::error_code error;
  EXPECT_EQ(idle.read_some(asio::buffer(&byte, 1), error), 0U);
  EXPECT_TRUE(error);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "s.sock"));
}

TEST(Call, SaysThatThereIsNoDaemon) {
  const auto answer = call({.host = {}, .port = 0, .socket = "/nonexistent/sluice.sock"}, {.target = "/health"});
  ASSERT_FALSE(answer);
  EXPECT_TRUE(answer.error().is(Errc::kNoDaemon));
}

TEST(ParseEndpoint, TakesPortsAndSockets) {
  EXPECT_EQ(to_string(*parse_endpoint("http://127.0.0.1:8090")), "http://127.0.0.1:8090");
  EXPECT_EQ(to_string(*parse_endpoint("http://[::1]:8090/")), "http://[::1]:8090");
  EXPECT_EQ(to_string(*parse_endpoint("unix:/run/s.sock")), "unix:/run/s.sock");
  for (const char* url : {"", "127.0.0.1:80", "https://127.0.0.1:80", "http://127.0.0.1", "http://127.0.0.1:80/x", "unix:"}) {
    EXPECT_FALSE(parse_endpoint(url)) << url;
  }
}

}  // namespace
}  // namespace sluice::http
