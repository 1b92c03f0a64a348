// SPDX-License-Identifier: Apache-2.0
// The calls on topics and paused connectors.
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "core/client/answer.hpp"
#include "core/client/client_impl.hpp"
#include "core/metadata/errc.hpp"

namespace sluice::client {
namespace {

// The descriptions of many partitions on their way: each answer writes its own place, the last one ends the wait.
struct Description {
  explicit Description(Answer<std::vector<TopicInfo>>::Completer completer) : done(std::move(completer)) {}

  std::vector<TopicInfo> topics;
  std::atomic<std::size_t> waiting{1};  // one for the asking itself
  Answer<std::vector<TopicInfo>>::Completer done;

  void count_down() {
    if (waiting.fetch_sub(1, std::memory_order_acq_rel) == 1) done(std::move(topics));
  }
};

// The purges of the partitions of a topic: the last answer ends the wait, with the first error.
struct TopicPurge {
  explicit TopicPurge(Answer<void>::Completer completer) : done(std::move(completer)) {}

  std::mutex mutex;
  std::size_t waiting = 1;  // one for the asking itself
  Result<void> outcome;
  Answer<void>::Completer done;

  void count_down(Result<void> answered) {
    const std::lock_guard lock(mutex);
    if (!answered && outcome) outcome = std::move(answered);
    if (--waiting == 0) done(std::move(outcome));
  }
};

void fill_partition(PartitionInfo& info, Result<node::PartitionView> outcome) {
  if (!outcome) {
    info.refused = std::move(outcome).error();
    return;
  }
  info.first_offset = outcome->first_offset;
  info.next_offset = outcome->state->next_offset();
  info.size_bytes = outcome->size_bytes;
  info.scrub.bytes = outcome->scrub->bytes();
  info.scrub.due_segments = outcome->scrub->due();
  for (const auto& [segment, error] : outcome->scrub->damage()) info.scrub.damage.push_back(error);
}

TopicInfo to_info(const metadata::Topic& topic) {
  TopicInfo info{topic.name, topic.incarnation, topic.options, {}};
  info.partitions.reserve(topic.groups.size());
  for (const GroupId group : topic.groups) {
    info.partitions.push_back({.index = PartitionIndex(narrow<std::uint32_t>(info.partitions.size())), .ref = {group}});
  }
  return info;
}

}  // namespace

Result<std::vector<TopicInfo>> Client::Impl::describe(const std::vector<metadata::Topic>& topics) {
  return Answer<std::vector<TopicInfo>>::wait(kOperationDeadline, [&](auto done) {
    const auto description = std::make_shared<Description>(std::move(done));
    for (const metadata::Topic& topic : topics) description->topics.push_back(to_info(topic));
    for (TopicInfo& topic : description->topics) {
      for (PartitionInfo& partition : topic.partitions) {
        description->waiting.fetch_add(1, std::memory_order_relaxed);
        node.inspect(partition.ref.group, [description, &partition](Result<node::PartitionView> outcome) {
          fill_partition(partition, std::move(outcome));
          description->count_down();
        });
      }
    }
    description->count_down();
  });
}

Result<TopicInfo> Client::create_topic(const TopicName& name, const TopicOptions& options) {
  SLUICE_CHECK(Answer<void>::wait(kOperationDeadline,
                                  [&](auto done) { impl_->node.propose(metadata::CreateTopic{name, options, View(0)}, std::move(done)); }));
  return describe_topic(name);
}

Result<void> Client::delete_topic(const TopicName& name) {
  return Answer<void>::wait(kOperationDeadline, [&](auto done) { impl_->node.propose(metadata::DeleteTopic{name}, std::move(done)); });
}

Result<TopicInfo> Client::purge_topic(const TopicName& name) {
  SLUICE_TRY(const TopicInfo topic, describe_topic(name));
  for (const PartitionInfo& partition : topic.partitions) {
    if (partition.refused) return fail(*partition.refused);
  }
  SLUICE_CHECK(Answer<void>::wait(kOperationDeadline, [&](auto done) {
    const auto purge = std::make_shared<TopicPurge>(std::move(done));
    purge->waiting += topic.partitions.size();
    for (const PartitionInfo& partition : topic.partitions) {
      impl_->node.purge(partition.ref.group, [purge, index = partition.index](Result<node::PartitionView> outcome) {
        purge->count_down(outcome ? Result<void>() : fail(std::move(outcome).error().with("partition", std::to_string(index.value()))));
      });
    }
    purge->count_down({});
  }));
  return describe_topic(name);
}

Result<TopicInfo> Client::describe_topic(const TopicName& name) {
  SLUICE_TRY(const metadata::Topic topic, Answer<metadata::Topic>::wait(kOperationDeadline, [&](auto done) {
               impl_->node.inspect_catalog([name, done = std::move(done)](Result<const metadata::Catalog*> catalog) mutable {
                 if (!catalog) return done(fail(std::move(catalog).error()));
                 const metadata::Topic* found = (*catalog)->find(name);
                 if (found == nullptr)
                   return done(fail(metadata::Errc::kTopicNotFound, fmt::format("topic '{}' does not exist", to_string(name))));
                 done(*found);
               });
             }));
  SLUICE_TRY(std::vector<TopicInfo> described, impl_->describe({topic}));
  return std::move(described.front());
}

Result<std::vector<TopicInfo>> Client::list_topics() {
  SLUICE_TRY(const auto topics, Answer<std::vector<metadata::Topic>>::wait(kOperationDeadline, [&](auto done) {
               impl_->node.inspect_catalog([done = std::move(done)](Result<const metadata::Catalog*> catalog) mutable {
                 if (!catalog) return done(fail(std::move(catalog).error()));
                 std::vector<metadata::Topic> out;
                 for (const auto& [name, topic] : (*catalog)->topics()) out.push_back(topic);
                 done(std::move(out));
               });
             }));
  return impl_->describe(topics);
}

Result<void> Client::set_paused(const std::string& connector, bool paused) {
  return Answer<void>::wait(kOperationDeadline,
                            [&](auto done) { impl_->node.propose(metadata::SetPaused{connector, paused}, std::move(done)); });
}

Result<std::set<std::string>> Client::paused_connectors() {
  return Answer<std::set<std::string>>::wait(kOperationDeadline, [&](auto done) {
    impl_->node.inspect_catalog([done = std::move(done)](Result<const metadata::Catalog*> catalog) mutable {
      if (!catalog) return done(fail(std::move(catalog).error()));
      const auto& paused = (*catalog)->paused();
      done(std::set<std::string>(paused.begin(), paused.end()));
    });
  });
}

}  // namespace sluice::client
