// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/references.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config_world.hpp"

namespace sluice::config {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

const Environment kVariables{{"NAME", "value"}, {"TRICK", "${env:NAME}"}, {"BAD", "\xFF"}};

std::string resolved(const std::string& text) {
  Tree tree(text, Origin{});
  std::vector<Finding> findings;
  resolve_references(tree, kVariables, findings);
  EXPECT_THAT(findings, SizeIs(0)) << text;
  return *tree.get<std::string>();
}

std::string refused(const std::string& text) {
  Tree tree(text, Origin{.file = "f.toml", .line = 3, .column = 7, .variable = {}});
  std::vector<Finding> findings;
  resolve_references(tree, kVariables, findings);
  EXPECT_THAT(findings, SizeIs(1)) << text;
  return findings.empty() ? "" : to_string(findings.front());
}

TEST(References, BringInVariablesOnce) {
  EXPECT_EQ(resolved("${env:NAME}"), "value");
  EXPECT_EQ(resolved("a${env:NAME}b${env:NAME}c"), "avaluebvaluec");
  EXPECT_EQ(resolved("${env:TRICK}"), "${env:NAME}");
  EXPECT_EQ(resolved("$${env:NAME} $5 ${topic} $"), "${env:NAME} $5 ${topic} $");
}

TEST(References, BringInFilesWithoutTheirLastLineBreak) {
  const ConfigWorld world;
  EXPECT_EQ(resolved("${file:" + world.write("secret", "s3cret\n") + "}"), "s3cret");
  EXPECT_EQ(resolved("${file:" + world.write("secret", "a\nb\r\n") + "}"), "a\nb");
  EXPECT_EQ(resolved("${file:" + world.write("secret", "") + "}"), "");
}

TEST(References, SayWhatIsMissingAndWhere) {
  EXPECT_EQ(refused("${env:NONE}"), "f.toml:3:7: error: `${env:NONE}` cannot be resolved: environment variable NONE is not set");
  EXPECT_EQ(refused("${file:/none}"), "f.toml:3:7: error: `${file:/none}` cannot be resolved: open /none: No such file or directory");
  EXPECT_THAT(refused("${file:relative}"), HasSubstr("must be absolute"));
  EXPECT_THAT(refused("${evn:NAME}"), HasSubstr("did you mean `env`?"));
  EXPECT_THAT(refused("${env:NAME"), HasSubstr("no closing brace"));
  EXPECT_THAT(refused("${env:}"), HasSubstr("names nothing"));
  EXPECT_THAT(refused("${env:BAD}"), HasSubstr("not UTF-8"));
}

}  // namespace
}  // namespace sluice::config
