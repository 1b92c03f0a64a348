// SPDX-License-Identifier: Apache-2.0
#include "core/log/segment_dump.hpp"

#include "core/log/segment_reader.hpp"

namespace sluice::log {

Result<DumpResult> dump_segment(storage::Storage& storage, const std::string& path, const std::function<bool(const DumpedEntry&)>& visit) {
  SLUICE_TRY(const storage::FilePtr file, storage.open(path, storage::OpenMode::kRead));
  DumpResult out;
  SLUICE_TRY(out.file_bytes, file->size());
  ByteVector page(kSegmentPageBytes);
  SLUICE_TRY(const std::size_t got, file->read(0, page));
  SLUICE_TRY(out.page, decode_segment_page(Bytes(page).first(got)));
  SLUICE_TRY(out.slots, read_slots(page, out.page.first_op));
  SegmentReader reader(*file, kSegmentPageBytes, out.file_bytes);
  while (true) {
    SLUICE_TRY(const SegmentReader::What what, reader.next());
    out.end = reader.position();
    if (what == SegmentReader::What::kEnd) break;
    if (what == SegmentReader::What::kDamage) {
      SLUICE_TRY(const bool only_zeros, is_zero_range(*file, out.end, out.file_bytes));
      if (only_zeros)
        out.zeros = out.file_bytes - out.end;
      else
        out.damage = reader.damage().message();
      break;
    }
    ++out.entries;
    if (!visit({reader.position(), reader.entry()})) {
      out.end += reader.entry().bytes().size();
      break;
    }
  }
  return out;
}

}  // namespace sluice::log
