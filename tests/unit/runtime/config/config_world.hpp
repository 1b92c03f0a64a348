// SPDX-License-Identifier: Apache-2.0
// A folder with configuration files, and a plugin that exists only as a schema.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "runtime/config/loader.hpp"

namespace sluice::config {

inline constexpr const char* kPluginSchema = R"({
  "type": "object", "additionalProperties": false, "required": ["url"],
  "properties": {
    "url": {"type": "string", "minLength": 1, "maxLength": 200, "description": "Where to."},
    "password": {"type": "string", "writeOnly": true, "maxLength": 64, "description": "A secret."},
    "batch": {"type": "integer", "minimum": 1, "maximum": 500, "default": 100},
    "ratio": {"type": "number", "minimum": 0, "maximum": 1},
    "verify": {"type": "boolean", "default": true},
    "mode": {"type": "string", "enum": ["individual", "ndjson"]},
    "timeout": {"type": "string", "pattern": "^(0|([0-9]+(ms|s|m|h|d))+)$", "x-sluice-minimum": "1ms", "x-sluice-maximum": "1h"},
    "buffer": {"type": "string", "pattern": "^(0|[0-9]+(B|KB|MB|GB|TB|KiB|MiB|GiB|TiB))$",
               "x-sluice-minimum": "1KiB", "x-sluice-maximum": "1GiB"},
    "code": {"type": "string", "pattern": "^[A-Z]{3}$"},
    "paths": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3},
    "headers": {"type": "object", "additionalProperties": {"type": "string", "writeOnly": true}, "maxProperties": 2},
    "connect": {"type": "object", "additionalProperties": false,
                "properties": {"max_attempts": {"type": "integer", "minimum": 0, "maximum": 20}}},
    "exclusive": {"type": "integer", "not": {"const": 13}}
  }
})";

class ConfigWorld {
 public:
  ConfigWorld() : folder_(testing::TempDir() + "sluice_config_" + std::to_string(::getpid())) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ / "connectors.d");
    write("sluice.toml", "data_dir = \"data\"\n");
  }
  ~ConfigWorld() { std::filesystem::remove_all(folder_); }
  ConfigWorld(const ConfigWorld&) = delete;
  ConfigWorld& operator=(const ConfigWorld&) = delete;

  std::string write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_ / name;
    std::ofstream(path) << text;
    std::filesystem::permissions(path, std::filesystem::perms::others_all, std::filesystem::perm_options::remove);
    return path.string();
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::string config() const { return path("sluice.toml"); }

  // `acme` has one source and one sink, `twins` two sinks; there is no other.
  static Result<std::vector<PluginConnector>> plugin(const std::string& name) {
    if (name == "acme")
      return std::vector<PluginConnector>{{"acme_in", ConnectorType::kSource, ""}, {"acme_out", ConnectorType::kSink, kPluginSchema}};
    if (name == "twins") return std::vector<PluginConnector>{{"left", ConnectorType::kSink, ""}, {"right", ConnectorType::kSink, ""}};
    return fail(sluice::Errc::kNotFound, "no file `" + name + ".so`; searched /nowhere");
  }

  [[nodiscard]] CheckReport checked(const Environment& environment = {}) const {
    return check(config(), environment, [](const DaemonConfig&) { return plugin; });
  }
  [[nodiscard]] ConnectorSet loaded(const Environment& environment = {}) const {
    const auto daemon = load_daemon_config(config(), environment);
    EXPECT_TRUE(daemon.has_value()) << daemon.error().message();
    return load_connectors(*daemon, environment, plugin);
  }
  // The texts of everything that check finds, one a line, with the folder's name taken out.
  [[nodiscard]] std::string findings(const Environment& environment = {}) const {
    std::string out;
    for (const Finding& finding : checked(environment).findings) {
      std::string line = to_string(finding) + "\n";
      for (std::size_t at = line.find(folder_.string() + "/"); at != std::string::npos; at = line.find(folder_.string() + "/")) {
        line.erase(at, folder_.string().size() + 1);
      }
      out += line;
    }
    return out;
  }

 private:
  std::filesystem::path folder_;
};

inline std::string sink_text(const std::string& extra = "", const std::string& plugin_config = "") {
  return "key = \"out\"\ntype = \"sink\"\nplugin = \"acme\"\n" + extra +
         "\n[[streams]]\nstream = \"s\"\ntopic = \"t\"\n[plugin_config]\nurl = \"http://x\"\n" + plugin_config + "\n";
}

}  // namespace sluice::config
