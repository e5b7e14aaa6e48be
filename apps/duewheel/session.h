// What every verb of the command line shares: where the server is, how it is asked, and how answers and refusals are
// shown.
//
// The rules for scripts: standard output carries the answer alone (the server's JSON with --json, else text for
// people); what went wrong goes to standard error; the exit code tells which of four things happened.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <boost/json.hpp>

#include "base/status.h"
#include "net/http_client.h"
#include "server_access.h"

namespace duewheel {

enum ExitCode : int {
    kExitDone = 0,
    kExitRefused = 1,      // the server said no, or it was too late, or its answer could not be written
    kExitUsage = 2,        // the command line cannot be understood; nothing was sent
    kExitUnreachable = 3,  // no server, or no answer that can be understood
};

// An answer that says yes. Without one, the reason has been printed and `exit_code` is what the program returns; but a
// refusal that has an outcome is for the verb to show.
struct ServerAnswer {
    int exit_code = kExitDone;
    boost::json::object members;  // of these the content `json` of a message is a text: JSON as it was put
    std::string text;             // as the server wrote it
    int status = 0;               // of HTTP, also where it says no; 0: no answer

    explicit operator bool() const { return exit_code == kExitDone; }
    // Whether it says what had become of a message or a lease: also where the command came too late, which is refused.
    bool has_outcome() const { return members.contains("outcome"); }
    // Empty or 0 where there is no such member or one of another type.
    std::string_view word(std::string_view member) const;
    std::int64_t number(std::string_view member) const;
};

class Session {
  public:
    // Filled by the command line's global options.
    ServerAccess server;
    std::optional<std::string> name_space;  // none: the server's default
    bool json = false;
    // The verb that was chosen; returns the exit code.
    std::function<int()> verb;

    // "/v1/queues/a%2Fb:lease" of {"queues", "a/b", ":lease"}, with the namespace where one was chosen.
    std::string path(std::string_view kind, std::string_view name, std::string_view rest = {}) const;
    // "/v1/queues" of "queues".
    std::string path(std::string_view call) const;
    // A lease names its message, so that it needs no namespace.
    static std::string lease_path(std::string_view lease, std::string_view rest);

    // One request with a JSON body; an empty object sends none. `patience` is how long the server may take.
    ServerAnswer ask(std::string_view method, const std::string& path, const boost::json::object& body = {},
                     std::chrono::milliseconds patience = std::chrono::seconds(30));

    // As a GET of ask(); where there is none of this name (404), nothing is printed.
    ServerAnswer get(const std::string& path);

    // One request of JSON lines, each of which is answered with one: `text` of the answer.
    ServerAnswer look_up_lines(const std::string& path, std::string_view lines,
                               std::chrono::milliseconds patience = std::chrono::seconds(60));

    // Whether GET /healthz responds within 5 seconds: kExitDone, or the reason has been printed.
    int check_health();

    // Goes with every request from now on.
    void trace(std::string traceparent) { traceparent_ = std::move(traceparent); }

    // Prints what --json asks for, or what `people` prints, and returns `exit_code`.
    int show(const ServerAnswer& answer, const std::function<void()>& people, int exit_code = kExitDone) const;

    // Says on standard error what is wrong, in one line; returns `exit_code`.
    int complain(const Error& error, int exit_code) const;

  private:
    ServerAnswer refused(const HttpAnswer& answer);
    // Whatever was answered; where it is a refusal or none, the reason has been printed.
    ServerAnswer send(std::string_view method, const std::string& path, std::string_view type, std::string_view body,
                      std::chrono::milliseconds patience, bool may_be_absent = false);
    ServerAnswer with_members(ServerAnswer answer) const;
    ServerAnswer not_a_server() const;

    std::string traceparent_;             // empty: none
    std::unique_ptr<HttpClient> client_;  // one connection for all that a verb asks
};

// Members of what a server answers; empty, 0, false and nullptr where it is missing or something else.
std::string_view word_of(const boost::json::object& object, std::string_view member);
std::int64_t number_of(const boost::json::object& object, std::string_view member);
bool is_true(const boost::json::object& object, std::string_view member);
const boost::json::object* object_of(const boost::json::object& object, std::string_view member);

}  // namespace duewheel
