// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config_world.hpp"
#include "runtime/config/markdown.hpp"
#include "runtime/config/schemas.hpp"

namespace sluice::config {
namespace {

const std::string kDocument = SLUICE_SOURCE_DIR "/docs/reference/config.md";

std::string document() {
  std::ostringstream out;
  out << std::ifstream(kDocument).rdbuf();
  return out.str();
}

// After a change of the schema: SLUICE_UPDATE_DOCS=1 build/dev/bin/unit_runtime_config --gtest_filter='ConfigReference.*'
TEST(ConfigReference, HasExactlyTheTablesOfTheSchema) {
  std::string expected = with_section(document(), "daemon", markdown_tables(daemon_schema()));
  expected = with_section(expected, "connector", markdown_tables(connector_schema()));
  if (std::getenv("SLUICE_UPDATE_DOCS") != nullptr) std::ofstream(kDocument) << expected;
  EXPECT_EQ(document(), expected);
  EXPECT_THAT(expected, testing::HasSubstr("| `data_dir` | string | **required** |"));
  EXPECT_THAT(expected, testing::HasSubstr("| `retention.hard_bytes` | size | `\"10GiB\"` |"));
}

// The schema of each file the document shows; the plugins of the examples are not known here.
TEST(ConfigReference, ShowsFilesThatAreValid) {
  const ConfigWorld world;
  const std::string text = document();
  const std::string open = "```toml\n";
  int shown = 0;
  for (std::size_t at = text.find(open); at != std::string::npos; at = text.find(open, at + 1), ++shown) {
    const std::string example = text.substr(at + open.size(), text.find("```", at + open.size()) - at - open.size());
    const bool is_daemon = example.find("data_dir") != std::string::npos;
    world.write(is_daemon ? "sluice.toml" : "connectors.d/" + std::to_string(shown) + ".toml", example);
  }
  EXPECT_EQ(shown, 3);
  const CheckReport report = check(world.config(), {{"SLUICE__CONNECTORS_DIR", world.path("connectors.d")}}, [](const DaemonConfig&) {
    return [](const std::string& plugin) -> Result<std::vector<PluginConnector>> {
      const ConnectorType type = plugin.ends_with("_sink") ? ConnectorType::kSink : ConnectorType::kSource;
      return std::vector<PluginConnector>{{plugin, type, R"({"type": "object"})"}};
    };
  });
  for (const Finding& finding : report.findings) ADD_FAILURE() << to_string(finding);
  EXPECT_EQ(report.connectors.size(), 2u);
}

}  // namespace
}  // namespace sluice::config
