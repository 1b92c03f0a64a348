// SPDX-License-Identifier: Apache-2.0
// What becomes of the bytes of one file.
#include <algorithm>
#include <set>

#include "tests/unit/simulation/storage/sim_fixture.hpp"

namespace sluice::sim {
namespace {

class StableBytes : public SimFixture {
 protected:
  static std::string sectors(const std::string& letters) {
    std::string out;
    for (const char letter : letters) out += std::string(kSectorBytes, letter);
    return out;
  }
  // One letter for each sector; '?' if it is torn.
  static std::string letters(const std::string& text) {
    std::string out;
    for (std::size_t at = 0; at < text.size(); at += kSectorBytes) {
      const std::string sector = text.substr(at, kSectorBytes);
      const bool whole = sector.find_first_not_of(sector[0]) == std::string::npos;
      out += !whole ? '?' : sector[0] == '\0' ? '0' : sector[0];
    }
    return out;
  }
};

TEST_F(StableBytes, OutliveTheProcessEvenIfNotSynced) {
  const storage::FilePtr file = create("/d/f", "text");
  storage::Storage& dead = sim_.process();
  sim_.process_crash();
  EXPECT_EQ(text("/d/f"), "text");
  EXPECT_EQ(file->size().error().code(), "sim.crashed");
  EXPECT_EQ(file->write(0, as_bytes("x")).error().code(), "sim.crashed");
  EXPECT_EQ(file->sync().error().code(), "sim.crashed");
  EXPECT_EQ(dead.open("/d/f", storage::OpenMode::kRead).error().code(), "sim.crashed");
  EXPECT_EQ(dead.make_directories("/d").error().code(), "sim.crashed");
  EXPECT_EQ(open("/d/f")->size().value(), 4U);
  EXPECT_EQ(text_after(PowerLoss::kNothing, "/d/f"), "(none)") << "the crash of a process syncs nothing";
}

TEST_F(StableBytes, AreThoseOfTheLastSync) {
  const storage::FilePtr file = create_stable("/d/f", "old");
  write(file, 0, "newer");
  EXPECT_EQ(text("/d/f"), "newer");
  EXPECT_EQ(text_after(PowerLoss::kNothing, "/d/f"), "old");
  EXPECT_EQ(text_after(PowerLoss::kEverything, "/d/f"), "newer");
  sync(file);
  EXPECT_EQ(text_after(PowerLoss::kNothing, "/d/f"), "newer");
  ASSERT_TRUE(file->truncate(1).has_value());
  EXPECT_EQ(text_after(PowerLoss::kNothing, "/d/f"), "newer");
  sync(open("/d/f"));
  EXPECT_EQ(text_after(PowerLoss::kNothing, "/d/f"), "n") << "a sync through any handle";
  sim_.power_loss(PowerLoss::kNothing);
  EXPECT_EQ(file->size().error().code(), "sim.crashed");
}

TEST_F(StableBytes, AreSectorsOfAnyVersionInAnyOrderAfterAPowerLoss) {
  const storage::FilePtr file = create_stable("/d/f", sectors("aaaaaaaaaaaa"));
  write(file, 0, sectors("bbbbbbbbbbbb"));
  write(file, 1024, sectors("cccccccc"));
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const std::string now = letters(text_after(PowerLoss::kRandom, "/d/f", seed));
    ASSERT_EQ(now.size(), 12U);
    ASSERT_EQ(now.find_first_not_of("abc"), std::string::npos) << now;
    ASSERT_EQ((now.substr(0, 2) + now.substr(10)).find('c'), std::string::npos) << now;
    seen.insert(now);
  }
  for (const char* const extreme : {"aaaaaaaaaaaa", "bbccccccccbb"}) EXPECT_TRUE(seen.contains(extreme)) << extreme;
  const auto some = [&](const auto& matches) { return std::any_of(seen.begin(), seen.end(), matches); };
  EXPECT_TRUE(some([](const std::string& s) { return s[0] == 'a' && s[11] == 'b'; })) << "the later first";
  EXPECT_TRUE(some([](const std::string& s) { return s[0] == 'b' && s[11] == 'a'; })) << "the earlier first";
  EXPECT_TRUE(some([](const std::string& s) {
    const std::string twice = s.substr(2, 8);
    return std::count(twice.begin(), twice.end(), 'b') >= 2 && twice.find('b') < twice.rfind('c') && twice.rfind('c') != std::string::npos;
  })) << "versions in between beside the newest, whatever comes first";
  EXPECT_TRUE(some([](const std::string& s) { return std::count(s.begin(), s.end(), 'a') == 1 && s[5] == 'a'; })) << "all but one";
  EXPECT_TRUE(some([](const std::string& s) { return std::count(s.begin(), s.end(), 'a') == 11; })) << "one alone";
}

TEST_F(StableBytes, AreZerosWhereOnlyTheSizeSurvived) {
  const storage::FilePtr file = create_stable("/d/f", sectors("a"));
  write(file, 512, sectors("bbb"));
  write(file, 2048, sectors("c"));
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const std::string now = letters(text_after(PowerLoss::kRandom, "/d/f", seed));
    ASSERT_TRUE(now.size() == 1 || now.size() == 4 || now.size() == 5) << now;
    ASSERT_EQ(now[0], 'a');
    for (std::size_t i = 1; i < now.size(); ++i) ASSERT_TRUE(now[i] == '0' || now[i] == (i < 4 ? 'b' : 'c')) << now;
    seen.insert(now);
  }
  for (const char* const wanted : {"a", "a000", "a0000", "abbb", "abbbc", "a000c", "abbb0"}) EXPECT_TRUE(seen.contains(wanted)) << wanted;
}

