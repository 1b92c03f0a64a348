// SPDX-License-Identifier: Apache-2.0
#include "core/storage/witness_file.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "core/base/bytes.hpp"
#include "core/base/mutation.hpp"
#include "core/storage/errc.hpp"

namespace sluice::storage {
namespace {

constexpr std::size_t kWitnessPageBytes = 4096;

std::unexpected<Error> witness_failure(const char* verb, const std::string& path) {
  const int error_number = errno;
  return fail(errno_error(error_number, fmt::format("cannot {} '{}'", verb, path)).with("file", path));
}

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int get() const { return value_; }
  [[nodiscard]] int release() { return std::exchange(value_, -1); }

 private:
  int value_;
};

constexpr std::string_view kWitnessEnding = ".witness";

std::string witness_path(const std::string& runtime_dir, const WitnessHeader& header) {
  return fmt::format("{}/{}-{}{}", runtime_dir, to_hex(header.cluster), to_hex(header.generation), kWitnessEnding);
}

// The generation in the name of a witness file of that cluster.
std::optional<U128> generation_in_name(std::string_view name, const U128& cluster) {
  const std::string start = to_hex(cluster) + "-";
  if (!name.starts_with(start) || !name.ends_with(kWitnessEnding)) return std::nullopt;
  name.remove_prefix(start.size());
  name.remove_suffix(kWitnessEnding.size());
  return u128_from_hex(name);
}

bool is_ours(const struct stat& status) {
  return status.st_uid == ::geteuid() || status.st_uid == 0;
}

// A file that survives the operating system would vouch for records that did not; one that others can write, for what they like.
Result<void> check_runtime_dir(const std::string& runtime_dir) {
  const Descriptor directory(::open(runtime_dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0) return witness_failure("open", runtime_dir);
  struct statfs system{};
  if (::fstatfs(directory.get(), &system) != 0) return witness_failure("stat", runtime_dir);
  const auto type = static_cast<std::uint32_t>(system.f_type);
  if (type != TMPFS_MAGIC && type != RAMFS_MAGIC && !SLUICE_MUTATED(kWitnessOnAnyDisk)) {
    return fail(Errc::kNoWitness, fmt::format("'{}' is not on a tmpfs, so it may outlive what a power cut takes", runtime_dir));
  }
  struct stat status{};
  if (::fstat(directory.get(), &status) != 0) return witness_failure("stat", runtime_dir);
  const bool is_foreign_group = (status.st_mode & S_IWGRP) != 0 && status.st_gid != ::getegid();
  const bool is_private = is_ours(status) && !is_foreign_group && (status.st_mode & S_IWOTH) == 0;
  if (!is_private && !SLUICE_MUTATED(kWitnessOfOthers)) {
    return fail(Errc::kNoWitness, fmt::format("'{}' (owner {}, group {}, mode {:o}) can be written to by others: give it to the user of "
                                              "this process with mode 0700",
                                              runtime_dir, status.st_uid, status.st_gid, status.st_mode & 07777U));
  }
  return {};
}

Result<void> check_file(const Descriptor& file, const std::string& path) {
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return witness_failure("stat", path);
  if (SLUICE_MUTATED(kWitnessFileOfOthers) || (is_ours(status) && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0)) return {};
  return fail(Errc::kNoWitness, fmt::format("'{}' (owner {}, mode {:o}) can be written to by others, so it is not believed", path,
                                            status.st_uid, status.st_mode & 07777U));
}

}  // namespace

void WitnessCell::store(const WitnessRecord& record) {
  const WitnessSlotBytes slot = encode_witness_slot({++sequence_, record});
  std::memcpy(bytes_ + (SLUICE_MUTATED(kWitnessSlotOverwritten) ? 0 : sequence_ % 2) * kWitnessSlotBytes, slot.data(), slot.size());
  // The compiler must not move it behind what is done next, an answer above all. Nothing more is needed: stores of a killed process stay.
  std::atomic_signal_fence(std::memory_order_release);
}

Result<std::unique_ptr<WitnessFile>> WitnessFile::create(const std::string& runtime_dir, const WitnessHeader& header) {
  if (::mkdir(runtime_dir.c_str(), 0700) != 0 && errno != EEXIST) return witness_failure("create", runtime_dir);
  SLUICE_CHECK(check_runtime_dir(runtime_dir));
  const std::string path = witness_path(runtime_dir, header);
  Descriptor descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (descriptor.get() < 0) return witness_failure("create", path);
  std::unique_ptr<WitnessFile> file(new WitnessFile(descriptor.release(), path));
  const auto prepare = [&]() -> Result<void> {
    if (::flock(file->descriptor_, LOCK_EX | LOCK_NB) != 0) return witness_failure("lock", path);
    if (::ftruncate(file->descriptor_, static_cast<off_t>(kWitnessFileBytes)) != 0) return witness_failure("extend", path);
    SLUICE_CHECK(file->reserve(kWitnessHeaderBytes));
    void* mapped = ::mmap(nullptr, kWitnessFileBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file->descriptor_, 0);
    if (mapped == MAP_FAILED) return witness_failure("map", path);
    file->bytes_ = static_cast<std::byte*>(mapped);
    return {};
  };
  if (auto prepared = prepare(); !prepared) {
    file->remove();
    return fail(std::move(prepared).error());
  }
  const WitnessSlotBytes first = encode_witness_header(header);
  std::memcpy(file->bytes_, first.data(), first.size());
  return file;
}

WitnessFile::~WitnessFile() {
  if (bytes_ != nullptr) ::munmap(bytes_, kWitnessFileBytes);
  ::close(descriptor_);
}

Result<std::vector<WitnessRecord>> WitnessFile::read(const std::string& runtime_dir, const WitnessHeader& header) {
  std::vector<WitnessRecord> none;
  if (auto checked = check_runtime_dir(runtime_dir); !checked) {
    if (checked.error().is(sluice::Errc::kNotFound)) return none;
    return fail(std::move(checked).error());
  }
  const std::string path = witness_path(runtime_dir, header);
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (file.get() < 0) {
    if (errno == ENOENT) return none;
    return witness_failure("open", path);
  }
  SLUICE_CHECK(check_file(file, path));
  // A copy of the data directory names the same run: what that still writes is not this one's.
  if (::flock(file.get(), LOCK_SH | LOCK_NB) != 0) return none;
  ByteVector bytes(kWitnessFileBytes);
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::pread(file.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return witness_failure("read", path);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return decode_witness_file(Bytes(bytes).first(done), header);
}

void WitnessFile::remove_others(const std::string& runtime_dir, const WitnessHeader& header) {
  if (!check_runtime_dir(runtime_dir)) return;
  std::error_code error;
  for (std::filesystem::directory_iterator it(runtime_dir, error), end; !error && it != end; it.increment(error)) {
    const auto generation = generation_in_name(it->path().filename().string(), header.cluster);
    if (!generation || *generation == header.generation) continue;
    const Descriptor file(::open(it->path().c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (file.get() < 0 || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0) continue;
    ::unlink(it->path().c_str());
  }
}

void WitnessFile::remove() {
  ::unlink(path_.c_str());
}

// A store to a page that a full tmpfs cannot give would be the end of the process, so they are taken beforehand.
Result<void> WitnessFile::reserve(std::size_t bytes) {
  const std::size_t wanted = round_up(bytes, kWitnessPageBytes);
  if (wanted <= reserved_bytes_) return {};
  const auto from = static_cast<off_t>(reserved_bytes_);
  // A ramfs takes no reservations, and has no limit that a store could meet.
  while (::fallocate(descriptor_, 0, from, static_cast<off_t>(wanted - reserved_bytes_)) != 0) {
    if (errno == EOPNOTSUPP) break;
    if (errno != EINTR) return witness_failure("extend", path_);
  }
  reserved_bytes_ = wanted;
  return {};
}

WitnessCell* WitnessFile::claim(GroupId group, Incarnation incarnation) {
  const std::lock_guard lock(mutex_);
  const std::pair key(group, incarnation);
  if (const auto found = claimed_.find(key); found != claimed_.end()) return found->second;
  WitnessCell* cell = nullptr;
  if (!free_.empty()) {
    cell = free_.back();
    free_.pop_back();
  } else {
    const std::size_t at = kWitnessHeaderBytes + cells_.size() * kWitnessCellBytes;
    if (cells_.size() >= kWitnessGroupsMax || !reserve(at + kWitnessCellBytes)) return nullptr;
    cells_.push_back(WitnessCell(bytes_ + at));
    cell = &cells_.back();
  }
  claimed_.emplace(key, cell);
  return cell;
}

void WitnessFile::release(GroupId group, Incarnation incarnation) {
  const std::lock_guard lock(mutex_);
  const auto found = claimed_.find({group, incarnation});
  if (found == claimed_.end()) return;
  WitnessCell* cell = found->second;
  std::memset(cell->bytes_, 0, kWitnessCellBytes);
  cell->sequence_ = 0;
  claimed_.erase(found);
  free_.push_back(cell);
}

}  // namespace sluice::storage
