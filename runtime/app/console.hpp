// SPDX-License-Identifier: Apache-2.0
// How commands speak: results on stdout, everything else on stderr, as text or as JSON.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "runtime/app/exit_code.hpp"

namespace boost::json {
class value;
}

namespace sluice::app {

class Console {
 public:
  explicit Console(bool json) : json_(json) {}

  [[nodiscard]] bool json() const { return json_; }
  void print(std::string_view text) const;
  // One JSON document, indented, with a line break.
  void print_json(const boost::json::value& value) const;
  void warn(std::string_view text) const;
  // What happened, where, what to do next. Answers the exit code that belongs to the error.
  ExitCode report(const Error& error) const;

 private:
  bool json_;
};

// Flushes stdout; false if what was printed did not all get out (a full disk, a closed pipe).
[[nodiscard]] bool flush_output();

}  // namespace sluice::app
