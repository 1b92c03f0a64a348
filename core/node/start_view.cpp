// SPDX-License-Identifier: Apache-2.0
#include "core/node/start_view.hpp"

#include "core/storage/witness_file.hpp"

namespace sluice::node {
namespace {

std::optional<Op> read_checkpoint_op(storage::Storage& storage, const std::string& directory) {
  const auto bytes = storage::read_file(storage, directory + "/" + log::kCheckpointName, log::kCheckpointBodyBytesMax + 4096);
  if (!bytes) return storage::is_absent(bytes.error()) ? std::optional(Op(0)) : std::nullopt;
  const auto checkpoint = log::decode_checkpoint(*bytes);
  return checkpoint ? std::optional(checkpoint->op) : std::nullopt;
}

}  // namespace

Result<LeftWitnesses> read_left_witnesses(const std::string& runtime_dir, const U128& cluster, const U128& generation) {
  LeftWitnesses out;
  SLUICE_TRY(const auto records, storage::WitnessFile::read(runtime_dir, {cluster, generation}));
  for (const storage::WitnessRecord& record : records) out[{record.group, record.incarnation}] = {record.op, record.id, record.commit};
  return out;
}

log::LogOptions StartView::options_of(GroupDirectory group) const {
  log::LogOptions out;
  out.directory = group_path(data_dir, group);
  out.group = group.group;
  out.incarnation = group.incarnation;
  out.clock = &system_clock();
  if (const auto found = witnesses.find(group); found != witnesses.end()) out.witness = found->second;
  // The catalog's checkpoint says that the directory was made.
  out.must_exist = group == kCatalogDirectory || !catalog_checkpoint_op || group.incarnation.value() <= catalog_checkpoint_op->value();
  return out;
}

Result<StartView> view_start(storage::Storage& storage, const std::string& data_dir, const std::string& runtime_dir) {
  StartView out{data_dir, runtime_dir, {}, {}, {}};
  SLUICE_TRY(const U128 cluster, read_cluster_id(storage, data_dir));
  SLUICE_TRY(const auto generation, read_generation(storage, data_dir));
  if (generation) {
    auto left = read_left_witnesses(runtime_dir, cluster, *generation);
    if (left) {
      out.witnesses = *std::move(left);
    } else {
      out.witness_ignored = std::move(left).error();
    }
  }
  out.catalog_checkpoint_op = read_checkpoint_op(storage, group_path(data_dir, kCatalogDirectory));
  return out;
}

}  // namespace sluice::node
