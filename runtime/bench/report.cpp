// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/report.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace sluice::bench {
namespace {

std::string number(double value) {
  if (value >= 1e6) return fmt::format("{:.2f}M", value / 1e6);
  if (value >= 1e4) return fmt::format("{:.1f}k", value / 1e3);
  return fmt::format("{:.4g}", value);
}

std::string optional_json(std::optional<double> value) {
  return value ? fmt::format("{:.6g}", *value) : "null";
}

}  // namespace

std::optional<double> Figure::ratio() const {
  if (!floor || *floor <= 0) return std::nullopt;
  return value / *floor;
}

bool Figure::holds() const {
  if (!aim) return true;
  const double measured = ratio().value_or(value);
  return better == Better::kHigher ? measured >= *aim : measured <= *aim;
}

std::string to_table(const std::vector<Figure>& figures) {
  std::size_t width = 4;
  for (const Figure& figure : figures) width = std::max(width, figure.name.size());
  std::string out =
      fmt::format("{:<{}}  {:<14}  {:>10}  {:>10}  {:>7}  {:>8}\n", "case", width, "metric", "value", "floor", "ratio", "aim");
  for (const Figure& figure : figures) {
    const char* sign = figure.better == Better::kHigher ? ">=" : "<=";
    out += fmt::format("{:<{}}  {:<14}  {:>10}  {:>10}  {:>7}  {:>8}{}\n", figure.name, width, figure.metric, number(figure.value),
                       figure.floor ? number(*figure.floor) : "", figure.ratio() ? fmt::format("{:.2f}", *figure.ratio()) : "",
                       figure.aim ? fmt::format("{} {}", sign, number(*figure.aim)) : "", figure.holds() ? "" : "  BELOW ITS AIM");
  }
  return out;
}

std::string to_json_lines(const std::vector<Figure>& figures) {
  std::string out;
  for (const Figure& figure : figures) {
    out += fmt::format(R"({{"case":"{}","metric":"{}","value":{:.6g},"floor":{},"ratio":{},"aim":{},"better":"{}","holds":{}}})",
                       figure.name, figure.metric, figure.value, optional_json(figure.floor), optional_json(figure.ratio()),
                       optional_json(figure.aim), figure.better == Better::kHigher ? "higher" : "lower", figure.holds());
    out += '\n';
  }
  return out;
}

}  // namespace sluice::bench
