// SPDX-License-Identifier: Apache-2.0
// Every connector library of the build, loaded and called through the ABI alone, keeps its contract.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/abi/entry.h>
#include <sluice/testing/sink_driver.hpp>
#include <sluice/testing/source_driver.hpp>

namespace sluice::testing {
namespace {

namespace json = boost::json;

// A library, loaded for the rest of the process as a host does.
class Library {
 public:
  explicit Library(const std::string& file) : handle_(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) throw std::runtime_error(dlerror());
    entry_ = static_cast<const sluice_entry*>(dlsym(handle_, SLUICE_ENTRY_SYMBOL));
    if (entry_ == nullptr) throw std::runtime_error(file + " has no entry symbol");
  }
  [[nodiscard]] const sluice_entry& entry() const { return *entry_; }
  [[nodiscard]] const sluice_connector_factory& factory() const {
    return *static_cast<const sluice_connector_factory*>(entry_->get_factory(SLUICE_CONNECTOR_FACTORY_ID));
  }

 private:
  void* handle_;
  const sluice_entry* entry_ = nullptr;
};

std::vector<std::string> plugin_files() {
  std::vector<std::string> files;
  std::string_view list = SLUICE_PLUGIN_FILES;  // separated by ':'
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(':'), list.size());
    files.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return files;
}

class PluginContract : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    OutcomeCollector failure(host_);
    ASSERT_EQ(library_.entry().init(&host_.table(), failure.abi()), SLUICE_OK);
  }
  void TearDown() override {
    library_.entry().deinit();
    host_.throw_if_violated();
  }

  // One open with this configuration; what came of it.
  std::optional<Outcome> open(std::uint32_t index, std::string_view config, bool cancel_first = false) {
    OutcomeCollector failure(host_);
    const sluice_descriptor& descriptor = *factory().descriptor(index);
    if (descriptor.kind == SLUICE_KIND_SINK) {
      SinkDriver sink(host_, factory().create_sink(index, &host_.table(), failure.abi()));
      if (cancel_first) sink.cancel();
      return sink.open(config);
    }
    SourceDriver source(host_, factory().create_source(index, &host_.table(), failure.abi()), descriptor.max_batches_in_flight);
    if (cancel_first) source.cancel();
    return source.open(config);
  }
  [[nodiscard]] const sluice_connector_factory& factory() const { return library_.factory(); }

  TestHost host_;
  Library library_{GetParam()};
};

std::string schema_of(const sluice_connector_factory& factory, std::uint32_t index, sluice_status& status) {
  std::string schema;
  sluice_bytes_writer out{};
  out.struct_size = sizeof out;
  out.host_data = &schema;
  out.write = [](void* host_data, const void* ptr, std::uint64_t len) -> sluice_status {
    static_cast<std::string*>(host_data)->append(static_cast<const char*>(ptr), len);
    return SLUICE_OK;
  };
  status = factory.config_schema(index, &out);
  return schema;
}

TEST_P(PluginContract, EntryIsCompleteAndOfThisBuild) {
  const sluice_entry& entry = library_.entry();
  EXPECT_EQ(entry.struct_size, sizeof(sluice_entry));
  EXPECT_EQ(entry.abi_minor, SLUICE_ABI_MINOR);
  EXPECT_STREQ(entry.build_id, SLUICE_ABI_BUILD_ID);
  EXPECT_EQ(std::filesystem::path(GetParam()).stem(), entry.id);
  EXPECT_NE(std::string_view(entry.version), "");
  EXPECT_STREQ(entry.sdk_version, SLUICE_SDK_VERSION);
  EXPECT_EQ(entry.get_factory("sluice.unheard-of/1"), nullptr);
}

