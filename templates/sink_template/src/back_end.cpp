// SPDX-License-Identifier: Apache-2.0
#include "back_end.hpp"

namespace sink_template {
namespace {

class RealBackEnd final : public BackEnd {
 public:
  RealBackEnd(const Settings& settings, sluice::Context& context) : settings_(settings), context_(context) {}

  // TODO(connector-author): send the records and wait until they are safe; back_end.hpp says what to throw when they are not.
  void push(const sluice::Batch& /*batch*/, std::span<const sluice::Record> records) override {
    context_.throw_if_cancelled();
    throw sluice::FatalError(
        "sink_template.todo",
        "TODO(connector-author): BackEnd::push is not written yet; " + std::to_string(records.size()) + " records for " + settings_.target,
        {.hint = "write it in src/back_end.cpp"});
  }

 private:
  const Settings& settings_;
  sluice::Context& context_;
};

}  // namespace

std::unique_ptr<BackEnd> make_back_end(const Settings& settings, sluice::Context& context) {
  return std::make_unique<RealBackEnd>(settings, context);
}

}  // namespace sink_template
