// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <sluice/abi/version.h>

#include "runtime/base/files.hpp"
#include "runtime/plugin/elf_file.hpp"
#include "runtime/plugin/loaded_plugin.hpp"
#include "runtime/plugin/open_plugin.hpp"
#include "runtime/plugin/plugin.hpp"
#include "runtime/plugin/plugin_file.hpp"
#include "runtime/plugin/probe.hpp"
#include "runtime/plugin/trial.hpp"

namespace sluice::plugin {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kProbeCacheMax = 1024;
constexpr std::size_t kListedFilesMax = 4096;
constexpr unsigned kProbesAtOnceMax = 8;
constexpr std::string_view kProbeProgramName = "sluice-plugin-host";
constexpr std::string_view kSuffix = ".so";

fs::path own_folder() {
  const auto self = files::own_program();
  return self ? self->parent_path() : fs::path("/usr/bin");
}

// Each place once, in order. A place that is named twice in different ways (a/../b) is still one.
std::vector<fs::path> all_places(const std::vector<fs::path>& search_path) {
  const fs::path here = own_folder();
  std::vector<fs::path> candidates = search_path;
  candidates.push_back(here / ".." / "plugins");
  candidates.push_back(here / "plugins");
  candidates.push_back(here / ".." / "lib" / "sluice" / "plugins");
  candidates.emplace_back("/usr/lib/sluice/plugins");
  std::vector<fs::path> places;
  for (const fs::path& candidate : candidates) {
    fs::path place = candidate.lexically_normal();
    if (std::ranges::find(places, place) == places.end()) places.push_back(std::move(place));
  }
  return places;
}

bool is_there(const fs::path& file) {
  std::error_code ignored;
  return fs::exists(file, ignored);
}

// What can be said without running anything of the file.
Result<void> judge_contents(std::string_view contents, std::string_view name) {
  SLUICE_TRY(const ElfSymbols symbols, read_elf(contents, name));
  return check_symbols(symbols, SLUICE_ABI_SANITIZER_TAG, name);
}

}  // namespace

struct PluginCatalog::Impl {
  Options options;
  std::vector<fs::path> places;

  std::mutex cache_mutex;
  std::map<FileStamp, PluginDescription> cache;

  // One per contents that were ever asked for. Its mutex is held while they are copied, inspected and initialised, so that different
  // plugins load side by side and the same one only once.
  struct Slot {
    std::mutex mutex;
    std::shared_ptr<LoadedPlugin> plugin;
  };
  std::once_flag old_copies_removed;
  std::mutex slots_mutex;
  std::map<std::string, std::shared_ptr<Slot>> slots;  // by sha256

  [[nodiscard]] Result<PluginDescription> inspect_file(const fs::path& file);
  [[nodiscard]] std::optional<PluginDescription> cached(const FileStamp& stamp, const fs::path& file);
  void remember(const FileStamp& stamp, const PluginDescription& description);
  [[nodiscard]] std::shared_ptr<Slot> slot_of(const std::string& sha256);

  // One read: what is judged, hashed, copied, inspected and loaded are the same bytes, whatever happens to the file meanwhile.
  struct Judged {
    fs::path file;
    files::Pages contents;
    std::string sha256;
    std::shared_ptr<Slot> slot;
  };
  [[nodiscard]] Result<Judged> judge(const PluginCatalog& catalog, std::string_view plugin);
  // With the slot's mutex held.
  [[nodiscard]] Result<PlacedPlugin> copy_and_inspect(const Judged& judged);
};

Result<PluginCatalog::Impl::Judged> PluginCatalog::Impl::judge(const PluginCatalog& catalog, std::string_view plugin) {
  Judged out;
  SLUICE_TRY(out.file, catalog.resolve(plugin));
  SLUICE_CHECK(stamp_of(out.file));
  SLUICE_TRY(out.contents, files::read_into_pages(out.file, kPluginFileBytesMax));
  SLUICE_CHECK(judge_contents(out.contents.text(), out.file.string()));
  out.sha256 = sha256_hex(out.contents.text());
  out.slot = slot_of(out.sha256);
  return out;
}

Result<PlacedPlugin> PluginCatalog::Impl::copy_and_inspect(const Judged& judged) {
  std::call_once(old_copies_removed, [&] { remove_private_copies(options.copy_dir); });
  PlacedPlugin out;
  SLUICE_TRY(out.copy, write_private_copy(options.copy_dir, judged.sha256, judged.file.filename().string(), judged.contents.text()));
  SLUICE_TRY(out.description, probe(options.probe_program, out.copy, judged.file.string(), options.probe_timeout));
  out.description.file = judged.file;
  return out;
}

std::shared_ptr<PluginCatalog::Impl::Slot> PluginCatalog::Impl::slot_of(const std::string& sha256) {
  const std::lock_guard lock(slots_mutex);
  std::shared_ptr<Slot>& slot = slots[sha256];
  if (!slot) slot = std::make_shared<Slot>();
  return slot;
}

std::optional<PluginDescription> PluginCatalog::Impl::cached(const FileStamp& stamp, const fs::path& file) {
  const std::lock_guard lock(cache_mutex);
  const auto found = cache.find(stamp);
  if (found == cache.end()) return std::nullopt;
  PluginDescription description = found->second;
  description.file = file;
  return description;
}

