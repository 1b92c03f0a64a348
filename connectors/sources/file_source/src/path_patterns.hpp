// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "posix.hpp"

namespace sluice::file_source {

// What the patterns match now.
struct Listing {
  // False: the file is not in the list only because something on its way could not be looked at.
  [[nodiscard]] bool proves_absence_of(const std::string& path) const;

  std::map<FileId, std::string> files;          // regular files; of several names of one file the first in order
  std::set<std::string> directories;            // that hold, or would hold, matching files
  std::set<std::uint64_t> devices;              // of those directories
  std::map<std::string, std::string> problems;  // path → why it could not be looked at
};

// The `paths` and `exclude` of the configuration. Stateless.
class PathPatterns {
 public:
  PathPatterns(std::vector<std::string> paths, std::vector<std::string> exclude) : paths_(std::move(paths)), exclude_(std::move(exclude)) {}

  [[nodiscard]] Listing list() const;
  // The names, whatever they are, that the wanted files have in these directories: a file renamed while nobody looked.
  [[nodiscard]] static std::map<FileId, std::string> find_renamed(const std::set<std::string>& directories, const std::set<FileId>& wanted);

 private:
  [[nodiscard]] bool is_excluded(const std::string& path) const;

  std::vector<std::string> paths_;
  std::vector<std::string> exclude_;
};

}  // namespace sluice::file_source
