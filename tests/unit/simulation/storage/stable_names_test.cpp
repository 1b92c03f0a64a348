// SPDX-License-Identifier: Apache-2.0
// What becomes of names, and of whole trees.
#include <set>

#include "tests/unit/simulation/storage/sim_fixture.hpp"

namespace sluice::sim {
namespace {

class StableNames : public SimFixture {
 protected:
  using SimFixture::SimFixture;

  void rename(const std::string& from, const std::string& to) { ASSERT_TRUE(sim_.process().rename(from, to).has_value()); }
  void remove(const std::string& path) { ASSERT_TRUE(sim_.process().remove(path).has_value()); }
  std::string names_after(PowerLoss reached, std::uint64_t seed = 0) const {
    std::string out;
    const auto machine = after(reached, seed);
    const auto names = machine->process().list("/d").value();
    for (const std::string& name : names) out += name;
    return out;
  }
  std::set<std::string> names_at_random() const {
    std::set<std::string> out;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) out.insert(names_after(PowerLoss::kRandom, seed));
    return out;
  }
};
class IndependentNames : public StableNames {
 protected:
  IndependentNames() : StableNames({.name_order = NameOrder::kIndependent}) {}
};
class NamesOfExt4 : public StableNames {
 protected:
  NamesOfExt4() : StableNames({.file_sync_commits_names = true}) {}
};

TEST_F(StableNames, NeedASyncOfTheirDirectory) {
  const storage::FilePtr file = create("/d/f", "text");
  sync(file);
  EXPECT_EQ(text_after(PowerLoss::kNothing, "/d/f"), "(none)");
  EXPECT_EQ(text_after(PowerLoss::kEverything, "/d/f"), "text");
  sync_directory("/d");
  EXPECT_EQ(text_after(PowerLoss::kNothing, "/d/f"), "text");
}

TEST_F(NamesOfExt4, BecomeStableWithTheFile) {
  create("/d/a", "a");
  create("/d/c", "c");
  sync(open("/d/c"));
  create("/d/e", "e");
  EXPECT_EQ(names_after(PowerLoss::kNothing), "ac") << "with everything before it";
  EXPECT_EQ(text_after(PowerLoss::kNothing, "/d/a"), "") << "but not with its bytes";
}

TEST_F(StableNames, MayHaveNoBytesYet) {
  create("/d/f", "text");
  sync_directory("/d");
  EXPECT_EQ(text_after(PowerLoss::kNothing, "/d/f"), "");
  create_stable("/d/g", "old");
  create("/d/g", "new");
  EXPECT_EQ(text_after(PowerLoss::kNothing, "/d/g"), "old");
  create("/d/staging", "newest");
  rename("/d/staging", "/d/g");
  sync_directory("/d");
  EXPECT_EQ(text_after(PowerLoss::kNothing, "/d/g"), "") << "a rename does not sync the file";
}

TEST_F(StableNames, ComeBackUntilTheRemovalIsSynced) {
  create_stable("/d/f", "text");
  remove("/d/f");
  create("/d/g", "");
  EXPECT_EQ(text("/d/f"), "(none)");
  EXPECT_EQ(names_after(PowerLoss::kNothing), "f");
  sync_directory("/");
  EXPECT_EQ(text_after(PowerLoss::kNothing, "/d/f"), "text");
  sync_directory("/d");
  EXPECT_EQ(names_after(PowerLoss::kNothing), "g");
}

TEST_F(StableNames, OfARenameAreTheOldOneOrTheNewOne) {
  create_stable("/d/f", "old");
  create_stable("/d/s", "new");
  rename("/d/s", "/d/f");
  EXPECT_EQ(text_after(PowerLoss::kNothing, "/d/f"), "old");
  EXPECT_EQ(names_at_random(), (std::set<std::string>{"f", "fs"}));
  sync_directory("/d");
  EXPECT_EQ(names_after(PowerLoss::kNothing), "f");
  EXPECT_EQ(text_after(PowerLoss::kNothing, "/d/f"), "new");
}

TEST_F(StableNames, OfARenameBetweenDirectoriesAreNeverBoth) {
  make_directory(sim_, "/b");
  sync(create("/d/x", "one"));
  rename("/d/x", "/b/y");
  create("/d/x", "two");
  sync_directory("/b");
  EXPECT_EQ(names_after(PowerLoss::kNothing), "") << "the earlier life of the name belongs to the rename";
  EXPECT_EQ(text_after(PowerLoss::kNothing, "/b/y"), "one");
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) ASSERT_NE(text_after(PowerLoss::kRandom, "/d/x", seed), "one") << "seed " << seed;
}

TEST_F(StableNames, SurviveAsAPrefixOfWhatWasDone) {
  for (const char* const path : {"/d/a", "/d/b", "/d/c"}) create(path, "");
  EXPECT_EQ(names_at_random(), (std::set<std::string>{"", "a", "ab", "abc"}));
}

TEST_F(IndependentNames, SurviveEachForItself) {
  for (const char* const path : {"/d/a", "/d/b", "/d/c"}) create(path, "");
  EXPECT_EQ(names_at_random(), (std::set<std::string>{"", "a", "b", "c", "ab", "ac", "bc", "abc"}));
  remove("/d/a");
  rename("/d/b", "/d/e");
  EXPECT_EQ(names_at_random(), (std::set<std::string>{"", "a", "b", "c", "e", "ab", "ac", "ae", "bc", "ce", "abc", "ace"}))
      << "a rename never makes two names of one";
}