void PluginCatalog::Impl::remember(const FileStamp& stamp, const PluginDescription& description) {
  const std::lock_guard lock(cache_mutex);
  if (cache.size() >= kProbeCacheMax) cache.clear();
  cache.insert_or_assign(stamp, description);
}

Result<PluginDescription> PluginCatalog::Impl::inspect_file(const fs::path& file) {
  SLUICE_TRY(const FileStamp stamp, stamp_of(file));
  if (auto known = cached(stamp, file)) return *std::move(known);
  {
    SLUICE_TRY(const files::Pages contents, files::read_into_pages(file, kPluginFileBytesMax));
    SLUICE_CHECK(judge_contents(contents.text(), file.string()));
  }
  SLUICE_TRY(PluginDescription description, probe(options.probe_program, file, file.string(), options.probe_timeout));
  // Only what was found good is remembered: a missing library may be installed without a change of this file.
  remember(stamp, description);
  return description;
}

PluginCatalog::PluginCatalog(Options options) : impl_(std::make_unique<Impl>()) {
  impl_->places = all_places(options.search_path);
  impl_->options = std::move(options);
  if (impl_->options.probe_program.empty()) impl_->options.probe_program = own_folder() / kProbeProgramName;
}

PluginCatalog::~PluginCatalog() = default;

const std::vector<fs::path>& PluginCatalog::places() const {
  return impl_->places;
}

Result<fs::path> PluginCatalog::resolve(std::string_view plugin) const {
  if (plugin.empty()) return fail(Errc::kNotFound, "no plugin is named");
  const bool has_folder = plugin.find('/') != std::string_view::npos;
  std::vector<fs::path> searched;
  if (has_folder || plugin.ends_with(kSuffix)) searched.push_back(fs::absolute(fs::path(plugin)));
  if (!has_folder) {
    const std::string file_name = plugin.ends_with(kSuffix) ? std::string(plugin) : fmt::format("{}{}", plugin, kSuffix);
    for (const fs::path& place : impl_->places) searched.push_back(place / file_name);
  }
  std::string tried;
  for (const fs::path& candidate : searched) {
    if (is_there(candidate)) return candidate;
    tried += fmt::format("{}{}", tried.empty() ? "" : ", ", candidate.string());
  }
  return fail(Errc::kNotFound, fmt::format("plugin '{}' was not found; searched: {}", plugin, tried));
}

std::vector<std::pair<fs::path, Result<PluginDescription>>> PluginCatalog::list() {
  std::vector<std::pair<fs::path, Result<PluginDescription>>> out;
  for (const fs::path& place : impl_->places) {
    std::error_code ignored;
    std::vector<fs::path> files;
    for (fs::directory_iterator entry(place, ignored), end; !ignored && entry != end && out.size() + files.size() < kListedFilesMax;
         entry.increment(ignored)) {
      if (entry->path().extension() == kSuffix) files.push_back(entry->path());
    }
    std::ranges::sort(files);
    for (fs::path& file : files) out.emplace_back(std::move(file), fail(Errc::kLoadFailed, "not inspected"));
  }
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < out.size(); i = next++) out[i].second = impl_->inspect_file(out[i].first);
  };
  const std::size_t threads = std::min<std::size_t>(std::clamp(std::thread::hardware_concurrency(), 1u, kProbesAtOnceMax), out.size());
  std::vector<std::jthread> workers;
  for (std::size_t i = 1; i < threads; ++i) workers.emplace_back(work);
  work();
  workers.clear();
  return out;
}

Result<PluginDescription> PluginCatalog::inspect(std::string_view plugin) {
  SLUICE_TRY(const fs::path file, resolve(plugin));
  return impl_->inspect_file(file);
}

Result<std::optional<Outcome>> PluginCatalog::try_open(const TrialRequest& request) {
  SLUICE_TRY(const fs::path file, resolve(request.plugin));
  SLUICE_CHECK(impl_->inspect_file(file));
  return plugin::try_open(impl_->options.probe_program, file, request);
}

const fs::path& PluginCatalog::host_program() const {
  return impl_->options.probe_program;
}

Result<PlacedPlugin> PluginCatalog::place(std::string_view plugin) {
  SLUICE_TRY(const Impl::Judged judged, impl_->judge(*this, plugin));
  const std::lock_guard lock(judged.slot->mutex);
  return impl_->copy_and_inspect(judged);
}

Result<std::shared_ptr<LoadedPlugin>> PluginCatalog::load(std::string_view plugin) {
  SLUICE_TRY(const Impl::Judged judged, impl_->judge(*this, plugin));
  const std::lock_guard lock(judged.slot->mutex);
  if (judged.slot->plugin) return judged.slot->plugin;
  SLUICE_TRY(const PlacedPlugin placed, impl_->copy_and_inspect(judged));
  SLUICE_TRY(OpenedPlugin opened, open_plugin(placed.copy, judged.file.string()));
  opened.description.file = judged.file;
  judged.slot->plugin = std::make_shared<LoadedPlugin>(std::move(opened));
  return judged.slot->plugin;
}

}  // namespace sluice::plugin
