// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <sluice/plugin.hpp>
#include <sluice/source.hpp>

#include "back_end.hpp"
#include "cursor.hpp"
#include "settings.hpp"

namespace source_template {

// Reads pages in the back end's order. Each poll begins behind what the log has acknowledged, so a page that is lost is read again; the
// cursor moves only with the acknowledgement. One page is in flight at a time.
class SourceTemplate : public sluice::Source {
 public:
  using Config = Settings;
  static constexpr sluice::Descriptor kDescriptor{.id = "source_template", .summary = "Records of a back end that is still to be written"};

  SourceTemplate(Config config, sluice::Context& context);

  void open(std::optional<std::string_view> state) override;
  void poll(const sluice::PollRequest& request, sluice::SourceWriter& writer) override;
  void on_result(std::uint64_t batch_id, sluice::BatchResult result) override;

 protected:
  // For tests: another back end than the real one.
  void use(std::unique_ptr<BackEnd> back_end) { back_end_ = std::move(back_end); }

 private:
  // False: there is no room for it in this poll.
  [[nodiscard]] bool hand_out(const Item& item, sluice::SourceWriter& writer);

  Settings settings_;
  sluice::Context& context_;
  sluice::Counter unreadable_;
  std::unique_ptr<BackEnd> back_end_;
  std::optional<Cursor> acknowledged_;  // everything up to it is in the log
  std::optional<Cursor> staged_;        // the same once the page in flight is acknowledged
};

}  // namespace source_template
