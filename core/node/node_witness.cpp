// SPDX-License-Identifier: Apache-2.0
// The witness of a node: docs/reference/data-directory.md. Order is everything: the new run's file is whole before the data directory names
// it, and the data directory names it before anything is acknowledged. Until then the old run's file is the true one.
#include <utility>

#include "core/node/node_impl.hpp"

namespace sluice::node {

Result<void> Node::Impl::begin_witness() {
  SLUICE_TRY(generation_before_, directory.generation());
  if (!options.runtime_dir) return {};
  // No failure here costs a record: a kill is taken for a power cut then.
  if (generation_before_) {
    auto left = read_left_witnesses(*options.runtime_dir, directory.cluster_id(), *generation_before_);
    if (left) {
      left_witnesses = *std::move(left);
    } else {
      recovery.witness_ignored = std::move(left).error();
    }
  }
  generation_ = options.random->next_u128();
  auto created = storage::WitnessFile::create(*options.runtime_dir, {directory.cluster_id(), generation_});
  if (created) {
    witness_file = *std::move(created);
  } else {
    recovery.no_witness = std::move(created).error();
  }
  return {};
}

Result<void> Node::Impl::switch_witness() {
  if (witness_file || generation_before_) {
    SLUICE_TRY(witness_counts_, directory.begin_generation(witness_file ? std::optional(generation_) : std::nullopt));
  }
  if (witness_file && !witness_counts_) {
    recovery.no_witness = Error(sluice::Errc::kNoSpace, "there is no room in the data directory for the name of the witness");
    witness_file->remove();
  }
  if (options.runtime_dir) storage::WitnessFile::remove_others(*options.runtime_dir, {directory.cluster_id(), generation_});
  return {};
}

void Node::Impl::remove_witness() {
  if (witness_file) witness_file->remove();
}

std::optional<log::Witness> Node::Impl::witness_of(GroupDirectory place) const {
  const auto found = left_witnesses.find(place);
  return found == left_witnesses.end() ? std::nullopt : std::optional(found->second);
}

storage::WitnessCell* Node::Impl::claim_witness(GroupDirectory place, const log::EntryLog& log, const log::RecoveryReport& report) {
  storage::WitnessCell* cell = witness_file ? witness_file->claim(place.group, place.incarnation) : nullptr;
  // A log that lacks what may have been acknowledged is no proof of anything, until its next entry says where it goes on.
  const log::LogHead head = log.acknowledged();
  if (cell != nullptr && !log.mint_from() && report.doubtful_to <= head.op) {
    cell->store({place.group, place.incarnation, head.op, head.id, head.op});
  }
  return cell;
}

void Node::Impl::keep_witness(GroupDirectory place) {
  const auto left = witness_of(place);
  if (!left || !witness_file) return;
  if (storage::WitnessCell* cell = witness_file->claim(place.group, place.incarnation))
    cell->store({place.group, place.incarnation, left->op, left->id, left->commit});
}

}  // namespace sluice::node
