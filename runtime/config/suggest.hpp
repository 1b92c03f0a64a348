// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::config {

// Insertions, deletions, changes and swaps of neighbours that turn one word into the other, letter case ignored.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidates nearest to the word, at most three, none if even they are too different to have been meant.
[[nodiscard]] std::vector<std::string> nearest(std::string_view word, std::span<const std::string> candidates);

// "; did you mean `a` or `b`?", or empty.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

}  // namespace sluice::config
