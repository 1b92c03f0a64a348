// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "posix.hpp"

namespace sluice::file_source {

// Wakes a waiting poll when something happens in the watched directories. It says "look again", never what happened: whoever waits also
// looks from time to time, because inotify can run out of watches, lose events and is silent on network file systems. Worker only, except
// interrupt().
class DirectoryWatch {
 public:
  DirectoryWatch();

  // Watches exactly these. Returns those that the kernel refused, with the reason.
  [[nodiscard]] std::set<std::string> watch(const std::set<std::string>& directories);
  // Takes what happened so far; true if names changed (created, moved, deleted, or events were lost).
  [[nodiscard]] bool take_events();
  // Returns when something happened, was interrupted, or after that time.
  void wait(std::uint64_t timeout_ns) const;
  // [any-thread] Ends this and every later wait.
  void interrupt() const;

 private:
  FileHandle events_;
  FileHandle interrupted_;
  std::map<std::string, int> watches_;
};

}  // namespace sluice::file_source
