// SPDX-License-Identifier: Apache-2.0
#include "runtime/metrics/exposition.hpp"

#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/client/client.hpp"

namespace sluice::metrics {
namespace {

using testing::HasSubstr;
using testing::Not;

Snapshot two_connectors() {
  pipeline::ConnectorStatus source;
  source.key = "random";
  source.type = config::ConnectorType::kSource;
  source.state = pipeline::State::kRunning;
  source.source = pipeline::SourceStatus{.in = 10, .appended = 7, .filtered = 1, .skipped = 1, .dead_lettered = 1, .state_sequence = 3};
  pipeline::ConnectorStatus sink;
  sink.key = "out";
  sink.type = config::ConnectorType::kSink;
  sink.state = pipeline::State::kRetrying;
  sink.retries = 5;
  pipeline::PartitionStatus partition;
  partition.topic = {"main", "t\"1"};
  partition.pending = 4;
  partition.accounting.delivered = 6;
  partition.accounting.gap = 2;
  partition.lag_records = 9;
  partition.lag_seconds = 1.5;
  sink.partitions = {partition};
  sink.plugin_metrics = {{"open_files", 3.0}};
  return {.version = "1.2.3", .connectors = {source, sink}, .topics = {}};
}

// Checks the shape that promtool checks: HELP and TYPE once per family, before its samples, which follow one another.
void expect_valid_exposition(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  std::string family;
  std::set<std::string> seen;
  std::set<std::string> samples;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string first;
    std::string kind;
    std::string name;
    words >> first;
    if (first == "#") {
      words >> kind >> name;
      if (kind == "HELP") {
        EXPECT_TRUE(seen.insert(name).second) << "HELP twice: " << name;
        family = name;
      } else {
        EXPECT_EQ(kind, "TYPE");
        EXPECT_EQ(name, family);
      }
      continue;
    }
    EXPECT_EQ(line.substr(0, line.find_first_of("{ ")), family) << line;
    EXPECT_TRUE(samples.insert(line.substr(0, line.rfind(' '))).second) << "sample twice: " << line;
  }
  EXPECT_TRUE(text.ends_with('\n'));
}

TEST(Exposition, DeclaresEachFamilyOnceAndKeepsItsSamplesTogether) {
  expect_valid_exposition(expose(two_connectors()));
}

TEST(Exposition, CarriesTheAccountingBucketsOfSinksAndSources) {
  const std::string text = expose(two_connectors());
  EXPECT_THAT(text, HasSubstr(R"(sluice_sink_records_total{connector="out",topic="main/t\"1",partition="0",outcome="delivered"} 6)"));
  EXPECT_THAT(text, HasSubstr(R"(sluice_sink_records_in_total{connector="out",topic="main/t\"1",partition="0"} 8)"));
  EXPECT_THAT(text, HasSubstr(R"(sluice_source_records_total{connector="random",outcome="appended"} 7)"));
  EXPECT_THAT(text, HasSubstr(R"(sluice_sink_lag_seconds{connector="out",topic="main/t\"1",partition="0"} 1.5)"));
}

TEST(Exposition, SetsExactlyTheStateTheConnectorIsIn) {
  const std::string text = expose(two_connectors());
  EXPECT_THAT(text, HasSubstr(R"(sluice_connector_state{connector="out",type="sink",state="retrying"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(sluice_connector_state{connector="out",type="sink",state="running"} 0)"));
}

TEST(Exposition, ACounterOfASinkDoesNotCountWhatIsReadAgainAfterARestart) {
  Snapshot before = two_connectors();
  Snapshot after = two_connectors();
  after.connectors[1].partitions[0].pending = 0;
  const auto in = [](const std::string& text) {
    const std::size_t at = text.find("\nsluice_sink_records_in_total{");
    return text.substr(at, text.find('\n', at + 1) - at);
  };
  EXPECT_EQ(in(expose(before)), in(expose(after)));
}

TEST(Exposition, GivesARejectedDefinitionNoType) {
  pipeline::ConnectorStatus rejected;
  rejected.key = "broken";
  rejected.state = pipeline::State::kError;
  const std::string text = expose({.version = "1", .connectors = {rejected}, .topics = {}});
  EXPECT_THAT(text, HasSubstr(R"(sluice_connector_state{connector="broken",state="error"} 1)"));
}

TEST(Exposition, EndsCountersInTotalOnce) {
  const std::string text = expose(two_connectors());
  EXPECT_THAT(text, Not(HasSubstr("_total_total")));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("# TYPE ") || !line.ends_with(" counter")) continue;
    EXPECT_THAT(line, HasSubstr("_total counter"));
  }
}

