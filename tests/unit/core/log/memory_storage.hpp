// SPDX-License-Identifier: Apache-2.0
// A file system in memory for tests: counts what changes it, and fails or dies at a chosen change.
#pragma once

#include <cerrno>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/storage/io_queue.hpp"
#include "core/storage/storage.hpp"

namespace sluice::test {

enum class Change { kWrite, kSync, kTruncate, kRename, kRemove, kCreate, kSyncDirectory };

// What a process kill leaves is what this object holds: every write that happened is there.
class MemoryStorage final : public storage::Storage {
 public:
  struct Node {
    ByteVector bytes;
    std::uint64_t changes = 0;  // stands for the modification time
  };
  using Files = std::map<std::string, std::shared_ptr<Node>>;

  // The n-th change of that kind from now (1 = the next) fails with the errno; a write leaves half of its bytes behind.
  struct Fault {
    Change change;
    std::uint64_t countdown = 1;
    int error_number = EIO;
  };
  std::optional<Fault> fault;
  std::string fault_path;  // what met it
  // From the n-th change on (of any kind; that one still happens by half if it is a write) everything fails, as after a kill.
  std::optional<std::uint64_t> die_at;
  std::uint64_t changes = 0;
  std::uint64_t syncs = 0;
  std::uint64_t writeback_bytes = 0;  // that were asked for
  std::uint64_t forgotten_bytes = 0;  // that are to be read from the device
  std::optional<int> read_error;

  [[nodiscard]] bool dead() const { return die_at && changes >= *die_at; }
  void revive() {
    die_at.reset();
    fault.reset();
  }
  // A copy of the files, as another machine's disk.
  [[nodiscard]] Files snapshot() const {
    Files out;
    for (const auto& [path, node] : files_) out[path] = std::make_shared<Node>(*node);
    return out;
  }
  void restore(const Files& files) {
    files_.clear();
    for (const auto& [path, node] : files) files_[path] = std::make_shared<Node>(*node);
  }
  [[nodiscard]] ByteVector& bytes(const std::string& path) { return files_.at(path)->bytes; }
  [[nodiscard]] std::uint64_t changes_of(const std::string& path) const { return files_.at(path)->changes; }
  [[nodiscard]] bool exists(const std::string& path) const { return files_.contains(path); }
  void put(const std::string& path, ByteVector bytes) {
    files_[path] = std::make_shared<Node>();
    files_[path]->bytes = std::move(bytes);
  }
  void erase(const std::string& path) { files_.erase(path); }
  [[nodiscard]] const Files& files() const { return files_; }

  Result<storage::FilePtr> open(const std::string& path, storage::OpenMode mode) override;
  Result<void> rename(const std::string& from, const std::string& to) override {
    SLUICE_CHECK(change(Change::kRename, from));
    if (!files_.contains(from)) return fail(errno_error(ENOENT, "rename " + from));
    files_[to] = files_[from];
    files_.erase(from);
    return {};
  }
  Result<void> remove(const std::string& path) override {
    SLUICE_CHECK(change(Change::kRemove, path));
    if (files_.erase(path) == 0) return fail(errno_error(ENOENT, "unlink " + path));
    return {};
  }
  Result<void> remove_directory(const std::string& directory) override {
    directories_.erase(directory);
    return {};
  }
  Result<std::vector<std::string>> list(const std::string& directory) override {
    if (read_error) return fail(errno_error(*read_error, "list " + directory));
    if (!directories_.contains(directory)) return fail(errno_error(ENOENT, "list " + directory));
    std::vector<std::string> names;
    const std::string prefix = directory + "/";
    for (const auto& [path, node] : files_) {
      if (path.starts_with(prefix)) names.push_back(path.substr(prefix.size()));
    }
    return names;
  }
  Result<void> make_directories(const std::string& directory) override {
    if (directories_.contains(directory)) return {};
    SLUICE_CHECK(change(Change::kCreate, directory));
    directories_.insert(directory);
    return {};
  }
  Result<void> sync_directory(const std::string& directory) override { return change(Change::kSyncDirectory, directory); }

