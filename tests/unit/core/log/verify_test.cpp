// SPDX-License-Identifier: Apache-2.0
#include "core/log/verify.hpp"

#include <gmock/gmock.h>

#include "core/log/recovery.hpp"
#include "tests/unit/core/log/log_fixture.hpp"

namespace sluice::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class Verify : public LogFixture {
 protected:
  log::Verdict verdict() {
    kill();
    const MemoryStorage::Files before = storage_.snapshot();
    auto out = log::verify(storage_, options());
    EXPECT_TRUE(out.has_value());
    EXPECT_EQ(before.size(), storage_.files().size()) << "verify changed something";
    for (const auto& [path, node] : before) EXPECT_EQ(storage_.changes_of(path), node->changes) << path;
    return *std::move(out);
  }
};

TEST_F(Verify, OfAClosedLogHasNothingToDo) {
  must_open();
  must_append(batch_of(2, "a"), true);
  must_append(batch_of(3, "b"), true);
  const log::LogHead head = log_->head();
  close_log();
  const log::Verdict found = verdict();
  EXPECT_FALSE(found.is_refused());
  EXPECT_TRUE(found.clean);
  EXPECT_THAT(found.changes, ::testing::IsEmpty());
  EXPECT_EQ(found.entries, 2U);
  EXPECT_EQ(found.head.op, head.op);
  EXPECT_EQ(found.head.next_offset, Offset(5));
  EXPECT_FALSE(found.mint_from);
}

TEST_F(Verify, SaysWhatWouldBeCutAndWhichOffsetsWouldBeSkipped) {
  must_open();
  must_append(batch_of(2, "a"), true);
  kill();
  const std::size_t end = segment().size();
  segment().resize(end + 100, std::byte{0x5A});
  const log::Verdict found = verdict();
  EXPECT_FALSE(found.is_refused());
  EXPECT_FALSE(found.clean);
  EXPECT_THAT(found.changes, Contains(HasSubstr("100 bytes from byte " + std::to_string(end))));
  ASSERT_TRUE(found.mint_from);
  EXPECT_GT(*found.mint_from, Offset(2));
}

TEST_F(Verify, JudgesTheFilesAlsoWhereARefusalStands) {
  must_open();
  must_append(batch_of(2, "a"), true);
  must_append(batch_of(2, "b"), true);
  close_log();
  const ByteVector sound = segment();
  segment()[log::kSegmentPageBytes + 200] ^= std::byte{1};
  const std::string code = open_code();
  log::Verdict found = verdict();
  ASSERT_TRUE(found.standing && found.refusal);
  EXPECT_EQ(found.refusal->code(), code);
  // The bytes are repaired, but the marker is still there.
  segment() = sound;
  found = verdict();
  EXPECT_TRUE(found.standing);
  EXPECT_FALSE(found.refusal);
  EXPECT_EQ(found.entries, 2U);
}

}  // namespace
}  // namespace sluice::test
