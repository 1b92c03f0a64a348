// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config_world.hpp"

namespace sluice::config {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class DaemonConfigFile : public testing::Test {
 protected:
  ConfigWorld world_;
};

TEST_F(DaemonConfigFile, GivesTheDefaultsOfTheStructs) {
  const DaemonConfig loaded = load_daemon_config(world_.config(), {}).value();
  const DaemonConfig expected;
  EXPECT_EQ(loaded.shards, expected.shards);
  EXPECT_EQ(loaded.runtime_dir, expected.runtime_dir);
  EXPECT_EQ(loaded.recovery.verify_sealed, expected.recovery.verify_sealed);
  EXPECT_EQ(loaded.recovery.scrub_bytes_per_second, expected.recovery.scrub_bytes_per_second);
  EXPECT_EQ(loaded.recovery.scrub_interval, expected.recovery.scrub_interval);
  EXPECT_EQ(loaded.shutdown_deadline, expected.shutdown_deadline);
  EXPECT_EQ(loaded.plugin_probe_timeout, expected.plugin_probe_timeout);
  EXPECT_EQ(loaded.http.address, expected.http.address);
  EXPECT_EQ(loaded.http.allowed_hosts, expected.http.allowed_hosts);
  EXPECT_EQ(loaded.log.level, expected.log.level);
  EXPECT_EQ(loaded.log.format, expected.log.format);
  EXPECT_EQ(loaded.connectors_dir, world_.path(expected.connectors_dir.string()));
  EXPECT_EQ(loaded.data_dir, world_.path("data"));
  EXPECT_EQ(loaded.http.socket, world_.path("data/sluice.sock"));
}

TEST_F(DaemonConfigFile, GivesWhatIsWritten) {
  world_.write("sluice.toml", R"(
data_dir = "/d"
runtime_dir = "/run/s"
shards = 3
shutdown_deadline = "1m30s"
[plugins]
path = ["plugins", "/opt/p"]
probe_timeout = "2s"
[http]
address = "[::1]:0"
socket = "/run/s.sock"
allowed_hosts = ["sluice.example.com"]
[log]
level = "debug"
format = "json"
[recovery]
verify = "full"
scrub_rate = "3MiB"
scrub_interval = "24h"
)");
  const DaemonConfig loaded = load_daemon_config(world_.config(), {}).value();
  EXPECT_EQ(loaded.data_dir, "/d");
  EXPECT_EQ(loaded.runtime_dir, "/run/s");
  EXPECT_EQ(loaded.shards, 3u);
  EXPECT_TRUE(loaded.recovery.verify_sealed);
  EXPECT_EQ(loaded.recovery.scrub_bytes_per_second, 3u << 20);
  EXPECT_EQ(loaded.recovery.scrub_interval, std::chrono::hours{24});
  EXPECT_EQ(loaded.shutdown_deadline, std::chrono::seconds{90});
  EXPECT_EQ(loaded.plugin_probe_timeout, std::chrono::seconds{2});
  EXPECT_THAT(loaded.plugin_path, ElementsAre(world_.path("plugins"), "/opt/p"));
  EXPECT_EQ(loaded.http.address, "[::1]:0");
  EXPECT_EQ(loaded.http.socket, "/run/s.sock");
  EXPECT_THAT(loaded.http.allowed_hosts, ElementsAre("sluice.example.com"));
  EXPECT_EQ(loaded.log.level, "debug");
  EXPECT_EQ(loaded.log.format, "json");
}

TEST_F(DaemonConfigFile, TellsEverythingThatIsWrongWithItsPlace) {
  world_.write("sluice.toml",
               "shards = \"4\"\nshutdown_deadline = 30\n[http]\nadress = \"127.0.0.1:1\"\n[log]\nlevel = "
               "\"warning\"\n[defaults.batching]\nlinger = \"2h\"\n");
  EXPECT_EQ(world_.findings(),
            "sluice.toml:1:10: error: `shards` must be an integer, not \"4\": remove the quotes\n"
            "sluice.toml:2:21: error: `shutdown_deadline` must be a duration such as \"30s\" or \"500ms\", not the integer 30: write it in "
            "quotes and with a unit\n"
            "sluice.toml:4:1: error: unknown key `adress` in `http`; did you mean `address`?\n"
            "sluice.toml:6:9: error: `log.level` is `warning`; it must be one of trace, debug, info, warn, error\n"
            "sluice.toml:8:10: error: `defaults.batching.linger` is 2h; allowed: 0s to 1m\n"
            "sluice.toml:1:1: error: `data_dir` is required and missing: Folder of the log and everything else the daemon keeps. Made if "
            "missing; locked "
            "while the daemon runs.\n");
}

TEST_F(DaemonConfigFile, TellsSyntaxErrorsAndDoubleKeysWithTheirPlace) {
  world_.write("sluice.toml", "data_dir = \"a\"\nshards = = 4\n");
  EXPECT_THAT(world_.findings(), HasSubstr("sluice.toml:2:10: error: not valid TOML: "));
  world_.write("sluice.toml", "data_dir = \"a\"\ndata_dir = \"b\"\n");
  EXPECT_THAT(world_.findings(), AllOf(HasSubstr("sluice.toml:2:"), HasSubstr("data_dir")));
  EXPECT_EQ(load_daemon_config(world_.config(), {}).error().code(), "config.unreadable");
}

TEST_F(DaemonConfigFile, SaysThatItIsMissing) {
  const auto loaded = load_daemon_config(world_.path("none.toml"), {});
  ASSERT_FALSE(loaded.has_value());
  EXPECT_THAT(loaded.error().message(), AllOf(HasSubstr("none.toml"), HasSubstr("No such file")));
}

TEST_F(DaemonConfigFile, RefusesAnAddressThatOtherMachinesReach) {
  for (const char* good : {"127.0.0.1:8090", "127.1.2.3:0", "localhost:80", "[::1]:65535"}) {
    EXPECT_EQ(world_.findings({{"SLUICE__HTTP__ADDRESS", good}}), "") << good;
  }
  for (const char* bad : {"0.0.0.0:8090", "192.168.0.1:80", "[::]:8090", "127.evil.example:80", "example.com:443"}) {
    EXPECT_THAT(world_.findings({{"SLUICE__HTTP__ADDRESS", bad}}),
                AllOf(HasSubstr("environment variable SLUICE__HTTP__ADDRESS: error: `http.address` is"), HasSubstr("without TLS")))
        << bad;
  }
  for (const char* bad : {"127.0.0.1", "127.0.0.1:65536", "::1:80", ":80", "", "127.0.0.1:"}) {
    EXPECT_THAT(world_.findings({{"SLUICE__HTTP__ADDRESS", bad}}), HasSubstr("it must be host:port")) << bad;
  }
}

TEST_F(DaemonConfigFile, PointsAKeyToItsTable) {
  world_.write("sluice.toml", "data_dir = \"d\"\naddress = \"127.0.0.1:1\"\n[connectors.x]\nenabled = true\n");
  EXPECT_THAT(world_.findings(), HasSubstr("sluice.toml:2:1: error: unknown key `address`; it belongs into `[http]`\n"));
  EXPECT_THAT(world_.findings(), HasSubstr("unknown key `connectors`: Only as `SLUICE__CONNECTORS__<KEY>__"));
}

TEST_F(DaemonConfigFile, RefusesASocketPathThatNoSystemTakes) {
  world_.write("sluice.toml", "data_dir = \"d\"\n[http]\nsocket = \"/" + std::string(120, 'x') + "\"\n");
  EXPECT_THAT(world_.findings(), HasSubstr("sluice.toml:3:10: error: `http.socket` has 121 bytes"));
}

TEST_F(DaemonConfigFile, GoesWithoutASocketWhereItsDefaultPathIsTooLong) {
  world_.write("sluice.toml", "data_dir = \"/" + std::string(120, 'x') + "\"\n");
  EXPECT_THAT(world_.findings(), HasSubstr("sluice.toml:1:12: warning: the Unix socket /"));
  EXPECT_TRUE(load_daemon_config(world_.config(), {}));
}

}  // namespace
}  // namespace sluice::config
