// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/open_plugin.hpp"

#include <algorithm>
#include <boost/dll/shared_library.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cstring>
#include <mutex>
#include <system_error>

#include <fmt/format.h>

#include "runtime/base/text.hpp"
#include "runtime/plugin/elf_file.hpp"
#include "runtime/plugin/host_table.hpp"

namespace sluice::plugin {

namespace {

constexpr std::size_t kSchemaDepthMax = 32;

// A static text of the plugin, cut and clean; an absent one is empty.
std::string static_text(const char* text) {
  if (text == nullptr) return {};
  return clean_text(std::string_view(text, strnlen(text, kPluginTextBytesMax)), kPluginTextBytesMax);
}

bool is_id(std::string_view id) {
  if (id.empty() || id.size() > kPluginTextBytesMax || id[0] < 'a' || id[0] > 'z') return false;
  return std::ranges::all_of(id, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

// The table of a library's init: logs and clocks, no connector. One for the process, never destroyed: the plugin may keep it.
HostTable& process_host() {
  static auto* host = new HostTable({});
  return *host;
}

std::string_view sanitizer_tag(std::string_view build_id) {
  const std::size_t at = build_id.find('+');
  return at == std::string_view::npos ? std::string_view() : build_id.substr(at);
}

Result<void> check_versions(const sluice_entry& entry, std::string_view name) {
  if (entry.abi_minor > SLUICE_ABI_MINOR) {
    return fail(Errc::kTooNew, fmt::format("{} needs minor {} of the plugin interface {}, this Sluice has minor {}", name, entry.abi_minor,
                                           SLUICE_ABI_MAJOR, SLUICE_ABI_MINOR));
  }
  if (entry.struct_size < sizeof(sluice_entry)) {
    return fail(Errc::kTooOld, fmt::format("{} was built with an older plugin interface: its entry has {} bytes, this Sluice needs {}",
                                           name, entry.struct_size, sizeof(sluice_entry)));
  }
  const std::string build_id = static_text(entry.build_id);
  if (build_id == SLUICE_ABI_BUILD_ID) return {};
  if (sanitizer_tag(build_id) != sanitizer_tag(SLUICE_ABI_BUILD_ID)) {
    return fail(Errc::kSanitizerMismatch,
                fmt::format("{} was built with {}, this Sluice with {}: build both with the same preset", name,
                            sanitizer_name(sanitizer_tag(build_id)), sanitizer_name(sanitizer_tag(SLUICE_ABI_BUILD_ID))));
  }
  return fail(Errc::kBuildMismatch, fmt::format("{} was built with the draft interface '{}', this Sluice has '{}': build the plugin again",
                                                name, build_id, SLUICE_ABI_BUILD_ID));
}

// Collects a schema, up to its limit.
struct SchemaText {
  std::string text;
  bool refused = false;

  static sluice_status write(void* self, const void* ptr, std::uint64_t len) noexcept {
    auto& schema = *static_cast<SchemaText*>(self);
    if (schema.refused || (ptr == nullptr && len > 0) || len > SLUICE_CONFIG_SCHEMA_MAX_BYTES - schema.text.size()) {
      schema.refused = true;
      return SLUICE_FAILED;
    }
    schema.text.append(static_cast<const char*>(ptr), len);
    return SLUICE_OK;
  }
};

Result<std::string> read_schema(const sluice_connector_factory& factory, std::uint32_t index, std::string_view what) {
  SchemaText schema;
  const sluice_bytes_writer writer{.struct_size = sizeof writer, .reserved = 0, .host_data = &schema, .write = &SchemaText::write};
  const sluice_status status = factory.config_schema(index, &writer);
  if (schema.refused) {
    return fail(Errc::kBadDescriptor,
                fmt::format("{}: its configuration schema is null or longer than {} bytes", what, SLUICE_CONFIG_SCHEMA_MAX_BYTES));
  }
  if (status != SLUICE_OK) return fail(Errc::kBadDescriptor, fmt::format("{}: it did not give its configuration schema", what));
  boost::json::error_code error;
  boost::json::parse_options options;
  options.max_depth = kSchemaDepthMax;
  const boost::json::value parsed = boost::json::parse(schema.text, error, {}, options);
  if (error || !parsed.is_object()) {
    return fail(Errc::kBadDescriptor,
                fmt::format("{}: its configuration schema is not a JSON object of at most {} levels", what, kSchemaDepthMax));
  }
  return std::move(schema.text);
}

// Why this host cannot run the connector, or empty.
Result<std::string> read_refusal(const sluice_descriptor& descriptor, std::string_view what) {
  if (descriptor.required_extension_count > kRequiredExtensionsMax ||
      (descriptor.required_extension_count > 0 && descriptor.required_extensions == nullptr)) {
    return fail(Errc::kBadDescriptor, fmt::format("{}: {} required extensions (at most {}, and not null)", what,
                                                  descriptor.required_extension_count, kRequiredExtensionsMax));
  }
  for (std::uint32_t i = 0; i < descriptor.required_extension_count; ++i) {
    const std::string extension = static_text(descriptor.required_extensions[i]);
    if (!host_has_extension(extension)) return fmt::format("{} needs the extension '{}', which this Sluice does not have", what, extension);
  }
  const std::uint64_t unknown = descriptor.capabilities & ~SLUICE_CAPABILITY_KNOWN;
  if (unknown != 0) return fmt::format("{} has capabilities that this Sluice does not know ({:#x})", what, unknown);
  return std::string();
}

Result<ConnectorDescriptor> read_connector(const sluice_connector_factory& factory, std::uint32_t index, std::string_view name) {
  const sluice_descriptor* descriptor = factory.descriptor(index);
  if (descriptor == nullptr || descriptor->struct_size < sizeof(sluice_descriptor)) {
    return fail(Errc::kBadDescriptor, fmt::format("{}: the descriptor of its connector {} is null or too short", name, index));
  }
  ConnectorDescriptor out;
  out.id = static_text(descriptor->id);
  const std::string what = fmt::format("{}: connector '{}'", name, out.id);
  if (!is_id(out.id)) return fail(Errc::kBadDescriptor, fmt::format("{}: its id is not [a-z][a-z0-9_]*", what));
  if (descriptor->kind != SLUICE_KIND_SINK && descriptor->kind != SLUICE_KIND_SOURCE) {
    return fail(Errc::kBadDescriptor, fmt::format("{} is of the unknown kind {}", what, descriptor->kind));
  }
  out.is_sink = descriptor->kind == SLUICE_KIND_SINK;
  if (descriptor->max_batches_in_flight < 1 || descriptor->max_batches_in_flight > kBatchesInFlightMax) {
    return fail(Errc::kBadDescriptor,
                fmt::format("{}: {} batches in flight are not 1..{}", what, descriptor->max_batches_in_flight, kBatchesInFlightMax));
  }
  if (!out.is_sink && descriptor->state_version == 0)
    return fail(Errc::kBadDescriptor, fmt::format("{}: a source's state version is at least 1", what));
  out.summary = static_text(descriptor->summary);
  out.version = static_text(descriptor->version);
  out.replay_idempotent = (descriptor->capabilities & SLUICE_CAPABILITY_REPLAY_IDEMPOTENT) != 0;
  out.ordered = (descriptor->capabilities & SLUICE_CAPABILITY_ORDERED) != 0;
  out.own_positions = (descriptor->capabilities & SLUICE_CAPABILITY_OWN_POSITIONS) != 0;
  out.batches_in_flight_max = descriptor->max_batches_in_flight;
  out.state_version = descriptor->state_version;
  SLUICE_TRY(out.refusal, read_refusal(*descriptor, what));
  SLUICE_TRY(out.config_schema_json, read_schema(factory, index, what));
  return out;
}

Result<const sluice_connector_factory*> read_factory(const sluice_entry& entry, std::string_view name) {
  const auto* factory = static_cast<const sluice_connector_factory*>(entry.get_factory(SLUICE_CONNECTOR_FACTORY_ID));
  if (factory == nullptr) return fail(Errc::kBadDescriptor, fmt::format("{} offers no '{}'", name, SLUICE_CONNECTOR_FACTORY_ID));
  if (factory->struct_size < sizeof(sluice_connector_factory) || !factory->descriptor || !factory->config_schema || !factory->create_sink ||
      !factory->create_source) {
    return fail(Errc::kBadDescriptor, fmt::format("{}: its connector factory is too short or lacks a function", name));
  }
  if (factory->count == 0 || factory->count > kPluginConnectorsMax) {
    return fail(Errc::kBadDescriptor,
                fmt::format("{} holds {} connectors; 1..{} are possible", name, factory->count, kPluginConnectorsMax));
  }
  return factory;
}

Result<void> run_init(const sluice_entry& entry, std::string_view name) {
  static const std::vector<std::string> kNoSecrets;
  OutcomeSlot failure(kNoSecrets);
  const sluice_status status = entry.init(process_host().table(), failure.writer());
  if (status == SLUICE_OK) return {};
  const std::string why = failure.outcome() ? failure.outcome()->text : "it gave no reason";
  return fail(Errc::kEntryRefused, fmt::format("{} refuses to start: {}", name, why));
}

// What dlopen said, sorted. "libx.so.1: cannot open shared object file: No such file or directory" names the library that is missing.
Error load_error(std::string_view text, const std::filesystem::path& file, std::string_view name) {
  // Boost.DLL wraps it: "… (dlerror system message: <text>): Bad file descriptor".
  constexpr std::string_view kBefore = "dlerror system message: ";
  constexpr std::string_view kAfter = "): ";
  if (const std::size_t begin = text.find(kBefore); begin != std::string_view::npos) {
    text.remove_prefix(begin + kBefore.size());
    text = text.substr(0, text.rfind(kAfter));
  }
  // The file may be a private copy, whose place tells a person nothing.
  const std::string file_prefix = file.string() + ": ";
  if (text.starts_with(file_prefix)) text.remove_prefix(file_prefix.size());
  constexpr std::string_view kCannotOpen = ": cannot open shared object file";
  const std::size_t at = text.find(kCannotOpen);
  if (at != std::string_view::npos) {
    const std::size_t from = text.find_last_of(" (", at - 1);
    const std::string_view library =
        text.substr(from == std::string_view::npos ? 0 : from + 1, at - (from == std::string_view::npos ? 0 : from + 1));
    return Error(Errc::kMissingLibrary,
                 fmt::format("{} needs the library '{}', which this machine does not have (searched as ld.so does)", name, library));
  }
  std::string message = fmt::format("{} cannot be loaded: {}", name, clean_text(text, 1024));
  if (text.find("failed to map segment") != std::string_view::npos) message += " (is the file system of the copy mounted noexec?)";
  return Error(Errc::kLoadFailed, std::move(message));
}

}  // namespace

Result<OpenedPlugin> open_entry(const sluice_entry& entry, std::string_view name) {
  try {
    SLUICE_CHECK(check_versions(entry, name));
    if (!entry.init || !entry.deinit || !entry.get_factory)
      return fail(Errc::kBadDescriptor, fmt::format("{}: its entry lacks a function", name));
    OpenedPlugin opened;
    opened.entry = &entry;
    opened.description.id = static_text(entry.id);
    opened.description.version = static_text(entry.version);
    opened.description.sdk_version = static_text(entry.sdk_version);
    opened.description.build_id = static_text(entry.build_id);
    opened.description.abi_minor = entry.abi_minor;
    if (!is_id(opened.description.id))
      return fail(Errc::kBadDescriptor, fmt::format("{}: its id '{}' is not [a-z][a-z0-9_]*", name, opened.description.id));
    SLUICE_CHECK(run_init(entry, name));
    SLUICE_TRY(opened.factory, read_factory(entry, name));
    for (std::uint32_t i = 0; i < opened.factory->count; ++i) {
      SLUICE_TRY(ConnectorDescriptor connector, read_connector(*opened.factory, i, name));
      for (const ConnectorDescriptor& other : opened.description.connectors) {
        if (other.id == connector.id)
          return fail(Errc::kBadDescriptor, fmt::format("{} holds two connectors named '{}'", name, connector.id));
      }
      opened.description.connectors.push_back(std::move(connector));
    }
    return opened;
  } catch (const std::exception& thrown) {
    return fail(Errc::kBadDescriptor,
                fmt::format("{} threw an exception across the plugin interface: {}", name, clean_text(thrown.what(), 1024)));
  } catch (...) {
    return fail(Errc::kBadDescriptor, fmt::format("{} threw something across the plugin interface", name));
  }
}

Result<OpenedPlugin> open_plugin(const std::filesystem::path& file, std::string_view name) {
  // Never unloaded: threads, thread-local destructors and atexit handlers of a plugin may point into it for as long as the process lives.
  static auto* libraries = new std::vector<boost::dll::shared_library>();
  static std::mutex mutex;
  const sluice_entry* entry = nullptr;
  try {
    // rtld_now: a missing symbol is an error here and not at the first call. rtld_local: no plugin sees another's symbols.
    boost::dll::shared_library library(file, boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local);
    if (!library.has(SLUICE_ENTRY_SYMBOL)) {
      return fail(Errc::kNoEntrySymbol,
                  fmt::format("{} is a shared library, but not a Sluice plugin: it does not export {}", name, SLUICE_ENTRY_SYMBOL));
    }
    entry = &library.get<const sluice_entry>(SLUICE_ENTRY_SYMBOL);
    const std::lock_guard lock(mutex);
    libraries->push_back(std::move(library));
  } catch (const std::system_error& refused) {
    return std::unexpected(load_error(refused.what(), file, name));
  } catch (const std::exception& thrown) {
    return fail(Errc::kLoadFailed, fmt::format("{} threw an exception while it was loaded: {}", name, clean_text(thrown.what(), 1024)));
  } catch (...) {
    return fail(Errc::kLoadFailed, fmt::format("{} threw something while it was loaded", name));
  }
  return open_entry(*entry, name);
}

}  // namespace sluice::plugin
