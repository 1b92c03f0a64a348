// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/base/bytes.hpp"
#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/metadata/command.hpp"
#include "core/metadata/topic.hpp"

namespace sluice::metadata {

inline constexpr std::size_t kGroupsMax = 65'536;  // partitions of all topics together
inline constexpr std::size_t kPausedMax = 4096;    // paused connectors

// What applying a command changed, for whoever keeps the partitions' logs in step with the catalog.
struct Change {
  std::optional<Topic> created;
  std::optional<Topic> deleted;
};

// The state machine of the metadata group: topics with their incarnations and group ids, and the set of paused connectors.
// Deterministic: the same commands at the same ops give the same state everywhere. A command that cannot be applied is an error and
// changes nothing but `applied()`. Owned by the shard of the metadata group; not thread-safe.
class Catalog {
 public:
  // What apply() would say now.
  [[nodiscard]] Result<void> check(const Command& command) const;
  // `op` is greater than applied(). It becomes the incarnation of a topic that is created.
  Result<Change> apply(Op op, const Command& command);

  [[nodiscard]] Op applied() const { return applied_; }
  [[nodiscard]] const std::map<TopicName, Topic>& topics() const { return topics_; }
  [[nodiscard]] const Topic* find(const TopicName& name) const;
  [[nodiscard]] const std::set<std::string, std::less<>>& paused() const { return paused_; }

  [[nodiscard]] ByteVector encode_snapshot() const;
  [[nodiscard]] static Result<Catalog> decode_snapshot(Bytes bytes);

  friend bool operator==(const Catalog&, const Catalog&) = default;

 private:
  Op applied_;
  GroupId next_group_{1};  // group ids are never reused, not even after a delete
  std::size_t group_count_ = 0;
  std::map<TopicName, Topic> topics_;
  std::set<std::string, std::less<>> paused_;
};

}  // namespace sluice::metadata
