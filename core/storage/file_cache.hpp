// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/storage/storage.hpp"

namespace sluice::storage {

// Descriptors that a process keeps for what is not a file of a log: sockets, plugins, staging files.
inline constexpr std::size_t kDescriptorsReserved = 512;
inline constexpr std::size_t kFilesOpenMin = 64;
inline constexpr std::size_t kGiveWay = 16;  // files that are closed when the process has no descriptor left

// How many files this process may hold open, from its limit of descriptors at the time of the call.
[[nodiscard]] std::size_t files_open_max();

// A file system whose files exist without a descriptor while nobody needs one: beyond `open_max`, the ones used longest ago are closed, and
// opened again by the next call on them. Only idle files go whose every byte is synced: a fresh descriptor does not see a write-back error
// that came before it, so a file keeps its descriptor from its first un-synced byte to the sync, and for good if a sync failed. While more
// than `open_max` are in that state, more are open. A call that finds no descriptor left fails with base.no_space, and has done nothing. A
// file that is renamed or removed through this object can be used as before; what others do to its name is not noticed. Outlives its files.
// Any thread.
class FileCache final : public Storage {
 public:
  FileCache(Storage& below, std::size_t open_max);

  [[nodiscard]] std::size_t open_files() const;

  [[nodiscard]] Result<FilePtr> open(const std::string& path, OpenMode mode) override;
  [[nodiscard]] Result<void> rename(const std::string& from, const std::string& to) override;
  [[nodiscard]] Result<void> remove(const std::string& path) override;
  [[nodiscard]] Result<void> remove_directory(const std::string& directory) override { return below_.remove_directory(directory); }
  [[nodiscard]] Result<std::vector<std::string>> list(const std::string& directory) override { return below_.list(directory); }
  [[nodiscard]] Result<void> make_directories(const std::string& directory) override { return below_.make_directories(directory); }
  [[nodiscard]] Result<void> sync_directory(const std::string& directory) override { return below_.sync_directory(directory); }
  [[nodiscard]] Result<LockPtr> lock(const std::string& path) override { return below_.lock(path); }
  [[nodiscard]] Result<Space> space(const std::string& directory) override { return below_.space(directory); }
  [[nodiscard]] Result<void> take_room(const std::string& path, std::uint64_t bytes) override { return below_.take_room(path, bytes); }

 private:
  class CachedFile;
  class Lease;
  struct Use;
  using FileRef = std::shared_ptr<CachedFile>;

  Result<FilePtr> open_below(const std::string& path, OpenMode mode);
  [[nodiscard]] bool is_closed(const CachedFile& file) const;
  Result<Lease> borrow(CachedFile& file);
  void give_back(CachedFile& file, const Use& use);
  void forget(CachedFile& file);
  std::vector<FilePtr> take_surplus(std::size_t keep);
  std::vector<FileRef> files_at(const std::string& path);
  std::vector<FileRef> files_below(const std::string& directory);
  Result<void> keep_open(const std::vector<FileRef>& files);

  Storage& below_;
  const std::size_t open_max_;
  mutable std::mutex mutex_;
  std::size_t open_ = 0;
  std::list<CachedFile*> idle_;                                   // open, unused and synced: the one used longest ago is first
  std::multimap<std::string, std::weak_ptr<CachedFile>> places_;  // every file that somebody holds, by the name it has now
};

}  // namespace sluice::storage
