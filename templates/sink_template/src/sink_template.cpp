// SPDX-License-Identifier: Apache-2.0
#include "sink_template.hpp"

#include <algorithm>
#include <utility>

namespace sink_template {
namespace {

bool blames_records(const sluice::Outcome& outcome) {
  return outcome.outcome_class == sluice::OutcomeClass::kPermanent && outcome.scope == sluice::OutcomeScope::kRecord;
}

}  // namespace

SinkTemplate::SinkTemplate(Config config, sluice::Context& context)
    : settings_(std::move(config)),
      context_(context),
      delivered_(context.counter("delivered_records_total", "Records that the back end has")),
      back_end_(make_back_end(settings_, context)) {}

void SinkTemplate::open() {
  back_end_->connect();
}

void SinkTemplate::write(const sluice::Batch& batch, sluice::WriteResult& result) {
  records_.assign(batch.begin(), batch.end());
  for (std::uint32_t first = 0; first < batch.size(); first += settings_.max_records) {
    deliver(batch, first, std::min(settings_.max_records, batch.size() - first), result);
  }
}

void SinkTemplate::deliver(const sluice::Batch& batch, std::uint32_t first, std::uint32_t count, sluice::WriteResult& result) {
  context_.throw_if_cancelled();
  try {
    back_end_->push(batch, std::span<const sluice::Record>(records_).subspan(first, count));
  } catch (const sluice::OutcomeError& e) {
    // What is thrown belongs to the first record that is not delivered, so the record to blame must be alone.
    if (count == 1 || !blames_records(e.outcome())) throw;
    deliver(batch, first, count / 2, result);
    deliver(batch, first + count / 2, count - count / 2, result);
    return;
  }
  result.deliver_until(first + count);
  delivered_.add(count);
}

}  // namespace sink_template
