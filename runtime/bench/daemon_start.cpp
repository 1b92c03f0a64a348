// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/daemon_start.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <string>

#include <fmt/format.h>

extern char** environ;

namespace sluice::bench {
namespace {

using namespace std::chrono_literals;

constexpr auto kReadyDeadline = 20s;
constexpr int kConnectors = 10;
constexpr std::string_view kReadyRequest = "GET /ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

// A child process that is terminated and reaped when it goes out of scope.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

void write_configuration(const std::filesystem::path& directory, const std::vector<std::filesystem::path>& plugin_path) {
  std::filesystem::create_directories(directory / "connectors.d");
  std::string places;
  for (const auto& place : plugin_path) places += fmt::format("{}\"{}\"", places.empty() ? "" : ", ", place.string());
  std::ofstream(directory / "sluice.toml") << fmt::format(
      "data_dir = \"data\"\nconnectors_dir = \"connectors.d\"\n[http]\naddress = \"127.0.0.1:0\"\n[plugins]\npath = [{}]\n", places);
  for (int i = 0; i < kConnectors; ++i) {
    const bool is_source = i % 2 == 0;
    const std::string key = fmt::format("idle_{}{}", is_source ? "in" : "out", i);
    std::ofstream(directory / "connectors.d" / (key + ".toml")) << fmt::format(
        "key = \"{}\"\ntype = \"{}\"\nplugin = \"{}\"\n[[streams]]\nstream = \"bench\"\ntopic = \"idle{}\"\n{}", key,
        is_source ? "source" : "sink", is_source ? "random_source" : "null_sink", i / 2, is_source ? "[plugin_config]\ncount = 1\n" : "");
  }
}

Result<pid_t> spawn_daemon(const std::filesystem::path& program, const std::filesystem::path& directory) {
  const std::string config = (directory / "sluice.toml").string();
  const std::string log = (directory / "daemon.log").string();
  std::array<const char*, 5> arguments{program.c_str(), "run", "--config", config.c_str(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, program.c_str(), &actions, nullptr, const_cast<char* const*>(arguments.data()), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return fail(errno_error(error, fmt::format("start {}", program.string())));
  return pid;
}

// Asks once; false if the daemon does not listen yet or is not ready.
bool ready(const std::filesystem::path& port_file) {
  int port = 0;
  std::ifstream(port_file) >> port;
  if (port <= 0 || port > 65535) return false;
  const int connection = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::array<char, 16> answer{};
  bool is_ready = false;
  if (::connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
      ::send(connection, kReadyRequest.data(), kReadyRequest.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(kReadyRequest.size()) &&
      ::recv(connection, answer.data(), answer.size(), MSG_WAITALL) > 0) {
    is_ready = std::string_view(answer.data(), 12) == "HTTP/1.1 200";
  }
  ::close(connection);
  return is_ready;
}

double resident_mib(pid_t pid) {
  std::ifstream statm(fmt::format("/proc/{}/statm", pid));
  double total_pages = 0;
  double resident_pages = 0;
  statm >> total_pages >> resident_pages;
  return resident_pages * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1024.0 * 1024.0);
}

}  // namespace

Result<DaemonStart> measure_daemon_start(const std::filesystem::path& program, const std::filesystem::path& directory,
                                         const std::vector<std::filesystem::path>& plugin_path) {
  write_configuration(directory, plugin_path);
  const auto begin = std::chrono::steady_clock::now();
  SLUICE_TRY(const pid_t pid, spawn_daemon(program, directory));
  const Child child(pid);
  while (!ready(directory / "data" / "http.port")) {
    if (std::chrono::steady_clock::now() - begin > kReadyDeadline) {
      return fail(Errc::kTimeout, fmt::format("the daemon was not ready within 20 s; see {}", (directory / "daemon.log").string()));
    }
    ::poll(nullptr, 0, 1);
  }
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - begin;
  return DaemonStart{.ready_ms = elapsed.count(), .idle_rss_mib = resident_mib(child.pid())};
}

}  // namespace sluice::bench
