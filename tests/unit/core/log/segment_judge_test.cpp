// SPDX-License-Identifier: Apache-2.0
#include "core/log/segment_judge.hpp"

#include <functional>

#include "tests/unit/core/log/log_fixture.hpp"

namespace sluice::test {
namespace {

class SegmentJudgeTest : public LogFixture {};
using SegmentJudge = SegmentJudgeTest;

TEST_F(SegmentJudge, RefusesAnEntryThatFollowsButDoesNotBelongHere) {
  const auto code_of = [this](const std::function<void(entry::EntryStamp&)>& change) {
    kill();
    storage_ = MemoryStorage();
    witness_.reset();
    must_open();
    must_append(batch_of(2, "x"));
    entry::EntryDraft draft = batch_of(2, "x");
    entry::EntryStamp stamp = log_->next_stamp(draft, clock_.wall(), false);
    change(stamp);
    const entry::SharedEntry odd = std::move(draft).stamp(stamp);
    kill();
    segment().insert(segment().end(), odd.view.bytes().begin(), odd.view.bytes().end());
    return open_code();
  };
  EXPECT_EQ(code_of([](entry::EntryStamp&) {}), "opened");
  EXPECT_EQ(code_of([](entry::EntryStamp& stamp) { stamp.group = GroupId{8}; }), "log.foreign_segment");
  EXPECT_EQ(code_of([](entry::EntryStamp& stamp) { stamp.incarnation = Incarnation{4}; }), "log.foreign_segment");
  EXPECT_EQ(code_of([](entry::EntryStamp& stamp) { stamp.first_of_segment = true; }), "log.hole");
}

}  // namespace
}  // namespace sluice::test
