// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/plugin_file.hpp"

#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "core/base/assert.hpp"
#include "runtime/base/files.hpp"
#include "runtime/plugin/plugin.hpp"

namespace sluice::plugin {

namespace {

constexpr std::size_t kSha256HexDigits = 64;
constexpr std::uint32_t kCopyMode = 0500;

bool is_sha256_hex(std::string_view name) {
  return name.size() == kSha256HexDigits &&
         std::ranges::all_of(name, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// Who besides root and this user can change what `status` describes; empty if nobody. A group that is this process's own does not count.
std::string writers(const struct stat& status) {
  if (status.st_uid != 0 && status.st_uid != ::geteuid()) return fmt::format("user {}, who owns it", status.st_uid);
  if ((status.st_mode & S_IWOTH) != 0) return "every user";
  if ((status.st_mode & S_IWGRP) != 0 && status.st_gid != 0 && status.st_gid != ::getegid()) return fmt::format("group {}", status.st_gid);
  return {};
}

Result<void> make_private_folder(const std::filesystem::path& folder) {
  if (::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return fail(errno_error(errno, fmt::format("making the folder {}", folder.string())));
}

}  // namespace

Result<FileStamp> stamp_of(const std::filesystem::path& file) {
  struct stat status{};
  if (::stat(file.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return fail(Errc::kNotFound, fmt::format("plugin file {} does not exist", file.string()));
    return fail(errno_error(errno, fmt::format("looking at plugin file {}", file.string())));
  }
  if (!S_ISREG(status.st_mode))
    return fail(Errc::kNotALibrary, fmt::format("{} is not a shared library: it is not even a regular file", file.string()));
  if (const std::string who = writers(status); !who.empty()) {
    return fail(
        Errc::kWritableByOthers,
        fmt::format("plugin file {} is refused: {} can change it, and a plugin has all rights of this process", file.string(), who));
  }
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  struct stat folder_status{};
  // In a folder like /tmp (sticky) others cannot replace a file that is not theirs.
  if (::stat(folder.c_str(), &folder_status) == 0 && (folder_status.st_mode & S_IWOTH) != 0 && (folder_status.st_mode & S_ISVTX) == 0) {
    return fail(Errc::kWritableByOthers,
                fmt::format("plugin file {} is refused: every user can replace it, because the folder {} is open to all", file.string(),
                            folder.string()));
  }
  return FileStamp{.device = status.st_dev,
                   .inode = status.st_ino,
                   .size = static_cast<std::uint64_t>(status.st_size),
                   .mtime_ns = status.st_mtim.tv_sec * std::int64_t{1'000'000'000} + status.st_mtim.tv_nsec};
}

std::string sha256_hex(std::string_view contents) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  const int done = EVP_Digest(contents.data(), contents.size(), digest.data(), &size, EVP_sha256(), nullptr);
  SLUICE_ASSERT(done == 1 && size * 2 == kSha256HexDigits, "done {} size {}", done, size);
  std::string out;
  for (unsigned int i = 0; i < size; ++i) out += fmt::format("{:02x}", digest[i]);
  return out;
}

Result<std::filesystem::path> write_private_copy(const std::filesystem::path& copy_dir, std::string_view sha256, const std::string& name,
                                                 std::string_view contents) {
  const std::filesystem::path folder = copy_dir / sha256;
  SLUICE_CHECK(make_private_folder(copy_dir));
  SLUICE_CHECK(make_private_folder(folder));
  std::filesystem::path copy = folder / name;
  SLUICE_CHECK(files::write_atomically(copy, contents, kCopyMode));
  return copy;
}

void remove_private_copies(const std::filesystem::path& copy_dir) {
  std::error_code ignored;
  std::vector<std::filesystem::path> old;
  for (std::filesystem::directory_iterator entry(copy_dir, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
    if (is_sha256_hex(entry->path().filename().string())) old.push_back(entry->path());
  }
  for (const auto& folder : old) std::filesystem::remove_all(folder, ignored);
}

}  // namespace sluice::plugin
