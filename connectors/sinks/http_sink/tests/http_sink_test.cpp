// SPDX-License-Identifier: Apache-2.0
#include "http_sink.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>

#include <sluice/testing/conformance.hpp>
#include <sluice/testing/loopback_server.hpp>
#include <sluice/testing/sink_driver.hpp>

namespace sluice::http_sink {
namespace {

using testing::HttpReply;
using testing::HttpSeen;
using testing::LoopbackServer;
using testing::RecordFailure;
using testing::TestPartition;
using testing::TestRecord;
using testing::WriteReport;
using Payloads = std::vector<std::string>;

// The payloads of a request, in any mode.
Payloads payloads_of(const HttpSeen& request) {
  if (!request.body.starts_with('{') && !request.body.starts_with('[')) return {request.body};
  Payloads payloads;
  const auto take = [&](const boost::json::value& record) { payloads.emplace_back(record.at("payload").as_string()); };
  if (request.body.starts_with('[')) {
    const boost::json::value parsed = boost::json::parse(request.body);
    for (const boost::json::value& record : parsed.as_array()) take(record);
  } else {
    std::istringstream lines(request.body);
    for (std::string line; std::getline(lines, line);) take(boost::json::parse(line));
  }
  return payloads;
}

class HttpSinkTest : public ::testing::Test {
 protected:
  // The server does this with every request; a script changes it while it runs.
  void serve(LoopbackServer::Script script) { server_.emplace(std::move(script)); }
  void serve(int status, const std::string& body = "") {
    serve([=](const HttpSeen&) { return HttpReply{.status = status, .body = body}; });
  }
  void start(const std::string& more = "") { start_at(server_->url("/in"), more); }
  void start_at(const std::string& url, const std::string& more = "") {
    // What a probe sees has tests of its own below; the others count requests.
    const std::optional<Outcome> failure = sink_->open("{\"url\": \"" + url + "\", \"probe\": \"none\"" + more + "}");
    ASSERT_FALSE(failure) << failure->text;
    ASSERT_FALSE(sink_->assign({part_}).failure);
  }
  WriteReport write(const Payloads& payloads, std::uint64_t first_offset = 0) {
    std::vector<TestRecord> records;
    for (const std::string& payload : payloads)
      records.push_back({.payload = payload, .format = Format::kText, .offset = first_offset + records.size()});
    return sink_->write(part_, records);
  }
  // What the host does: goes on behind what was accepted, sets records aside that failed for good, gives up at the first other failure.
  void deliver_as_host(const Payloads& payloads) {
    for (std::uint64_t next = 0; next < payloads.size();) {
      const WriteReport report = write(Payloads(payloads.begin() + static_cast<std::ptrdiff_t>(next), payloads.end()), next);
      ASSERT_FALSE(report.failure) << report.failure->text;
      std::uint64_t after = report.accepted_next;
      for (const RecordFailure& failure : report.failed) {
        ASSERT_EQ(failure.outcome.outcome_class, OutcomeClass::kPermanent) << failure.outcome.text;
        ASSERT_EQ(failure.outcome.scope, OutcomeScope::kRecord);
        dead_.push_back(payloads[next + failure.index]);
        after = std::max(after, next + failure.index + 1);
      }
      ASSERT_GT(after, next);
      next = after;
    }
  }

  std::optional<LoopbackServer> server_;
  testing::SinkOf<HttpSink> sink_;
  TestPartition part_;
  Payloads dead_;
};

using HttpSinkRequest = HttpSinkTest;
using HttpSinkFailure = HttpSinkTest;
using HttpSinkBisection = HttpSinkTest;
using HttpSinkItems = HttpSinkTest;
using HttpSinkProbe = HttpSinkTest;

TEST_F(HttpSinkRequest, IndividualSendsThePayloadWithItsKey) {
  serve(200);
  start(R"(, "headers": {"Authorization": "Bearer hush"})");
  const WriteReport report = write({"one", "two"});
  EXPECT_EQ(report.durable_next, 2u);
  const std::vector<HttpSeen> seen = server_->seen();
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].method, "POST");
  EXPECT_EQ(seen[0].target, "/in");
  EXPECT_EQ(seen[1].body, "two");
  EXPECT_EQ(seen[1].header("idempotency-key"), "0123456789abcdeffedcba9876543210:stream:topic:0:1:1");
  EXPECT_EQ(seen[1].header("content-type"), "text/plain; charset=utf-8");
  EXPECT_EQ(seen[1].header("authorization"), "Bearer hush");
  EXPECT_EQ(seen[0].connection, seen[1].connection);
}

