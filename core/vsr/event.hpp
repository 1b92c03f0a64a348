// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <variant>

#include "core/vsr/effects.hpp"
#include "core/vsr/message.hpp"

namespace sluice::vsr {

// Time has come; see Replica::next_deadline().
struct Tick {};
// An entry that the host stamped as Replica::next_stamp() says.
struct Proposed {
  Header header;
};
// This entry and everything below it is in the log as durably as the entries ask for. Of an older epoch, it says nothing.
struct EntryDurable {
  OpId entry;
  LogEpoch epoch;
};
// The truncation that began this epoch is durable.
struct Truncated {
  LogEpoch epoch;
};
// A write or a sync of the log or the state failed: nothing leaves this replica any more.
struct Fenced {};

using Event = std::variant<Tick, Message, Proposed, EntryDurable, Truncated, Fenced>;

}  // namespace sluice::vsr
