// SPDX-License-Identifier: Apache-2.0
// The ways in which a machine may go on after a fault.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tests/simulation/storage/sim_storage.hpp"

namespace sluice::sim {

inline constexpr std::array kPoints{FaultPoint::kBefore, FaultPoint::kHalf, FaultPoint::kAfter};
inline constexpr SimOptions kExt4{.file_sync_commits_names = true};

struct Aftermath {
  std::string name;
  std::function<void(SimStorage&)> happen;
  bool power_lost = true;
  bool with_witness = false;
};

inline std::vector<Aftermath> power_losses(std::uint64_t seeds) {
  std::vector<Aftermath> out{
      {"a power loss that nothing survives", [](SimStorage& machine) { machine.power_loss(PowerLoss::kNothing); }},
      {"a power loss that everything survives", [](SimStorage& machine) { machine.power_loss(PowerLoss::kEverything); }},
  };
  for (std::uint64_t seed = 1; seed <= seeds; ++seed)
    out.push_back(
        {fmt::format("a power loss of seed {}", seed), [seed](SimStorage& machine) { machine.power_loss(PowerLoss::kRandom, seed); }});
  return out;
}

inline std::vector<Aftermath> process_crash_and(std::vector<Aftermath> others) {
  const auto end = [](SimStorage& machine) { machine.process_crash(); };
  others.push_back({"the end of the process", end, false, true});
  others.push_back({"the end of the process and of its witness", end, false, false});
  return others;
}

}  // namespace sluice::sim