TEST_F(HttpSinkRequest, NdjsonSendsLinesWithTheKeyAsId) {
  serve(200);
  start(R"(, "mode": "ndjson", "method": "PUT")");
  EXPECT_EQ(write({"one", "two"}).durable_next, 2u);
  const std::vector<HttpSeen> seen = server_->seen();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].method, "PUT");
  EXPECT_EQ(seen[0].header("content-type"), "application/x-ndjson");
  EXPECT_EQ(seen[0].header("idempotency-key"), std::nullopt);
  EXPECT_EQ(payloads_of(seen[0]), (Payloads{"one", "two"}));
  const std::string second = seen[0].body.substr(seen[0].body.find('\n') + 1);
  EXPECT_EQ(boost::json::parse(second).at("id").as_string(), "0123456789abcdeffedcba9876543210:stream:topic:0:1:1");
}

TEST_F(HttpSinkRequest, JsonArraySendsOneArray) {
  serve(204);
  start(R"(, "mode": "json_array", "headers": {"content-type": "application/vnd.acme+json"})");
  EXPECT_EQ(write({"one", "two"}).durable_next, 2u);
  const std::vector<HttpSeen> seen = server_->seen();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(payloads_of(seen[0]), (Payloads{"one", "two"}));
  EXPECT_EQ(seen[0].header("content-type"), "application/vnd.acme+json");
}

TEST_F(HttpSinkRequest, SplitsByRecordsAndBytes) {
  serve(200);
  start(R"(, "mode": "ndjson", "max_records": 2, "max_bytes": "1KiB")");
  EXPECT_EQ(write({"1", "2", "3", std::string(3000, '4'), "5"}).durable_next, 5u);
  std::vector<std::size_t> sizes;
  for (const HttpSeen& request : server_->seen()) sizes.push_back(payloads_of(request).size());
  EXPECT_EQ(sizes, (std::vector<std::size_t>{2, 1, 1, 1}));
}

TEST_F(HttpSinkRequest, IndividualRefusesATombstone) {
  serve(200);
  start();
  const WriteReport report = sink_->write(part_, std::vector<TestRecord>{{.payload = "a"}, {}, {.payload = "c"}});
  ASSERT_EQ(report.failed.size(), 1u);
  EXPECT_EQ(report.failed[0].index, 1u);
  EXPECT_EQ(report.failed[0].outcome.outcome_class, OutcomeClass::kPermanent);
  EXPECT_EQ(report.durable_next, 1u);
}

struct StatusCase {
  int status;
  OutcomeClass outcome_class;
  OutcomeScope scope;
};
class HttpSinkStatus : public HttpSinkTest, public ::testing::WithParamInterface<StatusCase> {};

