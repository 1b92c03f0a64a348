// SPDX-License-Identifier: Apache-2.0
#include <sluice/binding.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <optional>

namespace sluice {
namespace {

using namespace std::chrono_literals;

enum class Mode : std::uint8_t { kRaw, kNdjson };
constexpr auto enum_names(Mode) {
  return std::to_array<EnumName<Mode>>({{"raw", Mode::kRaw}, {"ndjson", Mode::kNdjson}});
}

struct BatchPart {
  std::uint32_t records = 0;
  Size bytes;

  static void bind(Binding<BatchPart>& b) {
    b.optional("records", &BatchPart::records, 500, {1, 10'000}, "Records per request.");
    b.optional("bytes", &BatchPart::bytes, 1 * kMiB, {1 * kKiB, 8 * kMiB}, "Bytes per request.");
  }
  void validate() const {
    if (records == 13) throw ConfigError("/records", "13 is unlucky");
  }
};

struct Sample {
  std::string url;
  Secret token;
  Mode mode{};
  bool verbose = false;
  std::int64_t level = 0;
  double ratio = 0;
  Duration timeout{};
  std::vector<std::string> tags;
  std::map<std::string, Secret> headers;
  std::map<std::string, std::string> labels;
  BatchPart batch;

  static void bind(Binding<Sample>& b) {
    b.required("url", &Sample::url, {.min = 1, .max = 100}, "Where to.");
    b.optional("token", &Sample::token, Secret(), "Bearer token.");
    b.optional("mode", &Sample::mode, Mode::kNdjson, "Shape of a request.");
    b.optional("verbose", &Sample::verbose, false, "Say more.");
    b.optional("level", &Sample::level, -1, {-5, 5}, "Level.");
    b.optional("ratio", &Sample::ratio, 0.5, {0, 1}, "Ratio.");
    b.optional("timeout", &Sample::timeout, 30s, {1ms, 1h}, "Longest wait.");
    b.optional("tags", &Sample::tags, {"a", "b"}, {.min = 0, .max = 3}, "Tags.");
    b.optional("headers", &Sample::headers, {}, "Headers.");
    b.optional("labels", &Sample::labels, {}, "Labels.");
    b.section("batch", &Sample::batch, "Batches.");
  }
};

std::optional<Outcome> fault(std::string_view json) {
  try {
    (void)parse_config<Sample>(json);
    return std::nullopt;
  } catch (const ConfigError& error) {
    return error.outcome();
  }
}
std::string pointer_of_fault(std::string_view json) {
  const auto outcome = fault(json);
  return outcome ? outcome->pointer : "accepted";
}

TEST(ConfigBinding, FillsInDefaults) {
  const Sample config = parse_config<Sample>(R"({"url": "http://x"})");
  EXPECT_EQ(config.url, "http://x");
  EXPECT_TRUE(config.token.empty());
  EXPECT_EQ(config.mode, Mode::kNdjson);
  EXPECT_EQ(config.level, -1);
  EXPECT_EQ(config.ratio, 0.5);
  EXPECT_EQ(config.timeout, 30s);
  EXPECT_EQ(config.tags, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(config.headers.empty());
  EXPECT_EQ(config.batch.records, 500U);
  EXPECT_EQ(config.batch.bytes, 1 * kMiB);
}

TEST(ConfigBinding, ReadsEveryType) {
  const Sample config = parse_config<Sample>(R"({"url": "u", "token": "t", "mode": "raw", "verbose": true, "level": 5, "ratio": 1,
      "timeout": "1m30s", "tags": [], "headers": {"X": "secret"}, "labels": {"a/b": "c"}, "batch": {"records": 1, "bytes": "8MiB"}})");
  EXPECT_EQ(config.token.reveal(), "t");
  EXPECT_EQ(config.mode, Mode::kRaw);
  EXPECT_TRUE(config.verbose);
  EXPECT_EQ(config.level, 5);
  EXPECT_EQ(config.ratio, 1.0);
  EXPECT_EQ(config.timeout, 90s);
  EXPECT_TRUE(config.tags.empty());
  EXPECT_EQ(config.headers.at("X").reveal(), "secret");
  EXPECT_EQ(config.labels.at("a/b"), "c");
  EXPECT_EQ(config.batch.bytes, 8 * kMiB);
}

TEST(ConfigBinding, NamesAnUnknownKeyAndTheNearestOne) {
  const auto outcome = fault(R"({"url": "u", "timeuot": "1s"})");
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->outcome_class, OutcomeClass::kInvalidConfig);
  EXPECT_EQ(outcome->pointer, "/timeuot");
  EXPECT_EQ(outcome->hint, "did you mean \"timeout\"?");
  const auto nested = fault(R"({"url": "u", "batch": {"record": 1}})");
  EXPECT_EQ(nested->pointer, "/batch/record");
  EXPECT_EQ(nested->hint, "did you mean \"records\"?");
  EXPECT_EQ(fault(R"({"url": "u", "entirely_else": 1})")->hint, "");
  EXPECT_EQ(pointer_of_fault(R"({"url": "u", "a/b~c": 1})"), "/a~1b~0c");
}

TEST(ConfigBinding, EveryNameWithOneEditGetsItsSuggestion) {
  const std::vector<std::string> names{"url",     "token", "mode",    "verbose", "level", "ratio",
                                       "timeout", "tags",  "headers", "labels",  "batch"};
  for (const std::string& name : names) {
    for (std::size_t i = 0; i < name.size(); ++i) {
      const std::string dropped = name.substr(0, i) + name.substr(i + 1);
      const std::string doubled = name.substr(0, i + 1) + name.substr(i);
      const std::string changed = name.substr(0, i) + "_" + name.substr(i + 1);
      for (const std::string& edit : {dropped, doubled, changed}) EXPECT_EQ(detail::nearest(edit, names), name) << edit;
    }
  }
}

TEST(ConfigBinding, RefusesMissingAndWrongTypes) {
  EXPECT_EQ(pointer_of_fault("{}"), "/url");
  EXPECT_EQ(pointer_of_fault(R"({"url": 5})"), "/url");
  for (const char* json : {R"("verbose": 1)", R"("verbose": "true")", R"("level": 1.0)", R"("level": "1")", R"("level": null)",
                           R"("ratio": "x")", R"("mode": 1)", R"("timeout": 5)", R"("tags": "a")", R"("headers": [])", R"("batch": 1)"}) {
    const auto outcome = fault(std::string(R"({"url": "u", )") + json + '}');
    ASSERT_TRUE(outcome) << json;
    EXPECT_NE(outcome->text.find("expected"), std::string::npos) << outcome->text;
  }
  EXPECT_EQ(pointer_of_fault(R"({"url": "u", "tags": ["a", 1]})"), "/tags/1");
  EXPECT_EQ(pointer_of_fault(R"({"url": "u", "headers": {"a/b": 1}})"), "/headers/a~1b");
  EXPECT_EQ(pointer_of_fault("[]"), "");
  EXPECT_EQ(pointer_of_fault("{"), "");
}

TEST(ConfigBinding, RefusesValuesOutOfRange) {
  const std::pair<const char*, const char*> cases[] = {{"/url", R"({"url": ""})"},
                                                       {"/level", R"({"url": "u", "level": 6})"},
                                                       {"/level", R"({"url": "u", "level": -6})"},
                                                       {"/level", R"({"url": "u", "level": 18446744073709551615})"},
                                                       {"/ratio", R"({"url": "u", "ratio": 1.01})"},
                                                       {"/mode", R"({"url": "u", "mode": "ndjsn"})"},
                                                       {"/timeout", R"({"url": "u", "timeout": "0s"})"},
                                                       {"/timeout", R"({"url": "u", "timeout": "5sec"})"},
                                                       {"/timeout", R"({"url": "u", "timeout": "2h"})"},
                                                       {"/tags", R"({"url": "u", "tags": ["1", "2", "3", "4"]})"},
                                                       {"/batch/records", R"({"url": "u", "batch": {"records": 0}})"},
                                                       {"/batch/bytes", R"({"url": "u", "batch": {"bytes": "9MiB"}})"}};
  for (const auto& [pointer, json] : cases) EXPECT_EQ(pointer_of_fault(json), pointer) << json;
  EXPECT_NE(fault(R"({"url": "u", "timeout": "2h"})")->text.find("from 1ms to 1h"), std::string::npos);
  EXPECT_EQ(fault(R"({"url": "u", "mode": "ndjsn"})")->hint, "did you mean \"ndjson\"?");
}

TEST(ConfigBinding, PlacesTheFaultOfASectionsOwnCheck) {
  EXPECT_EQ(pointer_of_fault(R"({"url": "u", "batch": {"records": 13}})"), "/batch/records");
}

TEST(ConfigSchema, TellsTypesLimitsDefaultsAndSecrets) {
  const std::string schema = config_schema<Sample>();
  for (const char* part : {R"("additionalProperties":false)", R"("required":["url"])", R"("enum":["raw","ndjson"])", R"("default":"30s")",
                           R"("x-sluice-maximum":"1h")", R"("minimum":-5)", R"("writeOnly":true)", R"("default":"1MiB")",
                           R"("description":"Where to.")", R"("additionalProperties":{"type":"string","writeOnly":true})"}) {
    EXPECT_NE(schema.find(part), std::string::npos) << part << "\n" << schema;
  }
}

TEST(ConfigTable, HasARowForEveryKey) {
  const std::string table = config_table<Sample>();
  EXPECT_NE(table.find("| `url` | string | required | not empty | Where to. |"), std::string::npos) << table;
  EXPECT_NE(table.find("| `batch.bytes` | size | `\"1MiB\"` | 1KiB … 8MiB | Bytes per request. |"), std::string::npos) << table;
  EXPECT_NE(table.find("| `token` | secret | none |"), std::string::npos) << table;
}

}  // namespace
}  // namespace sluice
