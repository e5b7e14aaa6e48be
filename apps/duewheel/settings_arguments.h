// Shared by the verbs `set`: they change the given settings and keep the others, in one request that the server
// executes atomically; with --replace they replace all.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <boost/json/object.hpp>

namespace duewheel {

struct SettingsArguments {
    bool replaces = false;
    std::vector<std::string> removed;  // "limits.pending"

    void add_to(CLI::App& verb);
    // Adds a null for each setting to be removed.
    void put_into(boost::json::object& request) const;
    const char* method() const { return replaces ? "PUT" : "PATCH"; }
};

}  // namespace duewheel
