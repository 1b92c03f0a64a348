// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/suggest.hpp"

#include <algorithm>
#include <limits>

namespace sluice::config {
namespace {

constexpr std::size_t kSuggestionsMax = 3;
// Longer words are not compared: nobody mistypes them, and the cost is quadratic.
constexpr std::size_t kWordBytesMax = 256;

char lower_letter(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Optimal string alignment, three rows.
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> previous(b.size() + 1);
  std::vector<std::size_t> current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower_letter(a[i - 1]) == lower_letter(b[j - 1]);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (same ? 0 : 1)});
      const bool swapped =
          i > 1 && j > 1 && lower_letter(a[i - 1]) == lower_letter(b[j - 2]) && lower_letter(a[i - 2]) == lower_letter(b[j - 1]);
      if (swapped) current[j] = std::min(current[j], before[j - 2] + 1);
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

std::vector<std::string> nearest(std::string_view word, std::span<const std::string> candidates) {
  std::vector<std::string> out;
  if (word.size() > kWordBytesMax) return out;
  std::size_t best = std::max<std::size_t>(1, word.size() / 3);
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance > best) continue;
    if (distance < best) out.clear();
    best = distance;
    if (out.size() < kSuggestionsMax && std::ranges::find(out, candidate) == out.end()) out.push_back(candidate);
  }
  return out;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  const std::vector<std::string> found = nearest(word, candidates);
  std::string out;
  for (std::size_t i = 0; i < found.size(); ++i) {
    out += i == 0 ? "; did you mean `" : i + 1 == found.size() ? "` or `" : "`, `";
    out += found[i];
  }
  return found.empty() ? out : out + "`?";
}

}  // namespace sluice::config
