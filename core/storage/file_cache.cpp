// SPDX-License-Identifier: Apache-2.0
#include "core/storage/file_cache.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/mutation.hpp"

namespace sluice::storage {

std::size_t files_open_max() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kFilesOpenMin;
  return std::max<std::size_t>(kFilesOpenMin, limit.rlim_cur - std::min<rlim_t>(limit.rlim_cur, kDescriptorsReserved));
}

namespace {

bool none_left(const Error& error) {
  return std::ranges::any_of(
      error.context(), [](const auto& item) { return item.first == "errno" && (item.second == "EMFILE" || item.second == "ENFILE"); });
}

}  // namespace

// What a use of a file has changed.
struct FileCache::Use {
  bool wrote = false;           // or may have
  bool sync_failed = false;     // nothing that it holds can be trusted to a fresh descriptor any more
  std::uint64_t synced_to = 0;  // so many writes are durable
};

// A descriptor in use: it is not closed meanwhile.
class FileCache::Lease {
 public:
  Lease(FileCache& cache, CachedFile& file, FilePtr open, std::uint64_t writes)
      : cache_(cache), file_(&file), open_(std::move(open)), writes_(writes) {}
  Lease(Lease&& other) noexcept
      : cache_(other.cache_), file_(std::exchange(other.file_, nullptr)), open_(std::move(other.open_)), writes_(other.writes_) {}
  Lease& operator=(Lease&&) = delete;
  ~Lease() {
    open_.reset();
    if (file_ != nullptr) cache_.give_back(*file_, use);
  }

  File* operator->() const { return open_.get(); }
  // Writes that had ended when the use began: what a sync covers. One that runs beside it may not be covered.
  [[nodiscard]] std::uint64_t writes() const { return writes_; }

  Use use;

 private:
  FileCache& cache_;
  CachedFile* file_;
  FilePtr open_;
  std::uint64_t writes_;
};

class FileCache::CachedFile final : public File {
 public:
  CachedFile(FileCache& cache, const std::string& path, OpenMode reopen_mode, FilePtr opened)
      : place(path), reopen(reopen_mode), open(std::move(opened)), cache_(cache), path_(path) {}
  ~CachedFile() override { cache_.forget(*this); }
  CachedFile(const CachedFile&) = delete;
  CachedFile& operator=(const CachedFile&) = delete;

  const std::string& path() const override { return path_; }

  Result<void> write(std::uint64_t position, std::span<const Bytes> parts) override {
    SLUICE_TRY(Lease lease, cache_.borrow(*this));
    lease.use.wrote = true;
    return lease->write(position, parts);
  }
  Result<std::size_t> read(std::uint64_t position, MutableBytes out) override {
    SLUICE_TRY(const Lease lease, cache_.borrow(*this));
    return lease->read(position, out);
  }
  Result<void> sync() override {
    if (cache_.is_closed(*this)) return {};  // what has no descriptor is wholly synced
    SLUICE_TRY(Lease lease, cache_.borrow(*this));
    auto outcome = lease->sync();
    if (outcome) lease.use.synced_to = lease.writes();
    lease.use.sync_failed = !outcome;
    return outcome;
  }
  void start_writeback(std::uint64_t position, std::uint64_t bytes) override {
    if (const auto lease = cache_.borrow(*this)) (*lease)->start_writeback(position, bytes);
  }
  void forget_cached(std::uint64_t position, std::uint64_t bytes) override {
    if (const auto lease = cache_.borrow(*this)) (*lease)->forget_cached(position, bytes);
  }
  Result<void> truncate(std::uint64_t size) override {
    SLUICE_TRY(Lease lease, cache_.borrow(*this));
    lease.use.wrote = true;
    return lease->truncate(size);
  }
  Result<std::uint64_t> size() override {
    SLUICE_TRY(const Lease lease, cache_.borrow(*this));
    return lease->size();
  }

  // Of the cache, under its mutex.
  std::string place;  // its name now
  const OpenMode reopen;
  FilePtr open;  // none: it has no descriptor
  std::size_t users = 0;
  std::uint64_t writes = 0;  // that have ended
  std::uint64_t synced = 0;  // how many of them are durable
  bool kept = false;         // it could not be opened by its name again, or not with the same contents
  std::optional<std::list<CachedFile*>::iterator> idle;

 private:
  FileCache& cache_;
  const std::string path_;  // as it was opened
};

FileCache::FileCache(Storage& below, std::size_t open_max) : below_(below), open_max_(open_max) {}

std::size_t FileCache::open_files() const {
  const std::lock_guard lock(mutex_);
  return open_;
}

// Others may have taken descriptors that this cache counts on: then it makes do with fewer.
Result<FilePtr> FileCache::open_below(const std::string& path, OpenMode mode) {
  auto file = below_.open(path, mode);
  if (file || !none_left(file.error())) return file;
  std::vector<FilePtr> surplus;
  {
    const std::lock_guard lock(mutex_);
    surplus = take_surplus(open_ - std::min(open_, kGiveWay));
  }
  if (surplus.empty()) return file;
  surplus.clear();
  return below_.open(path, mode);
}