TEST(Exposition, LeavesOutFamiliesWithoutSamples) {
  const std::string text = expose({.version = "1", .connectors = {}, .topics = {}});
  EXPECT_THAT(text, HasSubstr("sluice_build_info{version=\"1\"} 1"));
  EXPECT_THAT(text, Not(HasSubstr("sluice_sink")));
}

TEST(Exposition, CountsWhatTheLogCouldNotDo) {
  const std::string text =
      expose({.version = "1", .connectors = {}, .topics = {}, .log_warnings = 3, .storage = {.free_bytes = 7, .takes_messages = false}});
  EXPECT_THAT(text, HasSubstr("sluice_log_warnings_total 3"));
  EXPECT_THAT(text, HasSubstr("sluice_storage_free_bytes 7"));
  EXPECT_THAT(text, HasSubstr("sluice_storage_low 1"));
}

TEST(Exposition, NamesARefusedPartitionAndGivesItNoOffsets) {
  client::TopicInfo topic;
  topic.name = {"main", "orders"};
  topic.partitions.resize(2);
  topic.partitions[1].index = PartitionIndex(1);
  topic.partitions[1].refused = Error(Errc::kDecode, "damaged");
  const std::string text = expose({.version = "1", .connectors = {}, .topics = {topic}});
  EXPECT_THAT(text, HasSubstr(R"(sluice_partition_refused{topic="main/orders",partition="1"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(sluice_partition_next_offset{topic="main/orders",partition="0"} 0)"));
  EXPECT_THAT(text, Not(HasSubstr(R"(sluice_partition_next_offset{topic="main/orders",partition="1"})")));
}

TEST(Exposition, CountsWhatTheScrubLookedAtAndFound) {
  client::TopicInfo topic;
  topic.name = {"main", "orders"};
  topic.partitions.resize(1);
  topic.partitions[0].scrub = {.bytes = 5000, .due_segments = 2, .damage = {Error(Errc::kDecode, "damaged")}};
  const std::string text = expose({.version = "1", .connectors = {}, .topics = {topic}});
  EXPECT_THAT(text, HasSubstr(R"(sluice_log_scrub_bytes_total{topic="main/orders",partition="0"} 5000)"));
  EXPECT_THAT(text, HasSubstr(R"(sluice_log_scrub_due_segments{topic="main/orders",partition="0"} 2)"));
  EXPECT_THAT(text, HasSubstr(R"(sluice_log_scrub_damaged_segments{topic="main/orders",partition="0"} 1)"));
}

TEST(Exposition, TellsARefusedPartitionFromOneThatIsTriedAgain) {
  client::TopicInfo topic;
  topic.name = {"main", "orders"};
  topic.partitions.resize(2);
  topic.partitions[0].refused = Error(client::Errc::kPartitionRefused, "damaged");
  topic.partitions[1].index = PartitionIndex(1);
  topic.partitions[1].refused = Error(client::Errc::kPartitionUnavailable, "too many open files");
  const std::string text = expose({.version = "1", .connectors = {}, .topics = {topic}});
  EXPECT_THAT(text, HasSubstr(R"(sluice_partition_refused{topic="main/orders",partition="0"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(sluice_partition_unavailable{topic="main/orders",partition="0"} 0)"));
  EXPECT_THAT(text, HasSubstr(R"(sluice_partition_refused{topic="main/orders",partition="1"} 0)"));
  EXPECT_THAT(text, HasSubstr(R"(sluice_partition_unavailable{topic="main/orders",partition="1"} 1)"));
  EXPECT_THAT(text, Not(HasSubstr("sluice_partition_next_offset{")));
}

}  // namespace
}  // namespace sluice::metrics
