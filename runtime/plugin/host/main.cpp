// SPDX-License-Identifier: Apache-2.0
// sluice-plugin-host --probe FILE: loads a plugin where its death harms nobody and prints what it says of itself as one line of JSON.
// sluice-plugin-host --open FILE KIND CONNECTOR DEADLINE_MS: opens one of its connectors with the configuration on standard input, closes
// it, and prints what came of it.
// sluice-plugin-host --serve FILE MEMORY_BYTES: runs one of its connectors for the daemon, which has set up the descriptors
// (runtime/isolation). Exit codes: 0 = a line was printed, 64 = wrong usage; anything else, and every signal, is the plugin's doing.
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <sluice/abi/version.h>

#include "core/base/clock.hpp"
#include "runtime/isolation/serve.hpp"
#include "runtime/plugin/description_json.hpp"
#include "runtime/plugin/loaded_plugin.hpp"
#include "runtime/plugin/open_plugin.hpp"
#include "runtime/plugin/sink_instance.hpp"
#include "runtime/plugin/source_instance.hpp"
#include "runtime/plugin/trial.hpp"

namespace {

using sluice::plugin::LoadedPlugin;
using sluice::plugin::Outcome;
using sluice::plugin::PluginDescription;

constexpr int kUsageExit = 64;
constexpr rlim_t kCpuSecondsMax = 30;
constexpr rlim_t kMemoryBytesMax = 4ULL << 30;
constexpr rlim_t kFileBytesMax = 1u << 20;

void limit(__rlimit_resource_t resource, rlim_t value) {
  const rlimit wanted{value, value};
  ::setrlimit(resource, &wanted);
}

void follow_the_parent() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGPIPE, SIG_IGN);  // as in the daemon
  limit(RLIMIT_CORE, 0);
}

// A plugin that is only looked at must not fill the disk or the memory.
void limit_this_process() {
  limit(RLIMIT_CPU, kCpuSecondsMax);
  limit(RLIMIT_FSIZE, kFileBytesMax);
  // Writable memory, not addresses: some runtimes reserve terabytes of those. Sanitizers map their shadow writable.
  if (std::string_view(SLUICE_ABI_SANITIZER_TAG).empty()) limit(RLIMIT_DATA, kMemoryBytesMax);
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::string inspect(const std::filesystem::path& file) {
  auto opened = sluice::plugin::open_plugin(file, file.filename().string());
  const sluice::Result<PluginDescription> described =
      opened ? sluice::Result<PluginDescription>(std::move(opened->description)) : std::unexpected(opened.error());
  return sluice::plugin::to_json(described);
}

struct Trial {
  std::filesystem::path file;
  bool is_sink = false;
  std::string connector;
  std::chrono::milliseconds deadline{};
};

template <typename Instance, typename... State>
std::optional<Outcome> open_and_close(std::shared_ptr<LoadedPlugin> plugin, const Trial& trial, const std::string& config, State... state) {
  auto created = Instance::create(std::move(plugin), trial.connector, {.connector_key = "trial"});
  if (!created) return created.error();
  const sluice::plugin::CallOptions call{.attempt = 1, .deadline = sluice::system_clock().monotonic() + trial.deadline};
  auto opened = (*created)->open(config, state..., call);
  if (!opened) return opened.error();
  // What happens while it closes says nothing of the back end.
  std::ignore = (*created)->close(call);
  return std::nullopt;
}

std::string try_to_open(const Trial& trial) {
  const std::string config{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
  auto opened = sluice::plugin::open_plugin(trial.file, trial.file.filename().string());
  if (!opened) return sluice::plugin::trial_to_json(std::unexpected(opened.error()));
  auto plugin = std::make_shared<LoadedPlugin>(*std::move(opened));
  if (trial.is_sink) return sluice::plugin::trial_to_json(open_and_close<sluice::plugin::SinkInstance>(std::move(plugin), trial, config));
  const std::optional<sluice::plugin::SavedState> fresh;
  return sluice::plugin::trial_to_json(open_and_close<sluice::plugin::SourceInstance>(std::move(plugin), trial, config, fresh));
}

std::string answer_to(std::span<char*> words) {
  const std::string_view kind(words[0]);
  const std::filesystem::path file(words[1]);
  if (kind == "--probe") return inspect(file);
  return try_to_open({.file = file,
                      .is_sink = std::string_view(words[2]) == "sink",
                      .connector = words[3],
                      .deadline = std::chrono::milliseconds(std::strtoll(words[4], nullptr, 10))});
}

bool is_usage(std::span<char*> words) {
  if (words.empty()) return false;
  const std::string_view kind(words[0]);
  return (kind == "--probe" && words.size() == 2) || (kind == "--open" && words.size() == 5) || (kind == "--serve" && words.size() == 3);
}

}  // namespace

int main(int argc, char** argv) {
  const std::span<char*> words(argv + 1, static_cast<std::size_t>(std::max(argc - 1, 0)));
  if (!is_usage(words)) {
    fmt::print(stderr,
               "usage: sluice-plugin-host --probe FILE\n       sluice-plugin-host --open FILE sink|source CONNECTOR DEADLINE_MS\n"
               "       sluice-plugin-host --serve FILE MEMORY_BYTES\n");
    return kUsageExit;
  }
  follow_the_parent();
  // No destructors of the plugin at the end, here and below: they are not what was asked for, and may hang or crash.
  if (std::string_view(words[0]) == "--serve") std::_Exit(sluice::isolation::serve(words[1], std::strtoull(words[2], nullptr, 10)));
  limit_this_process();
  // What the plugin prints while it is loaded goes to standard error, not into the answer.
  const int answer = ::dup(STDOUT_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);

  const bool written = write_all(answer, answer_to(words) + "\n");
  std::_Exit(written ? EXIT_SUCCESS : EXIT_FAILURE);
}