Result<FilePtr> FileCache::open(const std::string& path, OpenMode mode) {
  SLUICE_TRY(FilePtr below, open_below(path, mode));
  const OpenMode reopen = mode == OpenMode::kRead ? OpenMode::kRead : OpenMode::kReadWrite;
  auto file = std::make_shared<CachedFile>(*this, path, reopen, std::move(below));
  {
    const std::lock_guard lock(mutex_);
    ++open_;
    ++file->users;
    // A name in a directory, and a new length, are bytes that are not synced yet.
    if (mode != OpenMode::kRead && mode != OpenMode::kReadWrite) ++file->writes;
    places_.emplace(path, file);
  }
  give_back(*file, {});
  return file;
}

bool FileCache::is_closed(const CachedFile& file) const {
  const std::lock_guard lock(mutex_);
  return !file.open;
}

Result<FileCache::Lease> FileCache::borrow(CachedFile& file) {
  std::string place;
  {
    const std::lock_guard lock(mutex_);
    ++file.users;
    if (file.idle) idle_.erase(*std::exchange(file.idle, std::nullopt));
    if (file.open) return Lease(*this, file, file.open, file.writes);
    place = file.place;
  }
  auto opened = open_below(place, file.reopen);
  FilePtr spare;  // closed after the mutex is free
  std::unique_lock lock(mutex_);
  // Somebody else may have opened it meanwhile.
  if (file.open) {
    if (opened) spare = *std::move(opened);
  } else if (opened) {
    file.open = *std::move(opened);
    ++open_;
  } else {
    --file.users;
    // Nothing was done, and more room will come: no reason to give a file up.
    if (none_left(opened.error())) return fail(sluice::Errc::kNoSpace, fmt::format("no descriptor is left: {}", opened.error().message()));
    return fail(std::move(opened).error());
  }
  return Lease(*this, file, file.open, file.writes);
}

void FileCache::give_back(CachedFile& file, const Use& use) {
  std::vector<FilePtr> surplus;  // closed after the mutex is free
  const std::lock_guard lock(mutex_);
  if (use.wrote) ++file.writes;
  if (use.sync_failed) file.kept = true;
  file.synced = std::max(file.synced, use.synced_to);
  if (--file.users > 0) return;
  if (file.open && !file.kept && (file.synced == file.writes || SLUICE_MUTATED(kFreshDescriptor)))
    file.idle = idle_.insert(idle_.end(), &file);
  surplus = take_surplus(open_max_);
}

// The descriptors of idle files until no more than `keep` are open, or none is idle.
std::vector<FilePtr> FileCache::take_surplus(std::size_t keep) {
  std::vector<FilePtr> surplus;
  while (open_ > keep && !idle_.empty()) {
    CachedFile& oldest = *idle_.front();
    idle_.pop_front();
    oldest.idle.reset();
    surplus.push_back(std::move(oldest.open));
    oldest.open = nullptr;
    --open_;
  }
  return surplus;
}

void FileCache::forget(CachedFile& file) {
  const std::lock_guard lock(mutex_);
  if (file.idle) idle_.erase(*file.idle);
  if (file.open) --open_;
  const auto [begin, end] = places_.equal_range(file.place);
  // Of the entries of this name, its own is the one that has expired; which of several makes no difference.
  const auto own = std::find_if(begin, end, [](const auto& entry) { return entry.second.expired(); });
  if (own != end) places_.erase(own);
}

std::vector<FileCache::FileRef> FileCache::files_at(const std::string& path) {
  std::vector<FileRef> files;
  const std::lock_guard lock(mutex_);
  const auto [begin, end] = places_.equal_range(path);
  for (auto at = begin; at != end; ++at) {
    if (auto file = at->second.lock()) files.push_back(std::move(file));
  }
  return files;
}

std::vector<FileCache::FileRef> FileCache::files_below(const std::string& directory) {
  const std::string prefix = directory + "/";
  std::vector<FileRef> files;
  const std::lock_guard lock(mutex_);
  for (auto at = places_.lower_bound(prefix); at != places_.end() && at->first.starts_with(prefix); ++at) {
    if (auto file = at->second.lock()) files.push_back(std::move(file));
  }
  return files;
}

// Their name is about to go.
Result<void> FileCache::keep_open(const std::vector<FileRef>& files) {
  for (const FileRef& file : files) {
    SLUICE_TRY(const Lease lease, borrow(*file));
    const std::lock_guard lock(mutex_);
    file->kept = true;
  }
  return {};
}

Result<void> FileCache::remove(const std::string& path) {
  SLUICE_CHECK(keep_open(files_at(path)));
  return below_.remove(path);
}

Result<void> FileCache::rename(const std::string& from, const std::string& to) {
  SLUICE_CHECK(keep_open(files_at(to)));
  std::vector<FileRef> moved = files_at(from);
  for (FileRef& file : files_below(from)) moved.push_back(std::move(file));
  std::vector<Lease> open;  // so that nobody opens them while their name changes
  for (const FileRef& file : moved) {
    SLUICE_TRY(Lease lease, borrow(*file));
    open.push_back(std::move(lease));
  }
  SLUICE_CHECK(below_.rename(from, to));
  const std::lock_guard lock(mutex_);
  for (const FileRef& file : moved) {
    const auto [begin, end] = places_.equal_range(file->place);
    const auto is_own = [&](const auto& entry) { return !entry.second.owner_before(file) && !file.owner_before(entry.second); };
    const auto own = std::find_if(begin, end, is_own);
    if (own != end) places_.erase(own);
    file->place.replace(0, from.size(), to);
    places_.emplace(file->place, file);
  }
  return {};
}

}  // namespace sluice::storage
