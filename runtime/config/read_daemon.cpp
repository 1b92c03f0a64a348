// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <fmt/format.h>

#include "runtime/base/files.hpp"
#include "runtime/config/bind.hpp"
#include "runtime/config/environment.hpp"
#include "runtime/config/judges.hpp"
#include "runtime/config/reading.hpp"
#include "runtime/config/references.hpp"
#include "runtime/config/schemas.hpp"
#include "runtime/config/toml_reader.hpp"
#include "runtime/config/validate.hpp"

namespace sluice::config {
namespace {

// Variables of connectors are laid over the connectors' own documents.
std::vector<EnvironmentVariable> daemon_variables(const Environment& environment) {
  std::vector<EnvironmentVariable> out = environment_variables(environment);
  std::erase_if(out, [](const EnvironmentVariable& variable) {
    return variable.segments.size() > 1 && equals_ignoring_case(variable.segments.front(), "connectors");
  });
  return out;
}

// A socket that nobody asked for is no reason not to start; the port serves all the same.
void check_socket(const DaemonConfig& config, const Tree& tree, std::vector<Finding>& findings) {
  const Tree* data_dir = tree.find("data_dir");
  const std::size_t size = config.http.socket.string().size();
  if (data_dir == nullptr || size <= kSocketPathBytesMax) return;
  const Tree* http = tree.find("http");
  const Tree* socket = http == nullptr ? nullptr : http->find("socket");
  findings.push_back(
      {.severity = socket != nullptr ? Severity::kError : Severity::kWarning,
       .origin = socket != nullptr ? socket->origin : data_dir->origin,
       .message = fmt::format("the Unix socket {} has {} bytes; the path of one can have {}{}: set `http.socket` to a shorter path",
                              config.http.socket.string(), size, kSocketPathBytesMax, socket != nullptr ? "" : ", so there will be none")});
}

}  // namespace

DaemonReading read_daemon(const std::filesystem::path& file, const Environment& environment) {
  DaemonReading out;
  const std::filesystem::path absolute = std::filesystem::absolute(file).lexically_normal();
  Origin origin;
  origin.file = absolute.string();
  const auto contents = files::read(absolute);
  if (!contents) {
    out.findings.push_back(error_at(origin, fmt::format("cannot be read: {}", contents.error().message())));
    out.config.file = absolute;
    return out;
  }
  auto parsed = parse_toml(*contents, absolute.string());
  if (!parsed) {
    out.findings.push_back(std::move(parsed).error());
    out.config.file = absolute;
    return out;
  }
  Tree tree = *std::move(parsed);
  out.was_read = true;
  overlay(tree, daemon_schema(), daemon_variables(environment), 0, out.findings);
  resolve_references(tree, environment, out.findings);
  validate(tree, daemon_schema(), "", out.findings);
  const Tree* written_defaults = tree.find("defaults");
  auto defaults = written_defaults == nullptr ? nullptr : std::make_shared<const Tree>(*written_defaults);
  fill_defaults(tree, daemon_schema());
  out.config = bind_daemon(tree, absolute);
  out.config.defaults = std::move(defaults);
  check_socket(out.config, tree, out.findings);
  return out;
}

}  // namespace sluice::config
