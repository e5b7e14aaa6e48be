// What the verbs of all resources with a name have in common: `queue`, `schedule`, `watchdog`, `namespace` and `token`
// have `set`, `list` and `rm`, verbs that are one call for one of them, and show their settings in one way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include "arguments.h"
#include "plain_text.h"
#include "session.h"

namespace duewheel {

// A list of the server, and the table that shows it.
struct Listing {
    std::string path{};         // with its parameters except limit and cursor
    std::string_view member{};  // the array of its rows in a response
    std::uint64_t limit = 100;
    std::vector<std::string> heading{};
    std::size_t cut = 0;         // the column that is truncated to fit the table to the terminal
    const char* none = nullptr;  // printed if there are no rows
};
// Requests pages up to the limit and shows their objects: with --json one per line, otherwise each as a row. A line
// below the table reports that the limit was reached. Returns the exit code.
int show_list(Session& session, const Listing& listing,
              const std::function<std::vector<std::string>(const boost::json::object&)>& row_of);

using ShowAnswer = int (*)(const Session& session, const ServerAnswer& answer);

// The kind of a resource: how requests and the help name it.
struct ResourceKind {
    const char* call;         // "queues": the part of the path, and the member of a list
    const char* placeholder;  // "QUEUE": of its name, in the help
    const char* help;
    bool has_namespace = true;

    std::string path(const Session& session) const;
    // "/v1/queues/mail:pause"
    std::string path(const Session& session, std::string_view name, std::string_view verb = {}) const;
};

class ResourceVerbs {
  public:
    // `kind` must outlive the program.
    ResourceVerbs(CLI::App& group, Session& session, const ResourceKind& kind)
        : group_(group), session_(session), kind_(kind) {}

    // A verb that is one request without members: `queue pause QUEUE`.
    void add(const char* name, const char* description, const std::string& example, const char* method,
             const char* call, ShowAnswer show) const;
    // `rm`, and what it prints if there was one of this name, and if there was none.
    void add_rm(const char* description, const std::string& example, const char* removed, const char* absent) const;
    // `list`; `listing` needs heading, column to cut, and text for none.
    void add_list(const char* description, Listing listing,
                  std::vector<std::string> (*row_of)(const boost::json::object& one)) const;

  private:
    CLI::App& group_;
    Session& session_;
    const ResourceKind& kind_;
};

// A line for each setting, with the name that --unset takes: "limits.pending  10000", "lease  2m"; without the members
// that are shown otherwise.
void add_settings(Rows& rows, const boost::json::object& settings,
                  std::initializer_list<std::string_view> shown_otherwise = {}, const std::string& within = {});

// "7", "-", "2027-01-01 06:00:00 +01:00, in 9m 58s": members as they are shown.
std::string count_of(const boost::json::object& object, std::string_view member);
std::string when_of(const boost::json::object& object, std::string_view member_ms);

}  // namespace duewheel
