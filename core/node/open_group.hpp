// SPDX-License-Identifier: Apache-2.0
// Boot of one group: recovery of its log, then its state from the checkpoint and the entries after it. Blocking; any thread.
#pragma once

#include <memory>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/log/entry_log.hpp"
#include "core/metadata/catalog.hpp"
#include "core/partition/partition_state.hpp"

namespace sluice::node {

struct OpenedPartition {
  std::unique_ptr<log::EntryLog> log;
  partition::PartitionState state;
  log::RecoveryReport report;
};
// Errors: those of EntryLog::open, and of a checkpoint or entry that core/partition cannot read. Any of them means: not served.
[[nodiscard]] Result<OpenedPartition> open_partition(storage::Storage& storage, storage::IoQueue& queue, log::LogOptions options);

struct OpenedCatalog {
  std::unique_ptr<log::EntryLog> log;
  metadata::Catalog catalog;
  log::RecoveryReport report;
};
[[nodiscard]] Result<OpenedCatalog> open_catalog(storage::Storage& storage, storage::IoQueue& queue, log::LogOptions options);

}  // namespace sluice::node
