// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "runtime/bench/log_bench.hpp"

namespace sluice::bench {
namespace {

std::string optional_number(std::optional<double> value) {
  return value ? fmt::format("{:.4g}", *value) : "";
}

std::string json_member(std::string_view name, std::optional<double> value) {
  return value ? fmt::format(R"(,"{}":{:.6g})", name, *value) : "";
}

std::string label_of(const LogFigure& figure) {
  return figure.placement.empty() ? figure.name : fmt::format("{} ({})", figure.name, figure.placement);
}

}  // namespace

bool LogFigure::holds() const {
  if (!aim) return true;
  return better == Better::kHigher ? ratio >= *aim : ratio <= *aim;
}

std::string to_table(const std::vector<LogFigure>& figures) {
  std::size_t width = 4;
  for (const LogFigure& figure : figures) width = std::max(width, label_of(figure).size());
  std::string out = fmt::format("{:<{}}  {:<18} {:>9} {:>8} {:>8} {:>8} {:>8} {:>9} {:>9} {:>7}  {}\n", "case", width, "metric", "rec/s",
                                "MB/s", "p50 us", "p99 us", "b/flush", "floor us", "floor MB/s", "ratio", "aim");
  for (const LogFigure& figure : figures) {
    const auto& latency = figure.latency;
    out +=
        fmt::format("{:<{}}  {:<18} {:>9} {:>8} {:>8} {:>8} {:>8} {:>9} {:>9} {:>7.3g}  {}{}\n", label_of(figure), width, figure.metric,
                    optional_number(figure.records_per_s), optional_number(figure.mb_per_s),
                    latency ? fmt::format("{:.0f}", latency->p50_us) : "", latency ? fmt::format("{:.0f}", latency->p99_us) : "",
                    optional_number(figure.batches_per_flush), optional_number(figure.floor_p50_us), optional_number(figure.floor_mb_per_s),
                    figure.ratio, figure.aim ? fmt::format("{} {}", figure.better == Better::kHigher ? ">=" : "<=", *figure.aim) : "",
                    figure.holds() ? "" : "  BELOW ITS AIM");
  }
  return out;
}

std::string to_json_lines(const std::vector<LogFigure>& figures) {
  std::string out;
  for (const LogFigure& figure : figures) {
    out += fmt::format(R"({{"case":"{}","placement":"{}","metric":"{}","producers":{},"batch":{},"bytes":{})", figure.name,
                       figure.placement, figure.metric, figure.producers, figure.batch_records, figure.batch_bytes);
    out += json_member("records_per_s", figure.records_per_s) + json_member("mb_per_s", figure.mb_per_s);
    if (figure.latency) {
      out += fmt::format(R"(,"min_us":{:.3f},"p50_us":{:.3f},"p99_us":{:.3f},"p999_us":{:.3f},"max_us":{:.3f})", figure.latency->min_us,
                         figure.latency->p50_us, figure.latency->p99_us, figure.latency->p999_us, figure.latency->max_us);
    }
    if (figure.flushes) out += fmt::format(R"(,"flushes":{})", *figure.flushes);
    out += json_member("batches_per_flush", figure.batches_per_flush) + json_member("floor_p50_us", figure.floor_p50_us) +
           json_member("floor_mb_per_s", figure.floor_mb_per_s);
    out += fmt::format(R"(,"ratio":{:.6g},"aim":{},"better":"{}","holds":{}}})", figure.ratio,
                       figure.aim ? fmt::format("{}", *figure.aim) : "null", figure.better == Better::kHigher ? "higher" : "lower",
                       figure.holds());
    out += '\n';
  }
  return out;
}

}  // namespace sluice::bench
