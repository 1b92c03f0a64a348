// SPDX-License-Identifier: Apache-2.0
// The start of a node: the catalog first, then every partition that it knows, in parallel.
#include <algorithm>
#include <atomic>
#include <set>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "core/base/mutation.hpp"
#include "core/log/recovery.hpp"
#include "core/node/errc.hpp"
#include "core/node/node_impl.hpp"

namespace sluice::node {
namespace {

constexpr std::size_t kBootThreadsMax = 8;
constexpr std::uint64_t kCatalogSegmentBytes = 16ULL << 20;
constexpr std::uint64_t kHotBytesOfTopic = 64ULL << 20;  // newest entries kept in memory, over all partitions of a topic
constexpr std::uint64_t kHotBytesMin = 64ULL << 10;      // … but at least this per partition

// A partition and what its opening gave.
struct BootItem {
  OpeningPtr opening;
  std::optional<Result<OpenedPartition>> opened{};
};

// In parallel.
void for_each_item(std::vector<BootItem>& items, const std::function<void(BootItem&)>& work_on) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next.fetch_add(1); i < items.size(); i = next.fetch_add(1)) work_on(items[i]);
  };
  const std::size_t threads =
      std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, std::min(kBootThreadsMax, std::max<std::size_t>(items.size(), 1)));
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < threads; ++i) others.emplace_back(work);
  work();
}

// Whether the attempt failed before it came to what is in the files.
bool failed_at_the_system(const Error& cause) {
  return cause.is(sluice::Errc::kIo) || cause.is(sluice::Errc::kNoSpace) || cause.is(sluice::Errc::kNotFound);
}

}  // namespace

Result<std::unique_ptr<Node>> Node::open(NodeOptions options) {
  const std::size_t files_max = options.max_open_files == 0 ? storage::files_open_max() : options.max_open_files;
  auto files = std::make_unique<storage::FileCache>(*options.storage, files_max);
  options.storage = files.get();
  SLUICE_TRY(DataDirectory directory, DataDirectory::open(*options.storage, options.data_dir, *options.random));
  if (options.on_locked) SLUICE_CHECK(options.on_locked());
  auto impl = std::make_unique<Impl>(std::move(files), std::move(options), std::move(directory));
  SLUICE_CHECK(impl->boot());
  return std::unique_ptr<Node>(new Node(std::move(impl)));
}

SlotPtr Node::Impl::make_slot(const metadata::Topic& topic, std::size_t index) {
  auto slot = std::make_shared<GroupSlot>();
  slot->directory = {topic.groups[index], topic.incarnation};
  slot->name = fmt::format("{}/{}", to_string(topic.name), index);
  slot->shard = &shard_of(topic.groups[index]);
  return slot;
}

log::LogOptions Node::Impl::log_options(const metadata::Topic& topic, GroupId group) const {
  log::LogOptions out;
  out.directory = directory.group_path({group, topic.incarnation});
  out.group = group;
  out.incarnation = topic.incarnation;
  out.segment_bytes = topic.options.segment_bytes;
  out.hot_bytes = std::clamp(kHotBytesOfTopic / topic.groups.size(), kHotBytesMin, log::kHotBytesDefault);
  return out;
}

OpeningPtr Node::Impl::make_opening(const metadata::Topic& topic, std::size_t index, Origin origin) {
  return std::make_shared<Opening>(Opening{topic, index, make_slot(topic, index), origin});
}

void Node::Impl::connect(log::LogOptions& log, GroupDirectory place, Shard& shard, std::string name) {
  // The log's timers run where the log does.
  log.defer = [&shard](std::move_only_function<void()> task) { shard.post(std::move(task)); };
  log.after = [&shard](std::chrono::nanoseconds delay, std::move_only_function<void()> task) { shard.after(delay, std::move(task)); };
  log.clock = options.clock;
  log.prewrite = prewrite;
  log.unsynced = unsynced[shard.index()];
  log.verify_sealed = options.verify_sealed;
  if (options.progress) log.judged_bytes = &options.progress->bytes_judged;
  log.on_full = [this, name = std::move(name)](const Error& error) { warn(Error(error).with("partition", name)); };
  log.witness = witness_of(place);
}

