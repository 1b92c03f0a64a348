// SPDX-License-Identifier: Apache-2.0
// sluice-plugin-host --probe FILE: loads a plugin where its death harms nobody and prints what it says of itself as one line of JSON.
// Exit codes: 0 = a line was printed, 64 = wrong usage; anything else, and every signal, is the plugin's doing.
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <sluice/abi/version.h>

#include "runtime/plugin/description_json.hpp"
#include "runtime/plugin/open_plugin.hpp"

namespace {

constexpr int kUsageExit = 64;
constexpr rlim_t kCpuSecondsMax = 30;
constexpr rlim_t kMemoryBytesMax = 4ULL << 30;
constexpr rlim_t kFileBytesMax = 1u << 20;

void limit(__rlimit_resource_t resource, rlim_t value) {
  const rlimit wanted{value, value};
  ::setrlimit(resource, &wanted);
}

// A plugin that runs wild here must not fill the disk or the memory, nor outlive its parent.
void limit_this_process() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  limit(RLIMIT_CORE, 0);
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

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 || std::string_view(argv[1]) != "--probe") {
    fmt::print(stderr, "usage: sluice-plugin-host --probe FILE\n");
    return kUsageExit;
  }
  limit_this_process();
  // What the plugin prints while it is loaded goes to standard error, not into the answer.
  const int answer = ::dup(STDOUT_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);

  const std::filesystem::path file(argv[2]);
  auto opened = sluice::plugin::open_plugin(file, file.filename().string());
  const sluice::Result<sluice::plugin::PluginDescription> described =
      opened ? sluice::Result<sluice::plugin::PluginDescription>(std::move(opened->description)) : std::unexpected(opened.error());
  const bool written = write_all(answer, sluice::plugin::to_json(described) + "\n");
  // No destructors of the plugin: they are not what was asked for, and may hang or crash.
  std::_Exit(written ? EXIT_SUCCESS : EXIT_FAILURE);
}
