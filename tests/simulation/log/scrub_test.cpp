// SPDX-License-Identifier: Apache-2.0
// A scrub beside everything else that a log does, its jobs overlapping with theirs in any order.
#include <optional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/random.hpp"
#include "core/log/scrub_record.hpp"
#include "tests/simulation/log/log_world.hpp"

namespace sluice::sim {
namespace {

constexpr std::uint64_t kSeeds = 60;
constexpr int kActions = 250;
constexpr std::chrono::hours kInterval{5};

class ScrubBesideWrites {
 public:
  explicit ScrubBesideWrites(std::uint64_t seed) : world_({.seed = seed}), random_(seed) {}

  // The first thing that is wrong; "" if nothing is.
  std::string run() {
    if (const auto opened = world_.open(); !opened) return opened.error().to_string();
    for (int i = 0; i < kActions && problem_.empty(); ++i) {
      act();
      for (std::uint64_t steps = random_.below(6); steps > 0; --steps) (void)world_.queue().run_one();
    }
    world_.run();
    if (problem_.empty() && world_.log().fenced()) problem_ = world_.log().fenced()->to_string();
    return problem_;
  }
  [[nodiscard]] std::uint64_t verified() const { return verified_; }

 private:
  void act() {
    now_ += std::chrono::hours(random_.below(2));
    switch (random_.below(12)) {
      case 0:
        return world_.sync();
      case 1:
        return checkpoint();
      case 2:
        return world_.trim(4 + random_.below(20));
      case 3:
      case 4:
      case 5:
      case 6:
        return world_.append(100 + random_.below(1500), random_.below(2) == 0);
      default:
        return scrub();
    }
  }
  void checkpoint() {
    if (world_.log().acknowledged_op() > world_.log().checkpoint_op()) world_.checkpoint();
  }
  void scrub() {
    if (scrubbing_) return;
    const auto segments = world_.log().sealed_segments();
    const auto place = record_.next(segments, now_, kInterval);
    if (!place) return;
    scrubbing_ = true;
    world_.log().scrub(*place, 1 + random_.below(4000), [this](Result<log::ScrubStep> step) {
      scrubbing_ = false;
      if (!step) {
        problem_ = step.error().to_string();
        return;
      }
      if (step->damage) problem_ = step->damage->to_string();
      if (step->at_end && step->bytes > 0) ++verified_;
      (void)record_.note(*step, now_);
    });
  }

  LogWorld world_;
  SeededRandom random_;
  log::ScrubRecord record_;
  log::ScrubRecord::Instant now_{};
  bool scrubbing_ = false;
  std::uint64_t verified_ = 0;
  std::string problem_;
};

TEST(ScrubSimulation, NeverTakesASoundLogForADamagedOne) {
  std::uint64_t verified = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    ScrubBesideWrites scenario(seed);
    ASSERT_EQ(scenario.run(), "") << "seed " << seed;
    verified += scenario.verified();
  }
  fmt::print("{} segments verified\n", verified);
  EXPECT_GT(verified, kSeeds) << "the scenario hardly scrubs anything";
}

}  // namespace
}  // namespace sluice::sim
