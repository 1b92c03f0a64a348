// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include <sluice/context.hpp>
#include <sluice/record.hpp>

#include "settings.hpp"

namespace sink_template {

// All that is known of the back end. One thread at a time; a call may block, but ends within a second after Context::stop() is requested.
// To fail, throw what sluice/outcome.hpp offers: the host decides when to try again, so nothing here waits and tries again.
class BackEnd {
 public:
  BackEnd() = default;
  BackEnd(const BackEnd&) = delete;
  BackEnd& operator=(const BackEnd&) = delete;
  virtual ~BackEnd() = default;

  // Asks whether the back end is there and lets us in, with the credentials of the real requests. Throws ConnectorError if not.
  virtual void connect() {}
  // Stores the records, all of them or none, and returns when they are safe. They are of one partition, in order, at least one and at most
  // max_records. sluice::dedup_key(batch, record) is the same for every attempt at a record: store under it, and a repeat does no harm.
  //   RecordError     these records will never be taken. If there are several, they are halved until the one to blame is alone.
  //   TransientError  the same records may be taken later.
  //   AmbiguousError  no answer, and a repeat would store the records twice.
  //   ConnectorError  no record is to blame: unreachable, refused, not allowed, no such target.
  virtual void push(const sluice::Batch& batch, std::span<const sluice::Record> records) = 0;
};

[[nodiscard]] std::unique_ptr<BackEnd> make_back_end(const Settings& settings, sluice::Context& context);

}  // namespace sink_template
