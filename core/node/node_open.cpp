// SPDX-License-Identifier: Apache-2.0
// The start of a node: the catalog first, then every partition that it knows, in parallel.
#include <algorithm>
#include <atomic>
#include <set>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "core/node/errc.hpp"
#include "core/node/node_impl.hpp"

namespace sluice::node {
namespace {

constexpr std::size_t kBootThreadsMax = 8;
constexpr GroupDirectory kCatalogDirectory{kMetadataGroup, Incarnation(0)};
constexpr std::uint64_t kCatalogSegmentBytes = 16ULL << 20;
constexpr std::uint64_t kHotBytesOfTopic = 64ULL << 20;  // newest entries kept in memory, over all partitions of a topic
constexpr std::uint64_t kHotBytesMin = 64ULL << 10;      // … but at least this per partition

struct BootItem {
  const metadata::Topic* topic;
  std::size_t index;  // of the partition
  SlotPtr slot;
  bool is_new = false;  // its directory is to be made
  bool lost = false;    // its directory was there once
  std::optional<Result<OpenedPartition>> opened{};
};

void open_items(std::vector<BootItem>& items, const std::function<void(BootItem&)>& open_one) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next.fetch_add(1); i < items.size(); i = next.fetch_add(1)) open_one(items[i]);
  };
  const std::size_t threads =
      std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, std::min(kBootThreadsMax, std::max<std::size_t>(items.size(), 1)));
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < threads; ++i) others.emplace_back(work);
  work();
}

}  // namespace

Result<std::unique_ptr<Node>> Node::open(NodeOptions options) {
  SLUICE_TRY(DataDirectory directory, DataDirectory::open(*options.storage, options.data_dir, *options.random));
  auto impl = std::make_unique<Impl>(std::move(options), std::move(directory));
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

Error Node::Impl::refusal(const GroupSlot& slot, const Error& cause) const {
  Error error(Errc::kPartitionRefused, fmt::format("{} is refused: {}", slot.name, cause.message()));
  error.with("cause", std::string(cause.code())).with("directory", directory.group_path(slot.directory));
  for (const auto& [key, value] : cause.context()) error.with(key, value);
  return error;
}

void Node::Impl::adopt(const SlotPtr& slot, const metadata::TopicOptions& topic, OpenedPartition opened) {
  slot->shard->post([this, slot, topic, opened = std::move(opened)]() mutable {
    PartitionHost::Options host_options{slot->name, topic, [this](Error error) { fatal(std::move(error)); }};
    slot->host = std::make_unique<PartitionHost>(std::move(host_options), std::move(opened.log), std::move(opened.state), *slot->shard,
                                                 *options.clock);
    slot->host->resume_retention();
  });
}

Result<void> Node::Impl::boot() {
  SLUICE_CHECK(boot_catalog());
  SLUICE_CHECK(boot_partitions(catalog_checkpoint_op_));
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
  catalog = std::make_unique<CatalogHost>(std::move(opened->log), std::move(opened->catalog), *options.clock,
                                          [this](Error error) { fatal(std::move(error)); });
  return {};
}

Result<void> Node::Impl::boot_partitions(Op witnessed) {
  SLUICE_TRY(const auto listed, directory.list_groups());
  std::set<GroupDirectory> present(listed.begin(), listed.end());
  present.erase(kCatalogDirectory);
  std::vector<BootItem> items;
  for (const auto& [name, topic] : catalog->catalog().topics()) {
    for (std::size_t i = 0; i < topic.groups.size(); ++i) {
      const bool is_there = present.erase({topic.groups[i], topic.incarnation}) != 0;
      const bool was_made = topic.incarnation.value() <= witnessed.value();
      items.push_back({&topic, i, make_slot(topic, i), !is_there && !was_made, !is_there && was_made});
    }
  }
  for (const GroupDirectory left : present) {
    const bool forgotten = left.incarnation.value() <= catalog->catalog().applied().value();
    if (!forgotten || !directory.move_to_trash(left)) recovery.unknown_directories.push_back(directory.group_path(left));
  }
  open_items(items, [this](BootItem& item) {
    if (item.lost) {
      item.opened = fail(Errc::kPartitionLost, fmt::format("{}: its directory is gone", item.slot->name));
    } else {
      item.opened = open_partition(*options.storage, item.slot->shard->io(), log_options(*item.topic, item.slot->directory.group));
    }
  });
  for (BootItem& item : items) {
    PartitionRecovery found{item.topic->name,
                            PartitionIndex(narrow<std::uint32_t>(item.index)),
                            item.slot->directory.group,
                            directory.group_path(item.slot->directory),
                            {}};
    Result<OpenedPartition>& opened = *item.opened;
    if (opened) {
      found.report = std::move(opened->report);
      adopt(item.slot, item.topic->options, *std::move(opened));
    } else {
      item.slot->refused = refusal(*item.slot, opened.error());
      found.refused = std::move(opened).error();
      if (item.is_new) catalog->hold_checkpoints();
    }
    groups.emplace(item.slot->directory.group, item.slot);
    recovery.partitions.push_back(std::move(found));
  }
  return {};
}

}  // namespace sluice::node
