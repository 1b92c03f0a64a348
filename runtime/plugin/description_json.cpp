// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/description_json.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <boost/json/value_to.hpp>

#include <fmt/format.h>

#include "runtime/base/text.hpp"

namespace sluice::plugin {

namespace {

namespace json = boost::json;

constexpr std::size_t kMessageBytesMax = 4096;

json::object connector_json(const ConnectorDescriptor& connector) {
  return {{"id", connector.id},
          {"kind", connector.is_sink ? "sink" : "source"},
          {"summary", connector.summary},
          {"version", connector.version},
          {"replay_idempotent", connector.replay_idempotent},
          {"ordered", connector.ordered},
          {"own_positions", connector.own_positions},
          {"batches_in_flight_max", connector.batches_in_flight_max},
          {"state_version", connector.state_version},
          {"refusal", connector.refusal},
          {"config_schema", connector.config_schema_json}};
}

std::string text_of(const json::object& object, std::string_view key) {
  return json::value_to<std::string>(object.at(key));
}

ConnectorDescriptor connector_of(const json::object& object) {
  ConnectorDescriptor connector;
  connector.id = text_of(object, "id");
  connector.is_sink = text_of(object, "kind") == "sink";
  connector.summary = text_of(object, "summary");
  connector.version = text_of(object, "version");
  connector.replay_idempotent = object.at("replay_idempotent").as_bool();
  connector.ordered = object.at("ordered").as_bool();
  connector.own_positions = object.at("own_positions").as_bool();
  connector.batches_in_flight_max = json::value_to<std::uint32_t>(object.at("batches_in_flight_max"));
  connector.state_version = json::value_to<std::uint32_t>(object.at("state_version"));
  connector.refusal = text_of(object, "refusal");
  connector.config_schema_json = text_of(object, "config_schema");
  return connector;
}

PluginDescription description_of(const json::object& object) {
  PluginDescription plugin;
  plugin.id = text_of(object, "id");
  plugin.version = text_of(object, "version");
  plugin.sdk_version = text_of(object, "sdk_version");
  plugin.build_id = text_of(object, "build_id");
  plugin.abi_minor = json::value_to<std::uint32_t>(object.at("abi_minor"));
  for (const json::value& connector : object.at("connectors").as_array()) plugin.connectors.push_back(connector_of(connector.as_object()));
  return plugin;
}

Error error_of(const json::object& object) {
  const std::string code = text_of(object, "code");
  const std::string message = clean_text(text_of(object, "message"), kMessageBytesMax);
  for (int i = 0; i <= static_cast<int>(Errc::kBadDescriptor); ++i) {
    if (error_info(static_cast<Errc>(i)).name == code) return Error(static_cast<Errc>(i), message);
  }
  return Error(Errc::kLoadFailed, message);
}

}  // namespace

std::string to_json(const Result<PluginDescription>& described) {
  if (!described)
    return json::serialize(json::object{{"ok", false}, {"code", described.error().code()}, {"message", described.error().message()}});
  json::array connectors;
  for (const ConnectorDescriptor& connector : described->connectors) connectors.push_back(connector_json(connector));
  return json::serialize(json::object{{"ok", true},
                                      {"plugin",
                                       {{"id", described->id},
                                        {"version", described->version},
                                        {"sdk_version", described->sdk_version},
                                        {"build_id", described->build_id},
                                        {"abi_minor", described->abi_minor},
                                        {"connectors", std::move(connectors)}}}});
}

Result<PluginDescription> description_from_json(std::string_view text, std::string_view name) {
  try {
    const json::value parsed = json::parse(text);
    const json::object& object = parsed.as_object();
    if (!object.at("ok").as_bool()) return std::unexpected(error_of(object));
    return description_of(object.at("plugin").as_object());
  } catch (const std::exception& malformed) {
    return fail(Errc::kBadDescriptor,
                fmt::format("{}: the process that inspected it gave no usable answer: {}", name, clean_text(malformed.what(), 256)));
  }
}

}  // namespace sluice::plugin
