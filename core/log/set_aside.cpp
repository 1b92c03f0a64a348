// SPDX-License-Identifier: Apache-2.0
#include "core/log/set_aside.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/mutation.hpp"

namespace sluice::log {
namespace {

constexpr std::size_t kCopyBytes = 1u << 20;

Result<void> copy_range(storage::File& from, const FileRange& range, storage::File& to) {
  ByteVector buffer(static_cast<std::size_t>(std::min<std::uint64_t>(kCopyBytes, range.end - range.position)));
  for (std::uint64_t at = range.position; at < range.end;) {
    const std::size_t want = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), range.end - at));
    SLUICE_TRY(const std::size_t got, from.read(at, MutableBytes(buffer).first(want)));
    if (got == 0) break;
    SLUICE_CHECK(to.write(at - range.position, Bytes(buffer).first(got)));
    at += got;
  }
  return to.sync();
}

Result<bool> is_copy(storage::File& from, const FileRange& range, storage::File& copy) {
  SLUICE_TRY(const std::uint64_t size, copy.size());
  if (size != range.end - range.position) return false;
  ByteVector left(static_cast<std::size_t>(std::min<std::uint64_t>(kCopyBytes, size)));
  ByteVector right(left.size());
  for (std::uint64_t at = 0; at < size; at += left.size()) {
    SLUICE_TRY(const std::size_t got, from.read(range.position + at, left));
    SLUICE_TRY(const std::size_t copied, copy.read(at, right));
    const std::size_t want = static_cast<std::size_t>(std::min<std::uint64_t>(left.size(), size - at));
    if (got < want || copied < want || !std::equal(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(want), right.begin()))
      return false;
  }
  return true;
}

std::string name_aside(const std::string& path, int number) {
  return fmt::format("{}.cut-{}", path, number);
}
std::unexpected<Error> too_many(const std::string& path) {
  return fail(sluice::Errc::kLimit, fmt::format("{} has {} set-aside files; move them away", path, kSetAsideMax));
}

}  // namespace

Result<std::string> copy_aside(storage::Storage& storage, const std::string& directory, const FileRange& range) {
  SLUICE_TRY(const storage::FilePtr from, storage.open(range.path, storage::OpenMode::kRead));
  for (int i = 1; i <= kSetAsideMax; ++i) {
    std::string path = name_aside(range.path, i);
    const auto there = storage.open(path, storage::OpenMode::kRead);
    if (there) {
      SLUICE_TRY(const bool same, is_copy(*from, range, **there));
      if (!same && !SLUICE_MUTATED(kSetAsideOverwritten)) continue;
    } else {
      if (!storage::is_absent(there.error())) return fail(there.error());
      const std::string staging = path + storage::kStagingSuffix;
      SLUICE_TRY(const storage::FilePtr to, storage.open(staging, storage::OpenMode::kReplace));
      SLUICE_CHECK(copy_range(*from, range, *to));
      SLUICE_CHECK(storage.rename(staging, path));
    }
    SLUICE_CHECK(storage.sync_directory(directory));
    return path;
  }
  return too_many(range.path);
}

Result<std::string> move_aside(storage::Storage& storage, const std::string& path) {
  for (int i = 1; i <= kSetAsideMax; ++i) {
    std::string free = name_aside(path, i);
    const auto there = storage.open(free, storage::OpenMode::kRead);
    if (there) continue;
    if (!storage::is_absent(there.error())) return fail(there.error());
    SLUICE_CHECK(storage.rename(path, free));
    return free;
  }
  return too_many(path);
}

}  // namespace sluice::log
