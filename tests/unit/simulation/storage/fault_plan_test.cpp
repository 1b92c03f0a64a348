// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/storage/fault_plan.hpp"

#include "tests/unit/simulation/storage/sim_fixture.hpp"

namespace sluice::sim {
namespace {

class FaultPlanTest : public SimFixture {
 protected:
  void SetUp() override { sim_.plan().restart(); }
  // The file after a write of two and a half sectors over 'a's that meets the fault, and what the write returned.
  std::string after_write(const Fault& fault, std::uint64_t position = 300) {
    sim_.process_crash();
    const storage::FilePtr file = create_stable("/d/f", std::string(2000, 'a'));
    sim_.plan().restart();
    sim_.plan().add(fault);
    const auto outcome = file->write(position, as_bytes(std::string(1280, 'b')));
    outcome_ = error_of(outcome);
    if (sim_.crashed()) sim_.process_crash();
    return text("/d/f");
  }
  static std::string with_prefix(std::uint64_t count) {
    return std::string(300, 'a') + std::string(count, 'b') + std::string(1700 - count, 'a');
  }

  std::string outcome_;
};
using FaultsOfThePlan = FaultPlanTest;

TEST_F(FaultsOfThePlan, NumberAndTraceEveryOperation) {
  const storage::FilePtr file = create("/d/f", "text");
  ByteVector bytes(3);
  ASSERT_TRUE(file->read(1, bytes).has_value());
  sync(file);
  ASSERT_TRUE(file->truncate(2).has_value());
  ASSERT_TRUE(file->size().has_value());
  open("/d/f", storage::OpenMode::kRead);
  ASSERT_TRUE(sim_.process().rename("/d/f", "/d/g").has_value());
  ASSERT_TRUE(sim_.process().remove("/d/g").has_value());
  ASSERT_TRUE(sim_.process().make_directories("/d/x").has_value());
  ASSERT_TRUE(sim_.process().list("/d").has_value());
  ASSERT_TRUE(sim_.process().remove_directory("/d/x").has_value());
  EXPECT_EQ(sim_.plan().trace_text(),
            "1 create /d/f\n2 write /d/f at 0, 4 bytes\n3 read /d/f at 1, 3 bytes\n4 sync /d/f\n5 truncate /d/f to 2 bytes\n6 stat /d/f\n"
            "7 open /d/f\n8 rename /d/f to /d/g\n9 remove /d/g\n10 stat /d/x\n11 stat /d\n12 sync directory /\n13 make directory /d/x\n"
            "14 sync directory /d\n15 list /d\n16 remove directory /d/x\n");
  EXPECT_EQ(sim_.plan().operations(), 16U);
}

TEST_F(FaultsOfThePlan, CrashBeforeHalfwayAndAfterAWrite) {
  EXPECT_EQ(after_write(Fault::crash(1)), with_prefix(0));
  EXPECT_EQ(outcome_, "write /d/f: the process died [sim.crashed]");
  EXPECT_EQ(after_write(Fault::crash(1, FaultPoint::kHalf)), with_prefix(724)) << "up to byte 1024, a sector border";
  EXPECT_EQ(after_write(Fault::crash(1, FaultPoint::kAfter)), with_prefix(1280));
  EXPECT_EQ(outcome_, "write /d/f: the process died [sim.crashed]");
  EXPECT_EQ(after_write({.point = FaultPoint::kHalf, .half_bytes = 7}), with_prefix(7));
}

TEST_F(FaultsOfThePlan, NeverTearASectorHalfway) {
  const storage::FilePtr file = create_stable("/d/f", std::string(512, 'a'));
  sim_.plan().add({.kind = OperationKind::kWrite, .point = FaultPoint::kHalf, .effect = FaultEffect::kError});
  EXPECT_FALSE(file->write(0, as_bytes(std::string(512, 'b'))).has_value());
  EXPECT_EQ(text("/d/f"), std::string(512, 'a'));
}

TEST_F(FaultsOfThePlan, KillEverythingAfterACrash) {
  const storage::FilePtr file = create_stable("/d/f", "text");
  sim_.plan().add(Fault::crash(2));
  ASSERT_TRUE(file->size().has_value());
  EXPECT_FALSE(sim_.crashed());
  EXPECT_EQ(file->size().error().code(), "sim.crashed");
  EXPECT_TRUE(sim_.crashed());
  const std::uint64_t operations = sim_.plan().operations();
  EXPECT_EQ(file->write(0, as_bytes("x")).error().code(), "sim.crashed");
  EXPECT_EQ(file->sync().error().code(), "sim.crashed");
  EXPECT_EQ(sim_.process().remove("/d/f").error().code(), "sim.crashed");
  EXPECT_EQ(sim_.process().sync_directory("/d").error().code(), "sim.crashed");
  EXPECT_EQ(sim_.process().open("/d/g", storage::OpenMode::kReplace).error().code(), "sim.crashed");
  EXPECT_EQ(sim_.plan().operations(), operations) << "the dead do nothing that counts";
  sim_.process_crash();
  EXPECT_EQ(text("/d/f"), "text");
  EXPECT_EQ(open("/d/f")->size().value(), 4U);
}

TEST_F(FaultsOfThePlan, GiveTheErrorsOfTheSystem) {
  EXPECT_EQ(after_write(Fault::error(1, EIO)), with_prefix(0));
  EXPECT_EQ(outcome_, "write /d/f: Input/output error (errno=EIO, file=/d/f) [base.io]");
  EXPECT_EQ(after_write(Fault::error(1, EIO, FaultPoint::kAfter)), with_prefix(1280));
  EXPECT_EQ(after_write(Fault::error(1, ENOSPC, FaultPoint::kHalf)), with_prefix(724));
  EXPECT_EQ(outcome_, "write /d/f: No space left on device (errno=ENOSPC, file=/d/f) [base.no_space]");
  EXPECT_FALSE(sim_.crashed());
}

TEST_F(FaultsOfThePlan, ApplyToNamesBeforeOrAfter) {
  create_stable("/d/f", "text");
  sim_.plan().add({.kind = OperationKind::kRename, .point = FaultPoint::kBefore, .effect = FaultEffect::kError});
  EXPECT_EQ(error_of(sim_.process().rename("/d/f", "/d/g")), "rename /d/f: Input/output error (errno=EIO, file=/d/f) [base.io]");
  EXPECT_EQ(text("/d/f"), "text");
  sim_.plan().add({.kind = OperationKind::kRename, .point = FaultPoint::kAfter, .effect = FaultEffect::kError});
  EXPECT_FALSE(sim_.process().rename("/d/f", "/d/g").has_value());
  EXPECT_EQ(text("/d/g"), "text");
  sim_.plan().add({.kind = OperationKind::kSyncDirectory, .effect = FaultEffect::kError});
  EXPECT_EQ(error_of(sim_.process().sync_directory("/d")), "sync /d: Input/output error (errno=EIO, file=/d) [base.io]");
  EXPECT_EQ(text_after(PowerLoss::kNothing, "/d/f"), "text");
}

TEST_F(FaultsOfThePlan, FindTheirOperationByKindPathAndCount) {
  const storage::FilePtr one = create_stable("/d/one", "");
  const storage::FilePtr two = create_stable("/d/two", "");
  sim_.plan().add({.at = 2, .lasts = 2, .kind = OperationKind::kWrite, .path_part = "two", .effect = FaultEffect::kError});
  write(two, 0, "x");
  sync(two);
  write(one, 0, "x");
  write(one, 0, "x");
  EXPECT_FALSE(two->write(0, as_bytes("x")).has_value());
  EXPECT_FALSE(two->write(0, as_bytes("x")).has_value());
  write(two, 0, "x");
}

TEST_F(FaultsOfThePlan, CountFromWhenTheyWereAdded) {
  const storage::FilePtr file = create_stable("/d/f", "");
  ASSERT_GT(sim_.plan().operations(), 3U);
  sim_.plan().add(Fault::error(2, EIO));
  write(file, 0, "x");
  EXPECT_FALSE(file->write(0, as_bytes("x")).has_value());
  write(file, 0, "x");
  EXPECT_NE(sim_.plan().trace_text().find("6 write /d/f at 0, 1 bytes; EIO before it\n"), std::string::npos) << sim_.plan().trace_text();
}

TEST_F(FaultsOfThePlan, CanComeBetweenTheStepsOfMakingDirectories) {
  sim_.plan().add({.at = 2, .kind = OperationKind::kMakeDirectory});
  EXPECT_EQ(sim_.process().make_directories("/d/x/y").error().code(), "sim.crashed");
  sim_.power_loss(PowerLoss::kNothing);
  EXPECT_EQ(sim_.process().list("/d/x").value(), std::vector<std::string>());
}

TEST_F(FaultsOfThePlan, CanFillTheFileSystem) {
  sim_.set_capacity(3 * kPageBytes);
  const storage::FilePtr file = open("/d/f", storage::OpenMode::kCreateNew);
  write(file, 100, std::string(kPageBytes, 'a'));
  EXPECT_EQ(sim_.used_bytes(), 2 * kPageBytes);
  EXPECT_EQ(error_of(file->write(5000, as_bytes(std::string(8000, 'b')))),
            "write /d/f: No space left on device (errno=ENOSPC, file=/d/f) [base.no_space]");
  EXPECT_EQ(file->size().value(), 3 * kPageBytes) << "the prefix that fits";
  write(file, 0, std::string(3 * kPageBytes, 'c'));
  EXPECT_FALSE(file->write(3 * kPageBytes, as_bytes("x")).has_value());
  create("/d/empty", "");
  ASSERT_TRUE(file->truncate(kPageBytes).has_value());
  write(file, 2 * kPageBytes, "x");
  sim_.set_capacity(std::nullopt);
  write(file, 100 * kPageBytes, "x");
  sim_.set_capacity(kPageBytes);
  ASSERT_TRUE(sim_.process().remove("/d/f").has_value());
  create("/d/g", "fits");
}

}  // namespace
}  // namespace sluice::sim
