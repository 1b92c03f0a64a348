// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "runtime/config/loader.hpp"
#include "runtime/config/schema.hpp"
#include "runtime/config/tree.hpp"

namespace sluice::config {

// A secret that is written out in a file, to be warned about.
struct LiteralSecret {
  Origin origin;
  std::string path;
};

struct Secrets {
  std::vector<std::string> values;  // to be masked
  std::vector<LiteralSecret> literals;
};

// Every value the schema marks secret, with what references inside it stand for, and the userinfo of every URL wherever it stands. `path`
// names the tree in messages.
void collect_secrets(const Tree& tree, const Schema& schema, const std::string& path, Secrets& out);

// Warns about literal secrets if the file's mode lets everybody read it.
void warn_of_literals(const std::string& file, const std::vector<LiteralSecret>& literals, std::vector<Finding>& findings);

}  // namespace sluice::config
