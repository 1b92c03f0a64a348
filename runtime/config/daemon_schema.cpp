// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/judges.hpp"
#include "runtime/config/schemas.hpp"

namespace sluice::config {
namespace {

Schema plugins_schema() {
  return {.name = "plugins",
          .kind = Kind::kTable,
          .description = "Where plugins are found and how they are looked at.",
          .members = {
              {.name = "path",
               .kind = Kind::kArray,
               .description = "Folders that are searched in order for `<id>.so`, before the built-in places.",
               .default_toml = "[]",
               .minimum = 0,
               .maximum = 64,
               .members = {{.description = "A folder.", .judge = judge_not_empty}}},
              {.name = "probe_timeout",
               .kind = Kind::kDuration,
               .description = "How long the child process that inspects a plugin may take.",
               .default_toml = "\"10s\"",
               .minimum = 100,
               .maximum = 5 * kMinuteMs},
          }};
}

Schema http_schema() {
  return {.name = "http",
          .kind = Kind::kTable,
          .description = "The control plane: health, metrics and the API that the other commands talk to.",
          .members = {
              {.name = "address",
               .kind = Kind::kString,
               .description =
                   "`host:port` to listen on. Loopback only. Port 0 takes any free port, which is written to `<data_dir>/http.port`.",
               .default_toml = "\"127.0.0.1:8090\"",
               .judge = judge_loopback_address},
              {.name = "socket",
               .kind = Kind::kString,
               .description = "Unix socket of the same API, made with mode 0660.",
               .default_note = "`<data_dir>/sluice.sock`",
               .judge = judge_socket_path},
              {.name = "allowed_hosts",
               .kind = Kind::kArray,
               .description = "Names a request's `Host` header may have beside `localhost`, `127.0.0.1` and `[::1]`.",
               .default_toml = "[]",
               .minimum = 0,
               .maximum = 64,
               .members = {{.description = "A host name.", .judge = judge_host_name}}},
          }};
}

Schema log_schema() {
  return {.name = "log",
          .kind = Kind::kTable,
          .description = "The daemon's own log, on stderr.",
          .members = {
              {.name = "level",
               .kind = Kind::kString,
               .description = "The least important lines that are written.",
               .default_toml = "\"info\"",
               .choices = {"trace", "debug", "info", "warn", "error"}},
              {.name = "format",
               .kind = Kind::kString,
               .description = "Lines for people or one JSON object a line.",
               .default_toml = "\"text\"",
               .choices = {"text", "json"}},
          }};
}

Schema recovery_schema() {
  return {
      .name = "recovery",
      .kind = Kind::kTable,
      .description = "How what is stored is checked: at a start, and beside the work.",
      .members = {
          {.name = "verify",
           .kind = Kind::kString,
           .description =
               "`tail` believes the seals of complete segments and checks the rest before anything is served: a start on much data is "
               "fast, and the scrub looks at the others afterwards. `full` checks every byte of every segment first; a partition with "
               "damage anywhere is then refused.",
           .default_toml = "\"tail\"",
           .choices = {"full", "tail"}},
          {.name = "scrub_rate",
           .kind = Kind::kSize,
           .description =
               "How many bytes of complete segments are checked in a second beside the work, by the whole daemon. 0 checks none: "
               "damage is then found when the records are read.",
           .default_toml = "\"16MiB\"",
           .minimum = 0,
           .maximum = 16LL << 30},
          {.name = "scrub_interval",
           .kind = Kind::kDuration,
           .description = "How long after it was checked a complete segment is checked again. What the start did not check comes first.",
           .default_toml = "\"7d\"",
           .minimum = kHourMs,
           .maximum = 365 * 24 * kHourMs},
      }};
}

Schema defaults_schema() {
  return {.name = "defaults",
          .kind = Kind::kTable,
          .description = "What a connector file that is silent about these gets. The same keys as there.",
          .members = {failure_schema(),
                      batching_schema(),
                      restart_schema(),
                      {.name = "topic",
                       .kind = Kind::kTable,
                       .description = "Options of topics that connectors make; the keys of `[[streams]]` without `stream` and `topic`.",
                       .members = topic_members()}}};
}

}  // namespace

const Schema& daemon_schema() {
  static const Schema schema{
      .kind = Kind::kTable,
      .members = {
          {.name = "data_dir",
           .kind = Kind::kString,
           .description = "Folder of the log and everything else the daemon keeps. Made if missing; locked while the daemon runs.",
           .is_required = true,
           .judge = judge_not_empty},
          {.name = "runtime_dir",
           .kind = Kind::kString,
           .description =
               "Folder on a tmpfs where the daemon notes what it acknowledged last, so that after a kill the log goes on without "
               "a gap. Its last part is made if missing. With systemd: `RuntimeDirectory=` and "
               "`RuntimeDirectoryPreserve=restart`.",
           .default_note = "`$RUNTIME_DIRECTORY`, else `/dev/shm/sluice-<user id>`"},
          {.name = "connectors_dir",
           .kind = Kind::kString,
           .description = "Folder of the connector files, `*.toml`.",
           .default_toml = "\"connectors.d\"",
           .judge = judge_not_empty},
          {.name = "shards",
           .kind = Kind::kInteger,
           .description = "Threads that own partitions. 0 is one per core, at most 16.",
           .default_toml = "0",
           .minimum = 0,
           .maximum = 64},
          {.name = "shutdown_deadline",
           .kind = Kind::kDuration,
           .description = "How long a stop may take to drain every connector.",
           .default_toml = "\"30s\"",
           .minimum = kSecondMs,
           .maximum = 60 * kMinuteMs},
          plugins_schema(),
          http_schema(),
          log_schema(),
          recovery_schema(),
          defaults_schema(),
          {.name = "connectors",
           .kind = Kind::kMap,
           .description = "Only as `SLUICE__CONNECTORS__<KEY>__…`.",
           .is_environment_only = true,
           .members = {{.kind = Kind::kAny}}},
      }};
  return schema;
}

}  // namespace sluice::config