TEST_F(StableNames, OfOneDirectoryDoNotComeWithAnother) {
  make_directory(sim_, "/other");
  create("/d/f", "");
  create("/other/g", "");
  sync_directory("/other");
  EXPECT_EQ(names_after(PowerLoss::kNothing), "");
  EXPECT_EQ(text_after(PowerLoss::kNothing, "/other/g"), "");
}

TEST_F(StableNames, OfMadeDirectoriesAreStable) {
  make_directory(sim_, "/d/x/y");
  create_stable("/d/x/y/f", "text");
  EXPECT_EQ(text_after(PowerLoss::kNothing, "/d/x/y/f"), "text");
  remove("/d/x/y/f");
  ASSERT_TRUE(sim_.process().remove_directory("/d/x/y").has_value());
  EXPECT_EQ(text_after(PowerLoss::kNothing, "/d/x/y/f"), "text");
  sync_directory("/d/x");
  EXPECT_EQ(text_after(PowerLoss::kNothing, "/d/x/y/f"), "(none)");
}

TEST_F(StableNames, OfDirectoriesThatWereThereAreMadeStableToo) {
  sim_.plan().add({.kind = OperationKind::kMakeDirectory, .point = FaultPoint::kAfter});
  ASSERT_FALSE(sim_.process().make_directories("/d/x").has_value());
  sim_.process_crash();
  EXPECT_EQ(names_after(PowerLoss::kNothing), "");
  make_directory(sim_, "/d/x");
  EXPECT_EQ(names_after(PowerLoss::kNothing), "x");
}

TEST_F(StableNames, OfLocksOutliveTheirLock) {
  const auto held = sim_.process().lock("/d/lock");
  ASSERT_TRUE(held.has_value());
  EXPECT_EQ(error_of(sim_.process().lock("/d/lock")), "'/d/lock' is locked by process 1 (pid=1) [storage.locked]");
  sim_.process_crash();
  EXPECT_TRUE(sim_.process().lock("/d/lock").has_value()) << "the holder is dead";
  EXPECT_EQ(text("/d/lock"), "");
}

TEST_F(StableNames, AndBytesAreKeptBySnapshots) {
  const storage::FilePtr file = create_stable("/d/f", std::string(10'000, 'a'));
  write(file, 5000, "unsynced");
  const FileTree snapshot = sim_.snapshot();
  const std::string then = text("/d/f");
  write(file, 0, "later");
  sync(file);
  create_stable("/d/g", "");
  sim_.restore(snapshot);
  EXPECT_EQ(file->size().error().code(), "sim.crashed") << "the process of that time is not there any more";
  SimStorage other;
  for (SimStorage* const sim : {&sim_, &other}) {
    sim->restore(snapshot);
    EXPECT_EQ(text_in(*sim, "/d/f"), then);
    EXPECT_EQ(text_in(*sim, "/d/g"), "(none)");
    sim->power_loss(PowerLoss::kNothing);
    EXPECT_EQ(text_in(*sim, "/d/f"), std::string(10'000, 'a'));
  }
}

TEST_F(StableNames, OfSnapshotsShareTheirPages) {
  const storage::FilePtr file = create_stable("/d/f", std::string(2 * kPageBytes, 'a'));
  const FileTree snapshot = sim_.snapshot();
  write(file, 0, "changed");
  const FileTree later = sim_.snapshot();
  const PagedBytes& one = snapshot.contents(snapshot.find_file("/d/f").value()).buffered();
  const PagedBytes& two = later.contents(later.find_file("/d/f").value()).buffered();
  EXPECT_NE(one.page(0), two.page(0));
  EXPECT_EQ(one.page(1), two.page(1));
}

TEST_F(StableNames, OfACopiedTreeAreStableWithTheirBytes) {
  make_directory(sim_, "/d/x");
  create("/d/x/f", "text");
  sim_.copy_tree(sim_, "/d/x", "/d/copy");
  SimStorage other;
  other.copy_tree(sim_, "/d/x", "/x");
  other.power_loss(PowerLoss::kNothing);
  EXPECT_EQ(text_in(other, "/x/f"), "text");
  sim_.power_loss(PowerLoss::kNothing);
  EXPECT_EQ(text("/d/copy/f"), "text");
  EXPECT_EQ(text("/d/x/f"), "(none)");
}

TEST_F(StableNames, AreListedWithWhatIsNotStable) {
  const storage::FilePtr file = create_stable("/d/f", "text");
  write(file, 4, "!");
  create("/d/g", "");
  const std::string dump = sim_.dump();
  EXPECT_NE(dump.find("/d/f  file 2, 5 bytes, 4 stable, 1 unsynced changes\n"), std::string::npos) << dump;
  EXPECT_NE(dump.find("/d/g  file 3, name not stable, 0 bytes, 0 stable, 0 unsynced changes\n"), std::string::npos) << dump;
  EXPECT_NE(dump.find("unsynced: file 3 as g in directory 1\n"), std::string::npos) << dump;
}

}  // namespace
}  // namespace sluice::sim