Result<OpenedPartition> Node::Impl::open(Opening& opening) {
  const GroupDirectory place = opening.slot->directory;
  SLUICE_TRY(const bool is_there, directory.has_group(place));
  if (opening.origin == Origin::kWitnessed && !is_there) {
    return fail(Errc::kPartitionLost, fmt::format("{}: its directory is gone", opening.slot->name));
  }
  if (opening.origin == Origin::kFresh) {
    // Whatever is there, its records are not this topic's.
    if (is_there) {
      return fail(
          Errc::kDamagedDirectory,
          fmt::format("'{}' is there although the catalog has just given this name away for the first time", directory.group_path(place)));
    }
    opening.origin = Origin::kBegun;
  }
  log::LogOptions log = log_options(opening.topic, place.group);
  log.must_exist = opening.origin == Origin::kWitnessed;
  log.may_retry = [this] { return room.level() != RoomLevel::kFull; };
  connect(log, place, *opening.slot->shard, opening.slot->name);
  return open_partition(*options.storage, opening.slot->shard->io(), std::move(log));
}

Error Node::Impl::refusal(const GroupSlot& slot, const Error& cause) const {
  Error error = failed_at_the_system(cause)
                    ? Error(Errc::kPartitionUnavailable, fmt::format("{} cannot be opened: {}", slot.name, cause.message()))
                    : Error(Errc::kPartitionRefused, fmt::format("{} is refused: {}", slot.name, cause.message()));
  error.with("cause", std::string(cause.code())).with("directory", directory.group_path(slot.directory));
  for (const auto& [key, value] : cause.context()) error.with(key, value);
  return error;
}

void Node::Impl::adopt(const SlotPtr& slot, const metadata::TopicOptions& topic, OpenedPartition opened) {
  storage::WitnessCell* witness = claim_witness(slot->directory, *opened.log, opened.report);
  slot->shard->post([this, slot, topic, witness, opened = std::move(opened)]() mutable {
    PartitionHost::Options host_options{slot->name,
                                        topic,
                                        [this](Error error) { fatal(std::move(error)); },
                                        [this](Error error) { warn(std::move(error)); },
                                        witness,
                                        options.on_damage,
                                        &room};
    slot->host = std::make_unique<PartitionHost>(std::move(host_options), std::move(opened.log), std::move(opened.state), *slot->shard,
                                                 *options.clock);
    slot->host->resume_retention();
    if (!scrubs.empty()) scrubs[slot->shard->index()]->add(slot);
  });
}

Result<void> Node::Impl::boot() {
  SLUICE_CHECK(begin_witness());
  SLUICE_CHECK(boot_catalog());
  SLUICE_CHECK(boot_partitions(catalog_checkpoint_op_));
  if (!SLUICE_MUTATED(kWitnessNotSwitched)) SLUICE_CHECK(switch_witness());
  for (std::size_t i = 0; i < scrubs.size(); ++i) shards[i]->post([scrub = scrubs[i].get()] { scrub->start(); });
  begin_room();
  watch_room();
  for (auto& shard : shards) shard->start();
  shard_of(kMetadataGroup).post([this] { catalog->request_checkpoint(); });
  io_threads->run([this] { empty_trash(); });
  return {};
}

