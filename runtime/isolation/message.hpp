// SPDX-License-Identifier: Apache-2.0
// What the daemon and a plugin's process say to each other, as docs/reference/plugin-process.md lays it out. Pure. Whoever reads a message
// trusts nothing in it: false or nothing means that it cannot be read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include <sluice/abi/sink.h>
#include <sluice/abi/source.h>

#include "core/base/bytes.hpp"
#include "runtime/plugin/outcome.hpp"

namespace sluice::isolation {

// Descriptors of the child beside the standard ones.
inline constexpr int kCallsFd = 3;
inline constexpr int kEventsFd = 4;
inline constexpr int kAreaFd = 5;

inline constexpr std::size_t kAreaBytes = 128u << 20;     // of arguments, and as much of results
inline constexpr std::size_t kEventBytesMax = 64u << 10;  // one packet
inline constexpr std::size_t kEventTextBytesMax = 16384;  // of one text in it
inline constexpr int kOutOfMemoryExit = 71;               // of a child whose memory_max is used up

enum class CallKind : std::uint32_t {
  kCreate = 1,
  kOpen,
  kClose,
  kAssign,
  kWrite,
  kFlush,
  kRevoke,
  kMigrateState,
  kPoll,
  kOnResult,
  kPause,
  kResume
};
// "write", as texts name it.
[[nodiscard]] std::string_view name_of(CallKind kind);

struct CallPacket {
  std::uint32_t kind = 0;
  std::uint32_t attempt = 0;
  std::uint64_t deadline_ns = 0;
  std::uint64_t bytes = 0;
};
struct AnswerPacket {
  std::uint32_t kind = 0;
  std::int32_t status = 0;
  std::uint64_t bytes = 0;
};
[[nodiscard]] std::array<std::byte, 24> encode(const CallPacket& packet);
[[nodiscard]] std::array<std::byte, 16> encode(const AnswerPacket& packet);
[[nodiscard]] std::optional<CallPacket> decode_call(Bytes packet);
[[nodiscard]] std::optional<AnswerPacket> decode_answer(Bytes packet);

// The element of a list follows, or its end.
enum class ListTag : std::uint8_t { kEnd = 0, kElement = 1, kRecordFailed = 2, kCallFailed = 3, kDurable = 4 };

enum class ChildEvent : std::uint8_t { kLog = 1, kWake = 2, kRetrying = 3 };
enum class HostEvent : std::uint8_t { kCancel = 1 };

void put_text(ByteWriter& out, sluice_text text);
void put_bytes(ByteWriter& out, sluice_bytes bytes);
[[nodiscard]] bool get(ByteReader& in, sluice_text& text);
[[nodiscard]] bool get(ByteReader& in, sluice_bytes& bytes);
template <std::integral T>
[[nodiscard]] bool get(ByteReader& in, T& value) {
  const auto got = in.get<T>();
  if (got) value = *got;
  return got.has_value();
}

void put_outcome(ByteWriter& out, const plugin::Outcome& outcome);
[[nodiscard]] std::optional<plugin::Outcome> get_outcome(ByteReader& in);
// As the ABI has it; its texts are those of `outcome`.
[[nodiscard]] sluice_outcome abi_outcome(const plugin::Outcome& outcome);

void put_assignment(ByteWriter& out, const sluice_assignment& assignment);
// Its texts lie in the message.
[[nodiscard]] bool get(ByteReader& in, sluice_assignment& assignment);

void put_record(ByteWriter& out, const sluice_record& record);
// How much room put_record needs.
[[nodiscard]] std::uint64_t encoded_bytes(const sluice_record& record);
void put_batch(ByteWriter& out, const sluice_batch& batch);

// A record out of a message, whose bytes lie there; its headers are here.
class ReadRecord {
 public:
  [[nodiscard]] bool read(ByteReader& in);
  [[nodiscard]] const sluice_record& abi() const { return record_; }

 private:
  sluice_record record_{};
  std::vector<sluice_header> headers_;
  std::deque<sluice_origin> origins_;
};

// A batch out of a message, whose bytes lie there. Used again for the next one.
class ReadBatch {
 public:
  [[nodiscard]] bool read(ByteReader& in);
  [[nodiscard]] const sluice_batch& abi() const { return batch_; }

 private:
  sluice_batch batch_{};
  std::vector<sluice_record> records_;
  std::vector<std::size_t> first_headers_;  // per record
  std::vector<sluice_header> headers_;
  std::deque<sluice_origin> origins_;
};

}  // namespace sluice::isolation
