// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/starting.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/json.hpp>

#include "runtime/http/errc.hpp"

namespace sluice::http {
namespace {

class StartingRouter : public testing::Test {
 protected:
  Result<Response> answer(const std::string& method, const std::string& target) {
    Request request;
    request.method = method;
    if (auto parsed = parse_target(target, request); !parsed) return fail(parsed.error());
    const Head head{.method = method, .host = "localhost", .content_type = "application/json", .has_request_header = true};
    SLUICE_TRY(const Route* route, router_.admit(head, request));
    return route->handler(request);
  }

  StartProgress progress_{.partitions = 40, .partitions_opened = 12, .bytes = 1000, .bytes_checked = 300};
  Router router_ = make_starting_router("1.2", [this] { return progress_; }, {});
};

TEST_F(StartingRouter, SaysHowFarTheStartIs) {
  const auto response = answer("GET", "/ready");
  ASSERT_TRUE(response.has_value());
  EXPECT_EQ(response->status, 503U);
  EXPECT_EQ(boost::json::parse(response->body), boost::json::parse(R"({"ready": false, "connectors": [], "recovery":
            {"partitions": 40, "partitions_opened": 12, "bytes": 1000, "bytes_checked": 300}})"));
  progress_.partitions_opened = 13;
  EXPECT_THAT(answer("GET", "/ready")->body, testing::HasSubstr(R"("partitions_opened":13)"));
}

TEST_F(StartingRouter, Lives) {
  for (const char* path : {"/health", "/api/v1/version"}) {
    const auto response = answer("GET", path);
    ASSERT_TRUE(response.has_value());
    EXPECT_EQ(response->status, 200U);
    EXPECT_THAT(response->body, testing::HasSubstr(R"("version":"1.2")"));
  }
}

TEST_F(StartingRouter, RefusesEverythingElseForTheTimeBeing) {
  for (const char* path : {"/metrics", "/api/v1/topics", "/api/v1/connectors/a/pause", "/ready/a"}) {
    for (const char* method : {"GET", "POST"}) {
      const auto response = answer(method, path);
      ASSERT_FALSE(response.has_value()) << path;
      EXPECT_TRUE(response.error().is(Errc::kNotReady)) << path;
      EXPECT_EQ(http_status(response.error()), 503U);
    }
  }
}

}  // namespace
}  // namespace sluice::http
