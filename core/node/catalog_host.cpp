// SPDX-License-Identifier: Apache-2.0
#include "core/node/catalog_host.hpp"

#include <utility>

#include <fmt/format.h>

#include "core/base/assert.hpp"
#include "core/base/mutation.hpp"
#include "core/metadata/errc.hpp"
#include "core/node/errc.hpp"

namespace sluice::node {

CatalogHost::CatalogHost(Options options, std::unique_ptr<log::EntryLog> log, metadata::Catalog catalog, const Clock& clock)
    : options_(std::move(options)), catalog_(std::move(catalog)), group_(std::move(log), *this, clock, options_.witness) {}

void CatalogHost::propose(const metadata::Command& command, Done done) {
  if (auto allowed = catalog_.check(command); !allowed) return done(fail(std::move(allowed).error()));
  if (in_flight_ >= kCatalogCommandsMax) {
    return done(fail(Errc::kBusy, fmt::format("{} catalog commands are in flight, no more are allowed", kCatalogCommandsMax)));
  }
  const bool makes_room = std::holds_alternative<metadata::DeleteTopic>(command) && !SLUICE_MUTATED(kTrimsOnFullDisk);
  if (options_.room != nullptr && !makes_room) {
    if (auto full = options_.room->refuses_operations()) return done(fail(std::move(*full)));
  }
  auto draft = entry::EntryDraft::operation(entry::EntryKind::kCatalogCommand, encode(command));
  if (!draft) return done(fail(std::move(draft).error()));
  ++in_flight_;
  group_.propose(*std::move(draft), true, [this, done = std::move(done)](Result<Proposed> outcome) mutable {
    --in_flight_;
    if (!outcome) return done(fail(std::move(outcome).error()));
    done(std::exchange(last_change_, {}));
  });
}

void CatalogHost::reconciled() {
  SLUICE_ASSERT(unreconciled_ > 0);
  if (--unreconciled_ == 0) group_.request_checkpoint();
}

Result<void> CatalogHost::apply(const entry::EntryView& entry) {
  if (entry.header().kind != entry::EntryKind::kCatalogCommand) {
    return fail(metadata::Errc::kMalformed,
                fmt::format("op {}: an entry of kind '{}' has no place in the catalog", entry.header().op, to_string(entry.header().kind)));
  }
  SLUICE_TRY(const metadata::Command command, metadata::decode_command(entry.body()));
  SLUICE_TRY(last_change_, catalog_.apply(entry.header().op, command));
  if (last_change_.created || last_change_.deleted) ++unreconciled_;
  return {};
}

void CatalogHost::on_warning(const Error& error) {
  if (options_.on_warning) options_.on_warning(Error(error).with("partition", "catalog"));
}

void CatalogHost::on_fenced(const Error& error) {
  if (options_.on_fatal) options_.on_fatal(Error(error).with("partition", "catalog"));
}

}  // namespace sluice::node
