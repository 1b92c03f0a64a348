// SPDX-License-Identifier: Apache-2.0
// Commands of the catalog and its snapshot. The first byte of the input chooses. What decodes says the same when it is encoded and decoded
// again, and a command that may be applied leaves a catalog whose snapshot is readable.
#include <cstddef>
#include <cstdint>

#include "core/base/assert.hpp"
#include "core/metadata/catalog.hpp"
#include "core/metadata/command.hpp"

namespace {

using sluice::Bytes;
using sluice::metadata::Catalog;

void check_command(Bytes bytes) {
  const auto command = sluice::metadata::decode_command(bytes);
  if (!command) return;
  SLUICE_ASSERT(sluice::metadata::decode_command(sluice::metadata::encode(*command)).value() == *command);
  Catalog catalog;
  const bool allowed = catalog.check(*command).has_value();
  SLUICE_ASSERT(catalog.apply(sluice::Op(1), *command).has_value() == allowed);
  SLUICE_ASSERT(Catalog::decode_snapshot(catalog.encode_snapshot()).value() == catalog);
}

void check_snapshot(Bytes bytes) {
  const auto catalog = Catalog::decode_snapshot(bytes);
  if (!catalog) return;
  SLUICE_ASSERT(Catalog::decode_snapshot(catalog->encode_snapshot()).value() == *catalog);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Bytes bytes(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
  if (data[0] % 2 == 0)
    check_command(bytes);
  else
    check_snapshot(bytes);
  return 0;
}
