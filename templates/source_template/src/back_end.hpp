// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sluice/context.hpp>

#include "cursor.hpp"
#include "settings.hpp"

namespace source_template {

struct Item {
  Cursor at;
  std::optional<std::string> key = {};
  std::string payload = {};
  std::string problem = {};  // not empty: why no record can be made of it; it is passed over, counted and logged
};

// All that is known of the back end. One thread at a time; a call may block, but ends within a second after Context::stop() is requested.
// To fail, throw sluice::ConnectorError: the host decides when to try again, so nothing here waits and tries again.
class BackEnd {
 public:
  BackEnd() = default;
  BackEnd(const BackEnd&) = delete;
  BackEnd& operator=(const BackEnd&) = delete;
  virtual ~BackEnd() = default;

  // Asks whether the back end is there and lets us in, with the credentials of the real requests. Throws ConnectorError if not.
  virtual void connect() {}
  // The first items behind `after` (none = from the beginning), at most `limit`, in ascending order of (position, id); empty = there is
  // nothing new now. In SQL: WHERE (position, id) > (…, …) ORDER BY position, id LIMIT …. It changes nothing in the back end.
  virtual std::vector<Item> fetch(const std::optional<Cursor>& after, std::uint32_t limit) = 0;
};

[[nodiscard]] std::unique_ptr<BackEnd> make_back_end(const Settings& settings, sluice::Context& context);

}  // namespace source_template
