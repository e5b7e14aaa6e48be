// What the verbs `set` share: they change what is named and keep the rest, in one request that the server carries out
// as a whole; or, with --replace, set all.
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
    // Adds a null for each setting that is to be removed.
    void put_into(boost::json::object& request) const;
    const char* method() const { return replaces ? "PUT" : "PATCH"; }
};

}  // namespace duewheel