TEST_F(StableBytes, AreNeverThoseWrittenBehindATruncationThatDidNotHappen) {
  const storage::FilePtr file = create_stable("/d/f", sectors("aaaa"));
  ASSERT_TRUE(file->truncate(512).has_value());
  write(file, 1024, sectors("b"));
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) seen.insert(letters(text_after(PowerLoss::kRandom, "/d/f", seed)));
  EXPECT_EQ(seen, (std::set<std::string>{"aaaa", "a", "a00", "a0b"}));
  EXPECT_EQ(letters(text_after(PowerLoss::kEverything, "/d/f")), "a0b");
  sync(file);
  EXPECT_EQ(letters(text_after(PowerLoss::kNothing, "/d/f")), "a0b");
}

TEST_F(StableBytes, AreTheSameForTheSameSeed) {
  const storage::FilePtr file = create_stable("/d/f", sectors("aaaaaaaaaaaaaaaa"));
  write(file, 0, sectors("bbbbbbbbbbbbbbbb"));
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    seen.insert(text_after(PowerLoss::kRandom, "/d/f", seed));
    ASSERT_EQ(text_after(PowerLoss::kRandom, "/d/f", seed), text_after(PowerLoss::kRandom, "/d/f", seed));
  }
  EXPECT_GT(seen.size(), 10U);
}

TEST_F(StableBytes, AreNotWhatAFailedSyncLeftOutEvenAfterLaterSyncs) {
  const storage::FilePtr file = create_stable("/d/f", sectors("aa"));
  write(file, 0, sectors("b"));
  write(file, 1024, sectors("b"));
  sim_.plan().add({.kind = OperationKind::kSync, .effect = FaultEffect::kError});
  EXPECT_EQ(error_of(file->sync()), "sync /d/f: Input/output error (errno=EIO, file=/d/f) [base.io]");
  EXPECT_EQ(letters(text("/d/f")), "bab") << "it can be read as if nothing had happened";
  sync(open("/d/f"));
  sync(file);
  EXPECT_EQ(letters(text("/d/f")), "bab");
  EXPECT_EQ(letters(text_after(PowerLoss::kEverything, "/d/f")), "aa0");
  write(file, 512, sectors("c"));
  sync(file);
  EXPECT_EQ(letters(text_after(PowerLoss::kNothing, "/d/f")), "ac0") << "what was written again is synced, and nothing else";
  write(file, 0, sectors("d"));
  sync(file);
  EXPECT_EQ(letters(text_after(PowerLoss::kNothing, "/d/f")), "dc0");
  EXPECT_EQ(letters(text("/d/f")), "dcb");
  sim_.evict_clean_pages("/d/f");
  EXPECT_EQ(letters(text("/d/f")), "dc0") << "the page cache may forget them at any time";
}

