// The arguments of a queue's webhook.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/status.h"

namespace duewheel {

struct WebhookArguments {
    std::optional<std::string> url;
    std::vector<std::string> secrets;
    std::string timeout;
    std::optional<std::uint64_t> concurrency;
    std::optional<std::uint64_t> rate;
    std::vector<std::string> headers;  // "name=value", or "name=@file"

    void add_to(CLI::App& verb);
    // As the member `target`, if any of them is given. Codes: those of put_headers_into() and of read_body_argument().
    Status put_into(boost::json::object& request) const;
};

}  // namespace duewheel
