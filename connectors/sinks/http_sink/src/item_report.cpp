// SPDX-License-Identifier: Apache-2.0
#include "item_report.hpp"

#include <fmt/format.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace sluice::http_sink {
namespace {

constexpr std::size_t kErrorBytes = 300;

// Null if there is nothing.
const boost::json::value* find_at(const boost::json::value& from, const std::string& pointer) {
  boost::json::error_code error;
  return from.find_pointer({pointer.data(), pointer.size()}, error);
}

bool says_failed(const boost::json::value* error) {
  return error != nullptr && !error->is_null() && !(error->is_bool() && !error->get_bool());
}

std::string error_text(const boost::json::value& error) {
  std::string text = error.is_string() ? std::string(error.get_string().data(), error.get_string().size()) : boost::json::serialize(error);
  if (text.size() > kErrorBytes) text.resize(kErrorBytes);
  return text;
}

Item read_item(const ItemsConfig& config, const boost::json::value& value, std::size_t index) {
  Item item;
  const boost::json::value* status = config.status.empty() ? nullptr : find_at(value, config.status);
  const boost::json::value* error = config.error.empty() ? nullptr : find_at(value, config.error);
  if (status != nullptr) {
    boost::json::error_code bad_number;
    item.status = status->is_number() ? status->to_number<int>(bad_number) : 0;
    if (bad_number || item.status < 100 || item.status > 599) {
      throw UnreadableReport(fmt::format("item {}: {} is no HTTP status", index, boost::json::serialize(*status)));
    }
  } else if (!config.status.empty() && config.error.empty()) {
    throw UnreadableReport(fmt::format("item {} has nothing at {}", index, config.status));
  }
  item.failed = says_failed(error) || (item.status != 0 && (item.status < 200 || item.status > 299));
  if (item.failed) item.error = error_text(error != nullptr ? *error : value);
  return item;
}

}  // namespace

bool is_json_pointer(std::string_view text) {
  if (!text.empty() && text.front() != '/') return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '~' && (i + 1 == text.size() || (text[i + 1] != '0' && text[i + 1] != '1'))) return false;
  }
  return true;
}

std::vector<Item> read_items(const ItemsConfig& config, std::string_view body, std::size_t records) {
  boost::json::error_code error;
  const boost::json::value root = boost::json::parse({body.data(), body.size()}, error);
  if (error) throw UnreadableReport("the answer is not JSON");
  const boost::json::value* list = find_at(root, config.list);
  if (list == nullptr || !list->is_array()) throw UnreadableReport(fmt::format("the answer has no list at \"{}\"", config.list));
  const boost::json::array& values = list->get_array();
  if (values.size() != records) throw UnreadableReport(fmt::format("the answer has {} items for {} records", values.size(), records));
  std::vector<Item> items;
  items.reserve(records);
  for (std::size_t i = 0; i < records; ++i) items.push_back(read_item(config, values[i], i));
  return items;
}

}  // namespace sluice::http_sink
