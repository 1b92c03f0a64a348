// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// The secrets in a URL's userinfo: "user:password" of scheme://user:password@host and the password alone, raw and percent-decoded; empty
// if it has none. Takes texts that no URL parser would (several hosts, a stray @ in the password): leaking one is worse than masking much.
[[nodiscard]] std::vector<std::string> url_secrets(std::string_view text);

}  // namespace sluice
