// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

namespace sluice::testing {

// A folder of its own for one test of a connector that works with files, gone with it.
class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "sluice_test_XXXXXX").string();
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
  // As copytruncate does: a file that is there keeps its inode.
  void write(std::string_view name, std::string_view bytes) const {
    std::ofstream(file(name), std::ios::trunc | std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  [[nodiscard]] std::string read(std::string_view name) const {
    std::ifstream in(file(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  [[nodiscard]] bool has(std::string_view name) const { return std::filesystem::exists(file(name)); }
  void rename(std::string_view from, std::string_view to) const { std::filesystem::rename(file(from), file(to)); }
  void remove(std::string_view name) const { std::filesystem::remove(file(name)); }

 private:
  std::filesystem::path path_;
};

}  // namespace sluice::testing
