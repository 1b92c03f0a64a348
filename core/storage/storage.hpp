// SPDX-License-Identifier: Apache-2.0
// The file-system seam of the core.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/result.hpp"

namespace sluice::storage {

enum class OpenMode : std::uint8_t {
  kRead,       // must exist
  kReadWrite,  // must exist
  kCreateNew,  // must not exist; read and write
  kReplace,    // created, or emptied if it exists; read and write. For staging files that a rename follows
};

// One open file. Closed when the last owner lets go. Calls block; any thread, and calls on one file may overlap.
// All writes to a file between its first un-synced byte and the sync must go through one File: a fresh descriptor does not see a
// write-back error that was recorded before it was opened.
// Every error is base.io, base.no_space or base.not_found with the path and the errno in it.
class File {
 public:
  virtual ~File() = default;
  [[nodiscard]] virtual const std::string& path() const = 0;

  // Writes all parts at `position`, one after the other. After an error any prefix of them may have been written.
  [[nodiscard]] virtual Result<void> write(std::uint64_t position, std::span<const Bytes> parts) = 0;
  [[nodiscard]] Result<void> write(std::uint64_t position, Bytes bytes) { return write(position, std::span<const Bytes>(&bytes, 1)); }
  // Reads up to `out.size()` bytes; fewer only at the end of the file.
  [[nodiscard]] virtual Result<std::size_t> read(std::uint64_t position, MutableBytes out) = 0;
  // Makes the contents and the size durable (fdatasync). After an error nothing about un-synced bytes is known, and no later sync tells.
  [[nodiscard]] virtual Result<void> sync() = 0;
  // Asks for the write-back of these bytes to begin, so that a later sync has less to do. A hint: nothing is durable by it, and only a
  // sync tells what became of it.
  virtual void start_writeback(std::uint64_t position, std::uint64_t bytes) = 0;
  // Asks for synced bytes to come from the device when they are read the next time, and not from the system's cache. A hint.
  virtual void forget_cached(std::uint64_t /*position*/, std::uint64_t /*bytes*/) {}
  [[nodiscard]] virtual Result<void> truncate(std::uint64_t size) = 0;
  [[nodiscard]] virtual Result<std::uint64_t> size() = 0;
};
using FilePtr = std::shared_ptr<File>;

// A held lock: released with the object, or with the process, whichever way that dies.
class Lock {
 public:
  virtual ~Lock() = default;
};
using LockPtr = std::unique_ptr<Lock>;

// Of a file system, in bytes. All zero: it does not say.
struct Space {
  std::uint64_t free = 0;  // for this process
  std::uint64_t total = 0;
};

// A file system. Calls block; any thread. Directory changes are durable only after sync_directory.
class Storage {
 public:
  virtual ~Storage() = default;

  [[nodiscard]] virtual Result<FilePtr> open(const std::string& path, OpenMode mode) = 0;
  [[nodiscard]] virtual Result<void> rename(const std::string& from, const std::string& to) = 0;
  [[nodiscard]] virtual Result<void> remove(const std::string& path) = 0;
  // An empty one.
  [[nodiscard]] virtual Result<void> remove_directory(const std::string& directory) = 0;
  // Names in a directory, without "." and "..", sorted.
  [[nodiscard]] virtual Result<std::vector<std::string>> list(const std::string& directory) = 0;
  // Creates the directory and its missing parents. An existing directory may have been made by a process that was killed before it synced
  // the parent: so afterwards its own entry, and that of every one that was made, is durable.
  [[nodiscard]] virtual Result<void> make_directories(const std::string& directory) = 0;
  [[nodiscard]] virtual Result<void> sync_directory(const std::string& directory) = 0;
  // The exclusive lock on a file, which is made if need be; does not wait. Errors: storage.locked, base.io. The default is for a file
  // system that one process alone can see: there is nobody to exclude.
  [[nodiscard]] virtual Result<LockPtr> lock(const std::string& path);
  // Of the one that holds the directory. The default is for one that has no end.
  [[nodiscard]] virtual Result<Space> space(const std::string& directory);
  // Makes a file that is there for its room alone, `bytes` of it, whatever it was before. After an error it is gone.
  [[nodiscard]] virtual Result<void> take_room(const std::string& path, std::uint64_t bytes);
};

// Whether the error says that the thing is absent. Every other error means that it is not known.
[[nodiscard]] bool is_absent(const Error& error);

// Reads the whole file. Errors: base.limit if it is larger than `bytes_max`.
[[nodiscard]] Result<ByteVector> read_file(Storage& storage, const std::string& path, std::uint64_t bytes_max);

// Replaces `directory`/`name` so that after any crash it is the old contents or the new: staging file, sync, rename, directory sync.
[[nodiscard]] Result<void> replace_file(Storage& storage, const std::string& directory, const std::string& name, Bytes contents);
inline constexpr const char* kStagingSuffix = ".staging";

}  // namespace sluice::storage
