// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <fmt/format.h>
#include <boost/json.hpp>

#include "core/storage/file_lock.hpp"
#include "runtime/app/doctor_findings.hpp"
#include "runtime/app/offline.hpp"
#include "runtime/app/plugin_schemas.hpp"
#include "runtime/app/sync_probe.hpp"
#include "runtime/app/table.hpp"
#include "runtime/http/client.hpp"
#include "runtime/http/errc.hpp"
#include "runtime/http/server.hpp"

namespace sluice::app {

namespace json = boost::json;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kFilesWanted = 4096;
constexpr std::uint64_t kSpaceWanted = 1ULL << 30;
constexpr std::chrono::milliseconds kSlowSync{20};
constexpr std::chrono::milliseconds kHealthTimeout{2000};

std::string_view to_string(Verdict verdict) {
  return verdict == Verdict::kOk ? "ok" : verdict == Verdict::kWarning ? "warning" : "FAILED";
}

void check_limits(Findings& out) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    const bool enough = limit.rlim_max >= kFilesWanted;
    out.push_back({"open files", enough ? Verdict::kOk : Verdict::kWarning,
                   fmt::format("soft {}, hard {}{}", limit.rlim_cur, limit.rlim_max,
                               enough ? "; the daemon raises the soft limit to the hard one"
                                      : fmt::format("; raise the hard limit to {} or more", kFilesWanted))});
  }
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    out.push_back({"file size", Verdict::kWarning, fmt::format("files are limited to {}; remove the limit", format_bytes(limit.rlim_cur))});
  }
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  const auto memory = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  out.push_back({"machine", Verdict::kOk, fmt::format("{} core(s), {} of memory", cores, format_bytes(memory))});
}

// The directory itself, or the nearest one above it that exists: where the daemon would make it.
fs::path existing_ancestor(fs::path path) {
  std::error_code ignored;
  while (!fs::exists(path, ignored) && path.has_relative_path()) path = path.parent_path();
  return path;
}

