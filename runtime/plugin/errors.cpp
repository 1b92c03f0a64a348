// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "runtime/plugin/plugin.hpp"

namespace sluice::plugin {

const ErrorInfo& error_info(Errc code) {
  using enum ErrorKind;
  static constexpr std::array<ErrorInfo, 17> kTable{{
      {"plugin.not_found", kNotFound,
       "No such plugin file. The message lists every place searched; correct the name, or add the folder to the plugin search path."},
      {"plugin.not_a_library", kInvalidInput,
       "The file is not a shared library. Point `plugin` at the .so that the build of the connector made."},
      {"plugin.wrong_architecture", kInvalidInput, "The library was built for another processor or word size. Build it for this machine."},
      {"plugin.missing_library", kInvalidInput,
       "The plugin needs a shared library that this machine does not have. Install the package that contains it."},
      {"plugin.no_entry_symbol", kInvalidInput,
       "The library does not export sluice_entry_v1: it is not a Sluice plugin, or one of another major version of the interface."},
      {"plugin.too_new", kInvalidInput,
       "The plugin needs a newer plugin interface than this Sluice has. Update Sluice, or build the plugin with the older SDK."},
      {"plugin.too_old", kInvalidInput,
       "The plugin was built with an interface that this Sluice supports no more. Build it again with the current SDK."},
      {"plugin.build_mismatch", kInvalidInput,
       "The interface is a draft, so plugin and Sluice must come from the same SDK build. Build the plugin again."},
      {"plugin.refused", kInvalidInput, "The plugin's own start-up refused this host; the message is the plugin's."},
      {"plugin.crashed", kInvalidInput,
       "The plugin killed the process that inspected or tried it, so it is not loaded. The message has the signal and its last output: "
       "report it to its author."},
      {"plugin.timeout", kInvalidInput,
       "The plugin did not come back within the time limit in the process that inspected or tried it. Report it to its author: loading "
       "must not wait, and what waits while it opens must heed its deadline."},
      {"plugin.sanitizer_mismatch", kInvalidInput,
       "The plugin was built with another sanitizer than this Sluice. Build both with the same preset."},
      {"plugin.no_such_connector", kInvalidInput,
       "The plugin holds no connector of that name and kind. `sluice plugin inspect` lists what it holds."},
      {"plugin.unsupported_extension", kInvalidInput, "The connector cannot work without an extension that this Sluice does not have."},
      {"plugin.writable_by_others", kInvalidInput,
       "Another user of this machine may change the file, and a plugin has all rights of the daemon. Remove write permission for group and "
       "others."},
      {"plugin.load_failed", kGiveUp, "The system's loader refused the library; the message is the loader's."},
      {"plugin.bad_descriptor", kInvalidInput,
       "What the plugin says of itself is malformed. Report it to the plugin's author with the message."},
  }};
  return kTable.at(static_cast<std::size_t>(code));
}

}  // namespace sluice::plugin
