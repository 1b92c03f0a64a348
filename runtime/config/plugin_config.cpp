// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/plugin_config.hpp"

#include <cmath>
#include <set>

#include <fmt/format.h>
#include <boost/json.hpp>
#include <valijson/adapters/boost_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "runtime/base/text.hpp"
#include "runtime/config/validate.hpp"

namespace sluice::config {
namespace {

namespace json = boost::json;

constexpr std::size_t kViolationBytesMax = 300;

std::string pointer_segment(std::string_view key) {
  std::string out = "/";
  for (const char c : key) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

class JsonWriter {
 public:
  JsonWriter(PluginConfig& out, std::vector<Finding>& findings) : out_(out), findings_(findings) {}

  json::value write(const Tree& tree, const std::string& pointer) {
    out_.origins.emplace(pointer, tree.origin);
    if (const auto* table = tree.get<Tree::Table>()) {
      json::object object;
      for (const TreeMember& member : *table) object.emplace(member.key, write(member.value, pointer + pointer_segment(member.key)));
      return object;
    }
    if (const auto* items = tree.get<Tree::Array>()) {
      json::array array;
      for (std::size_t i = 0; i < items->size(); ++i) array.push_back(write((*items)[i], fmt::format("{}/{}", pointer, i)));
      return array;
    }
    if (const auto* flag = tree.get<bool>()) return *flag;
    if (const auto* integer = tree.get<std::int64_t>()) return *integer;
    if (const auto* number = tree.get<double>()) {
      if (std::isfinite(*number)) return *number;
      findings_.push_back(
          error_at(tree.origin, fmt::format("`{}` is not finite; inf and nan cannot be given to a plugin", pointer_path(pointer))));
      return nullptr;
    }
    return json::string(std::get<std::string>(tree.value));
  }

 private:
  PluginConfig& out_;
  std::vector<Finding>& findings_;
};

// valijson tells the way to a value as "<root>", "[key]", "[0]".
std::string pointer_of(const std::vector<std::string>& context) {
  std::string out;
  for (std::size_t i = 1; i < context.size(); ++i) {
    std::string_view part = context[i];
    if (part.starts_with('[') && part.ends_with(']')) part = part.substr(1, part.size() - 2);
    out += pointer_segment(part);
  }
  return out;
}

}  // namespace

std::string pointer_path(std::string_view pointer) {
  std::string out = "plugin_config";
  for (const char c : pointer) out += c == '/' ? '.' : c;
  return clean_text(out, kViolationBytesMax);
}

PluginConfig to_plugin_config(const Tree& tree, std::vector<Finding>& findings) {
  PluginConfig out;
  out.json = json::serialize(JsonWriter(out, findings).write(tree, ""));
  return out;
}

void judge_by_json_schema(const PluginConfig& config, std::string_view json_schema, std::vector<Finding>& findings) {
  if (json_schema.empty()) return;
  const Origin whole = origin_of_pointer(config.origins, "");
  valijson::ValidationResults results;
  // valijson tells of schemas it cannot use, and std::regex of patterns it cannot use, by exceptions.
  try {
    const json::value schema_document = json::parse(json_schema);
    const json::value document = json::parse(config.json);
    valijson::Schema schema;
    valijson::SchemaParser(valijson::SchemaParser::kDraft7).populateSchema(valijson::adapters::BoostJsonAdapter(schema_document), schema);
    valijson::Validator validator;
    if (validator.validate(schema, valijson::adapters::BoostJsonAdapter(document), &results)) return;
  } catch (const std::exception& error) {
    findings.push_back(
        error_at(whole, fmt::format("the plugin's configuration schema cannot be used: {}", clean_text(error.what(), kViolationBytesMax))));
    return;
  }
  std::set<std::string> told;
  valijson::ValidationResults::Error violation;
  while (results.popError(violation) && findings.size() < kFindingsMax) {
    const std::string pointer = pointer_of(violation.context);
    // The objects around a faulty value are told as well; the innermost comes first.
    const bool is_around = std::ranges::any_of(told, [&](const std::string& inner) { return inner.starts_with(pointer); });
    if (is_around || !told.insert(pointer).second) continue;
    findings.push_back(error_at(origin_of_pointer(config.origins, pointer),
                                fmt::format("`{}`: {}", pointer_path(pointer), clean_text(violation.description, kViolationBytesMax))));
  }
}

Origin origin_of_pointer(const std::map<std::string, Origin>& origins, std::string_view pointer) {
  while (true) {
    const auto found = origins.find(std::string(pointer));
    if (found != origins.end()) return found->second;
    if (pointer.empty()) return {};
    const std::size_t slash = pointer.rfind('/');
    pointer = pointer.substr(0, slash == std::string_view::npos ? 0 : slash);
  }
}

}  // namespace sluice::config
