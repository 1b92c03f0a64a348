// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/url_secrets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice {
namespace {

using testing::ElementsAre;

TEST(UrlSecrets, AreTheUserinfoAndThePasswordRawAndDecoded) {
  EXPECT_THAT(url_secrets("postgres://me:p%40ss@db:5432/x"), ElementsAre("me:p%40ss", "p%40ss", "me:p@ss", "p@ss"));
  EXPECT_THAT(url_secrets("mongodb://me:a@b@h1,h2/x"), ElementsAre("me:a@b", "a@b"));
  EXPECT_THAT(url_secrets("https://token@host"), ElementsAre("token"));
}

TEST(UrlSecrets, AreNoneWhereThereIsNoUserinfo) {
  EXPECT_THAT(url_secrets("https://host/path?mail=a@b"), ElementsAre());
  EXPECT_THAT(url_secrets("me@host"), ElementsAre());
  EXPECT_THAT(url_secrets(""), ElementsAre());
}

}  // namespace
}  // namespace sluice
