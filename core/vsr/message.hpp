// SPDX-License-Identifier: Apache-2.0
// What replicas say to each other. docs/reference/replication.md, "Messages".
#pragma once

#include <span>
#include <variant>

#include "core/vsr/dvc.hpp"
#include "core/vsr/ids.hpp"

namespace sluice::vsr {

// Primary to backup: append this entry, whose bytes go with the message.
struct Prepare {
  Header header;
  Op commit;
};
// Backup to primary: this entry and everything below it is durable in my log.
struct PrepareOk {
  OpId entry;
};
// Primary to backup, also as the sign of life: everything up to here is committed.
struct Commit {
  Op commit;
};
// I want the message's view to begin, and have not left my own.
struct StartViewChange {};
// I have left my view; this is my log. To the primary of the message's view.
struct DoViewChange {
  Dvc dvc;
};
// The log of the message's view, from its commit on.
struct StartView {
  Op commit;
  std::span<const Header> headers;
};
// Which view is it, and what is its log? I know of none above the message's.
struct RequestStartView {};
// Send me the entries of these ops.
struct RequestEntries {
  Op first;
  Op last;
};
// One of them, with its bytes. What is not above the sender's commit is committed.
struct RepairEntry {
  Header header;
  Op commit;
};

struct Message {
  ReplicaIndex from;
  View view;
  std::variant<Prepare, PrepareOk, Commit, StartViewChange, DoViewChange, StartView, RequestStartView, RequestEntries, RepairEntry> body;
};

}  // namespace sluice::vsr
