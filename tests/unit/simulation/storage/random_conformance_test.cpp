// SPDX-License-Identifier: Apache-2.0
// The same random calls on the operating system's file system and on the twin give the same results, errors included.
#include <cstdlib>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/random.hpp"
#include "core/storage/posix_storage.hpp"
#include "tests/simulation/storage/sim_storage.hpp"
#include "tests/unit/core/temporary_directory.hpp"

namespace sluice::sim {
namespace {

// One of the two worlds, with the handles that are open there.
struct ConformingWorld {
  storage::Storage& storage;
  std::string root;
  std::vector<storage::FilePtr> files = {};

  [[nodiscard]] std::string told(const Error& error) const {
    std::string text = error.to_string();
    for (std::size_t at = text.find(root); at != std::string::npos; at = text.find(root)) text.erase(at, root.size());
    return text;
  }
  template <typename T>
  [[nodiscard]] std::string told(const Result<T>& outcome) const {
    return outcome ? "fine" : told(outcome.error());
  }
};

struct RandomCall {
  std::uint64_t what = 0;
  std::string path;
  std::string other;
  std::uint64_t handle = 0;
  std::uint64_t position = 0;
  std::string text;
};

RandomCall draw_call(SeededRandom& random) {
  const auto path = [&] {
    std::string out;
    for (std::uint64_t i = 0; i <= random.below(3); ++i) out += fmt::format("/{}", random.below(3));
    return out;
  };
  RandomCall call;
  call.what = random.below(14);
  call.path = path();
  call.other = path();
  call.handle = random.next();
  call.position = random.below(3) == 0 ? random.below(20'000) : random.below(600);
  call.text = std::string(random.below(4) == 0 ? random.below(9000) : random.below(100), static_cast<char>('a' + random.below(26)));
  return call;
}

std::string open_in(ConformingWorld& world, const RandomCall& call, storage::OpenMode mode) {
  auto file = world.storage.open(world.root + call.path, mode);
  if (!file) return world.told(file.error());
  world.files.push_back(*file);
  if (world.files.size() > 8) world.files.erase(world.files.begin());
  return "open";
}

std::string on_file(ConformingWorld& world, const RandomCall& call) {
  if (world.files.empty()) return "no file";
  storage::File& file = *world.files[call.handle % world.files.size()];
  switch (call.what) {
    case 0:
    case 1:
      return world.told(file.write(call.position, as_bytes(call.text)));
    case 2:
      return world.told(file.truncate(call.position));
    case 3: {
      const auto size = file.size();
      return size ? std::to_string(*size) : world.told(size);
    }
    default: {
      ByteVector bytes(30'000);
      const auto got = file.read(call.position, bytes);
      return got ? std::string(as_text(Bytes(bytes).first(*got))) : world.told(got);
    }
  }
}

std::string run(ConformingWorld& world, const RandomCall& call) {
  const std::string path = world.root + call.path;
  switch (call.what) {
    case 5:
      return open_in(world, call, call.handle % 2 == 0 ? storage::OpenMode::kReadWrite : storage::OpenMode::kCreateNew);
    case 6:
      return open_in(world, call, storage::OpenMode::kReplace);
    case 7:
      return world.told(world.storage.rename(path, world.root + call.other));
    case 8:
      return world.told(world.storage.remove(path));
    case 9:
      return world.told(world.storage.remove_directory(path));
    case 10:
    case 11: {
      const auto names = world.storage.list(path);
      return names ? fmt::format("{}", fmt::join(*names, " ")) : world.told(names);
    }
    case 12:
      return world.told(world.storage.make_directories(path));
    case 13: {
      const auto bytes = storage::read_file(world.storage, path, 1u << 20);
      return bytes ? std::string(as_text(*bytes)) : "not read";
    }
    default:
      return on_file(world, call);
  }
}

TEST(RandomConformance, HoldsForThousandsOfCalls) {
  const char* const given = std::getenv("SLUICE_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : 20'240'611;
  fmt::print("SLUICE_TEST_SEED={}\n", seed);
  const test::TemporaryDirectory directory;
  SimStorage sim;
  ASSERT_TRUE(sim.process().make_directories("/sim").has_value());
  ConformingWorld real{storage::posix_storage(), directory.path()};
  ConformingWorld simulated{sim.process(), "/sim"};
  SeededRandom random(seed);
  for (int i = 0; i < 6000; ++i) {
    const RandomCall call = draw_call(random);
    const std::string expected = run(real, call);
    ASSERT_EQ(run(simulated, call), expected) << fmt::format("seed {}, call {}: what {}, {} {}, position {}, {} bytes\n", seed, i,
                                                             call.what, call.path, call.other, call.position, call.text.size())
                                              << sim.dump();
  }
}

}  // namespace
}  // namespace sluice::sim
