// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/description_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::plugin {

using ::testing::HasSubstr;

TEST(DescriptionJson, ComesBackAsItWas) {
  PluginDescription plugin;
  plugin.id = "acme";
  plugin.version = "1.2";
  plugin.build_id = "b";
  plugin.abi_minor = 3;
  ConnectorDescriptor sink;
  sink.id = "acme_sink";
  sink.is_sink = true;
  sink.summary = "Writes \"quoted\" – text";
  sink.own_positions = true;
  sink.batches_in_flight_max = 2;
  sink.refusal = "no";
  sink.config_schema_json = R"({"type":"object"})";
  plugin.connectors.push_back(sink);
  const auto back = description_from_json(to_json(plugin), "acme.so");
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(to_json(*back), to_json(plugin));
  EXPECT_EQ(back->connectors[0].summary, sink.summary);
  EXPECT_TRUE(back->connectors[0].own_positions);
  EXPECT_EQ(back->connectors[0].refusal, "no");
}

TEST(DescriptionJson, CarriesEveryErrorCode) {
  for (int i = 0; i <= static_cast<int>(Errc::kBadDescriptor); ++i) {
    const auto back = description_from_json(to_json(fail(static_cast<Errc>(i), "why")), "x.so");
    ASSERT_FALSE(back.has_value());
    EXPECT_TRUE(back.error().is(static_cast<Errc>(i)));
    EXPECT_EQ(back.error().message(), "why");
  }
}

TEST(DescriptionJson, GarbageIsABadDescriptor) {
  for (const char* text : {"", "{", "[]", "{\"ok\":1}", "{\"ok\":true}", "{\"ok\":true,\"plugin\":{\"id\":5}}", "\xFF\xFE"}) {
    const auto back = description_from_json(text, "x.so");
    ASSERT_FALSE(back.has_value()) << text;
    EXPECT_TRUE(back.error().is(Errc::kBadDescriptor)) << text;
    EXPECT_THAT(back.error().message(), HasSubstr("gave no usable answer"));
  }
}

}  // namespace sluice::plugin
