// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/storage/sim_storage.hpp"

#include "core/base/assert.hpp"

namespace sluice::sim {

SimStorage::SimStorage(SimOptions options) {
  state_.options = options;
  processes_.push_back(std::make_unique<SimProcess>(state_, state_.generation));
}
SimStorage::~SimStorage() = default;

void SimStorage::begin_process() {
  ++state_.generation;
  state_.crashed = false;
  state_.locks.clear();
  processes_.push_back(std::make_unique<SimProcess>(state_, state_.generation));
}

void SimStorage::process_crash() {
  begin_process();
  state_.tree.sweep();
}

void SimStorage::power_loss(PowerLoss reached, std::uint64_t seed) {
  begin_process();
  state_.tree.lose_power(reached, state_.options.name_order, seed);
}

void SimStorage::restore(const FileTree& snapshot) {
  begin_process();
  state_.tree = snapshot;
}

void SimStorage::copy_tree(const SimStorage& other, const std::string& from, const std::string& to) {
  const auto copied = state_.tree.copy(other.state_.tree, from, to);
  SLUICE_ASSERT(copied.has_value(), "{} to {}: errno {}", from, to, copied.error());
}

FileContents& SimStorage::existing(const std::string& path) {
  const auto found = state_.tree.find_file(path);
  SLUICE_ASSERT(found.has_value(), "{}: errno {}", path, found.error());
  return state_.tree.contents(*found);
}

void SimStorage::flip_bit(const std::string& path, std::uint64_t position, unsigned bit) {
  existing(path).flip_bit(position, bit);
}

void SimStorage::truncate_stable(const std::string& path, std::uint64_t size) {
  existing(path).truncate_stable(size);
}

void SimStorage::fail_writeback(const std::string& path) {
  SeededRandom random(state_.options.seed ^ state_.plan.operations());
  existing(path).fail_sync(PowerLoss::kNothing, random);
}

void SimStorage::evict_clean_pages(const std::string& path) {
  existing(path).evict_clean_pages();
}

std::optional<ByteVector> SimStorage::buffered(const std::string& path) const {
  const auto found = state_.tree.find_file(path);
  if (!found) return std::nullopt;
  return state_.tree.contents(*found).buffered().to_vector();
}

std::optional<ByteVector> SimStorage::stable(const std::string& path) const {
  const auto found = state_.tree.find_stable_file(path);
  if (!found) return std::nullopt;
  return state_.tree.contents(*found).stable().to_vector();
}

}  // namespace sluice::sim
