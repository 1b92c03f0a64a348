// SPDX-License-Identifier: Apache-2.0
#include "runtime/app/sync_probe.hpp"

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

namespace sluice::app {

namespace {

constexpr std::size_t kSyncProbeWrites = 100;
constexpr std::size_t kSyncProbeBytes = 4096;

class ProbeFile {
 public:
  explicit ProbeFile(std::string path) : path_(std::move(path)), descriptor_(mkostemp(path_.data(), O_CLOEXEC)) {
    if (descriptor_ >= 0) unlink(path_.c_str());
  }
  ~ProbeFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  ProbeFile(const ProbeFile&) = delete;
  ProbeFile& operator=(const ProbeFile&) = delete;
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  std::string path_;
  int descriptor_;
};

}  // namespace

Result<SyncLatency> measure_sync(const std::filesystem::path& directory) {
  const ProbeFile file((directory / ".sluice-doctor-XXXXXX").string());
  if (file.descriptor() < 0) return fail(errno_error(errno, fmt::format("cannot create a file in {}", directory.string())));
  const std::string block(kSyncProbeBytes, 'x');
  std::vector<std::chrono::nanoseconds> spans;
  for (std::size_t i = 0; i < kSyncProbeWrites; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const auto position = static_cast<off_t>(i * kSyncProbeBytes);
    if (pwrite(file.descriptor(), block.data(), block.size(), position) != static_cast<ssize_t>(block.size()) ||
        fdatasync(file.descriptor()) != 0) {
      return fail(errno_error(errno, fmt::format("cannot write and sync in {}", directory.string())));
    }
    spans.push_back(std::chrono::steady_clock::now() - start);
  }
  std::ranges::sort(spans);
  return SyncLatency{.writes = spans.size(), .p50 = spans[spans.size() / 2], .p99 = spans[spans.size() * 99 / 100], .max = spans.back()};
}

}  // namespace sluice::app
