// SPDX-License-Identifier: Apache-2.0
#include <sluice/http_client.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include <sluice/testing/loopback_server.hpp>

namespace sluice {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HttpReply;
using testing::HttpSeen;
using testing::LoopbackServer;

constexpr Verdict kNobodyToBlame{OutcomeClass::kTransient, OutcomeScope::kConnector};

Verdict verdict_of(const HttpResult& result, bool idempotent = true) {
  const auto outcome = http_outcome(result, idempotent);
  return outcome ? Verdict{outcome->outcome_class, outcome->scope} : Verdict{};
}

class HttpClientTest : public ::testing::Test {
 protected:
  std::stop_source stop_;
  HttpClient client_{HttpOptions{}, stop_.get_token()};
};

TEST_F(HttpClientTest, SendsMethodHeadersAndBody) {
  LoopbackServer server([](const HttpSeen&) { return HttpReply{.status = 201, .body = "made"}; });
  const HttpHeader headers[] = {{"Idempotency-Key", "a:b:0:1:2"}, {"Authorization", "Bearer secret"}, {"X-Empty", ""}};
  const std::string url = server.url("/in?x=1");
  const HttpResult& result = client_.perform({.method = "POST", .url = url, .headers = headers, .body = std::string_view("a\0b", 3)});
  EXPECT_EQ(result.end, HttpEnd::kAnswered);
  EXPECT_EQ(result.status, 201);
  EXPECT_EQ(result.body, "made");
  EXPECT_EQ(http_outcome(result, false), std::nullopt);
  const auto seen = server.seen();
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].method, "POST");
  EXPECT_EQ(seen[0].target, "/in?x=1");
  EXPECT_EQ(seen[0].header("idempotency-key"), "a:b:0:1:2");
  EXPECT_EQ(seen[0].header("authorization"), "Bearer secret");
  EXPECT_EQ(seen[0].header("x-empty"), "");
  EXPECT_EQ(seen[0].header("content-type"), std::nullopt);
  EXPECT_EQ(seen[0].header("expect"), std::nullopt);
  EXPECT_EQ(seen[0].body, std::string("a\0b", 3));
}

TEST_F(HttpClientTest, UsesOneConnectionForManyRequests) {
  LoopbackServer server([](const HttpSeen&) { return HttpReply{.body = "ok"}; });
  const std::string url = server.url();
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(client_.perform({.method = i % 2 == 0 ? "POST" : "GET", .url = url, .body = i % 2 == 0 ? "x" : ""}).status, 200);
  }
  for (const HttpSeen& request : server.seen()) EXPECT_EQ(request.connection, 0U);
}

TEST_F(HttpClientTest, DoesNotFollowRedirects) {
  LoopbackServer server([](const HttpSeen&) { return HttpReply{.status = 302, .headers = {{"Location", "/elsewhere"}}}; });
  const HttpResult& result = client_.perform({.url = server.url()});
  EXPECT_EQ(result.status, 302);
  EXPECT_EQ(verdict_of(result), kNobodyToBlame);
  EXPECT_EQ(server.seen().size(), 1U);
}

TEST_F(HttpClientTest, ReportsRetryAfterInSecondsAndAsADateWhateverTheStatus) {
  LoopbackServer server([](const HttpSeen& request) {
    const std::string value = request.target == "/past"     ? "Sun, 06 Nov 1994 08:49:37 GMT"
                              : request.target == "/future" ? "Fri, 31 Dec 2100 23:59:59 GMT"
                                                            : request.target.substr(1);
    return HttpReply{.status = request.target == "/8" ? 429 : 503, .headers = {{"Retry-After", value}}};
  });
  EXPECT_EQ(client_.perform({.url = server.url("/7")}).retry_after, seconds(7));
  EXPECT_EQ(client_.perform({.url = server.url("/8")}).retry_after, seconds(8));
  EXPECT_EQ(client_.perform({.url = server.url("/0")}).retry_after, Duration{0});
  EXPECT_EQ(client_.perform({.url = server.url("/past")}).retry_after, Duration{0});
  EXPECT_GE(client_.perform({.url = server.url("/future")}).retry_after, std::chrono::hours(24 * 365));
}

TEST_F(HttpClientTest, KeepsAtMostTheBoundOfABody) {
  LoopbackServer server(
      [](const HttpSeen& request) { return HttpReply{.body = std::string(request.target == "/huge" ? 8 << 20 : 3000, 'x')}; });
  HttpClient client({.max_body = 1 * kKiB}, stop_.get_token());
  for (const char* path : {"/large", "/huge", "/large"}) {
    const HttpResult& result = client.perform({.url = server.url(path)});
    EXPECT_EQ(result.end, HttpEnd::kAnswered) << path << ": " << result.problem;
    EXPECT_EQ(result.status, 200);
    EXPECT_EQ(result.body.size(), 1024U);
    EXPECT_TRUE(result.body_cut);
  }
}

TEST_F(HttpClientTest, TellsRefusedFromBrokenOff) {
  std::string refused;
  {
    LoopbackServer server([](const HttpSeen&) { return HttpReply{}; });
    refused = server.url();
    EXPECT_EQ(client_.perform({.url = refused}).status, 200);
  }
  // After a request on the same handle that had been sent: nothing of that one may be counted for this one.
  const HttpResult& result = client_.perform({.method = "POST", .url = refused, .body = "x"});
  EXPECT_EQ(result.end, HttpEnd::kNotSent);
  EXPECT_EQ(verdict_of(result, false), kNobodyToBlame);
  EXPECT_FALSE(result.problem.empty());
}

