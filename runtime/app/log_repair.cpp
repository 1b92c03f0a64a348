// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <boost/json.hpp>

#include "core/log/repair.hpp"
#include "core/storage/posix_storage.hpp"
#include "runtime/app/log_place.hpp"
#include "runtime/app/offline.hpp"

namespace sluice::app {

namespace json = boost::json;

namespace {

std::string to_text(const std::string& directory, const log::RepairPlan& plan, bool done) {
  std::string out = fmt::format("{}\n", directory);
  if (!plan.refusal) return out + "  a start accepts it: there is nothing to repair\n";
  out += fmt::format("  refused: {} [{}]\n", plan.refusal->message(), plan.refusal->code());
  for (const std::string& step : plan.steps) out += fmt::format("  {}: {}\n", done ? "done" : "would do", step);
  return out + (done ? "  the next start serves what is left; the file `repairs` has this list\n"
                     : "  nothing was changed; --yes does it. What is taken out stays in the directory as *.cut-<n>\n");
}

json::object to_json(const std::string& directory, const log::RepairPlan& plan, bool done) {
  json::object out;
  out["directory"] = directory;
  out["refusal"] =
      plan.refusal ? json::value(json::object{{"code", plan.refusal->code()}, {"message", plan.refusal->message()}}) : json::value();
  json::array steps;
  for (const std::string& step : plan.steps) steps.emplace_back(step);
  out["steps"] = std::move(steps);
  out["done"] = done;
  if (plan.refusal && !plan.only_marker) {
    out["head_op"] = plan.head.op.value();
    out["next_offset"] = plan.head.next_offset.value();
    out["mint_from"] = plan.limit.offset.value();
  }
  return out;
}

}  // namespace

Result<ExitCode> log_repair(const Console& console, const LogJudging& judging) {
  SLUICE_TRY(const auto lock, lock_directory_of(judging.path));
  SLUICE_TRY(const LogsAt place, logs_at(judging.path, judging.runtime_dir));
  if (place.logs.size() != 1) {
    return fail(Errc::kInvalidArgument,
                fmt::format("{} holds several logs; name the directory of the one to repair, as `sluice log verify` prints it",
                            judging.path.string()));
  }
  const log::LogOptions& options = place.logs.front();
  SLUICE_TRY(const log::RepairPlan plan, log::plan_repair(storage::posix_storage(), options));
  const bool done = judging.carry_out && plan.refusal;
  if (done) SLUICE_CHECK(log::carry_out(storage::posix_storage(), options, plan));
  console.print(console.json() ? json::serialize(to_json(options.directory, plan, done)) + "\n" : to_text(options.directory, plan, done));
  return ExitCode::kOk;
}

}  // namespace sluice::app
