// SPDX-License-Identifier: Apache-2.0
#include "source_template.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace source_template {

SourceTemplate::SourceTemplate(Config config, sluice::Context& context)
    : settings_(std::move(config)),
      context_(context),
      unreadable_(context.counter("unreadable_items_total", "Items passed over because no record can be made of them")),
      back_end_(make_back_end(settings_, context)) {}

void SourceTemplate::open(std::optional<std::string_view> state) {
  if (state) {
    try {
      acknowledged_ = decode(*state);
    } catch (const CorruptCursor& e) {
      // Beginning again in silence would bring every record a second time.
      throw sluice::FatalError("source_template.corrupt_state", e.what(),
                               {.hint = "give the source another key to read everything again from the beginning"});
    }
  }
  back_end_->connect();
}

bool SourceTemplate::hand_out(const Item& item, sluice::SourceWriter& writer) {
  if (!item.problem.empty()) {
    unreadable_.add();
    context_.log(sluice::LogLevel::kWarn, "passed over the item at " + encode(item.at) + ": " + item.problem);
    return true;
  }
  sluice::SourceRecord record;
  if (item.key) record.key = *item.key;
  record.payload = item.payload;
  return writer.append(record) != sluice::AppendResult::kFull;
}

void SourceTemplate::poll(const sluice::PollRequest& request, sluice::SourceWriter& writer) {
  context_.throw_if_cancelled();
  std::optional<Cursor> next = acknowledged_;
  const std::vector<Item> page = back_end_->fetch(next, std::min(settings_.page_size, request.max_records));
  for (const Item& item : page) {
    if (item.at.id.empty() || (next && item.at <= *next)) {
      throw sluice::FatalError("source_template.order",
                               "the back end gave " + encode(item.at) + " after " + (next ? encode(*next) : "nothing"),
                               {.hint = "BackEnd::fetch must give items in ascending order, each with an id"});
    }
    if (!hand_out(item, writer)) break;
    next = item.at;
  }
  if (next == acknowledged_) return;
  writer.set_state(encode(*next));
  if (writer.handed_out() > 0) {
    staged_ = std::move(next);
    return;
  }
  // A page of nothing but unreadable items: no result will come for it, and there may be more behind it.
  acknowledged_ = std::move(next);
  context_.wake();
}

void SourceTemplate::on_result(std::uint64_t /*batch_id*/, sluice::BatchResult result) {
  if (result == sluice::BatchResult::kAcked) acknowledged_ = std::move(staged_);
  staged_.reset();
}

}  // namespace source_template
