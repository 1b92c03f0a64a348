// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/trial.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::plugin {

using ::testing::HasSubstr;

TEST(Trial, AnOutcomeComesBackAsItWasButForSecrets) {
  Outcome why;
  why.outcome_class = OutcomeClass::kTransient;
  why.scope = Scope::kConnector;
  why.code = "http.status";
  why.text = "the server did not like hush";
  why.hint = "another password than hush";
  why.pointer = "/url";
  why.http_status = 401;
  const auto back = trial_from_json(trial_to_json(std::optional(why)), "x.so", {"hush"});
  ASSERT_TRUE(back && *back);
  EXPECT_EQ((*back)->outcome_class, why.outcome_class);
  EXPECT_EQ((*back)->scope, why.scope);
  EXPECT_EQ((*back)->code, why.code);
  EXPECT_EQ((*back)->pointer, why.pointer);
  EXPECT_EQ((*back)->http_status, 401);
  EXPECT_THAT((*back)->text, HasSubstr("the server did not like "));
  EXPECT_EQ(((*back)->text + (*back)->hint).find("hush"), std::string::npos);
}

TEST(Trial, SuccessAndRefusalsComeBack) {
  const auto opened = trial_from_json(trial_to_json(std::optional<Outcome>()), "x.so", {});
  ASSERT_TRUE(opened.has_value());
  EXPECT_FALSE(opened->has_value());
  const auto refused = trial_from_json(trial_to_json(fail(Errc::kTooNew, "why")), "x.so", {});
  ASSERT_FALSE(refused.has_value());
  EXPECT_TRUE(refused.error().is(Errc::kTooNew));
}

TEST(Trial, GarbageIsABadDescriptor) {
  for (const char* text : {"", "{", "[]", R"({"ok":1})", R"({"ok":false})", R"({"ok":false,"outcome":{"class":"odd"}})", "\xFF\xFE"}) {
    const auto back = trial_from_json(text, "x.so", {});
    ASSERT_FALSE(back.has_value()) << text;
    EXPECT_TRUE(back.error().is(Errc::kBadDescriptor)) << text;
  }
}

}  // namespace sluice::plugin
