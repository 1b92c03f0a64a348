// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include <fmt/format.h>

#include "runtime/app/json_text.hpp"
#include "runtime/app/online.hpp"
#include "runtime/app/table.hpp"

namespace sluice::app {

namespace json = boost::json;

namespace {

constexpr std::size_t kReasonColumns = 60;

void print_dead_letters(const Console& console, const json::value& answer) {
  Table table({"OFFSET", "FAILED AT", "FROM", "CLASS", "CODE", "ATTEMPTS", "ERROR"});
  for (const json::value& row : array_field(answer, "dead_letters")) {
    const json::value& reason = value_field(row, "reason");
    const json::value& source = value_field(row, "source");
    table.add({text_field(row, "offset"), text_field(reason, "failed_at"),
               fmt::format("{}/{}@{}", text_field(source, "topic"), text_field(source, "partition"), text_field(source, "offset")),
               text_field(reason, "class"), text_field(reason, "code"), text_field(reason, "attempts"),
               shorten(text_field(reason, "text"), kReasonColumns)});
  }
  console.print(table.empty() ? "no dead letters\n" : table.text());
}

}  // namespace

Result<ExitCode> dead_letter_list(const Console& console, const ServerOptions& server, const DeadLetterList& options) {
  SLUICE_TRY(const Remote remote, Remote::find(server));
  std::string target = connector_target(options.connector) + fmt::format("/dead-letters?limit={}", options.limit.value_or(100));
  if (options.offset) target += fmt::format("&offset={}", *options.offset);
  SLUICE_TRY(const auto answer, remote.get(target));
  if (console.json()) {
    console.print_json(answer);
  } else {
    print_dead_letters(console, answer);
  }
  return ExitCode::kOk;
}

Result<ExitCode> dead_letter_show(const Console& console, const ServerOptions& server, const std::string& connector, std::uint64_t offset) {
  SLUICE_TRY(const Remote remote, Remote::find(server));
  SLUICE_TRY(const auto answer, remote.get(connector_target(connector) + fmt::format("/dead-letters/{}", offset)));
  console.print_json(answer);
  return ExitCode::kOk;
}

Result<ExitCode> dead_letter_retry(const Console& console, const ServerOptions& server, const std::string& connector,
                                   std::optional<std::uint64_t> only) {
  SLUICE_TRY(const Remote remote, Remote::find(server));
  json::object body;
  if (only) body["offset"] = *only;
  SLUICE_TRY(const auto answer, remote.post(connector_target(connector) + "/dead-letters/retry", body));
  if (console.json()) {
    console.print_json(answer);
  } else {
    console.print(fmt::format("{} dead letter(s) handed to {} again\n", text_field(answer, "taken"), connector));
  }
  return ExitCode::kOk;
}

}  // namespace sluice::app
