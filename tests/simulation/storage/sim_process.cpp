// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/storage/sim_process.hpp"

#include <cerrno>

#include "core/storage/errc.hpp"
#include "tests/simulation/storage/sim_file.hpp"

namespace sluice::sim {
namespace {

std::string parent_directory(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string::npos || slash == 0) return "/";
  return path.substr(0, slash);
}

Operation operation_on(OperationKind kind, const std::string& path, const std::string& to = {}) {
  return {.kind = kind, .path = path, .to = to};
}

struct SimLock final : storage::Lock {
  SimLock(FileTree::Handle opened, std::shared_ptr<const void> taken) : file(std::move(opened)), held(std::move(taken)) {}
  FileTree::Handle file;
  std::shared_ptr<const void> held;
};

}  // namespace

Result<storage::FilePtr> SimProcess::open(const std::string& path, storage::OpenMode mode) {
  const bool creates = mode == storage::OpenMode::kCreateNew || mode == storage::OpenMode::kReplace;
  const auto body = [&]() -> Outcome<FileTree::Id> {
    const auto found = state_.tree.find_file(path);
    if (!creates) return found;
    if (mode == storage::OpenMode::kReplace && found) {
      state_.tree.contents(*found).truncate(0);
      return found;
    }
    if (!found && found.error() != ENOENT && mode == storage::OpenMode::kReplace) return found;
    return state_.tree.create_file(path);
  };
  SLUICE_TRY(const FileTree::Id id,
             perform(state_, generation_, operation_on(creates ? OperationKind::kCreate : OperationKind::kOpen, path), "open", body));
  return std::make_shared<SimFile>(state_, generation_, id, path, mode != storage::OpenMode::kRead);
}

Result<void> SimProcess::rename(const std::string& from, const std::string& to) {
  return perform(state_, generation_, operation_on(OperationKind::kRename, from, to), "rename",
                 [&] { return state_.tree.rename(from, to); });
}

Result<void> SimProcess::remove(const std::string& path) {
  return perform(state_, generation_, operation_on(OperationKind::kRemove, path), "remove", [&] { return state_.tree.remove(path); });
}

Result<void> SimProcess::remove_directory(const std::string& directory) {
  return perform(state_, generation_, operation_on(OperationKind::kRemoveDirectory, directory), "remove",
                 [&] { return state_.tree.remove_directory(directory); });
}

Result<std::vector<std::string>> SimProcess::list(const std::string& directory) {
  return perform(state_, generation_, operation_on(OperationKind::kList, directory), "list", [&] { return state_.tree.list(directory); });
}

Result<void> SimProcess::make_directories(const std::string& directory) {
  const auto there = perform(state_, generation_, operation_on(OperationKind::kStat, directory), "stat",
                             [&] { return state_.tree.is_directory(directory); });
  // The process that made it may have died before it synced the name.
  if (there && *there) return sync_directory(parent_directory(directory));
  if (there) return fail(errno_error(ENOTDIR, "create " + directory).with("file", directory));
  if (!storage::is_absent(there.error())) return fail(there.error());
  const std::string parent = parent_directory(directory);
  SLUICE_CHECK(make_directories(parent));
  SLUICE_CHECK(perform(state_, generation_, operation_on(OperationKind::kMakeDirectory, directory), "create",
                       [&] { return state_.tree.make_directory(directory); }));
  return sync_directory(parent);
}

Result<storage::LockPtr> SimProcess::lock(const std::string& path) {
  const bool there = state_.tree.find_file(path).has_value();
  SLUICE_TRY(const FileTree::Id id, perform(state_, generation_, operation_on(there ? OperationKind::kOpen : OperationKind::kCreate, path),
                                            "lock", [&] { return there ? state_.tree.find_file(path) : state_.tree.create_file(path); }));
  std::weak_ptr<const void>& holder = state_.locks[id];
  if (!holder.expired())
    return fail(Error(storage::Errc::kLocked, fmt::format("'{}' is locked by process {}", path, generation_))
                    .with("pid", std::to_string(generation_)));
  auto held = std::make_shared<const int>();
  holder = held;
  return std::make_unique<SimLock>(state_.tree.hold(id), std::move(held));
}

Result<void> SimProcess::sync_directory(const std::string& directory) {
  SLUICE_CHECK(check_alive(state_, generation_));
  // As the system has it, a directory that is not there fails to open.
  const auto there = state_.tree.is_directory(directory);
  const char* const verb = there && *there ? "sync" : "open";
  return perform(state_, generation_, operation_on(OperationKind::kSyncDirectory, directory), verb,
                 [&] { return state_.tree.sync_directory(directory); });
}

}  // namespace sluice::sim