Result<void> Node::Impl::boot_catalog() {
  SLUICE_TRY(const auto present, directory.list_groups());
  const bool is_there = std::ranges::find(present, kCatalogDirectory) != present.end();
  if (!directory.is_new() && !is_there) {
    return fail(Errc::kDamagedDirectory, fmt::format("'{}', the catalog, is missing", directory.group_path(kCatalogDirectory)));
  }
  log::LogOptions log_options;
  log_options.directory = directory.group_path(kCatalogDirectory);
  log_options.group = kMetadataGroup;
  log_options.segment_bytes = kCatalogSegmentBytes;
  log_options.must_exist = !directory.is_new();
  connect(log_options, kCatalogDirectory, shard_of(kMetadataGroup), "catalog");
  log_options.verify_sealed = true;  // what there is of it is small, and is not scrubbed
  log_options.judged_bytes = nullptr;
  auto opened = open_catalog(*options.storage, shard_of(kMetadataGroup).io(), std::move(log_options));
  if (!opened) return fail(std::move(opened).error().with("partition", "catalog"));
  if (directory.is_new()) {
    if (opened->log->head().op != Op(0)) {
      return fail(Errc::kDamagedDirectory, fmt::format("'{}' has a catalog but no file 'format'", directory.path()));
    }
    SLUICE_CHECK(directory.finish_format());
  }
  recovery.catalog = std::move(opened->report);
  catalog_checkpoint_op_ = opened->log->checkpoint_op();
  CatalogHost::Options host_options{[this](Error error) { fatal(std::move(error)); }, [this](Error error) { warn(std::move(error)); },
                                    claim_witness(kCatalogDirectory, *opened->log, recovery.catalog), &room};
  catalog = std::make_unique<CatalogHost>(std::move(host_options), std::move(opened->log), std::move(opened->catalog), *options.clock);
  return {};
}

// Directories that no topic of the catalog has.
Result<void> Node::Impl::clear_leftovers(const std::set<GroupDirectory>& leftovers) {
  const std::uint64_t applied = catalog->catalog().applied().value();
  // First all of them, so that nothing is moved if one is proof that the catalog is not whole.
  for (const GroupDirectory left : leftovers) {
    if (left.incarnation.value() <= applied || SLUICE_MUTATED(kNewerDirectoryCollected)) continue;
    return fail(Error(Errc::kDamagedDirectory,
                      fmt::format("'{}' is newer than the catalog, which ends at op {}: the end of the catalog is lost, or the directory "
                                  "was put there. Restore the catalog, or move the directory away",
                                  directory.group_path(left), applied))
                    .with("partition", "catalog"));
  }
  for (const GroupDirectory left : leftovers) {
    if (auto moved = directory.move_to_trash(left); !moved) warn(std::move(moved).error().with("while", "removing a deleted partition"));
  }
  return {};
}

Result<void> Node::Impl::boot_partitions(Op witnessed) {
  SLUICE_TRY(const auto listed, directory.list_groups());
  std::set<GroupDirectory> leftovers(listed.begin(), listed.end());
  leftovers.erase(kCatalogDirectory);
  std::vector<BootItem> items;
  for (const auto& [name, topic] : catalog->catalog().topics()) {
    const Origin origin = topic.incarnation.value() <= witnessed.value() ? Origin::kWitnessed : Origin::kBegun;
    for (std::size_t i = 0; i < topic.groups.size(); ++i) {
      leftovers.erase({topic.groups[i], topic.incarnation});
      items.push_back({make_opening(topic, i, origin)});
    }
  }
  SLUICE_CHECK(clear_leftovers(leftovers));
  if (options.progress) {
    for_each_item(items, [this](BootItem& item) {
      log::LogOptions log = log_options(item.opening->topic, item.opening->slot->directory.group);
      log.verify_sealed = options.verify_sealed;
      options.progress->bytes += log::bytes_to_judge(*options.storage, log);
    });
    options.progress->partitions = items.size();
  }
  for_each_item(items, [this](BootItem& item) {
    item.opened = open(*item.opening);
    if (options.progress) ++options.progress->partitions_opened;
  });
  for (BootItem& item : items) {
    const Opening& opening = *item.opening;
    PartitionRecovery found{opening.topic.name,
                            PartitionIndex(narrow<std::uint32_t>(opening.index)),
                            opening.slot->directory.group,
                            directory.group_path(opening.slot->directory),
                            {}};
    groups.emplace(opening.slot->directory.group, opening.slot);
    if (Result<OpenedPartition>& opened = *item.opened) {
      found.report = opened->report;
      adopt(opening.slot, opening.topic.options, *std::move(opened));
    } else {
      keep_witness(opening.slot->directory);
      opening.slot->refused = refusal(*opening.slot, opened.error());
      found.tried_again = opening.slot->refused->is(Errc::kPartitionUnavailable);
      found.refused = std::move(opened).error();
      item.opening->reported = true;
      keep_unopened(item.opening);
    }
    recovery.partitions.push_back(std::move(found));
  }
  return {};
}

}  // namespace sluice::node
