// Options of the command line that are members of a request: one for each row of a table of fields. The row says how
// the value is checked before anything is sent, and what the help says. Settings of queues and namespaces have their
// tables in src/resource; a request that has no table there has its rows beside its verb.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <boost/json/object.hpp>

#include "resource/field.h"

namespace duewheel {

// A row for a member that no table describes. `option`: as Field::option, for an option whose name is not the one of
// option_of(), or whose value has a word of its own in the help: "--zone,--tz ZONE".
constexpr Field member(FieldKind kind, std::string_view path, std::string_view sentence, std::string_view option = {},
                       std::int64_t min = 0) {
    Field row;
    row.kind = kind;
    row.path = path;
    row.sentence = sentence;
    row.option = option;
    row.min = min;
    return row;
}

// The option for the member `path`: its components except `limits` and `target`. `groups.rate.count` is
// --groups-rate-count, `target.webhook.timeout` --webhook-timeout, `limits.put_rate` --put-rate.
std::string option_of(std::string_view path);

// Sets a member inside of other objects, which are made: "limits.pending".
void set_member(boost::json::object& request, std::string_view path, boost::json::value value);

class FieldOptions {
  public:
    // Adds an option for each row that has one, and for those of the resources inside. `within`: "retry." for the
    // fields of a retry rule. `except`: paths of rows that get none. Rows must outlive the program.
    void add_to(CLI::App& verb, std::span<const Field> rows, const std::string& within = {},
                std::initializer_list<std::string_view> except = {});
    // The option of a member, for what rows do not say, such as needs() and excludes().
    CLI::Option* at(std::string_view path) const;
    // Adds the members that were given.
    void put_into(boost::json::object& request) const;

  private:
    struct Given {
        const Field* row;
        std::string path;
        CLI::Option* option;
    };
    std::vector<Given> options_;
};

// The options of verbs `set`, which change the given settings and keep the others, in one request that the server
// executes atomically; with --replace they replace all.
struct SetOptions {
    bool replaces = false;
    std::vector<std::string> removed;  // "limits.pending"
    FieldOptions fields;

    // With an option for each row.
    void add_to(CLI::App& verb, std::span<const Field> rows);
    // Adds the settings that were given, and a null for each that is to be removed.
    void put_into(boost::json::object& request) const;
    const char* method() const { return replaces ? "PUT" : "PATCH"; }
};

}  // namespace duewheel
