// SPDX-License-Identifier: Apache-2.0
#include <sluice/size.hpp>

#include "core/client/topic.hpp"
#include "runtime/config/judges.hpp"
#include "runtime/config/schemas.hpp"

namespace sluice::config {
namespace {

constexpr auto kKiBytes = static_cast<std::int64_t>(kKiB.bytes);
constexpr std::int64_t kMiBytes = 1024 * kKiBytes;
constexpr std::int64_t kGiBytes = 1024 * kMiBytes;
constexpr std::int64_t kTiBytes = 1024 * kGiBytes;

std::vector<std::string> dispositions() {
  return {"stop", "skip", "dead_letter"};
}

Schema streams_schema() {
  Schema stream{.kind = Kind::kTable,
                .members = {{.name = "stream",
                             .kind = Kind::kString,
                             .description = "Stream that the topic belongs to.",
                             .is_required = true,
                             .judge = judge_topic_name},
                            {.name = "topic",
                             .kind = Kind::kString,
                             .description = "Where a source writes and a sink reads. Made with the options beside it if missing.",
                             .is_required = true,
                             .judge = judge_topic_name}}};
  for (Schema& member : topic_members()) stream.members.push_back(std::move(member));
  return {.name = "streams",
          .kind = Kind::kArray,
          .description = "The topics of this connector, each a `[[streams]]` table.",
          .is_required = true,
          .minimum = 1,
          .maximum = 64,
          .members = {std::move(stream)}};
}

std::vector<Schema> connector_head() {
  return {
      {.name = "key",
       .kind = Kind::kString,
       .description = "The connector's name, unique on this daemon: lower-case words joined by single underscores.",
       .is_required = true,
       .maximum = 64,
       .judge = judge_connector_key},
      {.name = "type", .kind = Kind::kString, .description = "Which way records go.", .is_required = true, .choices = {"source", "sink"}},
      {.name = "plugin",
       .kind = Kind::kString,
       .description = "Id of a plugin in the search path, or the path of its file.",
       .is_required = true,
       .judge = judge_not_empty},
      {.name = "connector",
       .kind = Kind::kString,
       .description = "Which connector of the plugin, where it has several of this type.",
       .default_note = "the only one of this type",
       .judge = judge_not_empty},
      {.name = "enabled", .kind = Kind::kBool, .description = "A disabled connector is listed and not started.", .default_toml = "true"},
      {.name = "start_from",
       .kind = Kind::kString,
       .description =
           "Where a sink begins in a partition it has no offset for: `earliest`, `latest`, or a time as RFC 3339 or TOML date-time.",
       .default_toml = "\"earliest\"",
       .is_sink_only = true,
       .judge = judge_start_from},
      {.name = "on_out_of_range",
       .kind = Kind::kString,
       .description = "What a sink does when retention has trimmed records it had not read: go to `error` with the count, or go on and "
                      "count them as expired.",
       .default_toml = "\"error\"",
       .is_sink_only = true,
       .choices = {"error", "earliest"}},
      {.name = "ordering",
       .kind = Kind::kString,
       .description = "What waits behind a record that has to be retried: its partition, its key, nothing else.",
       .default_toml = "\"partition\"",
       .is_sink_only = true,
       .choices = {"partition", "key", "none"}},
      {.name = "stall_after",
       .kind = Kind::kDuration,
       .description = "Without progress for this long, and with something to do, the state is `stalled`.",
       .default_toml = "\"30s\"",
       .minimum = kSecondMs,
       .maximum = 24 * kHourMs},
      {.name = "max_record_bytes",
       .kind = Kind::kSize,
       .description = "A larger record is refused and goes by the failure policy.",
       .default_toml = "\"8MiB\"",
       .minimum = kKiBytes,
       .maximum = 8 * kMiBytes},
      {.name = "workers",
       .kind = Kind::kInteger,
       .description = "Instances that share the work. More than 1 is not available in this version.",
       .default_toml = "1",
       .minimum = 1,
       .maximum = 256,
       .judge = judge_workers},
      {.name = "isolation",
       .kind = Kind::kString,
       .description = "Where the plugin runs: in the daemon, or in a process of its own whose end harms nobody else.",
       .default_toml = "\"in_process\"",
       .choices = {"in_process", "process"}},
      {.name = "rate_limit",
       .kind = Kind::kTable,
       .description = "Holds the connector back.",
       .members = {{.name = "records_per_second",
                    .kind = Kind::kInteger,
                    .description = "Most records in a second.",
                    .default_note = "no limit",
                    .minimum = 1,
                    .maximum = 1'000'000'000}}},
  };
}

}  // namespace

Schema failure_schema() {
  return {.name = "failure",
          .kind = Kind::kTable,
          .description =
              "What follows when a record cannot be delivered. Failures of the back end as a whole are retried for ever and skip nothing.",
          .members = {
              {.name = "record",
               .kind = Kind::kString,
               .description = "A record that is refused for good.",
               .default_toml = "\"dead_letter\"",
               .choices = dispositions()},
              {.name = "transient",
               .kind = Kind::kTable,
               .description = "A record that may succeed later.",
               .members = {{.name = "policy",
                            .kind = Kind::kPolicy,
                            .description = "How long it is tried: `\"unlimited\"`, a number of attempts, or a duration.",
                            .default_toml = "\"unlimited\"",
                            .minimum = 1,
                            .maximum = 1'000'000'000},
                           {.name = "then",
                            .kind = Kind::kString,
                            .description = "What happens after that.",
                            .default_toml = "\"stop\"",
                            .choices = dispositions()}}},
              {.name = "dead_letter",
               .kind = Kind::kTable,
               .description = "The topic `dlq.<key>`.",
               .members =
                   {{.name = "max_ratio",
                     .kind = Kind::kNumber,
                     .description =
                         "The connector stops when more of its last 1000 outcomes than this are dead letters; judged from 100 outcomes on.",
                     .default_toml = "0.5",
                     .number_minimum = 0,
                     .number_maximum = 1}}},
          }};
}

Schema batching_schema() {
  return {.name = "batching",
          .kind = Kind::kTable,
          .description = "How many records go together.",
          .members = {
              {.name = "max_records",
               .kind = Kind::kInteger,
               .description = "A batch closes at this many records,",
               .default_toml = "1000",
               .minimum = 1,
               .maximum = 100'000},
              {.name = "max_bytes",
               .kind = Kind::kSize,
               .description = "or at this many bytes,",
               .default_toml = "\"4MiB\"",
               .minimum = kKiBytes,
               .maximum = 16 * kMiBytes},
              {.name = "linger",
               .kind = Kind::kDuration,
               .description = "or when its first record has waited this long. 0 never waits for more records.",
               .default_toml = "\"0ms\"",
               .minimum = 0,
               .maximum = 60 * kSecondMs},
              {.name = "max_unacked_records",
               .kind = Kind::kInteger,
               .description = "Sinks: reading pauses at this many records that the sink has taken and not made durable, per partition.",
               .default_toml = "10000",
               .minimum = 1,
               .maximum = 10'000'000},
              {.name = "max_unacked_bytes",
               .kind = Kind::kSize,
               .description = "The same in bytes.",
               .default_toml = "\"64MiB\"",
               .minimum = kKiBytes,
               .maximum = 4 * kGiBytes},
          }};
}

Schema restart_schema() {
  return {.name = "restart",
          .kind = Kind::kTable,
          .description = "After a failure that is neither an invalid configuration nor a broken plugin.",
          .members = {
              {.name = "enabled", .kind = Kind::kBool, .description = "Start it again by itself.", .default_toml = "true"},
              {.name = "base_delay",
               .kind = Kind::kDuration,
               .description = "First wait; it doubles each time.",
               .default_toml = "\"1s\"",
               .minimum = 10,
               .maximum = kHourMs},
              {.name = "max_delay",
               .kind = Kind::kDuration,
               .description = "Longest wait.",
               .default_toml = "\"1m\"",
               .minimum = 10,
               .maximum = 24 * kHourMs},
          }};
}

Schema process_schema() {
  return {.name = "process",
          .kind = Kind::kTable,
          .description = "Limits of the plugin's own process, with `isolation = \"process\"`.",
          .members = {
              {.name = "memory_max",
               .kind = Kind::kSize,
               .description = "What it may allocate; beyond it, it ends and is started again.",
               .default_toml = "\"1GiB\"",
               .minimum = 64 * kMiBytes,
               .maximum = kTiBytes},
              {.name = "call_timeout",
               .kind = Kind::kDuration,
               .description = "A call that takes longer is ended with its process.",
               .default_toml = "\"60s\"",
               .minimum = 100,
               .maximum = 24 * kHourMs},
          }};
}

std::vector<Schema> topic_members() {
  return {
      {.name = "partitions",
       .kind = Kind::kInteger,
       .description = "Partitions of the topic. Order is kept within one.",
       .default_toml = "1",
       .minimum = 1,
       .maximum = client::kPartitionsMax},
      {.name = "enforce_fsync",
       .kind = Kind::kBool,
       .description = "Acknowledge records after they are flushed to the disk. `false`: when the operating system has them.",
       .default_toml = "true"},
      {.name = "flush_interval",
       .kind = Kind::kDuration,
       .description = "How often to flush with `enforce_fsync = false`.",
       .default_toml = "\"1s\"",
       .minimum = metadata::kFlushIntervalMin.count(),
       .maximum = metadata::kFlushIntervalMax.count()},
      {.name = "segment_bytes",
       .kind = Kind::kSize,
       .description = "Size at which a new segment file begins.",
       .default_toml = "\"1GiB\"",
       .minimum = static_cast<std::int64_t>(client::kSegmentBytesMin),
       .maximum = static_cast<std::int64_t>(client::kSegmentBytesMax)},
      {.name = "retention",
       .kind = Kind::kTable,
       .description = "When old segments go.",
       .members = {{.name = "bytes",
                    .kind = Kind::kSize,
                    .description = "Keep at most this much per partition.",
                    .default_note = "keep everything",
                    .minimum = kMiBytes,
                    .maximum = 1024 * kTiBytes},
                   {.name = "age",
                    .kind = Kind::kDuration,
                    .description = "Keep nothing for longer than this and a quarter of it; nothing goes before.",
                    .default_note = "keep it however old it gets",
                    .minimum = metadata::kRetentionAgeMin.count(),
                    .maximum = metadata::kRetentionAgeMax.count()},
                   {.name = "wait_for_consumers",
                    .kind = Kind::kBool,
                    .description = "Keep what a known consumer has not committed,",
                    .default_toml = "true"},
                   {.name = "hard_bytes",
                    .kind = Kind::kSize,
                    .description = "unless the partition is larger than this.",
                    .default_toml = "\"10GiB\"",
                    .minimum = kMiBytes,
                    .maximum = 1024 * kTiBytes}}},
  };
}

const Schema& connector_schema() {
  static const Schema schema = [] {
    Schema out{.kind = Kind::kTable, .members = connector_head()};
    out.members.push_back(failure_schema());
    out.members.push_back(batching_schema());
    out.members.push_back(restart_schema());
    out.members.push_back(process_schema());
    out.members.push_back(streams_schema());
    out.members.push_back({.name = "plugin_config",
                           .kind = Kind::kAny,
                           .description = "The plugin's own keys: `sluice plugin inspect PLUGIN` lists them.",
                           .default_note = "empty"});
    return out;
  }();
  return schema;
}

}  // namespace sluice::config
