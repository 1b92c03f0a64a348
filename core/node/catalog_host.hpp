// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/log/entry_log.hpp"
#include "core/metadata/catalog.hpp"
#include "core/node/disk_room.hpp"
#include "core/node/group_host.hpp"

namespace sluice::node {

inline constexpr std::size_t kCatalogCommandsMax = 1024;  // in flight

// The metadata group: its log and the catalog. Its checkpoint witnesses the directories of the partitions it knows, so none is written
// while one of them is still being made. Everything runs on the shard of group 0. Destroy as a PartitionHost.
class CatalogHost final : public StateMachine {
 public:
  using Done = std::move_only_function<void(Result<metadata::Change>)>;

  struct Options {
    std::function<void(Error)> on_fatal;
    std::function<void(Error)> on_warning;
    storage::WitnessCell* witness = nullptr;  // where the group says what it acknowledged
    const DiskRoom* room = nullptr;           // what may be written; null: everything
  };
  CatalogHost(Options options, std::unique_ptr<log::EntryLog> log, metadata::Catalog catalog, const Clock& clock);

  // Answers with what changed, once it is durable and applied. The caller brings the partitions in step and then says so by reconciled(),
  // once for each answer that created or deleted a topic.
  void propose(const metadata::Command& command, Done done);
  void reconciled();
  // No checkpoint until as many more calls of reconciled(): a directory of the catalog could not be made so far.
  void hold_checkpoints() { ++unreconciled_; }
  void request_checkpoint() { group_.request_checkpoint(); }
  void close(std::move_only_function<void(Result<void>)> done) { group_.close(std::move(done)); }

  [[nodiscard]] const metadata::Catalog& catalog() const { return catalog_; }

 private:
  Result<void> apply(const entry::EntryView& entry) override;
  [[nodiscard]] ByteVector encode_checkpoint() const override { return catalog_.encode_snapshot(); }
  [[nodiscard]] bool may_checkpoint() const override { return unreconciled_ == 0; }
  // Commands have no offsets: every whole segment that the checkpoint covers may go.
  void on_checkpoint() override { group_.drop_before(Offset(0)); }
  void on_warning(const Error& error) override;
  void on_fenced(const Error& error) override;

  Options options_;
  metadata::Catalog catalog_;
  metadata::Change last_change_;
  std::size_t in_flight_ = 0;
  std::size_t unreconciled_ = 0;
  GroupHost group_;  // last: its destructor answers what is in flight
};

}  // namespace sluice::node