TEST_P(PluginContract, DescriptorsAreStaticAndComplete) {
  ASSERT_GE(factory().count, 1U);
  EXPECT_EQ(factory().descriptor(factory().count), nullptr);
  for (std::uint32_t i = 0; i < factory().count; ++i) {
    const sluice_descriptor* descriptor = factory().descriptor(i);
    ASSERT_NE(descriptor, nullptr);
    EXPECT_EQ(descriptor, factory().descriptor(i));
    EXPECT_EQ(descriptor->struct_size, sizeof(sluice_descriptor));
    EXPECT_EQ(descriptor->capabilities & ~SLUICE_CAPABILITY_KNOWN, 0U);
    EXPECT_GE(descriptor->max_batches_in_flight, 1U);
    const bool is_source = descriptor->kind == SLUICE_KIND_SOURCE;
    EXPECT_EQ(descriptor->state_version >= 1, is_source);
    EXPECT_TRUE(std::string_view(descriptor->id).ends_with(is_source ? "_source" : "_sink")) << descriptor->id;
    EXPECT_NE(std::string_view(descriptor->summary), "");
  }
}

TEST_P(PluginContract, SchemaIsStrictAndDescribesEveryKey) {
  for (std::uint32_t i = 0; i < factory().count; ++i) {
    sluice_status status = SLUICE_FAILED;
    const json::value schema = json::parse(schema_of(factory(), i, status));
    ASSERT_EQ(status, SLUICE_OK);
    EXPECT_EQ(schema.at("type").as_string(), "object");
    EXPECT_EQ(schema.at("additionalProperties"), json::value(false));
    for (const auto& property : schema.at("properties").as_object()) {
      EXPECT_TRUE(property.value().as_object().contains("type")) << property.key();
      EXPECT_FALSE(property.value().at("description").as_string().empty()) << property.key();
    }
  }
  sluice_status status = SLUICE_OK;
  EXPECT_EQ(schema_of(factory(), factory().count, status), "");
  EXPECT_EQ(status, SLUICE_FAILED);
}

TEST_P(PluginContract, RefusesTheOtherKindAndAnIndexThatIsNone) {
  for (std::uint32_t i = 0; i <= factory().count; ++i) {
    const sluice_descriptor* descriptor = factory().descriptor(i);
    OutcomeCollector failure(host_);
    if (descriptor == nullptr || descriptor->kind == SLUICE_KIND_SINK) {
      EXPECT_EQ(factory().create_source(i, &host_.table(), failure.abi()), nullptr);
    } else {
      EXPECT_EQ(factory().create_sink(i, &host_.table(), failure.abi()), nullptr);
    }
    EXPECT_TRUE(failure.take());
  }
}

TEST_P(PluginContract, NamesTheFaultOfABadConfiguration) {
  for (std::uint32_t i = 0; i < factory().count; ++i) {
    const auto unknown_key = open(i, R"({"no_such_key_at_all": 1})");
    ASSERT_TRUE(unknown_key);
    EXPECT_EQ(unknown_key->outcome_class, OutcomeClass::kInvalidConfig);
    EXPECT_EQ(unknown_key->pointer, "/no_such_key_at_all");
    for (const char* broken : {"", "{", "[]", "null", "\xff"}) {
      const auto outcome = open(i, broken);
      ASSERT_TRUE(outcome) << broken;
      EXPECT_EQ(outcome->outcome_class, OutcomeClass::kInvalidConfig) << broken;
    }
  }
}

TEST_P(PluginContract, StaysCancelled) {
  for (std::uint32_t i = 0; i < factory().count; ++i) EXPECT_EQ(open(i, "{}", true)->outcome_class, OutcomeClass::kCancelled);
}

TEST_P(PluginContract, HasNoExtensionThatWasNotAsked) {
  for (std::uint32_t i = 0; i < factory().count; ++i) {
    EXPECT_EQ(factory().descriptor(i)->required_extension_count, 0U);
    OutcomeCollector failure(host_);
    if (factory().descriptor(i)->kind == SLUICE_KIND_SINK) {
      const sluice_sink* sink = factory().create_sink(i, &host_.table(), failure.abi());
      EXPECT_EQ(sink->get_extension(sink->self, "sluice.unheard-of/1"), nullptr);
      sink->destroy(sink->self);
    } else {
      const sluice_source* source = factory().create_source(i, &host_.table(), failure.abi());
      EXPECT_EQ(source->get_extension(source->self, "sluice.unheard-of/1"), nullptr);
      source->destroy(source->self);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllConnectors, PluginContract, ::testing::ValuesIn(plugin_files()),
                         [](const auto& tested) { return std::filesystem::path(tested.param).stem().string(); });

}  // namespace
}  // namespace sluice::testing
