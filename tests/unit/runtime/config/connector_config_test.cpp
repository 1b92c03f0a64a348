// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/metadata/topic.hpp"

#include "config_world.hpp"

namespace sluice::config {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class ConnectorFiles : public testing::Test {
 protected:
  ConnectorConfig only(const Environment& environment = {}) const {
    ConnectorSet set = world_.loaded(environment);
    EXPECT_EQ(set.connectors.size(), 1u);
    for (const RejectedConnector& rejected : set.rejected) ADD_FAILURE() << rejected.message;
    return set.connectors.empty() ? ConnectorConfig{} : set.connectors.front();
  }

  ConfigWorld world_;
};

TEST_F(ConnectorFiles, GiveTheDefaultsOfTheStructs) {
  world_.write("connectors.d/out.toml", sink_text());
  const ConnectorConfig loaded = only();
  const ConnectorConfig expected;
  EXPECT_EQ(loaded.type, ConnectorType::kSink);
  EXPECT_TRUE(loaded.enabled);
  EXPECT_TRUE(std::holds_alternative<StartEarliest>(loaded.start_from));
  EXPECT_FALSE(loaded.out_of_range_to_earliest);
  EXPECT_EQ(loaded.ordering, expected.ordering);
  EXPECT_EQ(loaded.records_per_second_max, expected.records_per_second_max);
  EXPECT_EQ(loaded.stall_after, expected.stall_after);
  EXPECT_EQ(loaded.record_bytes_max, expected.record_bytes_max);
  EXPECT_EQ(loaded.failure.transient.attempts_max, expected.failure.transient.attempts_max);
  EXPECT_EQ(loaded.failure.transient.duration_max, expected.failure.transient.duration_max);
  EXPECT_EQ(loaded.failure.transient.then, expected.failure.transient.then);
  EXPECT_EQ(loaded.failure.record, expected.failure.record);
  EXPECT_EQ(loaded.failure.dead_letter_ratio_max, expected.failure.dead_letter_ratio_max);
  EXPECT_EQ(loaded.batching.records_max, expected.batching.records_max);
  EXPECT_EQ(loaded.batching.bytes_max, expected.batching.bytes_max);
  EXPECT_EQ(loaded.batching.linger, expected.batching.linger);
  EXPECT_EQ(loaded.batching.unacked_records_max, expected.batching.unacked_records_max);
  EXPECT_EQ(loaded.batching.unacked_bytes_max, expected.batching.unacked_bytes_max);
  EXPECT_EQ(loaded.restart.enabled, expected.restart.enabled);
  EXPECT_EQ(loaded.restart.base_delay, expected.restart.base_delay);
  EXPECT_EQ(loaded.restart.max_delay, expected.restart.max_delay);
  ASSERT_EQ(loaded.streams.size(), 1u);
  const client::TopicOptions options;
  EXPECT_EQ(loaded.streams[0].name, (client::TopicName{"s", "t"}));
  EXPECT_EQ(loaded.streams[0].topic.partitions, options.partitions);
  EXPECT_EQ(loaded.streams[0].topic.enforce_fsync, options.enforce_fsync);
  EXPECT_EQ(loaded.streams[0].topic.flush_interval, options.flush_interval);
  EXPECT_EQ(loaded.streams[0].topic.segment_bytes, options.segment_bytes);
  EXPECT_EQ(loaded.streams[0].topic.retention.bytes, std::nullopt);
  EXPECT_EQ(loaded.streams[0].topic.retention.age, std::nullopt);
  EXPECT_TRUE(loaded.streams[0].topic.retention.wait_for_consumers);
  EXPECT_EQ(loaded.streams[0].topic.retention.hard_bytes, 10ULL << 30);
  EXPECT_EQ(loaded.plugin_config_json, R"({"url":"http://x"})");
  EXPECT_EQ(loaded.plugin_config_origins.at("/url").line, 9u);
  EXPECT_THAT(loaded.secrets, IsEmpty());
}

TEST_F(ConnectorFiles, GiveWhatIsWrittenAboveTheSharedDefaults) {
  world_.write("sluice.toml",
               "data_dir=\"d\"\n[defaults.batching]\nmax_records = 7\nlinger = \"5ms\"\n[defaults.topic]\npartitions = 9\nretention.bytes "
               "= \"2GiB\"\nretention.age = \"36h\"\n");
  world_.write("connectors.d/out.toml", sink_text(R"(
enabled = false
start_from = 2026-03-01T12:30:00+01:00
on_out_of_range = "earliest"
ordering = "key"
rate_limit.records_per_second = 50
batching.linger = "9ms"
failure = { record = "skip", transient = { policy = 3, then = "dead_letter" }, dead_letter.max_ratio = 1 }
)"));
  const ConnectorConfig loaded = only();
  EXPECT_FALSE(loaded.enabled);
  EXPECT_EQ(std::get<TimestampUs>(loaded.start_from), TimestampUs{1'772'364'600'000'000});
  EXPECT_TRUE(loaded.out_of_range_to_earliest);
  EXPECT_EQ(loaded.ordering, Ordering::kKey);
  EXPECT_EQ(loaded.records_per_second_max, 50u);
  EXPECT_EQ(loaded.batching.records_max, 7u);
  EXPECT_EQ(loaded.batching.linger, std::chrono::milliseconds{9});
  EXPECT_EQ(loaded.failure.record, Disposition::kSkip);
  EXPECT_EQ(loaded.failure.transient.attempts_max, 3u);
  EXPECT_EQ(loaded.failure.transient.then, Disposition::kDeadLetter);
  EXPECT_EQ(loaded.failure.dead_letter_ratio_max, 1.0);
  EXPECT_EQ(loaded.streams[0].topic.partitions, 9u);
  EXPECT_EQ(loaded.streams[0].topic.retention.bytes, 2ULL << 30);
  EXPECT_EQ(loaded.streams[0].topic.retention.age, std::chrono::hours(36));
}

TEST_F(ConnectorFiles, CarryExactNumbersAndDatesToThePlugin) {
  world_.write(
      "connectors.d/out.toml",
      sink_text("",
                "batch = 500\nratio = 1\nverify = false\npaths = [\"a\"]\ntimeout = \"5s\"\ncode = \"ABC\"\nconnect.max_attempts = 3\n"));
  EXPECT_EQ(
      only().plugin_config_json,
      R"({"url":"http://x","batch":500,"ratio":1E0,"verify":false,"paths":["a"],"timeout":"5s","code":"ABC","connect":{"max_attempts":3}})");
}

TEST_F(ConnectorFiles, LeaveTheOthersRunningWhenOneIsBad) {
  world_.write("connectors.d/a.toml", "key = \"a\"\ntype = \n");
  world_.write("connectors.d/b.toml", sink_text("enabeld = false"));
  world_.write("connectors.d/c.toml", "key = \"c\"\ntype = \"source\"\nplugin = \"acme\"\n[[streams]]\nstream = \"s\"\ntopic = \"t\"\n");
  world_.write("connectors.d/notes.txt", "not a connector");
  world_.write("connectors.d/.hidden.toml", "=");
  const ConnectorSet set = world_.loaded();
  ASSERT_EQ(set.connectors.size(), 1u);
  EXPECT_EQ(set.connectors[0].key, "c");
  ASSERT_EQ(set.rejected.size(), 2u);
  EXPECT_EQ(set.rejected[0].key, "a");
  EXPECT_THAT(set.rejected[0].message, HasSubstr("a.toml:2:"));
  EXPECT_EQ(set.rejected[1].key, "out");
  EXPECT_EQ(set.rejected[1].message, world_.path("connectors.d/b.toml") + ":4:1: error: unknown key `enabeld`; did you mean `enabled`?");
}

TEST_F(ConnectorFiles, AreBothRefusedWithTheSameKey) {
  world_.write("connectors.d/a.toml", sink_text());
  world_.write("connectors.d/b.toml", "\n" + sink_text());
  const ConnectorSet set = world_.loaded();
  EXPECT_THAT(set.connectors, IsEmpty());
  ASSERT_EQ(set.rejected.size(), 2u);
  EXPECT_THAT(set.rejected[0].message, AllOf(HasSubstr("a.toml:1:7"), HasSubstr("b.toml:2:7"), HasSubstr("`out`")));
  EXPECT_THAT(set.rejected[1].message, AllOf(HasSubstr("a.toml:1:7"), HasSubstr("b.toml:2:7")));
}

TEST_F(ConnectorFiles, RefuseWhatThisVersionDoesNotHaveByName) {
  world_.write("connectors.d/out.toml", sink_text("workers = 2\n[[transforms]]\ntype = \"filter\"\n"));
  EXPECT_THAT(world_.findings(), HasSubstr("out.toml:4:11: error: `workers` is 2; more than one worker is not available in this version"));
  EXPECT_THAT(world_.findings(), HasSubstr("out.toml:5:3: error: unknown key `transforms`"));
}

TEST_F(ConnectorFiles, TellContradictions) {
  world_.write("connectors.d/out.toml",
               sink_text("batching = { max_records = 100, max_unacked_records = 50 }\nrestart.base_delay = \"2m\"\n"));
  EXPECT_EQ(world_.findings(),
            "connectors.d/out.toml:5:22: error: `restart.base_delay` must not be above `restart.max_delay`\n"
            "connectors.d/out.toml:4:55: error: `batching.max_records` must not be above `batching.max_unacked_records`\n");
  world_.write("connectors.d/out.toml",
               "key = \"in\"\ntype = \"source\"\nplugin = \"acme\"\nordering = "
               "\"key\"\n[[streams]]\nstream=\"a\"\ntopic=\"b\"\n[[streams]]\nstream=\"a\"\ntopic=\"b\"\n");
  EXPECT_THAT(world_.findings(), HasSubstr("out.toml:4:12: error: `ordering` is for sinks; this connector is a source"));
  EXPECT_THAT(world_.findings(), HasSubstr("out.toml:8:1: error: `streams[1]` names the topic a/b a second time"));
}

TEST_F(ConnectorFiles, AskForThePluginAndItsConnector) {
  world_.write("connectors.d/out.toml", "key=\"x\"\ntype=\"sink\"\nplugin=\"amce\"\n[[streams]]\nstream=\"a\"\ntopic=\"b\"\n");
  EXPECT_EQ(world_.findings(),
            "connectors.d/out.toml:3:8: error: the plugin `amce` cannot be used: no file `amce.so`; searched /nowhere\n");
  world_.write("connectors.d/out.toml", "key=\"x\"\ntype=\"sink\"\nplugin=\"twins\"\n[[streams]]\nstream=\"a\"\ntopic=\"b\"\n");
  EXPECT_EQ(world_.findings(),
            "connectors.d/out.toml:3:8: error: the plugin `twins` has the sinks left, right: say which with `connector = \"left\"`\n");
  world_.write("connectors.d/out.toml",
               "key=\"x\"\ntype=\"sink\"\nplugin=\"twins\"\nconnector=\"rigth\"\n[[streams]]\nstream=\"a\"\ntopic=\"b\"\n");
  EXPECT_EQ(world_.findings(), "connectors.d/out.toml:4:11: error: the plugin `twins` has no sink `rigth`; did you mean `right`?\n");
  world_.write("connectors.d/out.toml", "key=\"x\"\ntype=\"source\"\nplugin=\"twins\"\n[[streams]]\nstream=\"a\"\ntopic=\"b\"\n");
  EXPECT_EQ(world_.findings(), "connectors.d/out.toml:2:6: error: the plugin `twins` has no source; it has left, right\n");
}

TEST_F(ConnectorFiles, AreHeldToThePluginsSchema) {
  world_.write("connectors.d/out.toml",
               sink_text("",
                         "bach = 1\npassword = 5\ncode = \"abc\"\nexclusive = 14\nratio = inf\ntimeout = \"2h\"\npaths = []\n"
                         "headers = { a = \"1\", b = \"2\", c = \"3\" }\nmode = \"indvidual\"\n"));
  EXPECT_EQ(world_.findings(),
            "connectors.d/out.toml:10:1: error: unknown key `bach` in `plugin_config`; did you mean `batch`?\n"
            "connectors.d/out.toml:11:12: error: `plugin_config.password` must be a string, not an integer: put it in quotes\n"
            "connectors.d/out.toml:12:8: error: `plugin_config.code` is `abc`; it must match ^[A-Z]{3}$\n"
            "connectors.d/out.toml:14:9: error: `plugin_config.ratio` must be a number, not the number inf\n"
            "connectors.d/out.toml:15:11: error: `plugin_config.timeout` is 2h; allowed: 1ms to 1h\n"
            "connectors.d/out.toml:16:9: error: `plugin_config.paths` has 0 items; allowed: 1 to 3 items\n"
            "connectors.d/out.toml:17:11: error: `plugin_config.headers` has 3 items; allowed: 0 to 2 items\n"
            "connectors.d/out.toml:18:8: error: `plugin_config.mode` is `indvidual`; it must be one of individual, ndjson; did you mean "
            "`individual`?\n");
  // What only the JSON Schema validator understands.
  world_.write("connectors.d/out.toml", sink_text("", "exclusive = 13\n"));
  EXPECT_THAT(world_.findings(), HasSubstr("out.toml:10:13: error: `plugin_config.exclusive`: "));
  world_.write("connectors.d/out.toml", "key=\"x\"\ntype=\"sink\"\nplugin=\"acme\"\n[[streams]]\nstream=\"a\"\ntopic=\"b\"\n");
  EXPECT_EQ(world_.findings(), "connectors.d/out.toml:1:1: error: `plugin_config.url` is required and missing: Where to.\n");
}

TEST_F(ConnectorFiles, TakeFlushIntervalsThatTheLogTakesAndNoOthers) {
  const auto findings_of = [&](const std::string& interval) {
    world_.write("connectors.d/out.toml",
                 "key = \"out\"\ntype = \"sink\"\nplugin = \"acme\"\n[[streams]]\nstream = \"s\"\ntopic = \"t\"\nflush_interval = \"" +
                     interval + "\"\n[plugin_config]\nurl = \"http://x\"\n");
    return world_.findings();
  };
  for (const char* interval : {"10ms", "1m"}) {
    EXPECT_EQ(findings_of(interval), "");
    EXPECT_TRUE(metadata::validate(only().streams.at(0).topic)) << interval;
  }
  for (const char* interval : {"9ms", "61s"}) EXPECT_THAT(findings_of(interval), HasSubstr("out.toml:7:18: error: ")) << interval;
}

TEST_F(ConnectorFiles, CollectSecretsAndWarnAboutLiteralOnes) {
  const std::string file =
      world_.write("connectors.d/out.toml", sink_text("", "password = \"hunter2\"\nheaders.authorization = \"${env:TOKEN}\"\n"));
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  EXPECT_THAT(only({{"TOKEN", "t0k"}}).secrets, ElementsAre("hunter2", "t0k"));
  EXPECT_EQ(world_.findings({{"TOKEN", "t0k"}}),
            "connectors.d/out.toml:10:12: warning: the secret `plugin_config.password` is written out in a file that every user of this "
            "machine can read: "
            "use ${env:NAME} or ${file:/path}, or run chmod o-r " +
                file.substr(file.find("connectors.d")) + "\n");
  ASSERT_EQ(::chmod(file.c_str(), 0640), 0);
  EXPECT_EQ(world_.findings({{"TOKEN", "t0k"}}), "");
}

TEST_F(ConnectorFiles, MaskWhatStandsInsideASecretByReference) {
  world_.write("connectors.d/out.toml", sink_text("", "headers.authorization = \"Basic ${env:USER}:${env:TOKEN}\"\n"));
  EXPECT_THAT(only({{"USER", "orders"}, {"TOKEN", "t0k"}}).secrets, ElementsAre("Basic orders:t0k", "orders", "t0k"));
}

TEST_F(ConnectorFiles, NeverShowASecretInAnError) {
  world_.write("connectors.d/out.toml", sink_text("ordering = \"amqp://me:hunter2@h\"\n",
                                                  "password = \"" + std::string(65, 'p') + "\"\ncode = \"x://u:geheim@h\"\n"));
  const std::string findings = world_.findings();
  EXPECT_THAT(findings, Not(HasSubstr("hunter2")));
  EXPECT_THAT(findings, Not(HasSubstr("geheim")));
  EXPECT_THAT(findings, Not(HasSubstr("ppp")));
  EXPECT_THAT(findings, AllOf(HasSubstr("`ordering` is"), HasSubstr("`plugin_config.password` has 65 characters"),
                              HasSubstr("`plugin_config.code` is")));
}

TEST_F(ConnectorFiles, MayBeNone) {
  std::filesystem::remove(world_.path("connectors.d"));
  const ConnectorSet set = world_.loaded();
  EXPECT_THAT(set.connectors, IsEmpty());
  EXPECT_THAT(set.rejected, IsEmpty());
  ASSERT_EQ(set.warnings.size(), 1u);
}

TEST_F(ConnectorFiles, AreCheckedEvenIfTheDaemonsFileIsBad) {
  world_.write("sluice.toml", "data_dir = \"d\"\nshards = 999\n");
  world_.write("connectors.d/out.toml", sink_text("x = 1"));
  EXPECT_THAT(world_.findings(), AllOf(HasSubstr("sluice.toml:2:10"), HasSubstr("out.toml:4:1")));
  EXPECT_FALSE(world_.checked().ok());
}

}  // namespace
}  // namespace sluice::config
