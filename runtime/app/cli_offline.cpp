// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "runtime/app/cli_commands.hpp"
#include "runtime/app/daemon.hpp"
#include "runtime/app/offline.hpp"

namespace sluice::app {

namespace {

constexpr const char* kConfigHelp = "The daemon's configuration file";

CLI::App* add_command(CLI::App& parent, CommandLine& line, const std::string& name, const std::string& help,
                      std::function<Result<ExitCode>(const Console&)> run) {
  CLI::App* command = parent.add_subcommand(name, help);
  add_json_option(*command, line);
  command->callback([&line, run = std::move(run)] { line.run = run; });
  return command;
}

void add_daemon_commands(CLI::App& app, CommandLine& line) {
  auto& run = line.make<RunOptions>();
  CLI::App* command = add_command(app, line, "run", "Run the daemon in the foreground until SIGTERM",
                                  [&run](const Console& console) -> Result<ExitCode> { run_daemon(console, run); });
  command->add_option("--config", run.config, kConfigHelp)->capture_default_str();
  command->add_option("--pid-file", run.pid_file, "Write the process id here; removed at the end");

  auto& config = line.make<std::filesystem::path>();
  config = "sluice.toml";
  add_command(app, line, "check", "Check all configuration; starts nothing",
              [&config](const Console& console) { return check(console, config); })
      ->add_option("--config", config, kConfigHelp)
      ->capture_default_str();
  add_command(app, line, "doctor", "Check the machine and every connector's way to its back end",
              [&config](const Console& console) { return doctor(console, config); })
      ->add_option("--config", config, kConfigHelp)
      ->capture_default_str();
}

void add_plugin_commands(CLI::App& app, CommandLine& line) {
  CLI::App* group = app.add_subcommand("plugin", "Look at plugins");
  group->require_subcommand(1);
  auto& places = line.make<PluginPlaces>();
  auto& name = line.make<std::string>();
  const auto add_places = [&places](CLI::App* command) {
    command->add_option("--plugin-path", places.search, "Search this folder first; may be repeated");
    command->add_option("--config", places.config, kConfigHelp)->capture_default_str()->each([&places](const std::string&) {
      places.config_given = true;
    });
  };
  add_places(add_command(*group, line, "list", "Every plugin that is found, and what is wrong with it",
                         [&places](const Console& console) { return plugin_list(console, places); }));
  CLI::App* inspect = add_command(*group, line, "inspect", "Connectors and configuration keys of a plugin",
                                  [&places, &name](const Console& console) { return plugin_inspect(console, places, name); });
  inspect->add_option("PLUGIN", name, "An id, or the path of a file")->required();
  add_places(inspect);
}

void add_new_commands(CLI::App& app, CommandLine& line) {
  CLI::App* group = app.add_subcommand("new", "Begin a connector of your own: a folder that builds, with tests, without a back end");
  group->require_subcommand(1);
  for (const char* kind : {"sink", "source"}) {
    auto& wanted = line.make<NewConnector>();
    wanted.kind = kind;
    CLI::App* command = add_command(*group, line, kind, fmt::format("A folder NAME with a {}", kind),
                                    [&wanted](const Console& console) { return new_connector(console, wanted); });
    command->add_option("NAME", wanted.name, "Lower-case words with underscores, for example acme_events")->required();
    command->add_option("--dir", wanted.dir, "Where the folder is made")->capture_default_str();
  }
}

void add_other_commands(CLI::App& app, CommandLine& line) {
  auto& path = line.make<std::filesystem::path>();
  auto& judging = line.make<LogJudging>();
  CLI::App* log = app.add_subcommand("log", "Look at log files; the daemon must not run on them");
  log->require_subcommand(1);
  add_command(*log, line, "dump", "Every entry of a segment, a group or a data directory",
              [&path](const Console& console) { return log_dump(console, path); })
      ->add_option("PATH", path, "A data directory, a group's directory or a segment file")
      ->required();
  CLI::App* verify = add_command(*log, line, "verify", "What a start would do with each log, and why; changes nothing",
                                 [&judging](const Console& console) { return log_verify(console, judging); });
  verify->add_option("PATH", judging.path, "A data directory, or a group's directory in one")->required();
  verify->add_flag("--tail", judging.by_seals, "As a start with recovery.verify = \"tail\": believe the seals of complete segments");
  CLI::App* repair =
      add_command(*log, line, "repair", "Make a refused log one that is served; shows what it would do unless --yes is given",
                  [&judging](const Console& console) { return log_repair(console, judging); });
  repair->add_option("PATH", judging.path, "The group's directory, as `log verify` prints it")->required();
  repair->add_flag("--yes", judging.carry_out, "Do it");
  for (CLI::App* command : {verify, repair}) {
    command->add_option("--runtime-dir", judging.runtime_dir, "The daemon's runtime_dir, if it is not in the default place");
  }

  auto& code = line.make<std::string>();
  add_command(app, line, "explain", "What an error code means and what to do", [&code](const Console& console) {
    return explain(console, code);
  })->add_option("CODE", code, "For example log.fenced; without it, all of them");

  auto& options = line.make<BenchOptions>();
  CLI::App* bench = app.add_subcommand("bench", "Measure this build on this machine");
  bench->require_subcommand(1);
  CLI::App* pipe = add_command(*bench, line, "pipe", "A record's whole way beside its floors: pipelines, ABI, HTTP, start, memory",
                               [&options](const Console& console) { return bench_pipe(console, options); });
  pipe->add_option("--plugin-path", options.places.search, "Search this folder first; may be repeated");
  CLI::App* log_alone = add_command(*bench, line, "log", "The partition log alone beside its floors: appends, flushes, polls, recovery",
                                    [&options](const Console& console) { return bench_log(console, options); });
  log_alone->add_option("--seed", options.seed, "The order of the cases; random unless given");
  log_alone->add_option("--only", options.only, "The cases with this text in their names");
  CLI::App* scale = add_command(*bench, line, "scale", "Memory and reads of ten thousand idle partitions, and of one of 100 GiB",
                                [&options](const Console& console) { return bench_scale(console, options); });
  for (CLI::App* command : {pipe, log_alone, scale}) {
    command->add_option("--scratch", options.scratch, "Where logs are written and removed again")->capture_default_str();
  }
  for (CLI::App* command : {pipe, log_alone}) {
    command->add_option("--scale", options.scale, "Multiplies the number of records")
        ->check(CLI::Range(0.01, 100.0))
        ->capture_default_str();
  }

  add_command(app, line, "version", "The version", [](const Console& console) { return show_version(console); });
}

}  // namespace

void add_offline_commands(CLI::App& app, CommandLine& line) {
  add_daemon_commands(app, line);
  add_plugin_commands(app, line);
  add_new_commands(app, line);
  add_other_commands(app, line);
}

}  // namespace sluice::app
