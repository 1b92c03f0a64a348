// SPDX-License-Identifier: Apache-2.0
#include "source_state.hpp"

#include <fmt/format.h>

#include <set>

namespace sluice::file_source {
namespace {

constexpr std::size_t kStateHeaderBytes = 12;    // next serial, count
constexpr std::size_t kStatePositionBytes = 40;  // device, inode, serial, offset, fingerprint

void put_state_integer(std::string& out, std::uint64_t value, int width) {
  for (int i = 0; i < width; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

std::uint64_t take_state_integer(std::string_view& in, int width) {
  std::uint64_t value = 0;
  for (int i = 0; i < width; ++i)
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(in[static_cast<std::size_t>(i)])) << (8 * i);
  in.remove_prefix(static_cast<std::size_t>(width));
  return value;
}

}  // namespace

std::string encode_state(const SourceState& state) {
  std::string out;
  out.reserve(kStateHeaderBytes + state.files.size() * kStatePositionBytes);
  put_state_integer(out, state.next_serial, 8);
  put_state_integer(out, state.files.size(), 4);
  for (const FilePosition& file : state.files) {
    for (const std::uint64_t field : {file.id.device, file.id.inode, file.serial, file.offset, file.fingerprint})
      put_state_integer(out, field, 8);
  }
  return out;
}

SourceState decode_state(std::string_view bytes) {
  if (bytes.size() < kStateHeaderBytes) throw CorruptState(fmt::format("the state has {} bytes, fewer than its header", bytes.size()));
  SourceState state;
  state.next_serial = take_state_integer(bytes, 8);
  const std::uint64_t count = take_state_integer(bytes, 4);
  if (bytes.size() != count * kStatePositionBytes) {
    throw CorruptState(fmt::format("the state announces {} files and has {} bytes for them instead of {}", count, bytes.size(),
                                   count * kStatePositionBytes));
  }
  std::set<FileId> seen;
  state.files.resize(count);
  for (FilePosition& file : state.files) {
    for (std::uint64_t* field : {&file.id.device, &file.id.inode, &file.serial, &file.offset, &file.fingerprint}) {
      *field = take_state_integer(bytes, 8);
    }
    if (file.serial == 0 || file.serial >= state.next_serial) {
      throw CorruptState(
          fmt::format("the state names a file with serial {} where only 1 to {} were given out", file.serial, state.next_serial - 1));
    }
    if (!seen.insert(file.id).second) {
      throw CorruptState(fmt::format("the state names the file with device {} and inode {} twice", file.id.device, file.id.inode));
    }
  }
  return state;
}

}  // namespace sluice::file_source
