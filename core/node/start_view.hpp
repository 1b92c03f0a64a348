// SPDX-License-Identifier: Apache-2.0
// What a start knows of its groups before it looks at their logs, for the start and for the tools that say what one would do.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/log/entry_log.hpp"
#include "core/node/data_directory.hpp"
#include "core/storage/storage.hpp"

namespace sluice::node {

inline constexpr GroupDirectory kCatalogDirectory{kMetadataGroup, Incarnation(0)};

using LeftWitnesses = std::map<GroupDirectory, log::Witness>;
// What the run left that the data directory names. Errors: storage.no_witness, I/O; none costs more than trust.
[[nodiscard]] Result<LeftWitnesses> read_left_witnesses(const std::string& runtime_dir, const U128& cluster, const U128& generation);

// Of a data directory that no process uses.
struct StartView {
  std::string data_dir;
  std::string runtime_dir;
  LeftWitnesses witnesses;
  std::optional<Error> witness_ignored;     // why the one that is named is not believed
  std::optional<Op> catalog_checkpoint_op;  // none: it cannot be read

  // How the start opens the log of that group.
  [[nodiscard]] log::LogOptions options_of(GroupDirectory group) const;
};
// Reads only. Errors: as read_cluster_id. [blocking]
[[nodiscard]] Result<StartView> view_start(storage::Storage& storage, const std::string& data_dir, const std::string& runtime_dir);

}  // namespace sluice::node
