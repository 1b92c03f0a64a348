// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "runtime/app/json_text.hpp"
#include "runtime/app/online.hpp"
#include "runtime/app/table.hpp"
#include "runtime/base/time_format.hpp"

namespace sluice::app {

namespace json = boost::json;

namespace {

std::uint64_t records_in(const json::value& topic) {
  std::uint64_t sum = 0;
  for (const json::value& partition : array_field(topic, "partitions")) {
    sum += number_or_zero(partition, "next_offset") -
           std::min(number_or_zero(partition, "first_offset"), number_or_zero(partition, "next_offset"));
  }
  return sum;
}

std::uint64_t bytes_in(const json::value& topic) {
  std::uint64_t sum = 0;
  for (const json::value& partition : array_field(topic, "partitions")) sum += number_or_zero(partition, "size_bytes");
  return sum;
}

std::size_t refused_in(const json::value& topic) {
  return static_cast<std::size_t>(std::ranges::count_if(
      array_field(topic, "partitions"), [](const json::value& partition) { return !value_field(partition, "refused").is_null(); }));
}

// What the scrub found, a line each; empty if there is nothing.
std::string damage_in(const json::value& topic) {
  std::string out;
  for (const json::value& partition : array_field(topic, "partitions")) {
    for (const json::value& damage : array_field(value_field(partition, "scrub"), "damage"))
      out += fmt::format("  partition {}: {}\n", text_field(partition, "partition"), text_field(damage, "message"));
  }
  return out;
}

std::size_t damaged_segments(const json::value& partition) {
  return array_field(value_field(partition, "scrub"), "damage").size();
}

std::size_t damaged_in(const json::value& topic) {
  std::size_t sum = 0;
  for (const json::value& partition : array_field(topic, "partitions")) sum += damaged_segments(partition);
  return sum;
}

void print_topic(const Console& console, const json::value& topic) {
  const json::value& options = value_field(topic, "options");
  const json::value& retention = value_field(options, "retention");
  const std::string keep =
      value_field(retention, "bytes").is_null() ? "everything" : format_bytes(number_or_zero(retention, "bytes")) + " per partition";
  const bool ages = !value_field(retention, "age_ms").is_null();
  const std::string keep_for = ages ? format_span(std::chrono::milliseconds(number_or_zero(retention, "age_ms"))) : "ever";
  console.print(describe({{"topic", text_field(topic, "name")},
                          {"incarnation", text_field(topic, "incarnation")},
                          {"fsync before acknowledgement", text_field(options, "enforce_fsync")},
                          {"segment size", format_bytes(number_or_zero(options, "segment_bytes"))},
                          {"keeps", keep},
                          {"for", keep_for},
                          {"waits for consumers", text_field(retention, "wait_for_consumers")}}));
  Table table({"PARTITION", "GROUP", "FIRST", "NEXT", "SIZE", "DAMAGED", "REFUSED"});
  for (const json::value& partition : array_field(topic, "partitions")) {
    table.add({text_field(partition, "partition"), text_field(partition, "group"), text_field(partition, "first_offset"),
               text_field(partition, "next_offset"), format_bytes(number_or_zero(partition, "size_bytes")),
               std::to_string(damaged_segments(partition)), text_field(partition, "refused")});
  }
  console.print("\n" + table.text());
  if (const std::string damage = damage_in(topic); !damage.empty()) {
    console.print("\ndamaged complete segments; `sluice explain log.scrub_damage` says what to do\n" + damage);
  }
}

}  // namespace

Result<ExitCode> topic_create(const Console& console, const ServerOptions& server, const TopicCreate& topic) {
  SLUICE_TRY(const Remote remote, Remote::find(server));
  json::object body;
  body["name"] = topic.name;
  if (topic.partitions) body["partitions"] = *topic.partitions;
  if (topic.no_fsync) body["enforce_fsync"] = false;
  if (topic.flush_interval_ms) body["flush_interval_ms"] = *topic.flush_interval_ms;
  if (topic.segment_bytes) body["segment_bytes"] = *topic.segment_bytes;
  if (topic.retention_bytes) body["retention_bytes"] = *topic.retention_bytes;
  if (topic.retention_age_ms) body["retention_age_ms"] = *topic.retention_age_ms;
  if (topic.wait_for_consumers) body["wait_for_consumers"] = true;
  if (topic.hard_bytes) body["hard_bytes"] = *topic.hard_bytes;
  SLUICE_TRY(const auto answer, remote.post("/api/v1/topics", body));
  if (console.json()) {
    console.print_json(answer);
  } else {
    console.print(fmt::format("created {} with {} partition(s)\n", text_field(answer, "name"), array_field(answer, "partitions").size()));
  }
  return ExitCode::kOk;
}

Result<ExitCode> topic_list(const Console& console, const ServerOptions& server) {
  SLUICE_TRY(const Remote remote, Remote::find(server));
  SLUICE_TRY(const auto answer, remote.get("/api/v1/topics"));
  if (console.json()) {
    console.print_json(answer);
    return ExitCode::kOk;
  }
  Table table({"TOPIC", "PARTITIONS", "RECORDS", "SIZE", "DAMAGED", "REFUSED"});
  for (const json::value& topic : array_field(answer, "topics")) {
    table.add({text_field(topic, "name"), std::to_string(array_field(topic, "partitions").size()), std::to_string(records_in(topic)),
               format_bytes(bytes_in(topic)), std::to_string(damaged_in(topic)), std::to_string(refused_in(topic))});
  }
  console.print(table.empty() ? "no topics\n" : table.text());
  return ExitCode::kOk;
}

Result<ExitCode> topic_describe(const Console& console, const ServerOptions& server, const std::string& topic) {
  SLUICE_TRY(const std::string target, topic_target(topic));
  SLUICE_TRY(const Remote remote, Remote::find(server));
  SLUICE_TRY(const auto answer, remote.get(target));
  if (console.json()) {
    console.print_json(answer);
  } else {
    print_topic(console, answer);
  }
  return ExitCode::kOk;
}

Result<ExitCode> topic_purge(const Console& console, const ServerOptions& server, const TopicPurge& purge) {
  SLUICE_TRY(const std::string target, topic_target(purge.name));
  SLUICE_TRY(const Remote remote, Remote::find(server));
  SLUICE_TRY(const auto topic, purge.carry_out ? remote.post(target + "/purge", json::object()) : remote.get(target));
  const std::uint64_t records = purge.carry_out ? number_or_zero(topic, "purged") : records_in(topic);
  if (console.json()) {
    json::object out;
    out["name"] = text_field(topic, "name");
    out["records"] = records;
    out["done"] = purge.carry_out;
    console.print_json(out);
  } else if (purge.carry_out) {
    console.print(fmt::format("purged {}: {} record(s) are gone, offsets go on\n", purge.name, records));
  } else {
    console.print(
        fmt::format("{} has {} record(s), {}; consumers that have not read them never will\n"
                    "  nothing was changed; --yes does it\n",
                    purge.name, records, format_bytes(bytes_in(topic))));
  }
  return ExitCode::kOk;
}

}  // namespace sluice::app
