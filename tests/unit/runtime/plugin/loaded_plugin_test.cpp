// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/loaded_plugin.hpp"

#include <cstring>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/plugin/open_plugin.hpp"
#include "tests/unit/runtime/plugin/scripted_connector.hpp"

namespace sluice::plugin {

using ::testing::HasSubstr;

namespace {

int inits = 0;
int deinits = 0;
sluice_descriptor descriptor{};

// A library in this process whose one connector is `descriptor`.
struct StaticLibrary {
  StaticLibrary() {
    inits = deinits = 0;
    descriptor = {};
    descriptor.struct_size = sizeof descriptor;
    descriptor.kind = SLUICE_KIND_SINK;
    descriptor.id = "static_sink";
    descriptor.max_batches_in_flight = 1;
    factory.struct_size = sizeof factory;
    factory.count = 1;
    factory.descriptor = [](std::uint32_t) -> const sluice_descriptor* { return &descriptor; };
    factory.config_schema = [](std::uint32_t, const sluice_bytes_writer* out) { return out->write(out->host_data, "{}", 2); };
    factory.create_sink = ScriptedConnector::factory().create_sink;
    factory.create_source = ScriptedConnector::factory().create_source;
    entry.struct_size = sizeof entry;
    entry.abi_minor = SLUICE_ABI_MINOR;
    entry.build_id = SLUICE_ABI_BUILD_ID;
    entry.id = "static_library";
    entry.init = [](const sluice_host*, const sluice_outcome_writer*) -> sluice_status {
      ++inits;
      return SLUICE_OK;
    };
    entry.deinit = [] { ++deinits; };
    entry.get_factory = [](const char* id) -> const void* {
      return std::strcmp(id, SLUICE_CONNECTOR_FACTORY_ID) == 0 ? &factory : nullptr;
    };
  }
  [[nodiscard]] std::string fault() const {
    const auto opened = open_entry(entry, "static.so");
    return opened ? "none" : opened.error().message();
  }

  sluice_entry entry{};
  static inline sluice_connector_factory factory{};
};

}  // namespace

TEST(LoadedPlugin, IsDeinitialisedWhenTheLastInstanceIsGone) {
  const StaticLibrary library;
  ScriptedConnector script;
  auto plugin = std::make_shared<LoadedPlugin>(*open_entry(library.entry, "static.so"));
  auto sink = SinkInstance::create(plugin, "static_sink", {});
  ASSERT_TRUE(sink.has_value());
  EXPECT_EQ(inits, 1);
  plugin.reset();
  EXPECT_EQ(deinits, 0);
  sink->reset();
  EXPECT_EQ(script.destroyed, 1);
  EXPECT_EQ(deinits, 1);
}

TEST(LoadedPlugin, IsNotDeinitialisedUnderAnAbandonedInstance) {
  const StaticLibrary library;
  ScriptedConnector script;
  auto plugin = std::make_shared<LoadedPlugin>(*open_entry(library.entry, "static.so"));
  auto sink = SinkInstance::create(std::move(plugin), "", {});
  ASSERT_TRUE(sink.has_value());
  (*sink)->abandon();
  sink->reset();
  EXPECT_EQ(deinits, 0);
}

TEST(LoadedPlugin, IsEnteredByOneThreadAtATimeToCreateAndToDestroy) {
  StaticLibrary library;
  ScriptedConnector script;
  const auto plugin = std::make_shared<LoadedPlugin>(*open_entry(library.entry, "static.so"));
  int looks = 0;
  const auto look_from_another_thread = [&] {
    std::thread([&] {
      ++looks;
      EXPECT_FALSE(std::unique_lock(plugin->control(), std::try_to_lock).owns_lock());
    }).join();
  };
  script.on_create = look_from_another_thread;
  script.on_destroy = look_from_another_thread;
  EXPECT_TRUE(SinkInstance::create(plugin, "", {}).has_value());
  EXPECT_EQ(looks, 2);
  EXPECT_TRUE(std::unique_lock(plugin->control(), std::try_to_lock).owns_lock());
}

TEST(OpenEntry, RefusesDescriptorsThatCannotBe) {
  StaticLibrary library;
  EXPECT_EQ(library.fault(), "none");
  descriptor.kind = 7;
  EXPECT_THAT(library.fault(), HasSubstr("connector 'static_sink' is of the unknown kind 7"));
  descriptor.kind = SLUICE_KIND_SOURCE;
  EXPECT_THAT(library.fault(), HasSubstr("state version is at least 1"));
  descriptor.kind = SLUICE_KIND_SINK;
  descriptor.max_batches_in_flight = 0;
  EXPECT_THAT(library.fault(), HasSubstr("0 batches in flight"));
  descriptor.max_batches_in_flight = 1;
  descriptor.required_extension_count = 1;
  EXPECT_THAT(library.fault(), HasSubstr("1 required extensions (at most 32, and not null)"));
  descriptor.required_extension_count = 0;
  descriptor.id = nullptr;
  EXPECT_THAT(library.fault(), HasSubstr("its id is not"));
  descriptor.id = "static_sink";
  StaticLibrary::factory.count = 2;
  EXPECT_THAT(library.fault(), HasSubstr("two connectors named 'static_sink'"));
  StaticLibrary::factory.count = 65;
  EXPECT_THAT(library.fault(), HasSubstr("65 connectors; 1..64 are possible"));
  StaticLibrary::factory.count = 1;
  StaticLibrary::factory.config_schema = [](std::uint32_t, const sluice_bytes_writer* out) {
    return out->write(out->host_data, nullptr, 5);
  };
  EXPECT_THAT(library.fault(), HasSubstr("schema is null or longer"));
  library.entry.get_factory = [](const char*) -> const void* { return nullptr; };
  EXPECT_THAT(library.fault(), HasSubstr("offers no 'sluice.connector-factory/1'"));
  library.entry.init = nullptr;
  EXPECT_THAT(library.fault(), HasSubstr("lacks a function"));
}

}  // namespace sluice::plugin
