// SPDX-License-Identifier: Apache-2.0
#include "runtime/app/scaffold.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/unit/core/temporary_directory.hpp"

namespace sluice::app {
namespace {

namespace fs = std::filesystem;

class ScaffoldTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(root_ / "sink_template" / "src");
    std::ofstream(root_ / "sink_template" / "src" / "sink_template.cpp") << "namespace sink_template { class SinkTemplate; }\n";
  }
  [[nodiscard]] Scaffold to(const std::string& name) const { return {.from = root_ / "sink_template", .name = name, .into = root_}; }

  test::TemporaryDirectory temporary_;
  const fs::path root_ = temporary_.path();
};

TEST(ConnectorName, IsWordsWithUnderscores) {
  for (const char* good : {"demo", "demo_src", "a", "s3_events_2"}) EXPECT_TRUE(judge_connector_name(good)) << good;
  for (const char* bad : {"", "Demo", "2demo", "demo-x", "demo__x", "demo_", "_demo", "../demo", "demo/x", "dé", "demo x"}) {
    EXPECT_FALSE(judge_connector_name(bad)) << bad;
  }
  EXPECT_TRUE(judge_connector_name(std::string(40, 'a')));
  EXPECT_FALSE(judge_connector_name(std::string(41, 'a')));
}

TEST(ConnectorName, IsNothingThatWouldNotCompile) {
  for (const char* bad : {"class", "std", "linux", "settings", "plugin", "test", "sluice"}) EXPECT_FALSE(judge_connector_name(bad)) << bad;
}

TEST_F(ScaffoldTest, RenamesContentsAndFiles) {
  const Result<fs::path> made = write_scaffold(to("acme_events"));
  ASSERT_TRUE(made) << made.error().to_string();
  std::ifstream file(root_ / "acme_events" / "src" / "acme_events.cpp");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "namespace acme_events { class AcmeEvents; }\n");
  EXPECT_FALSE(fs::exists(root_ / "acme_events.partial"));
}

TEST_F(ScaffoldTest, RefusesAFolderThatIsThere) {
  fs::create_directory(root_ / "demo");
  const Result<fs::path> made = write_scaffold(to("demo"));
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message().find((root_ / "demo").string()), std::string::npos) << made.error().to_string();
  EXPECT_TRUE(fs::is_empty(root_ / "demo"));
}

TEST_F(ScaffoldTest, RefusesALinkToNowhere) {
  fs::create_symlink(root_ / "nowhere", root_ / "demo");
  EXPECT_FALSE(write_scaffold(to("demo")));
}

TEST_F(ScaffoldTest, LeavesNothingBehindWhenItFails) {
  fs::create_symlink("nowhere", root_ / "sink_template" / "src" / "dangling");
  EXPECT_FALSE(write_scaffold(to("demo")));
  EXPECT_FALSE(fs::exists(root_ / "demo"));
  EXPECT_FALSE(fs::exists(root_ / "demo.partial"));
}

TEST_F(ScaffoldTest, SaysWhichTemplateOrFolderIsMissing) {
  const Result<fs::path> no_template = write_scaffold({.from = root_ / "source_template", .name = "demo", .into = root_});
  ASSERT_FALSE(no_template);
  EXPECT_NE(no_template.error().message().find("source_template"), std::string::npos);
  const Result<fs::path> no_folder = write_scaffold({.from = root_ / "sink_template", .name = "demo", .into = root_ / "absent"});
  ASSERT_FALSE(no_folder);
  EXPECT_NE(no_folder.error().message().find("absent"), std::string::npos);
}

}  // namespace
}  // namespace sluice::app
