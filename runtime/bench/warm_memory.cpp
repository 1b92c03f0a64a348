// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/warm_memory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "core/base/bytes.hpp"

namespace sluice::bench {
namespace {

constexpr std::size_t kWarmBlockBytes = 1u << 20;

}  // namespace

Result<void> use_memory_once(const std::filesystem::path& scratch, std::uint64_t bytes) {
  const std::string path = (scratch / "warm").string();
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return fail(errno_error(errno, "create " + path));
  const ByteVector block(kWarmBlockBytes);
  Result<void> outcome;
  for (std::uint64_t done = 0; done < bytes && outcome; done += block.size()) {
    if (::write(file, block.data(), block.size()) < 0) outcome = fail(errno_error(errno, "write " + path));
  }
  ::close(file);
  ::unlink(path.c_str());
  return outcome;
}

}  // namespace sluice::bench
