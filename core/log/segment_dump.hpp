// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/base/result.hpp"
#include "core/entry/entry.hpp"
#include "core/log/frontier.hpp"
#include "core/log/segment_page.hpp"
#include "core/storage/storage.hpp"

namespace sluice::log {

struct DumpedEntry {
  std::uint64_t position = 0;
  const entry::EntryView& view;
};

struct DumpResult {
  SegmentPage page;
  SegmentSlots slots;
  std::uint64_t entries = 0;
  std::uint64_t end = 0;  // verified up to here
  std::uint64_t file_bytes = 0;
  std::uint64_t zeros = 0;  // behind the entries, up to the end of the file
  std::string damage;       // empty if the entries end cleanly at `end`
};

// Walks a segment file, read-only, and calls `visit` for each verified entry until it returns false. Damage is a result here, not an
// error: an inspection shows as much as it can. Errors: I/O, and a header page that does not verify. [blocking, any thread]
[[nodiscard]] Result<DumpResult> dump_segment(storage::Storage& storage, const std::string& path,
                                              const std::function<bool(const DumpedEntry&)>& visit);

}  // namespace sluice::log
