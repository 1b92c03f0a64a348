// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>

#include "runtime/base/files.hpp"
#include "runtime/base/text.hpp"
#include "runtime/config/bind.hpp"
#include "runtime/config/environment.hpp"
#include "runtime/config/json_schema.hpp"
#include "runtime/config/judges.hpp"
#include "runtime/config/known_plugins.hpp"
#include "runtime/config/plugin_config.hpp"
#include "runtime/config/reading.hpp"
#include "runtime/config/references.hpp"
#include "runtime/config/schemas.hpp"
#include "runtime/config/secrets.hpp"
#include "runtime/config/suggest.hpp"
#include "runtime/config/toml_reader.hpp"
#include "runtime/config/validate.hpp"

namespace sluice::config {
namespace {

constexpr std::size_t kConnectorFilesMax = 1000;
constexpr std::size_t kFindingBytesMax = 4096;
// Masking single letters would leave no message readable.
constexpr std::size_t kMaskedBytesMin = 4;
constexpr std::string_view kPluginConfigKey = "plugin_config";

Origin origin_of_file(const std::string& file) {
  Origin out;
  out.file = file;
  return out;
}

std::vector<std::filesystem::path> connector_files(const std::filesystem::path& folder, std::vector<Finding>& findings) {
  std::vector<std::filesystem::path> out;
  std::error_code error;
  if (!std::filesystem::exists(folder, error) && !error) {
    findings.push_back({.severity = Severity::kWarning,
                        .origin = origin_of_file(folder.string()),
                        .message = "there is no such folder, so there are no connectors"});
    return out;
  }
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::filesystem::path& path = entry->path();
    const bool is_hidden = path.filename().string().starts_with('.');
    std::error_code ignored;
    if (!is_hidden && path.extension() == ".toml" && !entry->is_directory(ignored)) out.push_back(path);
  }
  if (error) findings.push_back(error_at(origin_of_file(folder.string()), fmt::format("cannot be read: {}", error.message())));
  std::ranges::sort(out);
  if (out.size() > kConnectorFilesMax) {
    findings.push_back(
        error_at(origin_of_file(folder.string()), fmt::format("has {} files; the first {} are used", out.size(), kConnectorFilesMax)));
    out.resize(kConnectorFilesMax);
  }
  return out;
}

ConnectorReading open_file(const std::filesystem::path& path) {
  ConnectorReading out{.key = path.stem().string(), .file = path.string(), .tree = {}, .config = {}, .findings = {}};
  const auto contents = files::read(path);
  if (!contents) {
    out.findings.push_back(error_at(origin_of_file(out.file), fmt::format("cannot be read: {}", contents.error().message())));
    return out;
  }
  auto parsed = parse_toml(*contents, out.file);
  if (!parsed) {
    out.findings.push_back(std::move(parsed).error());
    return out;
  }
  out.tree = *std::move(parsed);
  const Tree* key = out.tree->find("key");
  if (key != nullptr && key->get<std::string>() != nullptr && is_connector_key(*key->get<std::string>()))
    out.key = *key->get<std::string>();
  return out;
}

// Two files with one key: neither is taken, for nobody can say which was meant.
void reject_doubles(std::vector<ConnectorReading>& readings) {
  std::map<std::string, std::vector<ConnectorReading*>> by_key;
  for (ConnectorReading& reading : readings) {
    const Tree* key = reading.tree ? reading.tree->find("key") : nullptr;
    if (key != nullptr && key->get<std::string>() != nullptr) by_key[*key->get<std::string>()].push_back(&reading);
  }
  for (const auto& [key, same] : by_key) {
    if (same.size() < 2) continue;
    for (ConnectorReading* reading : same) {
      std::vector<std::string> others;
      for (const ConnectorReading* other : same) {
        if (other != reading) others.push_back(to_string(other->tree->find("key")->origin));
      }
      reading->findings.push_back(
          error_at(reading->tree->find("key")->origin,
                   fmt::format("the key `{}` is also used at {}; neither is started: give each connector its own key",
                               clean_text(key, kConnectorKeyBytesMax), fmt::join(others, ", "))));
    }
  }
}

// Lays `under` below `over`: keys that `over` lacks.
void merge_below(Tree& over, const Tree& under) {
  auto* table = over.get<Tree::Table>();
  const auto* from = under.get<Tree::Table>();
  if (table == nullptr || from == nullptr) return;
  for (const TreeMember& member : *from) {
    if (Tree* present = over.find(member.key)) {
      merge_below(*present, member.value);
    } else {
      table->push_back(member);
    }
  }
}

void apply_defaults(Tree& tree, const Tree& defaults) {
  Tree sections = defaults;
  std::erase_if(*sections.get<Tree::Table>(), [](const TreeMember& member) { return member.key == "topic"; });
  merge_below(tree, sections);
  const Tree* topic = defaults.find("topic");
  Tree* streams = tree.find("streams");
  if (topic == nullptr || streams == nullptr || streams->get<Tree::Array>() == nullptr) return;
  for (Tree& stream : *streams->get<Tree::Array>()) merge_below(stream, *topic);
}

// Turns one parsed file into a configuration.
class ConnectorReader {
 public:
  ConnectorReader(const DaemonConfig& daemon, const Environment& environment, ConnectorReading& reading)
      : daemon_(daemon), environment_(environment), reading_(reading) {}

