// SPDX-License-Identifier: Apache-2.0
// For every key of every schema: one edit of its name is found where it stands and answered with the right name, and a value of the wrong
// type or out of its range is found where it stands. New keys are covered as soon as they are in a schema.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <functional>
#include <limits>
#include <optional>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "config_world.hpp"
#include "core/base/random.hpp"
#include "runtime/config/json_schema.hpp"
#include "runtime/config/schemas.hpp"

namespace sluice::config {
namespace {

constexpr int kEditsPerName = 3;

struct Key {
  std::vector<std::string> path;  // of names; what stands in an array of tables begins inside it
  const Schema* schema = nullptr;
  const Schema* parent = nullptr;
};

void add_keys(const Schema& table, const std::vector<std::string>& prefix, std::vector<Key>& out) {
  for (const Schema& member : table.members) {
    if (member.is_environment_only) continue;
    std::vector<std::string> path = prefix;
    path.push_back(member.name);
    out.push_back({path, &member, &table});
    if (member.kind == Kind::kTable) add_keys(member, path, out);
  }
}

std::vector<Key> keys_of(const Schema& table) {
  std::vector<Key> out;
  add_keys(table, {}, out);
  return out;
}

// A kind of document that has one more line with a key in it.
struct Place {
  std::string file;    // relative to the world's folder
  std::string before;  // text before the line
  std::string after;   // text after it
  std::string path;    // of the table, in messages
  std::uint32_t line = 0;
};

Place place(std::string file, std::string before, std::string after, std::string path) {
  const auto line = static_cast<std::uint32_t>(std::count(before.begin(), before.end(), '\n') + 1);
  return {std::move(file), std::move(before), std::move(after), std::move(path), line};
}

const std::string kHead = "key = \"out\"\ntype = \"sink\"\nplugin = \"acme\"\n";
const std::string kStreams = "[[streams]]\nstream = \"s\"\ntopic = \"t\"\n";
const std::string kPlugin = "[plugin_config]\nurl = \"http://x\"\n";

// The document without what the line is going to say.
std::string without(const std::string& text, const std::string& key) {
  const std::size_t at = text.find(key + " = ");
  if (at != 0 && (at == std::string::npos || text[at - 1] != '\n')) return text;
  return text.substr(0, at) + text.substr(text.find('\n', at) + 1);
}

class ConfigProperty : public testing::Test {
 protected:
  ConfigProperty() : seed_(chosen_seed()), random_(seed_) { fmt::print("SLUICE_TEST_SEED={}\n", seed_); }

