// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include <sluice/binding_schema.hpp>

namespace sluice::detail {
namespace {

// Optimal string alignment: insert, delete, change, swap of neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::optional<std::string> nearest(std::string_view name, const std::vector<std::string>& candidates) {
  constexpr std::size_t kNameMax = 64;  // longer ones are no typing errors
  if (name.size() > kNameMax) return std::nullopt;
  std::size_t best = std::numeric_limits<std::size_t>::max();
  std::optional<std::string> found;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best && distance <= 1 + std::max(name.size(), candidate.size()) / 3) {
      best = distance;
      found = candidate;
    }
  }
  return found;
}

}  // namespace sluice::detail
