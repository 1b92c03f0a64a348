// SPDX-License-Identifier: Apache-2.0
// Connectors that are opened to see whether they can be, as `sluice doctor` does: whatever they do, it is told and harms nobody.
#include <chrono>

#include "runtime/plugin/outcome.hpp"
#include "tests/abi/broken/broken_fixture.hpp"

namespace sluice::plugin {

using ::testing::AllOf;
using ::testing::HasSubstr;

class TriedPlugin : public BrokenPlugin {
 protected:
  [[nodiscard]] Result<std::optional<Outcome>> tried(const std::string& name, const std::string& config, bool is_sink = true) {
    install(name);
    return catalog_->try_open({.plugin = name,
                               .connector = "",
                               .is_sink = is_sink,
                               .config_json = config,
                               .secrets = {"hunter2"},
                               .deadline = std::chrono::milliseconds(200)});
  }
};

TEST_F(TriedPlugin, HealthySinkAndSourceOpen) {
  const auto sink = tried("healthy", "{}");
  ASSERT_TRUE(sink.has_value()) << sink.error().to_string();
  EXPECT_FALSE(sink->has_value());
  const auto source = tried("healthy_rebuilt", "{}", /*is_sink=*/false);
  ASSERT_TRUE(source.has_value()) << source.error().to_string();
  EXPECT_FALSE(source->has_value());
}

TEST_F(TriedPlugin, FailureIsToldInTheConnectorsWordsWithoutSecrets) {
  const auto failed = tried("fails_to_open", "no way with hunter2");
  ASSERT_TRUE(failed && *failed);
  EXPECT_EQ((*failed)->outcome_class, OutcomeClass::kTransient);
  EXPECT_EQ((*failed)->code, "broken.test");
  EXPECT_THAT((*failed)->text, HasSubstr("no way with "));
  EXPECT_EQ((*failed)->text.find("hunter2"), std::string::npos);
}

TEST_F(TriedPlugin, DeathIsToldWithItsSignal) {
  const auto died = tried("fails_to_open", "abort");
  ASSERT_FALSE(died.has_value());
  EXPECT_TRUE(died.error().is(Errc::kProbeCrashed));
  EXPECT_THAT(died.error().message(), AllOf(HasSubstr("the process that opened "), HasSubstr(" was killed by SIGABRT")));
}

TEST_F(TriedPlugin, OpenThatHangsIsEndedAfterItsDeadline) {
  const auto hung = tried("fails_to_open", "hang");
  ASSERT_FALSE(hung.has_value());
  EXPECT_TRUE(hung.error().is(Errc::kProbeTimeout));
  EXPECT_THAT(hung.error().message(), HasSubstr("did not finish opening"));
}

TEST_F(TriedPlugin, MissingPluginIsToldAsEverywhere) {
  const auto missing = catalog_->try_open(
      {.plugin = "nowhere", .connector = "", .is_sink = true, .config_json = "{}", .secrets = {}, .deadline = std::chrono::seconds(1)});
  ASSERT_FALSE(missing.has_value());
  EXPECT_TRUE(missing.error().is(Errc::kNotFound));
}

}  // namespace sluice::plugin