TEST_F(HttpClientTest, CountsAResetAfterTheRequestAsSent) {
  LoopbackServer server([](const HttpSeen&) { return HttpReply{.action = HttpReply::Action::kReset}; });
  const HttpResult& result = client_.perform({.method = "POST", .url = server.url(), .body = "x"});
  EXPECT_EQ(result.end, HttpEnd::kBrokenAfterSending) << result.problem;
  EXPECT_EQ(verdict_of(result, false), (Verdict{OutcomeClass::kAmbiguous, OutcomeScope::kRecord}));
  EXPECT_EQ(verdict_of(result, true), (Verdict{OutcomeClass::kTransient, OutcomeScope::kRecord}));
}

TEST_F(HttpClientTest, CountsATimeoutAfterTheRequestAsSent) {
  LoopbackServer server([](const HttpSeen&) { return HttpReply{.action = HttpReply::Action::kHang}; });
  HttpClient client({.total_timeout = milliseconds(100)}, stop_.get_token());
  const HttpResult& result = client.perform({.method = "POST", .url = server.url(), .body = "x"});
  EXPECT_EQ(result.end, HttpEnd::kBrokenAfterSending) << result.problem;
}

TEST_F(HttpClientTest, TakesTheCallsDeadlineIfItIsEarlier) {
  LoopbackServer server([](const HttpSeen&) { return HttpReply{.action = HttpReply::Action::kHang}; });
  const auto now = std::chrono::steady_clock::now();
  const auto deadline = std::chrono::duration_cast<std::chrono::nanoseconds>((now + milliseconds(100)).time_since_epoch()).count();
  EXPECT_EQ(client_.perform({.url = server.url(), .deadline_ns = static_cast<std::uint64_t>(deadline)}).end, HttpEnd::kBrokenAfterSending);
  EXPECT_LT(std::chrono::steady_clock::now() - now, seconds(10));
  EXPECT_EQ(client_.perform({.url = server.url(), .deadline_ns = 1}).end, HttpEnd::kNotSent);
  EXPECT_EQ(server.seen().size(), 1U);
}

TEST_F(HttpClientTest, RefusesWhatIsNoHttp) {
  LoopbackServer server([](const HttpSeen&) { return HttpReply{}; });
  for (const char* url : {"file:///etc/passwd", "ftp://127.0.0.1/", "not a url", "", "http://"}) {
    const HttpResult& result = client_.perform({.url = url});
    EXPECT_EQ(result.end, HttpEnd::kNotSent) << url;
  }
  const std::string tls_on_a_plain_port = "https" + server.url().substr(4);
  HttpClient impatient({.connect_timeout = milliseconds(100)}, stop_.get_token());
  EXPECT_EQ(impatient.perform({.url = tls_on_a_plain_port}).end, HttpEnd::kNotSent);
}

TEST_F(HttpClientTest, RefusesHeadersThatWouldSmuggleOthers) {
  LoopbackServer server([](const HttpSeen&) { return HttpReply{}; });
  for (const HttpHeader& header : {HttpHeader{"X-A", "1\r\nX-B: 2"}, HttpHeader{"X-A\nX-B", "1"}, HttpHeader{"", "1"}}) {
    const HttpResult& result = client_.perform({.url = server.url(), .headers = {&header, 1}});
    EXPECT_EQ(result.end, HttpEnd::kNotSent);
    EXPECT_EQ(result.problem.find("X-B: 2"), std::string::npos) << "a value may be a secret";
  }
  EXPECT_TRUE(server.seen().empty());
}

TEST_F(HttpClientTest, CancelEndsARunningRequestAndEveryLaterOne) {
  LoopbackServer server([](const HttpSeen&) { return HttpReply{.action = HttpReply::Action::kHang}; });
  std::thread canceller([&] {
    EXPECT_TRUE(server.wait_for_requests(1));
    stop_.request_stop();
  });
  const auto start = std::chrono::steady_clock::now();
  const HttpResult& result = client_.perform({.url = server.url()});
  EXPECT_EQ(result.end, HttpEnd::kCancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(15));
  canceller.join();
  EXPECT_EQ(client_.perform({.url = server.url()}).end, HttpEnd::kCancelled);
  EXPECT_EQ(http_outcome(result, true)->outcome_class, OutcomeClass::kCancelled);
  EXPECT_EQ(server.seen().size(), 1U);
}

TEST_F(HttpClientTest, AnswersCarryTheStatusTheBodyAndAHint) {
  LoopbackServer server([](const HttpSeen&) { return HttpReply{.status = 401, .body = std::string(5000, 'b')}; });
  const auto outcome = http_outcome(client_.perform({.url = server.url()}), true);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->http_status, 401);
  EXPECT_EQ(outcome->code, "http.status");
  EXPECT_LT(outcome->text.size(), 600U);
  EXPECT_NE(outcome->hint.find("credentials"), std::string::npos);
}

}  // namespace
}  // namespace sluice
