// SPDX-License-Identifier: Apache-2.0
// Private to runtime/app: how cli.cpp and its two halves share the parser.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "runtime/app/console.hpp"
#include "runtime/app/remote.hpp"

namespace CLI {
class App;
}

namespace sluice::app {

// What the arguments say. Options write into it while they are parsed; the command chosen puts itself into `run`.
struct CommandLine {
  bool json = false;
  ServerOptions server;
  std::function<Result<ExitCode>(const Console&)> run;
  std::vector<std::shared_ptr<void>> storage;  // option values of all commands, alive as long as the parser

  template <typename T>
  T& make() {
    auto value = std::make_shared<T>();
    storage.push_back(value);
    return *value;
  }
};

void add_offline_commands(CLI::App& app, CommandLine& line);
void add_online_commands(CLI::App& app, CommandLine& line);

// --json, on every command.
void add_json_option(CLI::App& command, CommandLine& line);

}  // namespace sluice::app
