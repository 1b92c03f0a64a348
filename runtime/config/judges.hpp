// SPDX-License-Identifier: Apache-2.0
// What types and ranges cannot say about single values. Each gets a value of the right type and answers with the end of a sentence that
// begins with the key's name, or nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/config/tree.hpp"

namespace sluice::config {

inline constexpr std::size_t kConnectorKeyBytesMax = 64;
// sockaddr_un holds no longer path.
inline constexpr std::size_t kSocketPathBytesMax = 107;

// [a-z][a-z0-9]*(_[a-z0-9]+)*, at most kConnectorKeyBytesMax bytes.
[[nodiscard]] bool is_connector_key(std::string_view text);

[[nodiscard]] std::optional<std::string> judge_not_empty(const Tree& value);
[[nodiscard]] std::optional<std::string> judge_socket_path(const Tree& value);
[[nodiscard]] std::optional<std::string> judge_host_name(const Tree& value);
[[nodiscard]] std::optional<std::string> judge_loopback_address(const Tree& value);
[[nodiscard]] std::optional<std::string> judge_topic_name(const Tree& value);
[[nodiscard]] std::optional<std::string> judge_connector_key(const Tree& value);
[[nodiscard]] std::optional<std::string> judge_start_from(const Tree& value);
[[nodiscard]] std::optional<std::string> judge_workers(const Tree& value);

}  // namespace sluice::config
