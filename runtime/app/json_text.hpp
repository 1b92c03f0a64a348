// SPDX-License-Identifier: Apache-2.0
// Private to runtime/app: answers of the daemon on their way into a table. A field that is missing shows as "-", never as a crash:
// the daemon may be older or newer than the command line.
#pragma once

#include <string>
#include <string_view>

#include <boost/json.hpp>

namespace sluice::app {

// The field as text: strings as they are (made safe for a terminal), numbers and booleans in JSON, null and absent as "-".
[[nodiscard]] std::string text_field(const boost::json::value& from, std::string_view name);
// An empty array or object if it is not there.
[[nodiscard]] const boost::json::array& array_field(const boost::json::value& from, std::string_view name);
[[nodiscard]] const boost::json::value& value_field(const boost::json::value& from, std::string_view name);
[[nodiscard]] std::uint64_t number_or_zero(const boost::json::value& from, std::string_view name);
// Seconds as "3m 20s"; "-" for 0.
[[nodiscard]] std::string span_field(const boost::json::value& from, std::string_view name);

}  // namespace sluice::app
