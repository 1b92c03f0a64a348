// SPDX-License-Identifier: Apache-2.0
// Whether the table of an instance has all that this host calls. Pure.
#pragma once

#include <sluice/abi/sink.h>
#include <sluice/abi/source.h>

namespace sluice::plugin {

[[nodiscard]] inline bool is_complete(const sluice_sink& sink) {
  return sink.struct_size >= sizeof(sluice_sink) && sink.open && sink.assign && sink.write && sink.flush && sink.revoke && sink.close &&
         sink.destroy && sink.cancel && sink.get_extension;
}

[[nodiscard]] inline bool is_complete(const sluice_source& source) {
  return source.struct_size >= sizeof(sluice_source) && source.migrate_state && source.open && source.poll && source.on_result &&
         source.pause && source.resume && source.close && source.destroy && source.cancel && source.get_extension;
}

}  // namespace sluice::plugin
