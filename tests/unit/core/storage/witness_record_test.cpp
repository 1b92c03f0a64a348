// SPDX-License-Identifier: Apache-2.0
#include "core/storage/witness_record.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

namespace sluice::storage {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr WitnessHeader kHeader{{0x9b1e7a2c4d5f6071, 0x8d0c3a5be2f14f6d}, {0x1111111111111111, 0x2222222222222222}};
constexpr WitnessRecord kOlder{GroupId(3), Incarnation(7), Op(41), {0xaaaa, 0xbbbb}, Op(41)};
constexpr WitnessRecord kNewer{GroupId(3), Incarnation(7), Op(42), {0xcccc, 0xdddd}, Op(42)};

class WitnessFileBytes : public ::testing::Test {
 protected:
  WitnessFileBytes() {
    put(0, encode_witness_header(kHeader));
    put(place(1), encode_witness_slot({1, kOlder}));
    put(place(0), encode_witness_slot({2, kNewer}));
  }
  static std::size_t place(std::size_t slot) { return kWitnessHeaderBytes + slot * kWitnessSlotBytes; }
  void put(std::size_t at, const WitnessSlotBytes& bytes) { std::ranges::copy(bytes, file_.begin() + static_cast<std::ptrdiff_t>(at)); }
  void damage(std::size_t at) { file_[at] ^= std::byte{1}; }
  [[nodiscard]] std::vector<WitnessRecord> records(const WitnessHeader& wanted = kHeader) const {
    return decode_witness_file(file_, wanted);
  }

  ByteVector file_ = ByteVector(kWitnessHeaderBytes + 2 * kWitnessCellBytes);
};

TEST_F(WitnessFileBytes, GiveTheNewerSlot) {
  EXPECT_THAT(records(), ElementsAre(kNewer));
}

TEST_F(WitnessFileBytes, GiveTheOlderSlotIfAnyByteOfTheNewerIsTorn) {
  for (std::size_t i = 0; i < kWitnessSlotBytes; ++i) {
    damage(place(0) + i);
    EXPECT_THAT(records(), ElementsAre(kOlder)) << "byte " << i;
    damage(place(0) + i);
  }
}

TEST_F(WitnessFileBytes, GiveNothingOfAGroupWhoseSlotsAreBothDamaged) {
  damage(place(0) + 30);
  damage(place(1) + 63);
  EXPECT_THAT(records(), IsEmpty());
}

TEST_F(WitnessFileBytes, GiveNothingToAnotherClusterOrRun) {
  EXPECT_THAT(records({kHeader.generation, kHeader.generation}), IsEmpty());
  EXPECT_THAT(records({kHeader.cluster, kHeader.cluster}), IsEmpty());
}

TEST_F(WitnessFileBytes, GiveNothingIfTheHeaderIsDamagedOrTheFileIsShort) {
  for (std::size_t i = 0; i < kWitnessSlotBytes; ++i) {
    damage(i);
    EXPECT_THAT(records(), IsEmpty()) << "byte " << i;
    damage(i);
  }
  file_.resize(kWitnessHeaderBytes - 1);
  EXPECT_THAT(records(), IsEmpty());
  file_.clear();
  EXPECT_THAT(records(), IsEmpty());
}

TEST_F(WitnessFileBytes, OfAnotherVersionAreNotRead) {
  WitnessSlotBytes header = encode_witness_header(kHeader);
  header[8] = std::byte{2};
  EXPECT_FALSE(decode_witness_header(header).has_value());
}

TEST(WitnessSlotBytesOf, ZeroAreNoRecord) {
  EXPECT_FALSE(decode_witness_slot(WitnessSlotBytes{}).has_value());
  EXPECT_FALSE(decode_witness_slot(encode_witness_slot({0, kOlder})).has_value()) << "sequences begin at 1";
}

std::string hex_dump(const WitnessSlotBytes& bytes) {
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i % 16 == 0) out += fmt::format("{:04x} ", i);
    out += fmt::format(" {:02x}", static_cast<unsigned>(bytes[i]));
    if (i % 16 == 15) out += '\n';
  }
  return out;
}

TEST(WitnessReference, ShowsTheBytesThatAreWritten) {
  std::ostringstream page;
  page << std::ifstream(SLUICE_DATA_DIRECTORY_PAGE).rdbuf();
  EXPECT_THAT(page.str(), testing::HasSubstr(hex_dump(encode_witness_header(kHeader))));
  EXPECT_THAT(page.str(), testing::HasSubstr(hex_dump(encode_witness_slot({2, kNewer}))));
}

}  // namespace
}  // namespace sluice::storage
