// SPDX-License-Identifier: Apache-2.0
#include "core/storage/errc.hpp"

#include <array>

namespace sluice::storage {

const ErrorInfo& error_info(Errc code) {
  static constexpr std::array<ErrorInfo, 2> kTable{{
      {"storage.locked", ErrorKind::kConflict, "Another process works on these files. Stop it first; the message has its process id."},
      {"storage.no_witness", ErrorKind::kInvalidInput,
       "The runtime directory cannot hold a proof that only the process died, so a kill is taken for a power cut: each partition that was "
       "in use goes on behind a gap of offsets. Name a directory on a tmpfs that nobody else may write to."},
  }};
  return kTable.at(static_cast<std::size_t>(code));
}

}  // namespace sluice::storage
