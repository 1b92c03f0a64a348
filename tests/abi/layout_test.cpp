// SPDX-License-Identifier: Apache-2.0
// The layout that the draft's build id stands for. A change here without a new SLUICE_ABI_DRAFT_BUILD_ID lets a host load a plugin that it
// misreads.
#include <gtest/gtest.h>

#include <cstddef>
#include <sstream>
#include <string>
#include <string_view>

#include <sluice/abi/draft/async_complete.h>
#include <sluice/abi/draft/splits.h>
#include <sluice/abi/entry.h>

namespace {

constexpr const char* kLayout = R"(
assignment 80
batch 88
bytes_writer 24
call 16
completion 16
connector_factory 40
descriptor 64
entry 64
entry.build_id 8
flush_result 32
header 32
host 144
host_async_complete 16
origin 72
outcome 88
outcome.text 40
outcome_writer 24
poll_request 32
record 112
record.payload 48
record.offset 80
sink 88
sink.write 32
sink_async 16
source 96
source.poll 32
source_splits 24
source_state 24
source_writer 40
split_writer 24
write_result 56
)";

std::string layout() {
  std::ostringstream out;
  const auto add = [&out](const char* name, std::size_t size) { out << name << ' ' << size << '\n'; };
  add("assignment", sizeof(sluice_assignment));
  add("batch", sizeof(sluice_batch));
  add("bytes_writer", sizeof(sluice_bytes_writer));
  add("call", sizeof(sluice_call));
  add("completion", sizeof(sluice_completion));
  add("connector_factory", sizeof(sluice_connector_factory));
  add("descriptor", sizeof(sluice_descriptor));
  add("entry", sizeof(sluice_entry));
  add("entry.build_id", offsetof(sluice_entry, build_id));
  add("flush_result", sizeof(sluice_flush_result));
  add("header", sizeof(sluice_header));
  add("host", sizeof(sluice_host));
  add("host_async_complete", sizeof(sluice_host_async_complete));
  add("origin", sizeof(sluice_origin));
  add("outcome", sizeof(sluice_outcome));
  add("outcome.text", offsetof(sluice_outcome, text));
  add("outcome_writer", sizeof(sluice_outcome_writer));
  add("poll_request", sizeof(sluice_poll_request));
  add("record", sizeof(sluice_record));
  add("record.payload", offsetof(sluice_record, payload));
  add("record.offset", offsetof(sluice_record, offset));
  add("sink", sizeof(sluice_sink));
  add("sink.write", offsetof(sluice_sink, write));
  add("sink_async", sizeof(sluice_sink_async));
  add("source", sizeof(sluice_source));
  add("source.poll", offsetof(sluice_source, poll));
  add("source_splits", sizeof(sluice_source_splits));
  add("source_state", sizeof(sluice_source_state));
  add("source_writer", sizeof(sluice_source_writer));
  add("split_writer", sizeof(sluice_split_writer));
  add("write_result", sizeof(sluice_write_result));
  return out.str();
}

TEST(AbiLayout, IsTheOneOfTheBuildId) {
  EXPECT_STREQ(SLUICE_ABI_DRAFT_BUILD_ID, "sluice-abi-1.0-draft.1");
  EXPECT_EQ(layout(), std::string_view(kLayout).substr(1));
}

TEST(AbiLayout, BuildIdNamesTheSanitizer) {
  // The build's own list of sanitizers, as the preset gives it.
  const std::string_view sanitizers = SLUICE_TEST_SANITIZERS;
  std::string tag;
  if (sanitizers.find("address") != sanitizers.npos) tag = "+asan";
  if (sanitizers.find("thread") != sanitizers.npos) tag = "+tsan";
  EXPECT_EQ(SLUICE_ABI_BUILD_ID, SLUICE_ABI_DRAFT_BUILD_ID + tag);
}

}  // namespace
