// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/host_table.hpp"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/runtime/plugin/scripted_connector.hpp"

namespace sluice::plugin {

using ::testing::HasSubstr;

namespace {

class KeepingServices final : public HostServices {
 public:
  bool log_enabled(LogLevel level) override { return level >= LogLevel::kInfo; }
  void log(LogLevel level, std::string_view file, std::uint32_t line, std::string_view message) override {
    last_level = level;
    messages.push_back(std::string(file) + ":" + std::to_string(line) + " " + std::string(message));
  }
  void wake() override { ++wakes; }
  void retrying(std::uint32_t attempt, std::chrono::milliseconds wait, const Outcome& error) override {
    last_retry = std::to_string(attempt) + " " + std::to_string(wait.count()) + " " + error.text;
  }

  LogLevel last_level = LogLevel::kTrace;
  std::vector<std::string> messages;
  int wakes = 0;
  std::string last_retry;
};

}  // namespace

class HostTableTest : public ::testing::Test {
 protected:
  std::shared_ptr<KeepingServices> services_ = std::make_shared<KeepingServices>();
  HostTable host_{{.connector_key = "orders_in", .secrets = {"hunter2"}, .services = services_}};
  const sluice_host& table_ = *host_.table();
};

TEST_F(HostTableTest, SaysWhoItIs) {
  EXPECT_EQ(table_.struct_size, sizeof(sluice_host));
  EXPECT_STREQ(table_.name, "sluice");
  EXPECT_EQ(*read_text(table_.connector_key), "orders_in");
}

TEST_F(HostTableTest, LogIsFilteredCleanedCutAndMasked) {
  EXPECT_EQ(table_.log_enabled(table_.host_data, SLUICE_LOG_DEBUG), 0);
  EXPECT_EQ(table_.log_enabled(table_.host_data, SLUICE_LOG_WARN), 1);
  table_.log(table_.host_data, SLUICE_LOG_DEBUG, "a.cpp", 1, abi_text("not shown"));
  table_.log(table_.host_data, SLUICE_LOG_WARN, "a.cpp", 7, abi_text("login hunter2\n\xFF"));
  ASSERT_EQ(services_->messages.size(), 1u);
  EXPECT_EQ(services_->messages[0], "a.cpp:7 login ***\\n\xEF\xBF\xBD");
  table_.log(table_.host_data, SLUICE_LOG_ERROR, nullptr, 0, abi_text(std::string(100'000, 'x')));
  EXPECT_LE(services_->messages[1].size(), kLogMessageBytesMax + 8);
  table_.log(table_.host_data, 99, "a.cpp", 1, {nullptr, 5});
  EXPECT_EQ(services_->last_level, LogLevel::kWarn);
  EXPECT_THAT(services_->messages[2], HasSubstr("a length but no bytes"));
}

TEST_F(HostTableTest, MetricsAreKeptByNameAndKind) {
  const std::uint32_t rows = table_.metric(table_.host_data, SLUICE_METRIC_COUNTER, abi_text("rows"), abi_text("Rows"));
  const std::uint32_t depth = table_.metric(table_.host_data, SLUICE_METRIC_GAUGE, abi_text("depth"), abi_text("Depth"));
  EXPECT_EQ(table_.metric(table_.host_data, SLUICE_METRIC_COUNTER, abi_text("rows"), abi_text("")), rows);
  EXPECT_EQ(table_.metric(table_.host_data, SLUICE_METRIC_GAUGE, abi_text("rows"), abi_text("")), 0u);
  EXPECT_EQ(table_.metric(table_.host_data, SLUICE_METRIC_COUNTER, abi_text("Rows!"), abi_text("")), 0u);
  EXPECT_EQ(table_.metric(table_.host_data, 9, abi_text("other"), abi_text("")), 0u);
  table_.counter_add(table_.host_data, rows, 2);
  table_.counter_add(table_.host_data, rows, 3);
  table_.counter_add(table_.host_data, depth, 100);
  table_.gauge_set(table_.host_data, depth, 1.5);
  table_.counter_add(table_.host_data, 0, 1);
  table_.gauge_set(table_.host_data, 12345, 1);
  // No JSON could carry these.
  table_.gauge_set(table_.host_data, depth, std::numeric_limits<double>::quiet_NaN());
  table_.gauge_set(table_.host_data, depth, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(host_.metrics(), (std::vector<std::pair<std::string, double>>{{"rows", 5}, {"depth", 1.5}}));
}

TEST_F(HostTableTest, MetricsHaveAMaximum) {
  for (std::size_t i = 0; i < kPluginMetricsMax; ++i) {
    EXPECT_NE(table_.metric(table_.host_data, SLUICE_METRIC_COUNTER, abi_text("m" + std::to_string(i)), abi_text("")), 0u);
  }
  EXPECT_EQ(table_.metric(table_.host_data, SLUICE_METRIC_COUNTER, abi_text("one_more"), abi_text("")), 0u);
}

TEST_F(HostTableTest, WakeAndRetryingReachTheServicesUntilSilenced) {
  const sluice_outcome busy = abi_outcome(SLUICE_CLASS_TRANSIENT, SLUICE_SCOPE_CONNECTOR, "busy");
  table_.wake(table_.host_data);
  table_.retrying(table_.host_data, 3, 250, &busy);
  EXPECT_EQ(services_->wakes, 1);
  EXPECT_EQ(services_->last_retry, "3 250 busy");
  host_.silence();
  table_.wake(table_.host_data);
  table_.log(table_.host_data, SLUICE_LOG_ERROR, "a.cpp", 1, abi_text("late"));
  EXPECT_EQ(services_->wakes, 1);
  EXPECT_TRUE(services_->messages.empty());
}

TEST_F(HostTableTest, OffersNoExtension) {
  EXPECT_EQ(table_.get_extension(table_.host_data, "sluice.async-complete/1"), nullptr);
}

}  // namespace sluice::plugin