TEST_P(HttpSinkStatus, HasItsClassAndScope) {
  const StatusCase& expected = GetParam();
  serve([&](const HttpSeen& request) { return HttpReply{.status = request.body == "bad" ? expected.status : 200, .body = "because"}; });
  start();
  const WriteReport report = write({"good", "bad", "after"});
  EXPECT_EQ(report.durable_next, 1u);
  EXPECT_EQ(report.accepted_next, 1u);
  Outcome outcome;
  if (expected.scope == OutcomeScope::kConnector) {
    ASSERT_TRUE(report.failure);
    EXPECT_TRUE(report.failed.empty());
    outcome = *report.failure;
  } else {
    ASSERT_FALSE(report.failure);
    ASSERT_EQ(report.failed.size(), 1u);
    EXPECT_EQ(report.failed[0].index, 1u);
    outcome = report.failed[0].outcome;
  }
  EXPECT_EQ(outcome.outcome_class, expected.outcome_class);
  EXPECT_EQ(outcome.scope, expected.scope);
  EXPECT_EQ(outcome.http_status, expected.status);
  EXPECT_NE(outcome.text.find("because"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("/in"), std::string::npos) << outcome.text;
  EXPECT_EQ(server_->seen().size(), 2u);
}

INSTANTIATE_TEST_SUITE_P(Table, HttpSinkStatus,
                         ::testing::ValuesIn(std::to_array<StatusCase>({
                             {400, OutcomeClass::kPermanent, OutcomeScope::kRecord},
                             {409, OutcomeClass::kPermanent, OutcomeScope::kRecord},
                             {413, OutcomeClass::kPermanent, OutcomeScope::kRecord},
                             {422, OutcomeClass::kPermanent, OutcomeScope::kRecord},
                             {408, OutcomeClass::kTransient, OutcomeScope::kRecord},
                             {425, OutcomeClass::kTransient, OutcomeScope::kRecord},
                             {429, OutcomeClass::kTransient, OutcomeScope::kRecord},
                             {500, OutcomeClass::kTransient, OutcomeScope::kRecord},
                             {503, OutcomeClass::kTransient, OutcomeScope::kRecord},
                             {301, OutcomeClass::kTransient, OutcomeScope::kConnector},
                             {307, OutcomeClass::kTransient, OutcomeScope::kConnector},
                             {401, OutcomeClass::kTransient, OutcomeScope::kConnector},
                             {403, OutcomeClass::kTransient, OutcomeScope::kConnector},
                             {404, OutcomeClass::kTransient, OutcomeScope::kConnector},
                             {405, OutcomeClass::kTransient, OutcomeScope::kConnector},
                         })),
                         [](const auto& param) { return std::to_string(param.param.status); });

TEST_F(HttpSinkFailure, PassesRetryAfterOn) {
  serve([](const HttpSeen&) { return HttpReply{.status = 503, .headers = {{"Retry-After", "7"}}}; });
  start(R"(, "mode": "ndjson")");
  const WriteReport report = write({"a", "b"});
  ASSERT_EQ(report.failed.size(), 1u);
  EXPECT_EQ(report.failed[0].index, 0u);
  EXPECT_EQ(report.failed[0].outcome.retry_after, Duration(7000));
  EXPECT_EQ(report.accepted_next, 0u);
}

TEST_F(HttpSinkFailure, UnauthorizedForAWhileMovesNothingAndLosesNothing) {
  int refused = 0;
  serve([&](const HttpSeen&) { return HttpReply{.status = ++refused <= 3 ? 401 : 200}; });
  start(R"(, "mode": "json_array")");
  for (int i = 0; i < 3; ++i) {
    const WriteReport report = write({"a", "b"});
    ASSERT_TRUE(report.failure);
    EXPECT_TRUE(report.failed.empty());
    EXPECT_EQ(report.durable_next, 0u);
  }
  EXPECT_EQ(write({"a", "b"}).durable_next, 2u);
}

TEST_F(HttpSinkFailure, ResetIsTheRecordsFailureAndRefusedTheConnectors) {
  serve([](const HttpSeen&) { return HttpReply{.action = HttpReply::Action::kReset}; });
  start(R"(, "idempotent": true)");
  const WriteReport reset = write({"a"});
  ASSERT_EQ(reset.failed.size(), 1u);
  EXPECT_EQ(reset.failed[0].outcome.outcome_class, OutcomeClass::kTransient);
  server_->stop();
  const WriteReport refused = write({"a"});
  ASSERT_TRUE(refused.failure);
  EXPECT_EQ(refused.failure->scope, OutcomeScope::kConnector);
  EXPECT_EQ(refused.failure->outcome_class, OutcomeClass::kTransient);
}

TEST_F(HttpSinkFailure, TimeoutAfterSendingIsAmbiguousUnlessResendingIsHarmless) {
  serve([](const HttpSeen&) { return HttpReply{.action = HttpReply::Action::kHang}; });
  const std::string short_timeout = R"(, "timeout": "100ms")";
  start(short_timeout);
  const WriteReport post = write({"a"});
  ASSERT_EQ(post.failed.size(), 1u);
  EXPECT_EQ(post.failed[0].outcome.outcome_class, OutcomeClass::kAmbiguous);
  EXPECT_EQ(post.failed[0].outcome.scope, OutcomeScope::kRecord);
  for (const std::string_view harmless : {R"(, "method": "PUT")", R"(, "idempotent": true)"}) {
    ASSERT_FALSE(sink_->revoke({part_}));
    ASSERT_FALSE(sink_->close());
    start(short_timeout + std::string(harmless));
    const WriteReport put = write({"a"});
    ASSERT_EQ(put.failed.size(), 1u);
    EXPECT_EQ(put.failed[0].outcome.outcome_class, OutcomeClass::kTransient) << harmless;
  }
}

TEST_F(HttpSinkFailure, NoServerBehindTheNameAndNoTlsAreTheConnectorsFailure) {
  serve(200);
  std::string https = server_->url("/in");
  https.replace(0, 4, "https");
  for (const std::string& url : {std::string("http://no-such-host.invalid/in"), https}) {
    testing::SinkOf<HttpSink> sink;
    ASSERT_FALSE(sink->open("{\"url\": \"" + url + "\", \"probe\": \"none\", \"connect_timeout\": \"2s\", \"timeout\": \"3s\"}"));
    ASSERT_FALSE(sink->assign({part_}).failure);
    const WriteReport report = sink->write(part_, Payloads{"a"});
    ASSERT_TRUE(report.failure) << url;
    EXPECT_EQ(report.failure->scope, OutcomeScope::kConnector);
    EXPECT_EQ(report.failure->outcome_class, OutcomeClass::kTransient);
  }
  EXPECT_TRUE(server_->seen().empty());
}

TEST_F(HttpSinkFailure, CancelEndsARequestThatHangs) {
  serve([](const HttpSeen&) { return HttpReply{.action = HttpReply::Action::kHang}; });
  start(R"(, "timeout": "1h")");
  std::thread host([&] {
    EXPECT_TRUE(server_->wait_for_requests(1));
    sink_->cancel();
  });
  const WriteReport report = write({"a"});
  host.join();
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->outcome_class, OutcomeClass::kCancelled);
}

