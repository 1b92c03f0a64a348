// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/storage/sim_file.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "tests/simulation/storage/errc.hpp"

namespace sluice::sim {
namespace {

constexpr std::uint64_t kFileBytesMax = 16ULL << 30;

// The part of a write that a fault lets through.
std::uint64_t prefix_of(const Fault& fault, std::uint64_t position, std::uint64_t bytes) {
  if (fault.point == FaultPoint::kBefore) return 0;
  if (fault.point == FaultPoint::kAfter) return bytes;
  if (fault.half_bytes) return std::min(*fault.half_bytes, bytes);
  if (bytes == 0) return 0;
  const std::uint64_t first = position / kSectorBytes + 1;
  const std::uint64_t last = (position + bytes - 1) / kSectorBytes;
  return first > last ? 0 : (first + (last - first) / 2) * kSectorBytes - position;
}

}  // namespace

Error meet(SimState& state, const Fault& fault, const char* verb, const std::string& path) {
  if (fault.effect == FaultEffect::kCrash) {
    state.crashed = true;
    return Error(Errc::kCrashed, fmt::format("{} {}: the process died", verb, path));
  }
  return errno_error(fault.error_number, fmt::format("{} {}", verb, path)).with("file", path);
}

Result<void> check_alive(const SimState& state, std::uint64_t generation) {
  if (state.crashed || generation != state.generation) return fail(Errc::kCrashed, "the process is dead");
  return {};
}

// The prefix for which there is space. A page that is there already costs none.
std::uint64_t SimFile::bytes_that_fit(std::uint64_t position, std::uint64_t bytes) {
  if (!state_.capacity_bytes || bytes == 0) return bytes;
  const std::uint64_t used = state_.tree.allocated_pages();
  const std::uint64_t capacity = *state_.capacity_bytes / kPageBytes;
  std::uint64_t left = capacity > used ? capacity - used : 0;
  const PagedBytes& now = contents().buffered();
  for (std::uint64_t index = position / kPageBytes; index * kPageBytes < position + bytes; ++index) {
    if (now.page(index)) continue;
    if (left == 0) return std::max(index * kPageBytes, position) - position;
    --left;
  }
  return bytes;
}

Result<void> SimFile::write(std::uint64_t position, std::span<const Bytes> parts) {
  ByteVector bytes;
  for (const Bytes part : parts) bytes.insert(bytes.end(), part.begin(), part.end());
  SLUICE_CHECK(check_alive(state_, generation_));
  const std::optional<Fault> fault =
      state_.plan.begin({.kind = OperationKind::kWrite, .path = path_, .position = position, .bytes = bytes.size()});
  const auto failure = [&](int error_number) { return fail(errno_error(error_number, "write " + path_).with("file", path_)); };
  if (!writable_) return failure(EBADF);
  if (position > kFileBytesMax || bytes.size() > kFileBytesMax - position) return failure(EFBIG);

  const std::uint64_t wanted = fault ? prefix_of(*fault, position, bytes.size()) : bytes.size();
  const std::uint64_t written = bytes_that_fit(position, wanted);
  contents().write(position, Bytes(bytes).first(written));
  if (fault) return fail(meet(state_, *fault, "write", path_));
  if (written < wanted) return failure(ENOSPC);
  return {};
}

Result<std::size_t> SimFile::read(std::uint64_t position, MutableBytes out) {
  return perform(state_, generation_, {.kind = OperationKind::kRead, .path = path_, .position = position, .bytes = out.size()}, "read",
                 [&]() -> Outcome<std::size_t> { return contents().buffered().read(position, out); });
}

Result<void> SimFile::sync() {
  SLUICE_CHECK(check_alive(state_, generation_));
  const std::optional<Fault> fault = state_.plan.begin({.kind = OperationKind::kSync, .path = path_});
  if (!fault || fault->point == FaultPoint::kAfter) {
    contents().sync();
    if (state_.options.file_sync_commits_names) state_.tree.commit_names_of(id_);
  } else if (fault->effect == FaultEffect::kError) {
    SeededRandom random(state_.options.seed ^ state_.plan.operations());
    contents().fail_sync(fault->point == FaultPoint::kHalf ? PowerLoss::kRandom : PowerLoss::kNothing, random);
  }
  const std::uint64_t told = std::exchange(failures_told_, contents().failed_syncs());
  if (fault) return fail(meet(state_, *fault, "sync", path_));
  if (told < failures_told_) return fail(errno_error(EIO, "sync " + path_).with("file", path_));
  return {};
}

Result<void> SimFile::truncate(std::uint64_t size) {
  return perform(state_, generation_, {.kind = OperationKind::kTruncate, .path = path_, .bytes = size}, "truncate", [&]() -> Outcome<void> {
    if (!writable_) return std::unexpected(EINVAL);
    if (size > kFileBytesMax) return std::unexpected(EFBIG);
    contents().truncate(size);
    return {};
  });
}

Result<std::uint64_t> SimFile::size() {
  return perform(state_, generation_, {.kind = OperationKind::kStat, .path = path_}, "stat",
                 [&]() -> Outcome<std::uint64_t> { return contents().buffered().size(); });
}

}  // namespace sluice::sim
