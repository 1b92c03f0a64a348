// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/storage/witness_record.hpp"

namespace sluice::storage {

// The two slots of one group. Owned by the WitnessFile; used by one thread at a time, the group's shard.
class WitnessCell {
 public:
  // Stored when it returns: a process that is killed afterwards leaves it. No system call.
  void store(const WitnessRecord& record);

 private:
  friend class WitnessFile;
  explicit WitnessCell(std::byte* bytes) : bytes_(bytes) {}

  std::byte* bytes_;
  std::uint64_t sequence_ = 0;
};

// What the process knows of its last acknowledgements, in mapped memory that outlives the process but not the operating system: a file
// on a tmpfs. It can therefore prove that only the process had died. One file per run of a node, `<cluster>-<generation>.witness`, locked
// while it is mapped. Owned by the node, outlives every user of its cells. claim() and release() are thread-safe and may make a system
// call, a cell's store() does not. The file stays behind unless remove() is called.
class WitnessFile {
 public:
  // Makes the file, and the last part of the directory's path if it is missing. Errors: storage.no_witness if the directory is not on a
  // tmpfs, or others may write to it; base.io, base.no_space.
  [[nodiscard]] static Result<std::unique_ptr<WitnessFile>> create(const std::string& runtime_dir, const WitnessHeader& header);
  ~WitnessFile();
  WitnessFile(const WitnessFile&) = delete;
  WitnessFile& operator=(const WitnessFile&) = delete;

  // The records that another run left. None if there is no file of it, or its process lives. Errors as create; storage.no_witness also if
  // others could have written to the file.
  [[nodiscard]] static Result<std::vector<WitnessRecord>> read(const std::string& runtime_dir, const WitnessHeader& header);
  // Removes the files of all other runs of the cluster whose process is gone: that of the run before, and those of starts that were killed
  // before they counted.
  static void remove_others(const std::string& runtime_dir, const WitnessHeader& header);

  // The group's cell, empty at first; the same one until it is released. Null if kWitnessGroupsMax groups have one, or the tmpfs is full.
  [[nodiscard]] WitnessCell* claim(GroupId group, Incarnation incarnation);
  // Of a group that is gone; nobody uses its cell any more. Without a cell it does nothing.
  void release(GroupId group, Incarnation incarnation);
  // Unlinks the file. Cells can still be written to, but nobody will read them.
  void remove();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  WitnessFile(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  [[nodiscard]] Result<void> reserve(std::size_t bytes);

  int descriptor_;
  std::string path_;
  std::byte* bytes_ = nullptr;
  std::size_t reserved_bytes_ = 0;
  std::mutex mutex_;
  std::deque<WitnessCell> cells_;
  std::vector<WitnessCell*> free_;
  std::map<std::pair<GroupId, Incarnation>, WitnessCell*> claimed_;
};

}  // namespace sluice::storage
