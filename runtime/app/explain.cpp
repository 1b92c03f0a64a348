// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include <fmt/format.h>
#include <boost/json.hpp>

#include "runtime/app/error_catalog.hpp"
#include "runtime/app/offline.hpp"
#include "runtime/app/table.hpp"
#include "runtime/app/version.hpp"

namespace sluice::app {

namespace json = boost::json;

namespace {

json::object error_json(const ErrorInfo& info) {
  json::object out;
  out["code"] = info.name;
  out["kind"] = to_string(info.kind);
  out["explanation"] = info.explanation;
  return out;
}

void list_errors(const Console& console) {
  json::array rows;
  Table table({"CODE", "KIND", "EXPLANATION"});
  for (const ErrorInfo* info : error_catalog()) {
    rows.push_back(error_json(*info));
    table.add({std::string(info->name), std::string(to_string(info->kind)), std::string(info->explanation)});
  }
  if (!console.json()) return console.print(table.text());
  json::object out;
  out["errors"] = std::move(rows);
  console.print_json(out);
}

}  // namespace

Result<ExitCode> explain(const Console& console, const std::string& code) {
  if (code.empty()) {
    list_errors(console);
    return ExitCode::kOk;
  }
  const ErrorInfo* info = find_error(code);
  if (info == nullptr) {
    return fail(Errc::kNotFound,
                fmt::format("there is no error code '{}'; did you mean '{}'? `sluice explain` lists all", code, nearest_error(code)));
  }
  if (console.json()) {
    console.print_json(error_json(*info));
  } else {
    console.print(fmt::format("{} ({})\n{}\n", info->name, to_string(info->kind), info->explanation));
  }
  return ExitCode::kOk;
}

Result<ExitCode> show_version(const Console& console) {
  if (!console.json()) {
    console.print(fmt::format("sluice {}\n", version()));
    return ExitCode::kOk;
  }
  json::object out;
  out["version"] = version();
  out["compiler"] = compiler();
  out["sanitizers"] = sanitizers();
  console.print_json(out);
  return ExitCode::kOk;
}

}  // namespace sluice::app
