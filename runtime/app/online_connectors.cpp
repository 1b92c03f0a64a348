// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "runtime/app/json_text.hpp"
#include "runtime/app/online.hpp"
#include "runtime/app/table.hpp"

namespace sluice::app {

namespace json = boost::json;

namespace {

constexpr std::size_t kErrorColumns = 80;
constexpr std::chrono::hours kAuditTimeout{24};  // it reads the whole log; who has waited enough can interrupt it

std::string problem_line(const json::value& problem) {
  if (!problem.is_object()) return "-";
  std::string out = fmt::format("{} ({}, {}", text_field(problem, "text"), text_field(problem, "class"), text_field(problem, "scope"));
  if (!value_field(problem, "http_status").is_null()) out += ", status " + text_field(problem, "http_status");
  return out + ")";
}

void print_why(const Console& console, const json::value& why) {
  console.print(fmt::format("{} ({}) is {} for {}, since {}\n", text_field(why, "key"), text_field(why, "type"), text_field(why, "state"),
                            span_field(why, "state_seconds"), text_field(why, "since")));
  std::vector<std::pair<std::string, std::string>> fields;
  const json::value& problem = value_field(why, "last_error");
  fields.emplace_back("last error", problem_line(problem));
  if (problem.is_object()) fields.emplace_back("at", text_field(problem, "at"));
  if (!value_field(why, "next_retry_at").is_null()) fields.emplace_back("next retry", text_field(why, "next_retry_at"));
  fields.emplace_back("last success", text_field(why, "last_success_at"));
  console.print(describe(fields));
  Table table({"TOPIC", "PARTITION", "HEAD", "BEHIND", "WAITING", "ATTEMPTS", "NEXT RETRY", "ERROR"});
  for (const json::value& row : array_field(why, "waiting")) {
    table.add({text_field(row, "topic"), text_field(row, "partition"), text_field(row, "head_offset"), text_field(row, "lag_records"),
               span_field(row, "waiting_seconds"), text_field(row, "attempts"), text_field(row, "next_retry_at"),
               problem_line(value_field(row, "problem"))});
  }
  console.print(table.empty() ? "nothing waits\n" : "\n" + table.text());
  const std::string hint = text_field(why, "hint");
  if (!hint.empty() && hint != "-") console.print("\nwhat to do: " + hint + "\n");
}

void print_partitions(const Console& console, const json::value& status) {
  Table table(
      {"TOPIC", "PARTITION", "COMMITTED", "END", "IN", "DELIVERED", "FILTERED", "SKIPPED", "DEAD", "EXPIRED", "GAP", "PENDING", "LAG"});
  for (const json::value& row : array_field(status, "partitions")) {
    const json::value& sums = value_field(row, "accounting");
    table.add({text_field(row, "topic"), text_field(row, "partition"), text_field(row, "committed_next"), text_field(row, "high_watermark"),
               text_field(row, "in"), text_field(sums, "delivered"), text_field(sums, "filtered"), text_field(sums, "skipped"),
               text_field(sums, "dead_lettered"), text_field(sums, "expired"), text_field(sums, "gap"), text_field(row, "pending"),
               span_field(row, "lag_seconds")});
  }
  if (!table.empty()) console.print("\n" + table.text());
}

void print_status(const Console& console, const json::value& status) {
  std::vector<std::pair<std::string, std::string>> fields{
      {"connector", text_field(status, "key")},
      {"type", text_field(status, "type")},
      {"plugin", text_field(status, "plugin") + " " + text_field(status, "plugin_version")},
      {"state", text_field(status, "state") + " since " + text_field(status, "since")},
      {"last error", problem_line(value_field(status, "last_error"))},
      {"last success", text_field(status, "last_success_at")},
      {"retries", text_field(status, "retries")},
      {"restarts", text_field(status, "restarts")},
      {"possible duplicates", text_field(status, "possible_duplicates")},
      {"queue", text_field(status, "queue_records") + " records, " + format_bytes(number_or_zero(status, "queue_bytes"))},
  };
  const json::value& source = value_field(status, "source");
  if (source.is_object()) {
    for (const char* name : {"in", "appended", "filtered", "skipped", "dead_lettered", "state_sequence"})
      fields.emplace_back(name, text_field(source, name));
  }
  for (const auto& metric :
       value_field(status, "plugin_metrics").is_object() ? value_field(status, "plugin_metrics").get_object() : json::object()) {
    fields.emplace_back("plugin: " + std::string(metric.key()), json::serialize(metric.value()));
  }
  console.print(describe(fields));
  print_partitions(console, status);
  // An error that is over needs nothing done.
  const json::value& error = value_field(status, "last_error");
  const std::string hint = error.is_object() && text_field(status, "state") != "running" ? text_field(error, "hint") : "";
  if (!hint.empty()) console.print("\nwhat to do: " + hint + "\n");
}

Result<ExitCode> show(const Console& console, const ServerOptions& server, const std::string& target,
                      void (*print)(const Console&, const json::value&)) {
  SLUICE_TRY(const Remote remote, Remote::find(server));
  SLUICE_TRY(const auto answer, remote.get(target));
  if (console.json()) {
    console.print_json(answer);
  } else {
    print(console, answer);
  }
  return ExitCode::kOk;
}

void print_list(const Console& console, const json::value& answer) {
  Table table({"CONNECTOR", "TYPE", "PLUGIN", "STATE", "IN", "OUT", "DEAD", "LAG", "BEHIND", "RETRIES", "LAST ERROR"});
  for (const json::value& row : array_field(answer, "connectors")) {
    const json::value& problem = value_field(row, "last_error");
    table.add({text_field(row, "key"), text_field(row, "type"), text_field(row, "plugin"), text_field(row, "state"), text_field(row, "in"),
               text_field(row, "out"), text_field(row, "dead_lettered"), text_field(row, "lag_records"), span_field(row, "lag_seconds"),
               text_field(row, "retries"), problem.is_object() ? shorten(text_field(problem, "text"), kErrorColumns) : "-"});
  }
  console.print(table.empty() ? "no connectors\n" : table.text());
}

void print_state(const Console& console, const json::value& answer) {
  const json::value& state = value_field(answer, "state");
  if (!state.is_object()) {
    console.print(fmt::format("{} has not stored any state\n", text_field(answer, "connector")));
    return;
  }
  const bool is_text = !value_field(state, "bytes").is_null();
  console.print(describe({{"connector", text_field(answer, "connector")},
                          {"state version", text_field(state, "state_version")},
                          {"written by", text_field(state, "writer_version")},
                          {"sequence", text_field(state, "sequence")},
                          {"records in", text_field(state, "in")},
                          {"size", format_bytes(number_or_zero(state, "size_bytes"))},
                          {is_text ? "state" : "state (base64)", text_field(state, is_text ? "bytes" : "bytes_base64")}}));
}

void print_audit(const Console& console, const json::value& answer) {
  Table table({"TOPIC", "PARTITION", "START", "COMMITTED", "SUM", "RECORDS", "GAPS", "TRIMMED", "DEAD FOUND", "FINDING"});
  for (const json::value& row : array_field(answer, "partitions")) {
    const std::string finding = text_field(row, "finding");
    table.add({text_field(row, "topic"), text_field(row, "partition"), text_field(row, "start_offset"), text_field(row, "committed_next"),
               text_field(row, "committed_sum"), text_field(row, "log_records"), text_field(row, "log_gaps"),
               text_field(row, "log_trimmed"), text_field(row, "dead_letters_found"), finding.empty() ? "consistent" : finding});
  }
  console.print(table.empty() ? "nothing to audit: no partition has been assigned\n" : table.text());
}

}  // namespace

Result<ExitCode> connector_list(const Console& console, const ServerOptions& server) {
  return show(console, server, "/api/v1/connectors", print_list);
}

Result<ExitCode> connector_status(const Console& console, const ServerOptions& server, const std::string& key) {
  return show(console, server, connector_target(key), print_status);
}

Result<ExitCode> connector_why(const Console& console, const ServerOptions& server, const std::string& key) {
  return show(console, server, connector_target(key) + "/why", print_why);
}

Result<ExitCode> state_show(const Console& console, const ServerOptions& server, const std::string& key) {
  return show(console, server, connector_target(key) + "/state", print_state);
}

Result<ExitCode> connector_action(const Console& console, const ServerOptions& server, const std::string& key, const std::string& action) {
  SLUICE_TRY(const Remote remote, Remote::find(server));
  SLUICE_TRY(const auto answer, remote.post(connector_target(key) + "/" + action, json::object()));
  if (console.json()) {
    console.print_json(answer);
  } else {
    console.print(fmt::format("{}: {} requested, state now: {}\n", key, action, text_field(answer, "state")));
  }
  return ExitCode::kOk;
}

Result<ExitCode> connector_audit(const Console& console, const ServerOptions& server, const std::string& key) {
  SLUICE_TRY(const Remote remote, Remote::find(server));
  SLUICE_TRY(const auto answer, remote.get(connector_target(key) + "/audit", kAuditTimeout));
  if (console.json()) {
    console.print_json(answer);
  } else {
    print_audit(console, answer);
  }
  return text_field(answer, "consistent") == "true" ? ExitCode::kOk : ExitCode::kFailure;
}

}  // namespace sluice::app