  // First: the variables. Answers the plugin that read() has to know, or nothing.
  std::string lay_over(const std::vector<EnvironmentVariable>& variables) {
    std::vector<EnvironmentVariable> own;
    for (const EnvironmentVariable& variable : variables) {
      const bool names_plugin_config = variable.segments.size() > 2 && equals_ignoring_case(variable.segments[2], kPluginConfigKey);
      (names_plugin_config ? for_plugin_ : own).push_back(variable);
    }
    Tree& tree = *reading_.tree;
    refuse_foreign_key(tree, own);
    overlay(tree, connector_schema(), own, 2, reading_.findings);
    resolve_plugin_path(tree);
    return wanted_plugin(tree);
  }

  void read(const KnownPlugins& plugins) {
    Tree& tree = *reading_.tree;
    const std::optional<PluginConnector> plugin = find_plugin(tree, plugins);
    Tree plugin_tree = take_plugin_config(tree);
    if (plugin) {
      read_plugin_config(*plugin, plugin_tree);
    } else {
      // Nothing to hold it against; whether its references resolve can be told all the same.
      resolve_references(plugin_tree, environment_, reading_.findings);
    }
    resolve_references(tree, environment_, reading_.findings);
    collect_secrets(tree, connector_schema(), "", secrets_);
    validate(tree, connector_schema(), "", reading_.findings);
    check_written(tree, reading_.findings);
    if (daemon_.defaults != nullptr) apply_defaults(tree, *daemon_.defaults);
    fill_defaults(tree, connector_schema());
    check_relations(tree, reading_.findings);
    finish();
  }

 private:
  void finish() {
    // Values of secret keys are never put into messages, but a faulty value of another key may be a URL with a password in it.
    std::vector<std::string> masked = secrets_.values;
    std::erase_if(masked,
                  [](const std::string& secret) { return secret.size() < kMaskedBytesMin && secret.find(':') == std::string::npos; });
    for (Finding& finding : reading_.findings) finding.message = clean_text(finding.message, kFindingBytesMax, masked);
    if (!has_errors(reading_.findings)) {
      reading_.config = bind_connector(*reading_.tree);
      reading_.config->plugin_config_json = std::move(plugin_config_.json);
      reading_.config->plugin_config_origins = std::move(plugin_config_.origins);
      reading_.config->secrets = secrets_.values;
    }
    warn_of_literals(reading_.file, secrets_.literals, reading_.findings);
  }

  // The key says which variables belong to this file, so it can come from nowhere else.
  void refuse_foreign_key(Tree& tree, std::vector<EnvironmentVariable>& variables) {
    const auto names_key = [](const EnvironmentVariable& variable) {
      return variable.segments.size() == 3 && equals_ignoring_case(variable.segments[2], "key");
    };
    for (const EnvironmentVariable& variable : variables) {
      Origin origin;
      origin.variable = variable.name;
      if (names_key(variable)) reading_.findings.push_back(error_at(origin, "the key of a connector can be changed only in its file"));
    }
    std::erase_if(variables, names_key);
    const Tree* key = tree.find("key");
    const std::string* text = key == nullptr ? nullptr : key->get<std::string>();
    if (text == nullptr || text->find("${") == std::string::npos) return;
    reading_.findings.push_back(error_at(key->origin, "`key` must stand in the file as it is; it cannot be a reference"));
  }

