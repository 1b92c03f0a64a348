// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/known_plugins.hpp"

#include <condition_variable>
#include <mutex>

#include <gtest/gtest.h>

namespace sluice::config {
namespace {

TEST(AskPlugins, AsksSideBySideSoThatOneWhoHangsHoldsUpNobodyElse) {
  std::mutex mutex;
  std::condition_variable changed;
  int asked = 0;
  const std::set<std::string> names{"a_hangs", "b", "c"};
  const KnownPlugins known = ask_plugins(names, [&](const std::string& name) -> Result<std::vector<PluginConnector>> {
    std::unique_lock lock(mutex);
    ++asked;
    changed.notify_all();
    // Until the others have been asked as well.
    const bool all = name != "a_hangs" || changed.wait_for(lock, std::chrono::seconds(10), [&] { return asked == 3; });
    if (!all) return fail(sluice::Errc::kTimeout, "the others were not asked meanwhile");
    return std::vector<PluginConnector>{{name, ConnectorType::kSink, ""}};
  });
  ASSERT_EQ(known.size(), 3U);
  for (const auto& [name, offered] : known) {
    ASSERT_TRUE(offered) << offered.error().message();
    EXPECT_EQ(offered->at(0).id, name);
  }
}

TEST(AskPlugins, AsksForEachOnceHoweverManyThereAre) {
  std::set<std::string> names;
  for (int i = 0; i < 100; ++i) names.insert("p" + std::to_string(i));
  std::mutex mutex;
  std::multiset<std::string> asked;
  const KnownPlugins known = ask_plugins(names, [&](const std::string& name) -> Result<std::vector<PluginConnector>> {
    const std::lock_guard lock(mutex);
    asked.insert(name);
    return fail(sluice::Errc::kNotFound, name);
  });
  EXPECT_EQ(asked, std::multiset<std::string>(names.begin(), names.end()));
  EXPECT_EQ(known.at("p42").error().message(), "p42");
  EXPECT_TRUE(ask_plugins({}, nullptr).empty());
}

}  // namespace
}  // namespace sluice::config
