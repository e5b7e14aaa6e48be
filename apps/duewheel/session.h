// Shared by every verb of the command line: the address of the server, sending requests, and printing responses and
// refusals.
//
// The rules for scripts: standard output has only the response (the server's JSON with --json, otherwise text for
// people); errors go to standard error; the exit code is one of the four below, and of `wait` also another one.
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
#include "net/http/http_client.h"
#include "refusal.h"
#include "server_access.h"

namespace duewheel {

enum ExitCode : int {
    kExitDone = 0,
    kExitRefused = 1,      // refused by the server, or too late, or the output could not be written
    kExitUsage = 2,        // the command line is wrong; nothing was sent
    kExitUnreachable = 3,  // no server, or no valid response
};

// A response. If it is not a success, the reason has been printed and `exit_code` is the exit code of the program; but
// a refusal that has an outcome is printed by the verb.
struct ServerAnswer {
    int exit_code = kExitDone;
    boost::json::object members;  // those of a message that hold any JSON are strings here: as it was sent
    std::string text;             // as sent by the server
    int status = 0;               // of HTTP, also of a refusal; 0: no response

    explicit operator bool() const { return exit_code == kExitDone; }
    // Whether it has the outcome of a message or a lease, also if the command came too late, which is a refusal.
    bool has_outcome() const { return members.contains("outcome"); }
    // Empty or 0 if there is no such member, or one of another type.
    std::string_view word(std::string_view member) const;
    std::int64_t number(std::string_view member) const;
};

class Session {
  public:
    // Set by the global options.
    ServerAccess server;
    std::optional<std::string> name_space;  // none: the server's default
    bool json = false;
    // The verb that was chosen; returns the exit code.
    std::function<int()> verb;

    // "/v1/queues/a%2Fb:lease" of {"queues", "a/b", ":lease"}, with the namespace if one was given.
    std::string path(std::string_view kind, std::string_view name, std::string_view rest = {}) const;
    // "/v1/queues" of "queues".
    std::string path(std::string_view call) const;
    // A lease identifies its message, so it needs no namespace.
    static std::string lease_path(std::string_view lease, std::string_view rest);

    // Sends one request with a JSON body; an empty object sends none. `patience`: how long the server may take.
    ServerAnswer ask(std::string_view method, const std::string& path, const boost::json::object& body = {},
                     std::chrono::milliseconds patience = std::chrono::seconds(30));

    // The same with this text as the body, for JSON that is sent as it was written; empty: none.
    ServerAnswer ask_with_text(std::string_view method, const std::string& path, std::string_view body,
                               std::chrono::milliseconds patience = std::chrono::seconds(30));

    // Like ask() with GET; if there is none of this name (404), nothing is printed.
    ServerAnswer get(const std::string& path);

    // Sends one request with this text as its JSON body, if it is not empty; the response need not be JSON. A refusal
    // with an outcome is not printed.
    ServerAnswer call(std::string_view method, const std::string& path, std::string_view body);

    // Sends one request of JSON lines; `text` of the response has one line for each.
    ServerAnswer look_up_lines(const std::string& path, std::string_view lines,
                               std::chrono::milliseconds patience = std::chrono::seconds(60));

    // Follows GET /v1/events with the event `stats`, and calls `take` with the document of each, until `goes_on` is
    // false, or the server ends the stream. `goes_on` is called at least about once a second.
    ServerAnswer follow_stats(const std::function<void(boost::json::object)>& take,
                              const std::function<bool()>& goes_on);

    // Whether GET /healthz responds within 5 seconds: kExitDone, or the reason has been printed.
    int check_health();

    // Sent with every request from now on.
    void trace(std::string traceparent) { traceparent_ = std::move(traceparent); }

    // Prints the JSON with --json, otherwise the output of `people`, and returns `exit_code`.
    int show(const ServerAnswer& answer, const std::function<void()>& people, int exit_code = kExitDone) const;

    // Prints it in one line on standard error; returns `exit_code`.
    int complain(const Refusal& refusal, int exit_code) const;

  private:
    ServerAnswer refused(const HttpAnswer& answer);
    ServerAnswer connect();  // prepares the client; fails if the options are wrong
    ServerAnswer unreachable(const Error& error) const;
    // Any response; if it is a refusal or there is none, the reason has been printed.
    ServerAnswer send(std::string_view method, const std::string& path, std::string_view type, std::string_view body,
                      std::chrono::milliseconds patience, bool may_be_absent = false);
    ServerAnswer with_members(ServerAnswer answer) const;
    ServerAnswer not_a_server() const;

    std::string traceparent_;             // empty: none
    std::unique_ptr<HttpClient> client_;  // one connection for all requests of a verb
};

// Members of a response; empty, 0, false or nullptr if missing or of another type.
std::string_view word_of(const boost::json::object& object, std::string_view member);
std::int64_t number_of(const boost::json::object& object, std::string_view member);
bool is_true(const boost::json::object& object, std::string_view member);
const boost::json::object* object_of(const boost::json::object& object, std::string_view member);

}  // namespace duewheel