TEST_F(StableBytes, OfAFailedWritebackAreMissedOnlyByTheDescriptorsOfThatTime) {
  const storage::FilePtr file = create_stable("/d/f", sectors("a"));
  const storage::FilePtr other = open("/d/f");
  write(file, 0, sectors("b"));
  sim_.fail_writeback("/d/f");
  const storage::FilePtr later = open("/d/f");
  EXPECT_EQ(letters(text("/d/f")), "b");
  sync(later);
  EXPECT_EQ(letters(text_after(PowerLoss::kNothing, "/d/f")), "a")
      << "a sync that succeeds proves nothing of what was before its descriptor";
  for (const storage::FilePtr& told : {file, other}) {
    EXPECT_EQ(error_of(told->sync()), "sync /d/f: Input/output error (errno=EIO, file=/d/f) [base.io]");
    sync(told);
  }
  EXPECT_EQ(letters(text_after(PowerLoss::kEverything, "/d/f")), "a");
}

TEST_F(StableBytes, OfAFailedSyncMayBeThereInPartOrAltogether) {
  const storage::FilePtr file = create_stable("/d/f", sectors("aaaaaaaa"));
  write(file, 0, sectors("bbbbbbbb"));
  const FileTree before = sim_.snapshot();
  const auto stable_after = [&](FaultPoint point) {
    sim_.restore(before);
    sim_.plan().add({.kind = OperationKind::kSync, .point = point, .effect = FaultEffect::kError});
    EXPECT_FALSE(open("/d/f")->sync().has_value());
    return letters(text_after(PowerLoss::kEverything, "/d/f"));
  };
  EXPECT_EQ(stable_after(FaultPoint::kBefore), "aaaaaaaa");
  EXPECT_EQ(stable_after(FaultPoint::kAfter), "bbbbbbbb");
  bool mixed = false;
  for (int i = 0; i < 40; ++i) {
    const std::string now = stable_after(FaultPoint::kHalf);
    EXPECT_EQ(now.find_first_not_of("ab"), std::string::npos) << now;
    mixed = mixed || (now.find('a') != std::string::npos && now.find('b') != std::string::npos);
  }
  EXPECT_TRUE(mixed);
}

TEST_F(StableBytes, OfManyUnsyncedChangesAreAllThere) {
  const storage::FilePtr file = create_stable("/d/f", "start");
  for (int i = 0; i < 500; ++i) write(file, static_cast<std::uint64_t>(i) * 37, "record " + std::to_string(i));
  EXPECT_EQ(text_after(PowerLoss::kEverything, "/d/f"), text("/d/f"));
  EXPECT_EQ(text_after(PowerLoss::kNothing, "/d/f"), "start");
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(file->truncate(1000 + static_cast<std::uint64_t>(i)).has_value());
    write(file, 2000, "again " + std::to_string(i));
  }
  EXPECT_EQ(text_after(PowerLoss::kEverything, "/d/f"), text("/d/f"));
  sync(file);
  EXPECT_EQ(text_after(PowerLoss::kNothing, "/d/f"), text("/d/f"));
}

TEST_F(StableBytes, OfManyUnsyncedChangesAreAllThereAfterAFailedSyncToo) {
  const storage::FilePtr file = create_stable("/d/f", "start");
  sim_.plan().add({.kind = OperationKind::kSync, .effect = FaultEffect::kError});
  EXPECT_FALSE(file->sync().has_value());
  for (int i = 0; i < 500; ++i) write(file, static_cast<std::uint64_t>(i) * 37, "record " + std::to_string(i));
  for (std::uint64_t i = 0; i < 100; ++i) {
    write(file, i * 100, "again");
    ASSERT_TRUE(file->truncate(15'000 - i).has_value());
  }
  sync(file);
  EXPECT_EQ(text_after(PowerLoss::kNothing, "/d/f"), text("/d/f"));
}

TEST_F(StableBytes, FlipInTheFileAndOnTheDevice) {
  create_stable("/d/f", "abc");
  sim_.flip_bit("/d/f", 1);
  EXPECT_EQ(text("/d/f"), "acc");
  EXPECT_EQ(text_after(PowerLoss::kNothing, "/d/f"), "acc");
  sim_.flip_bit("/d/f", 2, 5);
  EXPECT_EQ(text("/d/f"), "acC");
}

TEST_F(StableBytes, CanBeCutBehindTheBackOfThePageCache) {
  create_stable("/d/f", "abcdef");
  sim_.truncate_stable("/d/f", 2);
  EXPECT_EQ(text("/d/f"), "abcdef");
  EXPECT_EQ(text_after(PowerLoss::kEverything, "/d/f"), "ab");
}

}  // namespace
}  // namespace sluice::sim
