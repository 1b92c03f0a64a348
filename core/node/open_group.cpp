// SPDX-License-Identifier: Apache-2.0
#include "core/node/open_group.hpp"

#include <utility>

#include <fmt/format.h>

#include "core/log/errc.hpp"
#include "core/metadata/errc.hpp"
#include "core/node/group_host.hpp"

namespace sluice::node {
namespace {

std::unexpected<Error> checkpoint_mismatch(const log::Checkpoint& checkpoint, Op op) {
  return fail(log::Errc::kDamagedCheckpoint,
              fmt::format("the checkpoint of group {} is of op {}, the state in it of op {}", checkpoint.group, checkpoint.op, op));
}

}  // namespace

Result<OpenedPartition> open_partition(storage::Storage& storage, storage::IoQueue& queue, log::LogOptions options) {
  SLUICE_TRY(log::OpenedLog opened, log::EntryLog::open(storage, queue, std::move(options)));
  OpenedPartition out{std::move(opened.log), {}, std::move(opened.report)};
  if (opened.checkpoint) {
    SLUICE_TRY(out.state, partition::PartitionState::decode_checkpoint(opened.checkpoint->body));
    if (out.state.last_op() != opened.checkpoint->op || out.state.last_identity() != opened.checkpoint->id) {
      return checkpoint_mismatch(*opened.checkpoint, out.state.last_op());
    }
  }
  SLUICE_CHECK(out.log->replay(out.state.last_op().next(), [&](const entry::EntryView& entry) -> Result<void> {
    if (auto applied = out.state.apply(entry); !applied && !is_op_outcome(applied.error())) return applied;
    return {};
  }));
  return out;
}

Result<OpenedCatalog> open_catalog(storage::Storage& storage, storage::IoQueue& queue, log::LogOptions options) {
  SLUICE_TRY(log::OpenedLog opened, log::EntryLog::open(storage, queue, std::move(options)));
  OpenedCatalog out{std::move(opened.log), {}, std::move(opened.report)};
  if (opened.checkpoint) {
    SLUICE_TRY(out.catalog, metadata::Catalog::decode_snapshot(opened.checkpoint->body));
    if (out.catalog.applied() != opened.checkpoint->op) return checkpoint_mismatch(*opened.checkpoint, out.catalog.applied());
  }
  SLUICE_CHECK(out.log->replay(out.catalog.applied().next(), [&](const entry::EntryView& entry) -> Result<void> {
    if (entry.header().kind != entry::EntryKind::kCatalogCommand) {
      return fail(metadata::Errc::kMalformed, fmt::format("op {}: not a catalog command", entry.header().op));
    }
    SLUICE_TRY(const metadata::Command command, metadata::decode_command(entry.body()));
    if (auto applied = out.catalog.apply(entry.header().op, command); !applied && !is_op_outcome(applied.error()))
      return fail(applied.error());
    return {};
  }));
  return out;
}

}  // namespace sluice::node
