// SPDX-License-Identifier: Apache-2.0
#include "runtime/app/cli.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "runtime/app/cli_commands.hpp"

namespace sluice::app {

namespace {

constexpr const char* kExitCodes =
    "Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 drained with an abandoned connector, 4 no daemon, 5 configuration invalid,\n"
    "6 acknowledged data could not be kept, 7 data directory in use. docs/reference/cli.md has the rest.";

ExitCode run_chosen(const CommandLine& line) {
  const Console console(line.json);
  try {
    Result<ExitCode> outcome = line.run(console);
    ExitCode code = outcome ? *outcome : console.report(outcome.error());
    if (!flush_output()) {
      console.warn("error: what was printed did not get out; is the disk full?");
      if (code == ExitCode::kOk) code = ExitCode::kFailure;
    }
    return code;
  } catch (const std::exception& e) {
    return console.report(Error(Errc::kInternal, fmt::format("unexpected: {}", e.what())));
  }
}

}  // namespace

void add_json_option(CLI::App& command, CommandLine& line) {
  command.add_flag("--json", line.json, "Print JSON instead of tables");
}

int run_command_line(int argc, char** argv) {
  CommandLine line;
  CLI::App app("Moves records between systems through a durable log of its own.", "sluice");
  app.require_subcommand(1);
  app.footer(kExitCodes);
  add_offline_commands(app, line);
  add_online_commands(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? static_cast<int>(ExitCode::kOk) : static_cast<int>(ExitCode::kUsage);  // prints help or the fault
  }
  return static_cast<int>(run_chosen(line));
}

}  // namespace sluice::app
