// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <utility>

#include <CLI/CLI.hpp>

#include "runtime/app/cli_commands.hpp"
#include "runtime/app/online.hpp"

namespace sluice::app {

namespace {

CLI::App* add_remote_command(CLI::App& parent, CommandLine& line, const std::string& name, const std::string& help,
                             std::function<Result<ExitCode>(const Console&)> run) {
  CLI::App* command = parent.add_subcommand(name, help);
  add_json_option(*command, line);
  CLI::Option* server = command->add_option("--server", line.server.server, "http://127.0.0.1:PORT or unix:/PATH of a daemon");
  command->add_option("--config", line.server.config, "Else the [http] of this file")->capture_default_str()->excludes(server);
  command->callback([&line, run = std::move(run)] { line.run = run; });
  return command;
}

CLI::App& add_group(CLI::App& app, const std::string& name, const std::string& help) {
  CLI::App* group = app.add_subcommand(name, help);
  group->require_subcommand(1);
  return *group;
}

void add_topic_commands(CLI::App& app, CommandLine& line) {
  CLI::App& group = add_group(app, "topic", "Topics of the log");
  auto& create = line.make<TopicCreate>();
  CLI::App* command =
      add_remote_command(group, line, "create", "Make a topic", [&](const Console& c) { return topic_create(c, line.server, create); });
  command->add_option("TOPIC", create.name, "stream/topic")->required();
  command->add_option("--partitions", create.partitions, "1 to 4096; default 1");
  command->add_flag("--no-fsync", create.no_fsync, "Acknowledge before the disk has it");
  command->add_option("--flush-interval-ms", create.flush_interval_ms, "With --no-fsync: how often the disk gets it");
  command->add_option("--segment-bytes", create.segment_bytes, "Size of a log file");
  command->add_option("--retention-bytes", create.retention_bytes, "Keep at most this much per partition; default everything");
  command->add_option("--retention-age-ms", create.retention_age_ms, "Keep nothing that is older; default however old it gets");
  command->add_flag("--wait-for-consumers", create.wait_for_consumers, "Never remove what a sink has not committed");
  command->add_option("--hard-bytes", create.hard_bytes, "Unless the partition is beyond this");
  add_remote_command(group, line, "list", "All topics", [&](const Console& c) { return topic_list(c, line.server); });
  auto& name = line.make<std::string>();
  add_remote_command(group, line, "describe", "Options and partitions of a topic",
                     [&](const Console& c) { return topic_describe(c, line.server, name); })
      ->add_option("TOPIC", name, "stream/topic")
      ->required();
  auto& purge = line.make<TopicPurge>();
  command = add_remote_command(group, line, "purge", "Remove every record of a topic; shows what would go unless --yes is given",
                               [&](const Console& c) { return topic_purge(c, line.server, purge); });
  command->add_option("TOPIC", purge.name, "stream/topic")->required();
  command->add_flag("--yes", purge.carry_out, "Do it");
}

void add_record_commands(CLI::App& app, CommandLine& line) {
  auto& out = line.make<Produce>();
  CLI::App* command = add_remote_command(app, line, "produce", "Append records, one JSON object a line",
                                         [&](const Console& c) { return produce(c, line.server, out); });
  command->add_option("TOPIC", out.topic, "stream/topic")->required();
  command->add_option("FILE", out.file, "File of records; - for standard input")->capture_default_str();
  CLI::Option* lines = command->add_flag("--lines", out.lines, "Each line is a payload as it is, not JSON");
  command->add_option("--key", out.key, "Key of every record")->needs(lines);
  command->add_option("--partition", out.partition, "Partition of records that name none");

  auto& in = line.make<Consume>();
  command = add_remote_command(app, line, "consume", "Print records, one JSON object a line",
                               [&](const Console& c) { return consume(c, line.server, in); });
  command->add_option("TOPIC", in.topic, "stream/topic")->required();
  command->add_option("--partition", in.partition, "Only this one; default all, one after the other");
  CLI::Option* offset = command->add_option("--offset", in.offset, "A number, earliest (default) or latest");
  command->add_option("--time", in.time, "From the first record at or after this RFC 3339 time")->excludes(offset);
  command->add_option("--limit", in.limit, "Stop after this many records");
  command->add_flag("--follow", in.follow, "Go on waiting for new records at the end");
}

void add_connector_commands(CLI::App& app, CommandLine& line) {
  CLI::App& group = add_group(app, "connector", "Connectors of the daemon");
  add_remote_command(group, line, "list", "All connectors, with state and lag",
                     [&](const Console& c) { return connector_list(c, line.server); });
  auto& key = line.make<std::string>();
  const auto add_for_key = [&](CLI::App& parent, const std::string& name, const std::string& help,
                               std::function<Result<ExitCode>(const Console&)> run) {
    add_remote_command(parent, line, name, help, std::move(run))->add_option("KEY", key, "The connector's key")->required();
  };
  add_for_key(group, "status", "Everything a connector says of itself",
              [&](const Console& c) { return connector_status(c, line.server, key); });
  add_for_key(group, "why", "Why it does not go on, since when, and what to do",
              [&](const Console& c) { return connector_why(c, line.server, key); });
  add_for_key(app, "why", "The same as connector why", [&](const Console& c) { return connector_why(c, line.server, key); });
  for (const char* action : {"pause", "resume", "restart"}) {
    const std::string help = std::string(action) == "pause"    ? "Stop it and keep it stopped, also after a restart of the daemon"
                             : std::string(action) == "resume" ? "Go on where it was paused"
                                                               : "Stop it and start it again; takes a rebuilt plugin";
    add_for_key(group, action, help, [&line, &key, action](const Console& c) { return connector_action(c, line.server, key, action); });
  }
  add_for_key(group, "audit", "Count the log again and compare it with what was committed",
              [&](const Console& c) { return connector_audit(c, line.server, key); });
  add_for_key(add_group(app, "state", "What sources remember"), "show", "The state a source has stored in the log",
              [&](const Console& c) { return state_show(c, line.server, key); });
}

void add_dead_letter_commands(CLI::App& app, CommandLine& line) {
  CLI::App& group = add_group(app, "dlq", "Dead letters: records that could not be delivered");
  auto& list = line.make<DeadLetterList>();
  CLI::App* command = add_remote_command(group, line, "list", "The dead letters of a connector",
                                         [&](const Console& c) { return dead_letter_list(c, line.server, list); });
  command->add_option("KEY", list.connector, "The connector's key")->required();
  command->add_option("--offset", list.offset, "From this one on");
  command->add_option("--limit", list.limit, "At most this many; default 100");

  auto& key = line.make<std::string>();
  auto& offset = line.make<std::uint64_t>();
  command = add_remote_command(group, line, "show", "One dead letter with its whole record",
                               [&](const Console& c) { return dead_letter_show(c, line.server, key, offset); });
  command->add_option("KEY", key, "The connector's key")->required();
  command->add_option("OFFSET", offset, "As dlq list shows it")->required();

  auto& only = line.make<std::optional<std::uint64_t>>();
  command = add_remote_command(group, line, "retry", "Hand dead letters to their connector again",
                               [&](const Console& c) { return dead_letter_retry(c, line.server, key, only); });
  command->add_option("KEY", key, "The connector's key")->required();
  command->add_option("--offset", only, "Only this one; default all");
}

}  // namespace

void add_online_commands(CLI::App& app, CommandLine& line) {
  add_topic_commands(app, line);
  add_record_commands(app, line);
  add_connector_commands(app, line);
  add_dead_letter_commands(app, line);
}

}  // namespace sluice::app