TEST_F(HttpSinkFailure, TextsShowNoCredentials) {
  serve(401);
  std::string url = server_->url("/in?token=hush1#hush2");
  url.insert(7, "user:hush3@");
  start_at(url, R"(, "headers": {"X-Key": "hush4"})");
  const WriteReport report = write({"a"});
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->text.find("hush"), std::string::npos) << report.failure->text;
}

TEST_F(HttpSinkProbe, SendsTheHeadersAndNoRecord) {
  serve(200);
  ASSERT_FALSE(sink_->open("{\"url\": \"" + server_->url("/in") + R"(", "headers": {"Authorization": "Bearer hush"}})"));
  const std::vector<HttpSeen> seen = server_->seen();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].method, "HEAD");
  EXPECT_EQ(seen[0].header("authorization"), "Bearer hush");
  EXPECT_EQ(seen[0].body, "");
}

TEST_F(HttpSinkProbe, OnlyAnswersThatRecordsWouldGetTooStopTheOpening) {
  int status = 0;
  serve([&](const HttpSeen&) { return HttpReply{.status = status}; });
  for (const int good : {204, 400, 405, 429, 500, 501, 503}) {
    status = good;
    testing::SinkOf<HttpSink> sink;
    EXPECT_FALSE(sink->open("{\"url\": \"" + server_->url("/in") + "\"}")) << status;
  }
  for (const int bad : {301, 401, 403, 404}) {
    status = bad;
    testing::SinkOf<HttpSink> sink;
    const std::optional<Outcome> failure = sink->open("{\"url\": \"" + server_->url("/in") + R"(", "probe": "GET"})");
    ASSERT_TRUE(failure) << status;
    EXPECT_EQ(failure->scope, OutcomeScope::kConnector);
    EXPECT_EQ(failure->outcome_class, OutcomeClass::kTransient);
    EXPECT_EQ(failure->http_status, status);
    EXPECT_NE(failure->text.find("GET "), std::string::npos) << failure->text;
    EXPECT_NE(failure->hint.find("set probe to"), std::string::npos) << failure->hint;
  }
}

