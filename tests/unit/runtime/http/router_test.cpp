// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/router.hpp"

#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/http/errc.hpp"

namespace sluice::http {
namespace {

class RouterTest : public testing::Test {
 protected:
  RouterTest() {
    const auto answer = [](const Request&) { return Response{}; };
    router_.add({.method = "GET", .pattern = "/api/v1/connectors/{key}", .handler = answer});
    router_.add({.method = "POST", .pattern = "/api/v1/connectors/{key}/pause", .handler = answer});
    router_.add({.method = "POST", .pattern = "/api/v1/topics/{topic}/records", .handler = answer, .takes_ndjson = true});
    router_.allow_hosts({"Sluice.Internal"});
  }

  Result<const Route*> admit(Head head, const std::string& target) {
    request_ = Request{};
    request_.method = head.method;
    if (auto parsed = parse_target(target, request_); !parsed) return fail(parsed.error());
    return router_.admit(head, request_);
  }

  Router router_;
  Request request_;
  Head get_{.method = "GET", .host = "localhost:8090", .content_type = "", .has_request_header = false};
  Head post_{.method = "POST", .host = "127.0.0.1", .content_type = "application/json; charset=utf-8", .has_request_header = true};
};

TEST_F(RouterTest, FillsParametersDecoded) {
  ASSERT_TRUE(admit(get_, "/api/v1/connectors/a%20b?x=1"));
  EXPECT_EQ(request_.parameters.at("key"), "a b");
  EXPECT_EQ(request_.query.at("x"), "1");
}

TEST_F(RouterTest, TakesTheHostsItKnowsWithAnyPort) {
  for (const char* host : {"localhost", "LOCALHOST:1", "127.0.0.1:8090", "[::1]:8090", "sluice.internal:80"}) {
    get_.host = host;
    EXPECT_TRUE(admit(get_, "/api/v1/connectors/a")) << host;
  }
}

TEST_F(RouterTest, RefusesEveryOtherHostBeforeLookingAtThePath) {
  for (const char* host : {"evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "[::2]", "["}) {
    get_.host = host;
    const auto outcome = admit(get_, "/nowhere");
    ASSERT_FALSE(outcome) << host;
    EXPECT_TRUE(outcome.error().is(Errc::kUnknownHost)) << host;
    EXPECT_EQ(http_status(outcome.error()), 421U);
  }
}

TEST_F(RouterTest, RefusesARequestWithoutHost) {
  get_.host = "";
  EXPECT_EQ(http_status(admit(get_, "/api/v1/connectors/a").error()), 400U);
}

TEST_F(RouterTest, RefusesAMutationWithoutTheRequestHeader) {
  post_.has_request_header = false;
  EXPECT_EQ(http_status(admit(post_, "/api/v1/connectors/a/pause").error()), 403U);
}

TEST_F(RouterTest, RefusesAMutationThatABrowserMaySendUnasked) {
  for (const char* type :
       {"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/json-seq", "application/x-ndjson"}) {
    post_.content_type = type;
    const auto outcome = admit(post_, "/api/v1/connectors/a/pause");
    ASSERT_FALSE(outcome) << type;
    EXPECT_EQ(http_status(outcome.error()), 415U) << type;
  }
}

TEST_F(RouterTest, TakesNdjsonWhereARouteSaysSo) {
  post_.content_type = "application/x-ndjson";
  EXPECT_TRUE(admit(post_, "/api/v1/topics/t/records"));
}

TEST_F(RouterTest, TellsAnUnknownPathFromAWrongMethod) {
  EXPECT_EQ(http_status(admit(get_, "/api/v1/connectors").error()), 404U);
  EXPECT_EQ(http_status(admit(get_, "/api/v1/connectors/a/pause").error()), 405U);
  EXPECT_EQ(router_.allowed_methods(request_), "POST");
}

TEST(ParseTarget, RefusesWhatIsNoPath) {
  for (const char* target : {"", "*", "http://evil/", "/a b", "/%zz", "a"}) {
    Request request;
    EXPECT_FALSE(parse_target(target, request)) << target;
  }
}

TEST(ParseTarget, RefusesAParameterGivenTwice) {
  Request request;
  EXPECT_FALSE(parse_target("/a?x=1&x=2", request));
}

TEST(QueryNumber, RefusesWhatIsNotAWholeNumberInRange) {
  for (const char* value : {"", "-1", "1.5", "11", "0x1", "99999999999999999999"}) {
    Request request;
    request.query["limit"] = value;
    EXPECT_FALSE(query_number(request, "limit", 10)) << value;
  }
  Request request;
  request.query["limit"] = "10";
  EXPECT_EQ(query_number(request, "limit", 10)->value(), 10U);
  EXPECT_EQ(*query_number(request, "other", 10), std::nullopt);
}

TEST(Problem, SaysWhatAndWhatToDo) {
  const Response response = problem(Error(Errc::kBusy, "too many").with("limit", "6"));
  EXPECT_EQ(response.status, 503U);
  EXPECT_EQ(response.content_type, "application/problem+json");
  EXPECT_EQ(response.header("retry-after"), "1");
  EXPECT_THAT(response.body, testing::HasSubstr(R"("code":"http.busy")"));
  EXPECT_THAT(response.body, testing::HasSubstr(R"("context":{"limit":"6"})"));
}

}  // namespace
}  // namespace sluice::http
