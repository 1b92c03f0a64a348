// SPDX-License-Identifier: Apache-2.0
// A place for a node's files, and a file system that can be made to hang or fail.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/storage/posix_storage.hpp"
#include "tests/unit/core/temporary_directory.hpp"

namespace sluice::node {

using test::TemporaryDirectory;

// The operating system's files, until syncs are told to wait or to fail.
class TroubledStorage final : public storage::Storage {
 public:
  void hold_syncs() {
    const std::lock_guard lock(mutex_);
    holding_ = true;
  }
  void release_syncs() {
    {
      const std::lock_guard lock(mutex_);
      holding_ = false;
    }
    released_.notify_all();
  }
  void fail_syncs() { failing_ = true; }
  // Until told otherwise by an empty string, opens of files whose path holds `part` fail, as if too many were open, …
  void fail_opens(std::string part) {
    const std::lock_guard lock(mutex_);
    unopenable_ = std::move(part);
  }
  // … such files cannot be removed, …
  void fail_removals(std::string part) {
    const std::lock_guard lock(mutex_);
    unremovable_ = std::move(part);
  }
  // … and nothing can be renamed to such a path.
  void fail_renames(std::string part) {
    const std::lock_guard lock(mutex_);
    unrenamable_ = std::move(part);
  }
  // There is no room for anything in files whose path holds `part`, until told otherwise by an empty string.
  void fill_up(std::string part) {
    const std::lock_guard lock(mutex_);
    full_ = std::move(part);
  }
  // How much room the file system says that it has; nothing: what it has.
  void say_room(std::optional<storage::Space> space) {
    const std::lock_guard lock(mutex_);
    space_ = space;
  }
  // The process dies just before or right after something is renamed to a path that holds `part`, until told otherwise by an empty string.
  void kill_at_rename(std::string part, bool after) {
    const std::lock_guard lock(mutex_);
    deadly_ = std::move(part);
    deadly_after_ = after;
  }
  [[nodiscard]] std::vector<std::string> synced_directories() {
    const std::lock_guard lock(mutex_);
    return synced_directories_;
  }

  Result<storage::FilePtr> open(const std::string& path, storage::OpenMode mode) override {
    SLUICE_CHECK(refuse(unopenable_, path, EMFILE));
    auto file = real_.open(path, mode);
    if (!file) return file;
    return std::make_shared<TroubledFile>(*this, *std::move(file));
  }
  Result<void> rename(const std::string& from, const std::string& to) override {
    SLUICE_CHECK(refuse(unrenamable_, to, EIO));
    kill_if(to, false);
    SLUICE_CHECK(real_.rename(from, to));
    kill_if(to, true);
    return {};
  }
  Result<void> remove(const std::string& path) override {
    SLUICE_CHECK(refuse(unremovable_, path, EPERM));
    return real_.remove(path);
  }
  Result<void> remove_directory(const std::string& directory) override { return real_.remove_directory(directory); }
  Result<std::vector<std::string>> list(const std::string& directory) override { return real_.list(directory); }
  Result<void> make_directories(const std::string& directory) override { return real_.make_directories(directory); }
  Result<void> sync_directory(const std::string& directory) override {
    {
      const std::lock_guard lock(mutex_);
      synced_directories_.push_back(directory);
    }
    return real_.sync_directory(directory);
  }
  Result<storage::LockPtr> lock(const std::string& path) override { return real_.lock(path); }
  Result<storage::Space> space(const std::string& directory) override {
    const std::lock_guard lock(mutex_);
    return space_ ? Result<storage::Space>(*space_) : real_.space(directory);
  }
  Result<void> take_room(const std::string& path, std::uint64_t bytes) override { return real_.take_room(path, bytes); }

 private:
  class TroubledFile final : public storage::File {
   public:
    TroubledFile(TroubledStorage& owner, storage::FilePtr file) : owner_(owner), file_(std::move(file)) {}
    const std::string& path() const override { return file_->path(); }
    using File::write;
    Result<void> write(std::uint64_t position, std::span<const Bytes> parts) override {
      SLUICE_CHECK(owner_.refuse(owner_.full_, path(), ENOSPC));
      return file_->write(position, parts);
    }
    Result<std::size_t> read(std::uint64_t position, MutableBytes out) override { return file_->read(position, out); }
    Result<void> sync() override {
      owner_.wait_until_released();
      if (owner_.failing_) return fail(errno_error(EIO, "cannot sync '" + path() + "'"));
      return file_->sync();
    }
    void start_writeback(std::uint64_t position, std::uint64_t bytes) override { file_->start_writeback(position, bytes); }
    void forget_cached(std::uint64_t position, std::uint64_t bytes) override { file_->forget_cached(position, bytes); }
    Result<void> truncate(std::uint64_t size) override { return file_->truncate(size); }
    Result<std::uint64_t> size() override { return file_->size(); }

   private:
    TroubledStorage& owner_;
    storage::FilePtr file_;
  };

  Result<void> refuse(const std::string& part, const std::string& path, int error_number) {
    const std::lock_guard lock(mutex_);
    if (part.empty() || path.find(part) == std::string::npos) return {};
    return fail(errno_error(error_number, "'" + path + "'").with("file", path));
  }

  void kill_if(const std::string& path, bool after) {
    const std::lock_guard lock(mutex_);
    if (!deadly_.empty() && after == deadly_after_ && path.find(deadly_) != std::string::npos) ::kill(::getpid(), SIGKILL);
  }

  void wait_until_released() {
    std::unique_lock lock(mutex_);
    released_.wait(lock, [this] { return !holding_; });
  }

  storage::Storage& real_ = storage::posix_storage();
  std::mutex mutex_;
  std::condition_variable released_;
  bool holding_ = false;
  std::string unopenable_;
  std::string unremovable_;
  std::string unrenamable_;
  std::string full_;
  std::optional<storage::Space> space_;
  std::string deadly_;
  bool deadly_after_ = false;
  std::vector<std::string> synced_directories_;
  std::atomic<bool> failing_{false};
};

}  // namespace sluice::node
