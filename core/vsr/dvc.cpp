// SPDX-License-Identifier: Apache-2.0
#include "core/vsr/dvc.hpp"

namespace sluice::vsr {
namespace {

std::string_view malformed_headers(const Dvc& dvc) {
  for (std::size_t i = 0; i < dvc.headers.size(); ++i) {
    // The commit is final whatever the view, and a replica that catches up has it before the certificate.
    if (dvc.headers[i].op > dvc.commit && dvc.headers[i].view > dvc.log_view) return "an entry is of a view above the log_view";
    if (i == 0 ? dvc.headers[i].op != dvc.first() : !dvc.headers[i].follows(dvc.headers[i - 1])) return "the headers are no chain";
  }
  return {};
}

std::string_view malformed_bits(const Dvc& dvc) {
  if ((dvc.present & dvc.nack).any()) return "an entry is present and denied";
  const bool anchored = dvc.commit != Op(0);
  if (anchored && dvc.nack[0]) return "the committed entry is denied";
  for (std::size_t i = 0; i < kSuffixMax; ++i) {
    if (i >= dvc.headers.size()) {
      if (dvc.present[i] || dvc.nack[i]) return "a bit beyond the headers is set";
    } else if (i > 0 && dvc.nack[i - 1] && !dvc.nack[i]) {
      // A log has no gaps: above what never was there nothing was.
      return "an entry is denied and the one above it is not";
    } else if (dvc.nack[i] && dvc.headers[i].op <= dvc.doubtful_to) {
      return "an entry is denied and in doubt";
    }
  }
  return {};
}

}  // namespace

std::string_view malformed(const Dvc& dvc, Quorums quorums) {
  if (dvc.replica.value() >= quorums.count()) return "the replica is none of the cluster";
  if (dvc.log_view > dvc.view) return "the log_view is above the view";
  if (dvc.commit > dvc.op) return "the commit is above the op";
  if (dvc.op - dvc.commit > kPipelineMax) return "more is prepared than the pipeline holds";
  const std::size_t expected = dvc.op == Op(0) ? 0 : static_cast<std::size_t>(dvc.op - dvc.first()) + 1;
  if (dvc.headers.size() != expected) return "the headers do not cover commit to op";
  if (const auto rule = malformed_headers(dvc); !rule.empty()) return rule;
  return malformed_bits(dvc);
}

}  // namespace sluice::vsr