  // A relative path of a plugin is relative to the connector file, wherever the daemon was started.
  void resolve_plugin_path(Tree& tree) const {
    Tree* plugin = tree.find("plugin");
    std::string* path = plugin == nullptr ? nullptr : plugin->get<std::string>();
    if (path == nullptr || path->find('/') == std::string::npos || path->starts_with('/') || path->find("${") != std::string::npos) return;
    *path = (std::filesystem::path(reading_.file).parent_path() / *path).lexically_normal().string();
  }

  Tree take_plugin_config(Tree& tree) {
    if (const Tree* found = tree.find(kPluginConfigKey)) {
      Tree out = *found;
      std::erase_if(*tree.get<Tree::Table>(), [](const TreeMember& member) { return member.key == kPluginConfigKey; });
      return out;
    }
    return {Tree::Table{}, tree.origin};
  }

  // The text at `key` with its references resolved; validate() reports later what is wrong with it.
  std::string text_at(const Tree& tree, std::string_view key) const {
    const Tree* found = tree.find(key);
    if (found == nullptr) return {};
    Tree copy = *found;
    std::vector<Finding> reported_later;
    resolve_references(copy, environment_, reported_later);
    const auto* text = copy.get<std::string>();
    return text == nullptr || !reported_later.empty() ? std::string() : *text;
  }

  std::string wanted_plugin(const Tree& tree) const {
    const std::string type = text_at(tree, "type");
    return type == "source" || type == "sink" ? text_at(tree, "plugin") : std::string();
  }

  // The connector that the file names, if its plugin can tell; otherwise reported, or left to validate() where a key is missing.
  std::optional<PluginConnector> find_plugin(const Tree& tree, const KnownPlugins& plugins) {
    const std::string plugin = wanted_plugin(tree);
    const std::string type = text_at(tree, "type");
    if (plugin.empty()) return std::nullopt;
    const Result<std::vector<PluginConnector>>& offered = plugins.at(plugin);
    const Origin& origin = tree.find("plugin")->origin;
    if (!offered) {
      reading_.findings.push_back(error_at(origin, fmt::format("the plugin `{}` cannot be used: {}", plugin, offered.error().message())));
      return std::nullopt;
    }
    const ConnectorType wanted = type == "sink" ? ConnectorType::kSink : ConnectorType::kSource;
    std::vector<std::string> of_type;
    std::vector<std::string> others;
    for (const PluginConnector& connector : *offered) (connector.type == wanted ? of_type : others).push_back(connector.id);
    if (of_type.empty()) {
      const std::string has = others.empty() ? "nothing" : fmt::format("{}", fmt::join(others, ", "));
      reading_.findings.push_back(
          error_at(tree.find("type")->origin, fmt::format("the plugin `{}` has no {}; it has {}", plugin, type, has)));
      return std::nullopt;
    }
    return choose(tree, *offered, wanted, of_type, plugin);
  }

  std::optional<PluginConnector> choose(const Tree& tree, const std::vector<PluginConnector>& offered, ConnectorType wanted,
                                        const std::vector<std::string>& ids, const std::string& plugin) {
    std::string id = text_at(tree, "connector");
    const std::string_view type = wanted == ConnectorType::kSink ? "sink" : "source";
    if (id.empty() && ids.size() > 1) {
      reading_.findings.push_back(error_at(
          tree.find("plugin")->origin,
          fmt::format("the plugin `{}` has the {}s {}: say which with `connector = \"{}\"`", plugin, type, fmt::join(ids, ", "), ids[0])));
      return std::nullopt;
    }
    if (id.empty()) id = ids[0];
    const auto found =
        std::ranges::find_if(offered, [&](const PluginConnector& connector) { return connector.type == wanted && connector.id == id; });
    if (found != offered.end()) return *found;
    std::string hint = did_you_mean(id, ids);
    if (hint.empty()) hint = fmt::format("; it has {}", fmt::join(ids, ", "));
    reading_.findings.push_back(
        error_at(tree.find("connector")->origin, fmt::format("the plugin `{}` has no {} `{}`{}", plugin, type, id, hint)));
    return std::nullopt;
  }