TEST_F(HttpSinkProbe, NoAnswerIsTheConnectorsFailureWithItsFix) {
  serve([](const HttpSeen&) { return HttpReply{.action = HttpReply::Action::kHang}; });
  const std::optional<Outcome> hanging = sink_->open("{\"url\": \"" + server_->url("/in") + R"(", "timeout": "100ms"})");
  ASSERT_TRUE(hanging);
  EXPECT_EQ(hanging->scope, OutcomeScope::kConnector);
  EXPECT_NE(hanging->hint.find("hangs"), std::string::npos) << hanging->hint;
  const std::string url = server_->url("/in");
  server_.reset();
  testing::SinkOf<HttpSink> sink;
  const std::optional<Outcome> refused = sink->open("{\"url\": \"" + url + "\"}");
  ASSERT_TRUE(refused);
  EXPECT_NE(refused->text.find("refused"), std::string::npos) << refused->text;
  EXPECT_NE(refused->hint.find("nothing listens there"), std::string::npos) << refused->hint;
}

class HttpSinkPoison : public HttpSinkTest, public ::testing::WithParamInterface<std::tuple<std::string, int, std::set<std::string>>> {};

TEST_P(HttpSinkPoison, ExactlyThePoisonedRecordsAreSetAside) {
  const auto& [mode, status, poisoned] = GetParam();
  Payloads delivered;
  serve([&](const HttpSeen& request) {
    const Payloads payloads = payloads_of(request);
    for (const std::string& payload : payloads) {
      if (poisoned.contains(payload)) return HttpReply{.status = status, .body = "bad " + payload};
    }
    delivered.insert(delivered.end(), payloads.begin(), payloads.end());
    return HttpReply{};
  });
  start(", \"mode\": \"" + mode + "\", \"max_records\": 16");
  Payloads all;
  Payloads good;
  for (int i = 0; i < 40; ++i) {
    all.push_back("r" + std::to_string(i));
    if (!poisoned.contains(all.back())) good.push_back(all.back());
  }
  deliver_as_host(all);
  EXPECT_EQ(std::set<std::string>(dead_.begin(), dead_.end()), poisoned);
  EXPECT_EQ(dead_.size(), poisoned.size());
  EXPECT_EQ(delivered, good);
}

INSTANTIATE_TEST_SUITE_P(Modes, HttpSinkPoison,
                         ::testing::Combine(::testing::Values("individual", "ndjson", "json_array"), ::testing::Values(400, 413, 422),
                                            ::testing::Values(std::set<std::string>{"r0"}, std::set<std::string>{"r39"},
                                                              std::set<std::string>{"r7", "r8", "r21"}, std::set<std::string>{})));

TEST_F(HttpSinkBisection, TooManyAtOnceIsHalvedUntilTheyFit) {
  serve([](const HttpSeen& request) { return HttpReply{.status = payloads_of(request).size() > 3 ? 413 : 200}; });
  start(R"(, "mode": "ndjson")");
  const WriteReport report = write({"1", "2", "3", "4", "5", "6", "7", "8", "9"});
  EXPECT_EQ(report.durable_next, 9u);
  EXPECT_TRUE(report.failed.empty());
}

TEST_F(HttpSinkBisection, AnotherFailureInBetweenEndsTheAttemptThere) {
  serve([](const HttpSeen& request) {
    if (request.number == 0) return HttpReply{.status = 400};
    return HttpReply{.status = request.number == 2 ? 503 : 200};
  });
  start(R"(, "mode": "ndjson")");
  const WriteReport report = write({"1", "2", "3", "4"});
  EXPECT_EQ(report.durable_next, 2u);
  ASSERT_EQ(report.failed.size(), 1u);
  EXPECT_EQ(report.failed[0].index, 2u);
  EXPECT_EQ(report.failed[0].outcome.outcome_class, OutcomeClass::kTransient);
}

