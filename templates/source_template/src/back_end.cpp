// SPDX-License-Identifier: Apache-2.0
#include "back_end.hpp"

namespace source_template {
namespace {

class RealBackEnd final : public BackEnd {
 public:
  RealBackEnd(const Settings& settings, sluice::Context& context) : settings_(settings), context_(context) {}

  // TODO(connector-author): ask for the next items; back_end.hpp says in which order.
  std::vector<Item> fetch(const std::optional<Cursor>& after, std::uint32_t limit) override {
    context_.throw_if_cancelled();
    throw sluice::FatalError("source_template.todo",
                             "TODO(connector-author): BackEnd::fetch is not written yet; " + std::to_string(limit) + " items after " +
                                 (after ? encode(*after) : "the beginning") + " within " + sluice::format_duration(settings_.timeout),
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

}  // namespace source_template
