// SPDX-License-Identifier: Apache-2.0
// sluice.toml after validation.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace sluice::config {

struct Tree;

struct HttpConfig {
  std::string address = "127.0.0.1:8090";  // loopback only; port 0 = any free port (written to <data_dir>/http.port)
  std::filesystem::path socket;            // Unix socket, mode 0660; default <data_dir>/sluice.sock
  std::vector<std::string> allowed_hosts;  // Host header values beside localhost, 127.0.0.1 and [::1]
};

struct LogConfig {
  std::string level = "info";   // trace, debug, info, warn, error
  std::string format = "text";  // text, json
};

struct RecoveryConfig {
  bool verify_sealed = false;                        // verify = "full"
  std::uint64_t scrub_bytes_per_second = 16u << 20;  // scrub_rate; 0 = no scrub
  std::chrono::milliseconds scrub_interval = std::chrono::hours{7 * 24};
};

struct DaemonConfig {
  std::filesystem::path file;                             // absolute path of sluice.toml
  std::filesystem::path data_dir;                         // required; relative paths are relative to the file
  std::filesystem::path runtime_dir;                      // empty: the place that the system gives
  std::filesystem::path connectors_dir = "connectors.d";  // absolute once loaded
  std::vector<std::filesystem::path> plugin_path;         // plugins.path: searched in order, before the built-in places
  std::uint32_t shards = 0;                               // 0 = one per core, at most 16
  std::chrono::milliseconds shutdown_deadline{30'000};
  std::chrono::milliseconds plugin_probe_timeout{10'000};
  HttpConfig http;
  LogConfig log;
  RecoveryConfig recovery;
  std::shared_ptr<const Tree> defaults;  // [defaults] as written, validated; laid below every connector file. Null if there is none.
};

}  // namespace sluice::config