  // The outcome of one change: an error if a fault is due.
  Result<void> change(Change what, const std::string& path) {
    if (dead()) return fail(errno_error(EIO, "dead: " + path));
    ++changes;
    if (what == Change::kSync) ++syncs;
    if (dead()) return fail(errno_error(EIO, "died: " + path));
    if (fault && fault->change == what && --fault->countdown == 0) {
      const int error_number = fault->error_number;
      fault.reset();
      fault_path = path;
      return fail(errno_error(error_number, path));
    }
    return {};
  }

 private:
  Files files_;
  std::set<std::string> directories_;
};

class MemoryFile final : public storage::File {
 public:
  MemoryFile(MemoryStorage& storage, std::string path, std::shared_ptr<MemoryStorage::Node> node)
      : storage_(storage), path_(std::move(path)), node_(std::move(node)) {}

  const std::string& path() const override { return path_; }
  Result<void> write(std::uint64_t position, std::span<const Bytes> parts) override {
    ByteVector all;
    for (const Bytes part : parts) all.insert(all.end(), part.begin(), part.end());
    if (storage_.dead()) return fail(errno_error(EIO, "dead"));
    const auto outcome = storage_.change(Change::kWrite, path_);
    if (!outcome) all.resize(all.size() / 2);
    if (!all.empty()) {
      if (node_->bytes.size() < position + all.size()) node_->bytes.resize(position + all.size());
      std::copy(all.begin(), all.end(), node_->bytes.begin() + static_cast<std::ptrdiff_t>(position));
      ++node_->changes;
    }
    return outcome;
  }
  Result<std::size_t> read(std::uint64_t position, MutableBytes out) override {
    if (storage_.read_error) return fail(errno_error(*storage_.read_error, "read " + path_));
    if (position >= node_->bytes.size()) return std::size_t{0};
    const std::size_t count = std::min(out.size(), node_->bytes.size() - static_cast<std::size_t>(position));
    std::copy_n(node_->bytes.begin() + static_cast<std::ptrdiff_t>(position), count, out.begin());
    return count;
  }
  Result<void> sync() override { return storage_.change(Change::kSync, path_); }
  void start_writeback(std::uint64_t, std::uint64_t bytes) override { storage_.writeback_bytes += bytes; }
  void forget_cached(std::uint64_t, std::uint64_t bytes) override { storage_.forgotten_bytes += bytes; }
  Result<void> truncate(std::uint64_t size) override {
    SLUICE_CHECK(storage_.change(Change::kTruncate, path_));
    node_->bytes.resize(size);
    ++node_->changes;
    return {};
  }
  Result<std::uint64_t> size() override { return std::uint64_t{node_->bytes.size()}; }

 private:
  MemoryStorage& storage_;
  std::string path_;
  std::shared_ptr<MemoryStorage::Node> node_;
};

inline Result<storage::FilePtr> MemoryStorage::open(const std::string& path, storage::OpenMode mode) {
  const auto found = files_.find(path);
  const bool creates = mode == storage::OpenMode::kCreateNew || mode == storage::OpenMode::kReplace;
  if (!creates && found == files_.end()) return fail(errno_error(ENOENT, "open " + path));
  if (mode == storage::OpenMode::kCreateNew && found != files_.end()) return fail(errno_error(EEXIST, "open " + path));
  if (creates) {
    SLUICE_CHECK(change(Change::kCreate, path));
    auto& node = files_[path];
    if (!node) node = std::make_shared<Node>();
    node->bytes.clear();
    ++node->changes;
    return std::make_shared<MemoryFile>(*this, path, node);
  }
  return std::make_shared<MemoryFile>(*this, path, found->second);
}

// Jobs wait until the test runs them.
class ManualQueue final : public storage::IoQueue {
 public:
  void submit(Job job, Done done) override { items_.push_back({std::move(job), std::move(done)}); }
  [[nodiscard]] std::size_t size() const { return items_.size(); }
  // The oldest one: the job, then its completion.
  void run_one() {
    Item item = std::move(items_.front());
    items_.erase(items_.begin());
    item.done(item.job());
  }
  void run_all() {
    while (!items_.empty()) run_one();
  }

 private:
  struct Item {
    Job job;
    Done done;
  };
  std::vector<Item> items_;
};

}  // namespace sluice::test
