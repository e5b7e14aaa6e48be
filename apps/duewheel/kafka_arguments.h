// The arguments that say to which Kafka topic a queue's messages are sent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <boost/json/object.hpp>

namespace duewheel {

struct KafkaArguments {
    std::optional<std::string> topic;
    std::optional<std::string> key;
    std::optional<std::uint32_t> partition;
    std::optional<std::string> delivery;

    void add_to(CLI::App& verb);
    // As a part of the member `target`, if any of it is given.
    void put_into(boost::json::object& request) const;
};

}  // namespace duewheel
