// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/counting_storage.hpp"

namespace sluice::bench {

class CountingStorage::CountingFile final : public storage::File {
 public:
  CountingFile(storage::FilePtr below, Counts& counts) : below_(std::move(below)), counts_(counts) {}

  const std::string& path() const override { return below_->path(); }
  using File::write;
  Result<void> write(std::uint64_t position, std::span<const Bytes> parts) override { return below_->write(position, parts); }
  Result<std::size_t> read(std::uint64_t position, MutableBytes out) override {
    auto got = below_->read(position, out);
    if (got) counts_.bytes_read.fetch_add(*got, std::memory_order_relaxed);
    return got;
  }
  Result<void> sync() override {
    counts_.syncs.fetch_add(1, std::memory_order_relaxed);
    return below_->sync();
  }
  void start_writeback(std::uint64_t position, std::uint64_t bytes) override { below_->start_writeback(position, bytes); }
  Result<void> truncate(std::uint64_t size) override { return below_->truncate(size); }
  Result<std::uint64_t> size() override { return below_->size(); }

 private:
  storage::FilePtr below_;
  Counts& counts_;
};

Result<storage::FilePtr> CountingStorage::open(const std::string& path, storage::OpenMode mode) {
  SLUICE_TRY(storage::FilePtr file, below_.open(path, mode));
  return std::make_shared<CountingFile>(std::move(file), counts_);
}

}  // namespace sluice::bench
