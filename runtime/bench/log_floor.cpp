// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/log_floor.hpp"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <semaphore>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "core/base/bytes.hpp"
#include "core/base/checksum.hpp"
#include "core/log/read_buffers.hpp"

namespace sluice::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::uint64_t kPreWriteBytes = 1u << 20;
constexpr std::size_t kIndexEntryBytes = 32;

class RawFile {
 public:
  static Result<RawFile> create(const std::filesystem::path& path) { return open(path, O_RDWR | O_CREAT | O_TRUNC); }
  static Result<RawFile> open(const std::filesystem::path& path, int flags) {
    const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
    if (descriptor < 0) return fail(errno_error(errno, "open " + path.string()));
    return RawFile(descriptor, path.string());
  }
  RawFile(RawFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}
  RawFile& operator=(RawFile&&) = delete;
  ~RawFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  Result<void> write(Bytes bytes, std::uint64_t position, int flags = 0) {
    iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
    const ssize_t written = ::pwritev2(descriptor_, &part, 1, static_cast<off_t>(position), flags);
    if (written < 0) return fail(errno_error(errno, "write " + path_));
    if (static_cast<std::size_t>(written) != bytes.size()) return fail(Errc::kIo, fmt::format("write {}: cut short", path_));
    return {};
  }
  Result<std::size_t> read(MutableBytes out, std::uint64_t position) {
    const ssize_t got = ::pread(descriptor_, out.data(), out.size(), static_cast<off_t>(position));
    if (got < 0) return fail(errno_error(errno, "read " + path_));
    return static_cast<std::size_t>(got);
  }
  Result<void> sync() {
    if (::fdatasync(descriptor_) != 0) return fail(errno_error(errno, "fdatasync " + path_));
    return {};
  }
  Result<void> pre_write(std::uint64_t bytes) {
    const ByteVector zeros(kPreWriteBytes);
    for (std::uint64_t position = 0; position < bytes; position += kPreWriteBytes) SLUICE_CHECK(write(zeros, position));
    return sync();
  }

 private:
  RawFile(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}

  int descriptor_;
  std::string path_;
};

double bytes_per_second(std::uint64_t bytes, SteadyClock::time_point begin) {
  return static_cast<double>(bytes) / std::chrono::duration<double>(SteadyClock::now() - begin).count();
}

// Syncs a file whenever asked, beside the caller's own sync.
class SyncThread {
 public:
  explicit SyncThread(RawFile& file)
      : thread_([this, &file] {
          while (true) {
            wanted_.acquire();
            if (stopping_) return;
            outcome_ = file.sync();
            done_.release();
          }
        }) {}
  ~SyncThread() {
    stopping_ = true;
    wanted_.release();
    thread_.join();
  }
  SyncThread(const SyncThread&) = delete;
  SyncThread& operator=(const SyncThread&) = delete;

  void begin() { wanted_.release(); }
  Result<void> end() {
    done_.acquire();
    return outcome_;
  }

 private:
  std::binary_semaphore wanted_{0};
  std::binary_semaphore done_{0};
  bool stopping_ = false;
  Result<void> outcome_;
  std::thread thread_;  // last: it uses all the others
};

Result<void> flush_appended(LadderStep step, RawFile& log, RawFile& index, SyncThread& beside) {
  if (step == LadderStep::kSerialSync) {
    SLUICE_CHECK(log.sync());
    return index.sync();
  }
  beside.begin();
  const auto of_log = log.sync();
  const auto of_index = beside.end();
  SLUICE_CHECK(of_log);
  return of_index;
}

}  // namespace

Result<Samples> floor_prewritten_dsync(const std::filesystem::path& file, std::uint64_t bytes, std::uint32_t count) {
  SLUICE_TRY(RawFile raw, RawFile::create(file));
  const std::uint64_t room = std::min(kBenchFileBytesMax, bytes * count);
  SLUICE_CHECK(raw.pre_write(room));
  const ByteVector data(bytes, std::byte{'x'});
  Samples out;
  std::uint64_t position = 0;
  for (std::uint32_t i = 0; i < count; ++i, position += bytes) {
    if (position + bytes > room) position = 0;
    const auto begin = SteadyClock::now();
    SLUICE_CHECK(raw.write(data, position, RWF_DSYNC));
    out.add(SteadyClock::now() - begin);
  }
  return out;
}

Result<double> floor_pwrite(const std::filesystem::path& file, std::uint64_t bytes, std::uint64_t total) {
  SLUICE_TRY(RawFile raw, RawFile::create(file));
  const ByteVector data(bytes, std::byte{'x'});
  const auto begin = SteadyClock::now();
  std::uint64_t position = 0;
  for (; position < std::min(total, kBenchFileBytesMax); position += bytes) SLUICE_CHECK(raw.write(data, position));
  return bytes_per_second(position, begin);
}

Result<double> floor_pread(const std::filesystem::path& file, std::uint64_t bytes, bool hashed) {
  SLUICE_TRY(RawFile raw, RawFile::open(file, O_RDONLY));
  const log::PageMemory buffer = log::make_page_memory(bytes);
  std::uint64_t position = 0;
  std::uint64_t folded = 0;
  const auto begin = SteadyClock::now();
  while (true) {
    SLUICE_TRY(const std::size_t got, raw.read({buffer.get(), bytes}, position));
    if (got == 0) break;
    if (hashed) folded ^= xxh3_128({buffer.get(), got}).low;
    position += got;
  }
  const double rate = bytes_per_second(position, begin);
  if (hashed && folded == 0) return fail(Errc::kInternal, "the hashes of a file fold to nothing");
  return rate;
}

Result<Samples> climb(LadderStep step, const LadderLoad& load, const std::filesystem::path& directory) {
  SLUICE_TRY(RawFile log, RawFile::create(directory / "ladder.log"));
  SLUICE_TRY(RawFile index, RawFile::create(directory / "ladder.index"));
  const ByteVector data(load.batch_bytes, std::byte{'x'});
  const ByteVector index_entry(kIndexEntryBytes, std::byte{'i'});
  SyncThread beside(index);
  Samples out;
  for (std::uint32_t i = 0; i < load.flushes && (i + 1) * load.batch_bytes <= kBenchFileBytesMax; ++i) {
    const auto begin = SteadyClock::now();
    SLUICE_CHECK(index.write(index_entry, i * kIndexEntryBytes));
    SLUICE_CHECK(log.write(data, i * load.batch_bytes));
    SLUICE_CHECK(flush_appended(step, log, index, beside));
    out.add(SteadyClock::now() - begin);
  }
  return out;
}

}  // namespace sluice::bench