constexpr std::string_view kBulk = R"(, "mode": "ndjson", "items": {"list": "/items", "status": "/index/status", "error": "/index/error"})";

TEST_F(HttpSinkItems, FailedForGoodAreReportedAndTheOthersDelivered) {
  serve(200, R"({"errors":true,"items":[{"index":{"status":201}},{"index":{"status":400,"error":{"type":"mapper"}}},
                 {"index":{"status":200}},{"index":{"status":409}}]})");
  start(std::string(kBulk));
  const WriteReport report = write({"1", "2", "3", "4"});
  EXPECT_EQ(report.accepted_next, 4u);
  EXPECT_EQ(report.durable_next, 4u);
  ASSERT_EQ(report.failed.size(), 2u);
  EXPECT_EQ(report.failed[0].index, 1u);
  EXPECT_EQ(report.failed[0].outcome.http_status, 400);
  EXPECT_NE(report.failed[0].outcome.text.find("mapper"), std::string::npos) << report.failed[0].outcome.text;
  EXPECT_EQ(report.failed[1].index, 3u);
}

TEST_F(HttpSinkItems, ATransientOneEndsTheAttempt) {
  serve(200, R"({"items":[{"index":{"status":201}},{"index":{"status":429}},{"index":{"status":201}}]})");
  start(std::string(kBulk));
  const WriteReport report = write({"1", "2", "3"});
  EXPECT_EQ(report.durable_next, 1u);
  ASSERT_EQ(report.failed.size(), 1u);
  EXPECT_EQ(report.failed[0].index, 1u);
  EXPECT_EQ(report.failed[0].outcome.outcome_class, OutcomeClass::kTransient);
}

TEST_F(HttpSinkItems, AMissingTableIsTheConnectorsFailure) {
  serve(200, R"({"items":[{"index":{"status":201}},{"index":{"status":404,"error":"no such index"}}]})");
  start(std::string(kBulk));
  const WriteReport report = write({"1", "2"});
  EXPECT_EQ(report.durable_next, 1u);
  EXPECT_TRUE(report.failed.empty());
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->scope, OutcomeScope::kConnector);
}

TEST_F(HttpSinkItems, AnErrorWithoutStatusIsForGood) {
  serve(200, R"([{"error":null},{"error":"too wide"},{"error":false},{}])");
  start(R"(, "mode": "json_array", "items": {"error": "/error"})");
  const WriteReport report = write({"1", "2", "3", "4"});
  EXPECT_EQ(report.durable_next, 4u);
  ASSERT_EQ(report.failed.size(), 1u);
  EXPECT_EQ(report.failed[0].index, 1u);
  EXPECT_EQ(report.failed[0].outcome.outcome_class, OutcomeClass::kPermanent);
}

TEST_F(HttpSinkItems, AnUnreadableAnswerMovesNothing) {
  for (const std::string_view body : {"", "ok", "{}", R"({"items":{}})", R"({"items":[{"index":{"status":200}}]})",
                                      R"({"items":[{"index":{"status":200}},{"index":{"status":"x"}}]})",
                                      R"({"items":[{"index":{"status":200}},{"index":{"status":9999}}]})"}) {
    serve(200, std::string(body));
    testing::SinkOf<HttpSink> sink;
    ASSERT_FALSE(sink->open("{\"url\": \"" + server_->url() + "\"" + std::string(kBulk) + "}"));
    ASSERT_FALSE(sink->assign({part_}).failure);
    const WriteReport report = sink->write(part_, Payloads{"1", "2"});
    ASSERT_TRUE(report.failure) << body;
    EXPECT_EQ(report.failure->code, "http.unreadable_items");
    EXPECT_EQ(report.failure->scope, OutcomeScope::kConnector);
    EXPECT_EQ(report.accepted_next, 0u);
  }
}

