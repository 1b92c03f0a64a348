// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/trial.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <boost/json/value_to.hpp>

#include <array>
#include <stdexcept>

#include <fmt/format.h>

#include "runtime/base/text.hpp"
#include "runtime/plugin/description_json.hpp"
#include "runtime/plugin/plugin_host.hpp"

namespace sluice::plugin {

namespace {

namespace json = boost::json;

std::string text_of(const json::object& object, std::string_view key, std::size_t bytes_max, const std::vector<std::string>& secrets) {
  return clean_text(json::value_to<std::string>(object.at(key)), bytes_max, secrets);
}

template <typename Enum, std::size_t N>
Enum named(const json::object& object, std::string_view key, const std::array<Enum, N>& values) {
  const auto name = json::value_to<std::string>(object.at(key));
  for (const Enum value : values) {
    if (to_string(value) == name) return value;
  }
  throw std::invalid_argument(fmt::format("unknown {} \"{}\"", key, clean_text(name, 64)));
}

Outcome outcome_of(const json::object& object, const std::vector<std::string>& secrets) {
  using enum OutcomeClass;
  Outcome out;
  out.outcome_class = named(object, "class", std::array{kTransient, kPermanent, kAmbiguous, kInvalidConfig, kCancelled, kFatal});
  out.scope = named(object, "scope", std::array{Scope::kRecord, Scope::kConnector});
  out.code = text_of(object, "code", kOutcomeCodeBytesMax, secrets);
  out.text = text_of(object, "text", kOutcomeTextBytesMax, secrets);
  out.hint = text_of(object, "hint", kOutcomeTextBytesMax, secrets);
  out.pointer = text_of(object, "pointer", kOutcomePointerBytesMax, secrets);
  out.http_status = json::value_to<std::int32_t>(object.at("http_status"));
  return out;
}

}  // namespace

std::string trial_to_json(const Result<std::optional<Outcome>>& tried) {
  if (!tried) return to_json(Result<PluginDescription>(std::unexpected(tried.error())));
  if (!*tried) return json::serialize(json::object{{"ok", true}});
  const Outcome& why = **tried;
  return json::serialize(json::object{{"ok", false},
                                      {"outcome",
                                       {{"class", to_string(why.outcome_class)},
                                        {"scope", to_string(why.scope)},
                                        {"code", why.code},
                                        {"text", why.text},
                                        {"hint", why.hint},
                                        {"pointer", why.pointer},
                                        {"http_status", why.http_status}}}});
}

Result<std::optional<Outcome>> trial_from_json(std::string_view text, std::string_view name, const std::vector<std::string>& secrets) {
  try {
    const json::value parsed = json::parse(text);
    const json::object& object = parsed.as_object();
    if (object.at("ok").as_bool()) return std::optional<Outcome>();
    if (object.contains("outcome")) return std::optional(outcome_of(object.at("outcome").as_object(), secrets));
  } catch (const std::exception& malformed) {
    return fail(Errc::kBadDescriptor,
                fmt::format("{}: the process that opened it gave no usable answer: {}", name, clean_text(malformed.what(), 256, secrets)));
  }
  auto refused = description_from_json(text, name);
  return std::unexpected(std::move(refused).error());
}

Result<std::optional<Outcome>> try_open(const std::filesystem::path& program, const std::filesystem::path& file,
                                        const TrialRequest& request) {
  const std::string name = file.string();
  SLUICE_TRY(const std::string answer, ask_plugin_host({.program = program,
                                                        .arguments = {"--open", name, request.is_sink ? "sink" : "source",
                                                                      request.connector, std::to_string(request.deadline.count())},
                                                        .input = request.config_json,
                                                        .timeout = request.deadline + kTrialGrace,
                                                        .name = name,
                                                        .doing = "opening",
                                                        .done = "opened"}));
  return trial_from_json(answer, name, request.secrets);
}

}  // namespace sluice::plugin
