// SPDX-License-Identifier: Apache-2.0
#include "path_patterns.hpp"

#include <dirent.h>
#include <fnmatch.h>
#include <glob.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

namespace sluice::file_source {
namespace {

// glob(3) has no argument for its error callback.
thread_local std::map<std::string, std::string>* glob_problems = nullptr;

int note_glob_problem(const char* path, int error_number) {
  if (error_number != ENOENT && error_number != ENOTDIR) {
    glob_problems->emplace(path, "cannot look into " + std::string(path) + ": " + std::strerror(error_number));
  }
  return 0;
}

std::vector<std::string> expand_pattern(const std::string& pattern, int flags, std::map<std::string, std::string>& problems) {
  glob_problems = &problems;
  glob_t found{};
  const int status = ::glob(pattern.c_str(), flags, note_glob_problem, &found);
  const std::unique_ptr<glob_t, decltype(&::globfree)> owner(&found, ::globfree);
  if (status == GLOB_NOSPACE) problems.emplace("", "out of memory while expanding " + pattern);
  return {found.gl_pathv, found.gl_pathv + (status == 0 ? found.gl_pathc : 0)};
}

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

bool Listing::proves_absence_of(const std::string& path) const {
  return std::none_of(problems.begin(), problems.end(), [&](const auto& problem) { return path.starts_with(problem.first); });
}

bool PathPatterns::is_excluded(const std::string& path) const {
  const std::string name = path.substr(path.rfind('/') + 1);
  return std::any_of(exclude_.begin(), exclude_.end(),
                     [&](const std::string& pattern) { return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0; });
}

Listing PathPatterns::list() const {
  Listing listing;
  for (const std::string& pattern : paths_) {
    for (const std::string& directory : expand_pattern(directory_of(pattern), GLOB_ONLYDIR, listing.problems)) {
      FileStatus status;
      try {
        if (!status_of_path(directory, status)) continue;
      } catch (const std::system_error& e) {
        listing.problems.emplace(directory, e.what());
        continue;
      }
      listing.directories.insert(directory);
      listing.devices.insert(status.id.device);
    }
    for (const std::string& path : expand_pattern(pattern, 0, listing.problems)) {
      FileStatus status;
      try {
        if (is_excluded(path) || !status_of_path(path, status) || !status.regular) continue;
      } catch (const std::system_error& e) {
        listing.problems.emplace(path, e.what());
        continue;
      }
      listing.files.emplace(status.id, path);
    }
  }
  return listing;
}

std::map<FileId, std::string> PathPatterns::find_renamed(const std::set<std::string>& directories, const std::set<FileId>& wanted) {
  std::map<FileId, std::string> found;
  for (const std::string& directory : directories) {
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(directory.c_str()), ::closedir);
    if (!entries) continue;
    while (const dirent* entry = ::readdir(entries.get())) {
      const auto same_inode = [&](const FileId& id) { return id.inode == entry->d_ino; };
      if (std::none_of(wanted.begin(), wanted.end(), same_inode)) continue;
      const std::string path = directory + "/" + entry->d_name;
      FileStatus status;
      try {
        if (status_of_path(path, status) && status.regular && wanted.contains(status.id)) found.emplace(status.id, path);
      } catch (const std::system_error&) {
        continue;  // it cannot be read either; the caller reports what stays missing
      }
    }
  }
  return found;
}

}  // namespace sluice::file_source
