// SPDX-License-Identifier: Apache-2.0
// The worked example of docs/reference/log-format.md is made here, and the page must show it byte for byte.
#include <fstream>
#include <sstream>

#include "core/log/segment_dump.hpp"
#include "tests/unit/core/log/log_fixture.hpp"

namespace sluice::test {
namespace {

// As `hexdump -C` prints it.
std::string hex_dump(Bytes bytes) {
  std::string out;
  Bytes previous;
  bool starred = false;
  for (std::size_t at = 0; at < bytes.size(); at += 16) {
    const Bytes row = bytes.subspan(at, std::min<std::size_t>(16, bytes.size() - at));
    if (previous.size() == 16 && row.size() == 16 && std::ranges::equal(row, previous)) {
      if (!starred) out += "*\n";
      starred = true;
      continue;
    }
    starred = false;
    previous = row;
    std::string hex;
    std::string text;
    for (std::size_t i = 0; i < 16; ++i) {
      if (i == 8) hex += " ";
      hex += i < row.size() ? fmt::format(" {:02x}", std::to_integer<unsigned>(row[i])) : "   ";
      if (i < row.size()) text += row[i] >= std::byte{0x20} && row[i] < std::byte{0x7F} ? static_cast<char>(row[i]) : '.';
    }
    out += fmt::format("{:08x} {}  |{}|\n", at, hex, text);
  }
  return out + fmt::format("{:08x}\n", bytes.size());
}

// The first fenced block after the heading.
std::string block_of(const std::string& page, const std::string& heading) {
  const std::size_t section = page.find("\n" + heading + "\n");
  if (section == std::string::npos) return "no heading " + heading;
  const std::size_t begin = page.find("```\n", section);
  const std::size_t end = page.find("```\n", begin + 4);
  return page.substr(begin + 4, end - begin - 4);
}

class LogFormatTest : public LogFixture {
 protected:
  void SetUp() override {
    std::ifstream file(SLUICE_LOG_FORMAT_PAGE);
    ASSERT_TRUE(file.good()) << SLUICE_LOG_FORMAT_PAGE;
    std::stringstream text;
    text << file.rdbuf();
    page_ = text.str();
  }

  // Two records and their source's state, then an operation.
  void write_example() {
    must_open();
    entry::BatchBuilder builder;
    Headers headers;
    ASSERT_TRUE(headers.add("host", as_bytes("a1")).has_value());
    RecordView first;
    first.id = U128{1, 0};
    first.key = as_bytes("k");
    first.payload = as_bytes("hello");
    first.origin_timestamp = TimestampUs{1'700'000'000'000'000};
    first.headers = headers.view();
    first.format = 1;
    RecordView tombstone;
    tombstone.id = U128{2, 0};
    tombstone.key = as_bytes("");
    tombstone.origin_timestamp = TimestampUs{1'700'000'000'000'250};
    ASSERT_TRUE(builder.add(first).has_value());
    ASSERT_TRUE(builder.add(tombstone).has_value());
    auto batch = std::move(builder).finish(as_bytes("STATE"));
    ASSERT_TRUE(batch.has_value());
    batch->set_request(ClientId{0xC1, 0}, RequestNumber{1});
    clock_.set_wall(TimestampUs{1'700'000'001'000'000});
    must_append(std::move(*batch), true);
    must_append(operation_of("op body"));
    ASSERT_TRUE(checkpoint("partition state").has_value());
    close_log();
  }

  std::string page_;
};
using LogFormat = LogFormatTest;

TEST_F(LogFormat, PageShowsTheSegment) {
  write_example();
  EXPECT_EQ(block_of(page_, "### The segment file"), hex_dump(segment())) << hex_dump(segment());
}

TEST_F(LogFormat, PageShowsTheIndex) {
  write_example();
  EXPECT_EQ(block_of(page_, "### The index file"), hex_dump(storage_.bytes(index_path_of(Op{1}))))
      << hex_dump(storage_.bytes(index_path_of(Op{1})));
}

TEST_F(LogFormat, PageShowsTheCheckpoint) {
  write_example();
  const ByteVector& bytes = storage_.bytes(kDirectory + "/" + log::kCheckpointName);
  EXPECT_EQ(block_of(page_, "### The checkpoint file"), hex_dump(bytes)) << hex_dump(bytes);
}

TEST_F(LogFormat, DumpShowsEveryEntryAndWhereDamageBegins) {
  write_example();
  std::vector<std::uint64_t> positions;
  const auto visit = [&](const log::DumpedEntry& dumped) {
    positions.push_back(dumped.position);
    EXPECT_EQ(dumped.view.header().op, Op{positions.size()});
    return true;
  };
  const auto clean = log::dump_segment(storage_, path_of(Op{1}), visit);
  ASSERT_TRUE(clean.has_value());
  EXPECT_EQ(clean->entries, 2U);
  EXPECT_EQ(clean->end, clean->file_bytes);
  EXPECT_TRUE(clean->damage.empty());
  EXPECT_EQ(positions.front(), log::kSegmentPageBytes);
  segment().back() ^= std::byte{1};
  const auto damaged = log::dump_segment(storage_, path_of(Op{1}), [](const log::DumpedEntry&) { return true; });
  ASSERT_TRUE(damaged.has_value());
  EXPECT_EQ(damaged->entries, 1U);
  EXPECT_EQ(damaged->end, positions.back());
  EXPECT_FALSE(damaged->damage.empty());
}

}  // namespace
}  // namespace sluice::test
