// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config_world.hpp"

namespace sluice::config {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class EnvironmentOverlay : public testing::Test {
 protected:
  EnvironmentOverlay() { world_.write("connectors.d/out.toml", sink_text("batching.max_records = 5")); }

  ConnectorConfig sink(const Environment& environment) const {
    ConnectorSet set = world_.loaded(environment);
    for (const RejectedConnector& rejected : set.rejected) ADD_FAILURE() << rejected.message;
    return set.connectors.empty() ? ConnectorConfig{} : set.connectors.front();
  }

  ConfigWorld world_;
};

TEST_F(EnvironmentOverlay, SetsWhatTheSchemaKnowsWithItsTypes) {
  const DaemonConfig daemon = load_daemon_config(world_.config(), {{"SLUICE__SHARDS", "4"},
                                                                   {"SLUICE__LOG__level", "debug"},
                                                                   {"SLUICE__PLUGINS__PATH__1", "/b"},
                                                                   {"SLUICE__PLUGINS__PATH__0", "/a"},
                                                                   {"SLUICE_PORT", "tcp://10.0.0.1:80"},
                                                                   {"PATH", "/bin"}})
                                  .value();
  EXPECT_EQ(daemon.shards, 4u);
  EXPECT_EQ(daemon.log.level, "debug");
  EXPECT_THAT(daemon.plugin_path, ElementsAre("/a", "/b"));
}

TEST_F(EnvironmentOverlay, ReachesConnectorsAndTheirPlugins) {
  const ConnectorConfig loaded = sink({{"SLUICE__CONNECTORS__OUT__BATCHING__MAX_RECORDS", "6"},
                                       {"SLUICE__CONNECTORS__OUT__STREAMS__0__PARTITIONS", "3"},
                                       {"SLUICE__CONNECTORS__OUT__FAILURE__TRANSIENT__POLICY", "30m"},
                                       {"SLUICE__CONNECTORS__OUT__PLUGIN_CONFIG__PASSWORD", "12345"},
                                       {"SLUICE__CONNECTORS__OUT__PLUGIN_CONFIG__BATCH", "7"},
                                       {"SLUICE__CONNECTORS__OUT__PLUGIN_CONFIG__VERIFY", "false"},
                                       {"SLUICE__CONNECTORS__OUT__PLUGIN_CONFIG__HEADERS__AUTHORIZATION", "Bearer ${env:TOKEN}"},
                                       {"TOKEN", "t0k"}});
  EXPECT_EQ(loaded.batching.records_max, 6u);
  EXPECT_EQ(loaded.streams.at(0).topic.partitions, 3u);
  EXPECT_EQ(loaded.failure.transient.duration_max, std::chrono::minutes{30});
  EXPECT_EQ(loaded.plugin_config_json,
            R"({"url":"http://x","batch":7,"headers":{"authorization":"Bearer t0k"},"password":"12345","verify":false})");
  EXPECT_THAT(loaded.secrets, ElementsAre("Bearer t0k", "t0k", "12345"));
}

TEST_F(EnvironmentOverlay, SaysWhichVariableIsWrong) {
  const auto finding = [&](const std::string& name, const std::string& value) { return world_.findings({{name, value}}); };
  EXPECT_EQ(finding("SLUICE__SHARDS", "many"), "environment variable SLUICE__SHARDS: error: `shards` must be an integer, not \"many\"\n");
  EXPECT_EQ(finding("SLUICE__SHUTDOWN_DEADLINE", "30"),
            "environment variable SLUICE__SHUTDOWN_DEADLINE: error: `shutdown_deadline` must be a duration such as \"30s\" or \"500ms\", "
            "not \"30\": a unit is missing\n");
  EXPECT_EQ(finding("SLUICE__HTP__ADDRESS", "x"),
            "environment variable SLUICE__HTP__ADDRESS: error: unknown key `htp`; did you mean SLUICE__HTTP__ADDRESS?\n");
  EXPECT_EQ(finding("SLUICE__HTTP_ADDRESS", "x"),
            "environment variable SLUICE__HTTP_ADDRESS: error: unknown key `http_address`; did you mean SLUICE__HTTP__ADDRESS?\n");
  EXPECT_EQ(finding("SLUICE__HTTP", "x"),
            "environment variable SLUICE__HTTP: error: `http` is a table: set its keys, as in SLUICE__HTTP__ADDRESS\n");
  EXPECT_EQ(finding("SLUICE__LOG__LEVEL__X", "x"),
            "environment variable SLUICE__LOG__LEVEL__X: error: `log.level` is a single value and has no key `x`; the variable would be "
            "SLUICE__LOG__LEVEL\n");
  EXPECT_EQ(finding("SLUICE__PLUGINS__PATH__1", "/x"),
            "environment variable SLUICE__PLUGINS__PATH__1: error: item 1 of `plugins.path` would leave a gap: there are 0 items, so the "
            "next one is "
            "SLUICE__PLUGINS__PATH__0\n");
  EXPECT_EQ(
      finding("SLUICE__PLUGINS__PATH", "/x"),
      "environment variable SLUICE__PLUGINS__PATH: error: `plugins.path` is an array: set its items, as in SLUICE__PLUGINS__PATH__0\n");
  EXPECT_EQ(
      finding("SLUICE__CONNECTORS__OUT__PLUGIN_CONFIG__PASWORD", "x"),
      "environment variable SLUICE__CONNECTORS__OUT__PLUGIN_CONFIG__PASWORD: error: unknown key `pasword` in `plugin_config`; did you mean "
      "SLUICE__CONNECTORS__OUT__PLUGIN_CONFIG__PASSWORD?\n");
  EXPECT_EQ(finding("SLUICE__CONNECTORS__OTU__ENABLED", "false"),
            "environment variable SLUICE__CONNECTORS__OTU__ENABLED: error: there is no connector `otu`; did you mean `out`?\n");
}

TEST_F(EnvironmentOverlay, CannotRenameAConnector) {
  EXPECT_EQ(world_.findings({{"SLUICE__CONNECTORS__OUT__KEY", "other"}}),
            "environment variable SLUICE__CONNECTORS__OUT__KEY: error: the key of a connector can be changed only in its file\n");
  EXPECT_THAT(world_.findings({{"SLUICE__CONNECTORS__OUT", "x"}}), HasSubstr("names a connector and no key of it"));
  EXPECT_THAT(world_.findings({{"SLUICE__DATA_DIR", "\xFF"}}), HasSubstr("the value for `data_dir` is not UTF-8"));
  world_.write("connectors.d/out.toml", "key = \"${env:KEY}\"\n");
  EXPECT_THAT(world_.findings({{"KEY", "out"}}), HasSubstr("out.toml:1:7: error: `key` must stand in the file as it is"));
}

TEST_F(EnvironmentOverlay, RefusesToChooseBetweenTwo) {
  EXPECT_THAT(world_.findings({{"SLUICE__SHARDS", "1"}, {"SLUICE__shards", "2"}}),
              AllOf(HasSubstr("environment variable SLUICE__shards: error: ambiguous: SLUICE__SHARDS sets the same key")));
  world_.write("connectors.d/out.toml", sink_text("", "headers = { A = \"1\", a = \"2\" }"));
  EXPECT_THAT(world_.findings({{"SLUICE__CONNECTORS__OUT__PLUGIN_CONFIG__HEADERS__A", "3"}}),
              HasSubstr("ambiguous: `plugin_config.headers` has the keys `A` and `a`"));
}

TEST_F(EnvironmentOverlay, BlamesTheConnectorItNamesAndNoOther) {
  world_.write("connectors.d/b.toml", "key=\"b\"\ntype=\"source\"\nplugin=\"acme\"\n[[streams]]\nstream=\"s\"\ntopic=\"t\"\n");
  const ConnectorSet set = world_.loaded({{"SLUICE__CONNECTORS__OUT__ENABLED", "maybe"}, {"SLUICE__CONNECTORS__GONE__ENABLED", "false"}});
  ASSERT_EQ(set.connectors.size(), 1u);
  EXPECT_EQ(set.connectors[0].key, "b");
  ASSERT_EQ(set.rejected.size(), 2u);
  EXPECT_EQ(set.rejected[0].key, "out");
  EXPECT_EQ(set.rejected[0].message,
            "environment variable SLUICE__CONNECTORS__OUT__ENABLED: error: `enabled` must be true or false, not \"maybe\"");
  EXPECT_EQ(set.rejected[1].key, "gone");
}

TEST_F(EnvironmentOverlay, IsNotEmptyForThisProcess) {
  EXPECT_FALSE(process_environment().empty());
}

}  // namespace
}  // namespace sluice::config
