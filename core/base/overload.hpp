// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace sluice {

// The lambdas that std::visit chooses from, as one object.
template <typename... Ts>
struct Overload : Ts... {
  using Ts::operator()...;
};

}  // namespace sluice
