// SPDX-License-Identifier: Apache-2.0
#include "core/storage/storage.hpp"

#include <fmt/format.h>

#include "core/base/mutation.hpp"

namespace sluice::storage {

bool is_absent(const Error& error) {
  return error.is(sluice::Errc::kNotFound) || SLUICE_MUTATED(kAnyErrorIsAbsence);
}

Result<LockPtr> Storage::lock(const std::string&) {
  return std::make_unique<Lock>();
}

Result<Space> Storage::space(const std::string&) {
  return Space{};
}

Result<void> Storage::take_room(const std::string& path, std::uint64_t bytes) {
  SLUICE_TRY(const FilePtr file, open(path, OpenMode::kReplace));
  return file->truncate(bytes);
}

Result<ByteVector> read_file(Storage& storage, const std::string& path, std::uint64_t bytes_max) {
  SLUICE_TRY(const FilePtr file, storage.open(path, OpenMode::kRead));
  SLUICE_TRY(const std::uint64_t size, file->size());
  if (size > bytes_max) return fail(sluice::Errc::kLimit, fmt::format("{} has {} bytes; at most {} are read", path, size, bytes_max));
  ByteVector bytes(narrow<std::size_t>(size));
  SLUICE_TRY(const std::size_t got, file->read(0, bytes));
  bytes.resize(got);
  return bytes;
}

Result<void> replace_file(Storage& storage, const std::string& directory, const std::string& name, Bytes contents) {
  const std::string path = fmt::format("{}/{}", directory, name);
  const std::string staging = path + kStagingSuffix;
  {
    SLUICE_TRY(const FilePtr file, storage.open(staging, OpenMode::kReplace));
    SLUICE_CHECK(file->write(0, contents));
    if (!SLUICE_MUTATED(kReplacedBeforeSync)) SLUICE_CHECK(file->sync());
  }
  SLUICE_CHECK(storage.rename(staging, path));
  return SLUICE_MUTATED(kReplacedNameUnsynced) ? Result<void>() : storage.sync_directory(directory);
}

}  // namespace sluice::storage