  void read_plugin_config(const PluginConnector& plugin, Tree& tree) {
    const auto schema = schema_from_json(plugin.config_schema_json);
    if (!schema) {
      reading_.findings.push_back(
          error_at(reading_.tree->find("plugin")->origin, fmt::format("`{}` cannot be used: {}", plugin.id, schema.error().message())));
      return;
    }
    std::vector<Finding> findings;
    // The whole document as a table with one member, so that names in messages begin with plugin_config.
    Schema wrapper{.kind = Kind::kTable};
    wrapper.members.push_back(*schema);
    wrapper.members.front().name = kPluginConfigKey;
    Tree document(Tree::Table{}, tree.origin);
    document.get<Tree::Table>()->push_back({.key = std::string(kPluginConfigKey), .key_origin = tree.origin, .value = std::move(tree)});
    overlay(document, wrapper, for_plugin_, 2, findings);
    resolve_references(document, environment_, findings);
    collect_secrets(document, wrapper, "", secrets_);
    validate(document, wrapper, "", findings);
    const Tree empty(Tree::Table{}, document.origin);
    const Tree* valid = document.find(kPluginConfigKey);
    plugin_config_ = to_plugin_config(valid == nullptr ? empty : *valid, findings);
    if (!has_errors(findings)) judge_by_json_schema(plugin_config_, plugin.config_schema_json, findings);
    reading_.findings.insert(reading_.findings.end(), findings.begin(), findings.end());
  }

  const DaemonConfig& daemon_;
  const Environment& environment_;
  ConnectorReading& reading_;
  std::vector<EnvironmentVariable> for_plugin_;
  Secrets secrets_;
  PluginConfig plugin_config_;
};

ConnectorReading reading_of_stray_variable(const EnvironmentVariable& variable, const std::vector<std::string>& keys) {
  Origin origin;
  origin.variable = variable.name;
  ConnectorReading out{.key = {}, .file = to_string(origin), .tree = {}, .config = {}, .findings = {}};
  for (const char c : variable.segments[1]) out.key += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  std::string hint = did_you_mean(out.key, keys);
  if (hint.empty()) hint = keys.empty() ? "; there are no connectors" : fmt::format("; there are {}", fmt::join(keys, ", "));
  out.findings.push_back(error_at(origin, fmt::format("there is no connector `{}`{}", out.key, hint)));
  return out;
}

}  // namespace

std::vector<ConnectorReading> read_connectors(const DaemonConfig& daemon, const Environment& environment, const SchemaSource& schemas,
                                              std::vector<Finding>& folder_findings) {
  std::vector<ConnectorReading> out;
  for (const auto& file : connector_files(daemon.connectors_dir, folder_findings)) out.push_back(open_file(file));
  reject_doubles(out);
  std::vector<std::string> keys;
  for (const ConnectorReading& reading : out) keys.push_back(reading.key);

  std::map<std::string, std::vector<EnvironmentVariable>> variables;
  std::vector<ConnectorReading> strays;
  for (const EnvironmentVariable& variable : environment_variables(environment)) {
    if (variable.segments.size() < 2 || !equals_ignoring_case(variable.segments[0], "connectors")) continue;
    const auto key =
        std::ranges::find_if(keys, [&](const std::string& candidate) { return equals_ignoring_case(candidate, variable.segments[1]); });
    if (key == keys.end()) {
      strays.push_back(reading_of_stray_variable(variable, keys));
    } else {
      variables[*key].push_back(variable);
    }
  }
  std::deque<ConnectorReader> readers;
  std::set<std::string> wanted;
  for (ConnectorReading& reading : out) {
    if (!reading.tree) continue;
    const std::string plugin = readers.emplace_back(daemon, environment, reading).lay_over(variables[reading.key]);
    if (!plugin.empty()) wanted.insert(plugin);
  }
  const KnownPlugins plugins = ask_plugins(wanted, schemas);
  for (ConnectorReader& reader : readers) reader.read(plugins);
  std::ranges::move(strays, std::back_inserter(out));
  return out;
}

}  // namespace sluice::config
