// SPDX-License-Identifier: Apache-2.0
#include "position.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value_to.hpp>

namespace sluice::file_sink {
namespace {

constexpr std::uint64_t kPositionVersion = 1;

template <typename T>
T position_number(const boost::json::object& object, std::string_view name) {
  const boost::json::value* value = object.if_contains({name.data(), name.size()});
  boost::json::error_code error;
  if (value != nullptr && value->is_number()) {
    const T number = value->to_number<T>(error);
    if (!error) return number;
  }
  throw CorruptPosition("\"" + std::string(name) + "\" is missing or not a number in range");
}

std::string position_text(const boost::json::object& object, std::string_view name) {
  const boost::json::value* value = object.if_contains({name.data(), name.size()});
  if (value == nullptr || !value->is_string()) throw CorruptPosition("\"" + std::string(name) + "\" is missing or not a text");
  return {value->get_string().data(), value->get_string().size()};
}

}  // namespace

std::string encode_position(const Position& position) {
  boost::json::array partitions;
  for (const PartitionPosition& p : position.partitions) {
    partitions.push_back(
        {{"stream", p.stream}, {"topic", p.topic}, {"partition", p.partition}, {"incarnation", p.incarnation}, {"next", p.next}});
  }
  const boost::json::object object{{"version", kPositionVersion},        {"cluster", position.cluster},
                                   {"sequence", position.sequence},      {"length", position.length},
                                   {"begun_us", position.begun_us},      {"rotating_inode", position.rotating_inode},
                                   {"partitions", std::move(partitions)}};
  return boost::json::serialize(object) + "\n";
}

Position decode_position(std::string_view text) {
  boost::json::error_code error;
  const boost::json::value root = boost::json::parse({text.data(), text.size()}, error);
  if (error || !root.is_object()) throw CorruptPosition("it is not a JSON object");
  const boost::json::object& object = root.get_object();
  const auto version = position_number<std::uint64_t>(object, "version");
  if (version != kPositionVersion) {
    throw CorruptPosition("it has version " + std::to_string(version) + ", this file_sink knows version " +
                          std::to_string(kPositionVersion));
  }
  Position position{.cluster = position_text(object, "cluster"),
                    .sequence = position_number<std::uint64_t>(object, "sequence"),
                    .length = position_number<std::uint64_t>(object, "length"),
                    .begun_us = position_number<std::int64_t>(object, "begun_us"),
                    .rotating_inode = position_number<std::uint64_t>(object, "rotating_inode"),
                    .partitions = {}};
  const boost::json::value* partitions = object.if_contains("partitions");
  if (partitions == nullptr || !partitions->is_array()) throw CorruptPosition("\"partitions\" is missing or not a list");
  for (const boost::json::value& entry : partitions->get_array()) {
    if (!entry.is_object()) throw CorruptPosition("an entry of \"partitions\" is not an object");
    const boost::json::object& p = entry.get_object();
    position.partitions.push_back({.stream = position_text(p, "stream"),
                                   .topic = position_text(p, "topic"),
                                   .partition = position_number<std::uint32_t>(p, "partition"),
                                   .incarnation = position_number<std::uint64_t>(p, "incarnation"),
                                   .next = position_number<std::uint64_t>(p, "next")});
  }
  return position;
}

}  // namespace sluice::file_sink
