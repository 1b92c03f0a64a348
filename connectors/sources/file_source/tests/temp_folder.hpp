// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

namespace sluice::file_source {

// A folder of its own for one test, gone with it.
class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "sluice_file_source_XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = pattern;
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] std::string file(std::string_view name) const { return (path_ / name).string(); }
  void append(std::string_view name, std::string_view bytes) const {
    std::ofstream(file(name), std::ios::app | std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  // As copytruncate does: the same inode from its beginning.
  void rewrite(std::string_view name, std::string_view bytes) const {
    std::ofstream(file(name), std::ios::trunc | std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  void rename(std::string_view from, std::string_view to) const { std::filesystem::rename(file(from), file(to)); }
  void remove(std::string_view name) const { std::filesystem::remove(file(name)); }

 private:
  std::filesystem::path path_;
};

}  // namespace sluice::file_source