// Answers whether the directory can be written to.
bool check_permissions(Findings& out, const fs::path& data_dir, const fs::path& place) {
  struct stat info{};
  if (stat(place.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    out.push_back({"data_dir", Verdict::kFailed, fmt::format("{} is not a directory", place.string())});
    return false;
  }
  if (access(place.c_str(), R_OK | W_OK | X_OK) != 0) {
    out.push_back(
        {"data_dir", Verdict::kFailed,
         fmt::format("user {} may not write to {} (owner {}, mode {:o})", geteuid(), place.string(), info.st_uid, info.st_mode & 07777U)});
    return false;
  }
  const bool open_to_all = place == data_dir && (info.st_mode & S_IWOTH) != 0;
  out.push_back({"data_dir", open_to_all ? Verdict::kWarning : Verdict::kOk,
                 fmt::format("{} {}, mode {:o}{}", data_dir.string(), place == data_dir ? "is writable" : "will be made",
                             info.st_mode & 07777U, open_to_all ? "; anybody may write to it: chmod o-w" : "")});
  return true;
}

void check_space(Findings& out, const fs::path& place) {
  struct statvfs info{};
  if (statvfs(place.c_str(), &info) != 0) {
    out.push_back({"space", Verdict::kFailed, errno_error(errno, "statvfs " + place.string()).message()});
    return;
  }
  const std::uint64_t free = static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize;
  const std::uint64_t total = static_cast<std::uint64_t>(info.f_blocks) * info.f_frsize;
  const bool tight = free < kSpaceWanted || free < total / 20;
  out.push_back({"space", tight ? Verdict::kWarning : Verdict::kOk,
                 fmt::format("{} free of {}{}", format_bytes(free), format_bytes(total),
                             tight ? "; records are refused when less than 64 MiB, or a sixteenth of it, is left" : "")});
}

void check_sync(Findings& out, const fs::path& place) {
  const auto measured = measure_sync(place);
  if (!measured) {
    out.push_back({"sync latency", Verdict::kFailed, error_line(measured.error())});
    return;
  }
  const auto ms = [](std::chrono::nanoseconds span) { return static_cast<double>(span.count()) / 1e6; };
  const bool slow = measured->p50 > kSlowSync;
  out.push_back({"sync latency", slow ? Verdict::kWarning : Verdict::kOk,
                 fmt::format("fdatasync of 4 KiB: p50 {:.2f} ms, p99 {:.2f} ms, max {:.2f} ms over {} writes{}", ms(measured->p50),
                             ms(measured->p99), ms(measured->max), measured->writes, slow ? "; every acknowledgement waits for one" : "")});
}

// The process that holds the data directory, if one does.
bool check_lock(Findings& out, const fs::path& data_dir) {
  std::error_code ignored;
  if (!fs::exists(data_dir / "LOCK", ignored)) return false;
  const auto lock = storage::FileLock::acquire((data_dir / "LOCK").string());
  out.push_back({"lock", Verdict::kOk, lock ? "free" : lock.error().message()});
  return !lock;
}

void check_port(Findings& out, const config::DaemonConfig& daemon, bool running) {
  auto server = http::Server::start({.address = daemon.http.address}, http::Router());
  if (server) {
    out.push_back({"port", Verdict::kOk, fmt::format("{} is free", daemon.http.address)});
    return;
  }
  if (running && server.error().is(http::Errc::kAddressInUse)) {
    const auto endpoint = http::parse_endpoint("http://" + daemon.http.address);
    const auto health =
        endpoint ? http::call(*endpoint, {.target = "/health", .timeout = kHealthTimeout}) : Result<http::Response>(fail(endpoint.error()));
    if (health && health->status == 200) {
      out.push_back({"port", Verdict::kOk, fmt::format("{} is answered by the running daemon", daemon.http.address)});
      return;
    }
  }
  out.push_back({"port", Verdict::kFailed, error_line(server.error())});
}

void check_plugins(Findings& out, plugin::PluginCatalog& plugins) {
  std::vector<std::string> usable;
  for (const auto& [file, outcome] : plugins.list()) {
    if (outcome) {
      usable.push_back(outcome->id);
    } else {
      out.push_back({"plugin", Verdict::kFailed, fmt::format("{}: {}", file.string(), error_line(outcome.error()))});
    }
  }
  out.push_back(
      {"plugins", usable.empty() ? Verdict::kWarning : Verdict::kOk,
       usable.empty() ? "none found; name their folder in [plugins] path" : fmt::format("{}: {}", usable.size(), fmt::join(usable, ", "))});
}

void print_findings(const Console& console, const Findings& findings) {
  if (!console.json()) {
    Table table({"CHECK", "RESULT", "DETAIL"});
    for (const Finding& finding : findings) table.add({finding.check, std::string(to_string(finding.verdict)), finding.detail});
    console.print(table.text());
    for (const Finding& finding : findings) {
      if (!finding.hint.empty()) console.print(fmt::format("\n{}: what to do: {}\n", finding.check, finding.hint));
    }
    return;
  }
  json::array rows;
  for (const Finding& finding : findings) {
    json::object row;
    row["check"] = finding.check;
    row["result"] = finding.verdict == Verdict::kOk ? "ok" : finding.verdict == Verdict::kWarning ? "warning" : "failed";
    row["detail"] = finding.detail;
    row["hint"] = finding.hint;
    rows.push_back(std::move(row));
  }
  json::object out;
  out["checks"] = std::move(rows);
  console.print_json(out);
}

}  // namespace

std::string error_line(const Error& error) {
  return fmt::format("{} {}", error.to_string(), error.explanation());
}

Result<ExitCode> doctor(const Console& console, const fs::path& config) {
  Findings findings;
  check_limits(findings);
  const auto daemon = config::load_daemon_config(config, config::process_environment());
  if (!daemon) {
    findings.push_back({"configuration", Verdict::kFailed, daemon.error().message()});
  } else {
    findings.push_back({"configuration", Verdict::kOk, daemon->file.string()});
    const fs::path place = existing_ancestor(daemon->data_dir);
    if (check_permissions(findings, daemon->data_dir, place)) {
      check_space(findings, place);
      check_sync(findings, place);
    }
    const bool running = check_lock(findings, daemon->data_dir);
    check_port(findings, *daemon, running);
    const auto plugins = make_plugin_catalog(*daemon, {});
    check_plugins(findings, *plugins);
    check_connectors(findings, *daemon, plugins, running);
  }
  print_findings(console, findings);
  const bool failed = std::ranges::any_of(findings, [](const Finding& finding) { return finding.verdict == Verdict::kFailed; });
  return failed ? ExitCode::kFailure : ExitCode::kOk;
}

}  // namespace sluice::app