  static std::uint64_t chosen_seed() {
    const char* given = std::getenv("SLUICE_TEST_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  }

  // One insertion, deletion, change, or swap of neighbours.
  std::string edited(const std::string& name, std::string_view alphabet) {
    while (true) {
      std::string out = name;
      const std::size_t at = random_.below(name.size());
      const char letter = alphabet[random_.below(alphabet.size())];
      switch (random_.below(4)) {
        case 0:
          out.insert(out.begin() + static_cast<std::ptrdiff_t>(at), letter);
          break;
        case 1:
          out.erase(at, 1);
          break;
        case 2:
          out[at] = letter;
          break;
        default:
          if (at + 1 < out.size()) std::swap(out[at], out[at + 1]);
      }
      if (out != name && !out.empty()) return out;
    }
  }

  // What check finds at exactly that place, one a line.
  std::string found_at(const Environment& environment, const std::string& origin) const {
    std::string out;
    for (const Finding& finding : world_.checked(environment).findings) {
      if (finding.severity == Severity::kError && to_string(finding.origin) == origin) out += finding.message + "\n";
    }
    return out;
  }
  std::string found_in(const Place& place, const std::string& text, std::size_t column) const {
    world_.write(place.file, place.before + text + "\n" + place.after);
    std::string out = found_at({}, fmt::format("{}:{}:{}", world_.path(place.file), place.line, column));
    world_.write(place.file, place.before + place.after);
    return out;
  }

  void expect_names_are_held(const Schema& table, const std::function<Place(const std::string&)>& place_for) {
    for (const Key& key : keys_of(table)) {
      const Place at = place_for(key.path.front());
      for (int i = 0; i < kEditsPerName; ++i) {
        const std::string& name = key.path.back();
        const std::string wrong = edited(name, "abcdefghijklmnopqrstuvwxyz_");
        if (key.parent->find(wrong) != nullptr) continue;
        std::string line;
        for (std::size_t j = 0; j + 1 < key.path.size(); ++j) line += key.path[j] + ".";
        const std::size_t column = line.size() + 1;
        const std::string found = found_in(at, line + wrong + " = 1", column);
        EXPECT_NE(found.find(fmt::format("unknown key `{}`", wrong)), std::string::npos) << at.file << ": " << line << wrong << "\n"
                                                                                         << found;
        EXPECT_NE(found.find(fmt::format("`{}`", name), found.find("did you mean")), std::string::npos) << line << wrong << "\n" << found;
      }
    }
  }

  void expect_value_is_refused(const Key& key, const Place& at, const std::string& value) {
    const std::string name = fmt::format("{}", fmt::join(key.path, "."));
    const std::string found = found_in(at, name + " = " + value, name.size() + 4);
    const std::string shown = at.path.empty() ? name : at.path + "." + name;
    EXPECT_NE(found.find(fmt::format("`{}`", shown)), std::string::npos) << name << " = " << value << "\n" << found;
  }

  void expect_values_are_held(const Schema& table, const std::function<Place(const std::string&)>& place_for);

  ConfigWorld world_;
  std::uint64_t seed_;
  SeededRandom random_;
};

std::string wrong_type(const Schema& schema) {
  switch (schema.kind) {
    case Kind::kString:
      return "5";
    case Kind::kBool:
    case Kind::kNumber:
    case Kind::kInteger:
      return "\"x\"";
    case Kind::kPolicy:
      return "true";
    default:
      return "7";
  }
}

std::string scaled(const Schema& schema, std::int64_t value) {
  if (schema.kind == Kind::kDuration) return fmt::format("\"{}ms\"", value);
  if (schema.kind == Kind::kSize) return fmt::format("\"{}B\"", value);
  if (schema.kind == Kind::kString) return fmt::format("\"{}\"", std::string(static_cast<std::size_t>(value), 'a'));
  return fmt::format("{}", value);
}

std::vector<std::string> out_of_range(const Schema& schema) {
  std::vector<std::string> out;
  const bool has_minimum = schema.minimum > std::numeric_limits<std::int64_t>::min();
  const bool has_maximum = schema.maximum < std::numeric_limits<std::int64_t>::max();
  const bool is_signed = schema.kind == Kind::kInteger || schema.kind == Kind::kPolicy;
  if (!schema.choices.empty()) return {"\"none_of_these\"", "\"\""};
  if (schema.kind == Kind::kNumber)
    return {fmt::format("{}", schema.number_minimum - 0.5), fmt::format("{}", schema.number_maximum + 0.5), "nan"};
  if (is_leaf(schema) && has_minimum && (is_signed || schema.minimum > 0)) out.push_back(scaled(schema, schema.minimum - 1));
  if (is_leaf(schema) && has_maximum) out.push_back(scaled(schema, schema.maximum + 1));
  if (schema.kind == Kind::kArray && schema.members[0].kind == Kind::kString && has_maximum) {
    std::string items = "[";
    for (std::int64_t i = 0; i <= schema.maximum; ++i) items += "\"x\",";
    out.push_back(items + "]");
  }
  if (!schema.pattern.empty()) out.push_back("\"-\"");
  return out;
}

void ConfigProperty::expect_values_are_held(const Schema& table, const std::function<Place(const std::string&)>& place_for) {
  int ranges = 0;
  for (const Key& key : keys_of(table)) {
    if (key.schema->kind == Kind::kAny) continue;
    const Place at = place_for(key.path.front());
    expect_value_is_refused(key, at, wrong_type(*key.schema));
    for (const std::string& value : out_of_range(*key.schema)) {
      expect_value_is_refused(key, at, value);
      ++ranges;
    }
  }
  EXPECT_GT(ranges, 5);
}

Schema plugin_schema() {
  return schema_from_json(kPluginSchema).value();
}
const Schema& stream_schema() {
  return connector_schema().find("streams")->members[0];
}

Place daemon_place(const std::string& key) {
  return place("sluice.toml", "", without("data_dir = \"data\"\n", key), "");
}
Place connector_place(const std::string& key) {
  return place("connectors.d/out.toml", without(kHead, key), (key == "streams" ? "" : kStreams) + kPlugin, "");
}
Place stream_place(const std::string& key) {
  return place("connectors.d/out.toml", kHead + without(kStreams, key), kPlugin, "streams[0]");
}
Place plugin_place(const std::string& key) {
  return place("connectors.d/out.toml", kHead + kStreams + without(kPlugin, key), "", "plugin_config");
}

TEST_F(ConfigProperty, FindsAnEditedNameInEverySchema) {
  expect_names_are_held(daemon_schema(), daemon_place);
  expect_names_are_held(connector_schema(), connector_place);
  expect_names_are_held(stream_schema(), stream_place);
  expect_names_are_held(plugin_schema(), plugin_place);
}

TEST_F(ConfigProperty, FindsAWrongTypeAndAValueOutOfRangeInEverySchema) {
  expect_values_are_held(daemon_schema(), daemon_place);
  expect_values_are_held(connector_schema(), connector_place);
  expect_values_are_held(stream_schema(), stream_place);
  expect_values_are_held(plugin_schema(), plugin_place);
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

// The variables of all single values below the schema.
std::vector<std::pair<std::string, const Schema*>> variables_of(const Schema& table, const std::string& prefix) {
  std::vector<std::pair<std::string, const Schema*>> out;
  for (const Key& key : keys_of(table)) {
    if (is_leaf(*key.schema) && key.schema->kind != Kind::kAny)
      out.emplace_back(prefix + upper(fmt::format("{}", fmt::join(key.path, "__"))), key.schema);
  }
  return out;
}

TEST_F(ConfigProperty, FindsAnEditedNameOfEveryVariable) {
  world_.write("connectors.d/out.toml", kHead + kStreams + kPlugin);
  const Schema plugin = plugin_schema();
  const std::string connector = "SLUICE__CONNECTORS__OUT__";
  for (const auto& [schema, prefix] : std::vector<std::pair<const Schema*, std::string>>{{&daemon_schema(), "SLUICE__"},
                                                                                         {&connector_schema(), connector},
                                                                                         {&stream_schema(), connector + "STREAMS__0__"},
                                                                                         {&plugin, connector + "PLUGIN_CONFIG__"}}) {
    const auto variables = variables_of(*schema, prefix);
    ASSERT_FALSE(variables.empty());
    for (const auto& [name, value_schema] : variables) {
      for (int i = 0; i < kEditsPerName; ++i) {
        const std::string wrong = prefix + edited(name.substr(prefix.size()), "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        const bool is_known = std::ranges::any_of(variables, [&](const auto& known) { return known.first == wrong; });
        if (is_known) continue;
        const std::string found = found_at({{wrong, "1"}}, "environment variable " + wrong);
        EXPECT_NE(found.find("unknown key"), std::string::npos) << wrong << "\n" << found;
        EXPECT_NE(found.find(name, found.find("did you mean")), std::string::npos) << wrong << " for " << name << "\n" << found;
      }
    }
  }
}

TEST_F(ConfigProperty, FindsAWrongValueOfEveryVariable) {
  world_.write("connectors.d/out.toml", kHead + kStreams + kPlugin);
  const Schema plugin = plugin_schema();
  const std::string connector = "SLUICE__CONNECTORS__OUT__";
  auto variables = variables_of(daemon_schema(), "SLUICE__");
  for (const auto& more : {variables_of(connector_schema(), connector), variables_of(stream_schema(), connector + "STREAMS__0__"),
                           variables_of(plugin, connector + "PLUGIN_CONFIG__")}) {
    variables.insert(variables.end(), more.begin(), more.end());
  }
  for (const auto& [name, schema] : variables) {
    std::vector<std::string> values = out_of_range(*schema);
    if (schema->kind != Kind::kString) values.push_back("?");
    for (std::string value : values) {
      std::erase(value, '"');
      const std::string found = found_at({{name, value}}, "environment variable " + name);
      EXPECT_NE(found, "") << name << "=" << value;
    }
  }
}

}  // namespace
}  // namespace sluice::config