TEST(HttpSink, RefusesABadConfigurationByItsPlace) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {R"({"url": "ftp://x/"})", "/url"},
      {R"({"url": "http://x/", "headers": {"X Y": "1"}})", "/headers"},
      {R"({"url": "http://x/", "headers": {"X": "1\r\nHost: y"}})", "/headers/X"},
      {R"({"url": "http://x/", "headers": {"idempotency-key": "1"}})", "/headers/idempotency-key"},
      {R"({"url": "http://x/", "items": {"list": "/a", "status": "/b"}})", "/items"},
      {R"({"url": "http://x/", "mode": "ndjson", "items": {"list": "a", "status": "/b"}})", "/items/list"},
      {R"({"url": "http://x/", "mode": "ndjson", "items": {"list": "/a", "status": "/~2"}})", "/items/status"},
      {R"({"url": "http://x/", "mode": "ndjson", "items": {"list": "/a"}})", "/items"},
      {R"({"url": "http://x/", "mode": "lines"})", "/mode"},
  };
  for (const auto& [config, pointer] : cases) {
    testing::SinkOf<HttpSink> sink;
    const std::optional<Outcome> failure = sink->open(config);
    ASSERT_TRUE(failure) << config;
    EXPECT_EQ(failure->outcome_class, OutcomeClass::kInvalidConfig) << config;
    EXPECT_EQ(failure->pointer, pointer) << config;
  }
}

TEST(HttpSink, ReadmeHasTheTableOfTheConfiguration) {
  std::ifstream readme(SLUICE_CONNECTOR_DIR "/README.md");
  const std::string text(std::istreambuf_iterator<char>(readme), {});
  EXPECT_NE(text.find(config_table<HttpSinkConfig>()), std::string::npos) << config_table<HttpSinkConfig>();
}

// A server that keeps the payloads it has answered with 200.
template <Mode mode>
class HttpSinkSubject : public testing::SinkSubjectOf<HttpSink> {
 public:
  [[nodiscard]] std::string config() const override {
    const auto names = enum_names(Mode{});
    const auto name = std::find_if(names.begin(), names.end(), [](const auto& entry) { return entry.value == mode; })->name;
    return "{\"url\": \"" + server_.url("/in") + "\", \"probe\": \"none\", \"timeout\": \"1h\", \"mode\": \"" + std::string(name) + "\"}";
  }
  std::vector<std::string> stored() override {
    const std::lock_guard lock(mutex_);
    return stored_;
  }
  void fail_store(std::size_t n) override {
    const std::lock_guard lock(mutex_);
    fails_in_ = static_cast<std::ptrdiff_t>(n);
  }
  void refuse(const std::string& payload) override { refused_ = payload; }
  void hang() override {
    const std::lock_guard lock(mutex_);
    hangs_ = true;
  }
  bool wait_until_hanging(std::chrono::milliseconds wait_max) override {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, wait_max, [&] { return hanging_; });
  }
  void let_go() override { server_.stop(); }

 private:
  HttpReply answer(const HttpSeen& request) {
    const std::lock_guard lock(mutex_);
    if (hangs_) {
      hanging_ = true;
      changed_.notify_all();
      return {.action = HttpReply::Action::kHang};
    }
    const bool fails = fails_in_ == 0;
    --fails_in_;
    if (fails) return {.status = 503};
    const Payloads payloads = payloads_of(request);
    if (std::find(payloads.begin(), payloads.end(), refused_) != payloads.end()) return {.status = 422};
    stored_.insert(stored_.end(), payloads.begin(), payloads.end());
    return {};
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> stored_;
  std::string refused_;
  std::ptrdiff_t fails_in_ = -1;
  bool hangs_ = false;    // from now on
  bool hanging_ = false;  // a request does
  LoopbackServer server_{[this](const HttpSeen& request) { return answer(request); }};
};
using HttpSinkIndividual = HttpSinkSubject<Mode::kIndividual>;
using HttpSinkNdjson = HttpSinkSubject<Mode::kNdjson>;
using HttpSinkJsonArray = HttpSinkSubject<Mode::kJsonArray>;
SLUICE_SINK_CONFORMANCE(HttpSinkIndividualConformance, HttpSinkIndividual);
SLUICE_SINK_CONFORMANCE(HttpSinkNdjsonConformance, HttpSinkNdjson);
SLUICE_SINK_CONFORMANCE(HttpSinkJsonArrayConformance, HttpSinkJsonArray);

}  // namespace
}  // namespace sluice::http_sink
