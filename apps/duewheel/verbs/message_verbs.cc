// The verbs on one message: duewheel commit, rollback, get, wait, cancel, move, fire, hold, kick and discard; and those
// on its lease: duewheel ack, fail, extend and release. Each is one request, except a wait that takes long.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <poll.h>

#include "arguments.h"
#include "base/error_codes.h"
#include "calendar/duration.h"
#include "content.h"
#include "field_options.h"
#include "http_api/fields/json_text.h"
#include "http_api/fields/lease_rows.h"
#include "local_time.h"
#include "plain_text.h"
#include "resource_verbs.h"
#include "shared/system_clock.h"
#include "verbs.h"

namespace duewheel {
namespace {

namespace json = boost::json;

// Lines of examples that set $ID to the id of a new message, and $LEASE to a lease of a queue.
constexpr std::string_view kPutExample =
    "ID=$(duewheel put mail 'Hello' --delay 1h --json | sed -E 's/.*\"id\":\"([0-9]+)\".*/\\1/')\n  ";
constexpr std::string_view kPrepareExample =
    "ID=$(duewheel prepare mail 'Hello' --answer-in 10m --json | sed -E 's/.*\"id\":\"([0-9]+)\".*/\\1/')\n  ";
std::string lease_example(const std::string& queue) {
    return "LEASE=$(duewheel lease " + queue + " --wait 5s --json | sed -E 's/.*\"lease\":\"([^\"]+)\".*/\\1/')\n  ";
}

constexpr ResourceKind kMessage = {"messages", "ID", "The id that `put` printed"};
constexpr ResourceKind kPrepared = {"messages", "ID", "The id that `prepare` printed, or that a check message names"};

// Identifies a message: by the id that its put printed, or by its queue and the key of its put.
struct MessageArguments {
    std::string id;
    std::string queue;
    std::string key;

    void add_to(CLI::App& verb);
    // The path of its call. Code missing_argument if no message is given.
    Result<std::string> path(const Session& session) const;
};

void MessageArguments::add_to(CLI::App& verb) {
    CLI::Option* by_id = verb.add_option("ID", id, "The id that `put` printed");
    CLI::Option* of_queue = verb.add_option("--queue", queue, "The queue of the message, with --key instead of the id");
    CLI::Option* by_key = verb.add_option("--key", key, "The key that it was put with");
    of_queue->needs(by_key)->excludes(by_id);
    by_key->needs(of_queue)->excludes(by_id);
}

Result<std::string> MessageArguments::path(const Session& session) const {
    if (!id.empty()) return session.path("messages", id);
    if (key.empty()) {
        return Error{"missing_argument"_code, "Name the message: give its ID, or --queue and --key.", "ID"};
    }
    std::string path = session.path("messages");
    add_parameter(path, "queue", queue);
    add_parameter(path, "key", key);
    return path;
}

struct CancelArguments {
    MessageArguments message;
    bool running = false;
};
struct MoveArguments {
    MessageArguments message;
    WhenArguments when;
};
struct HoldArguments {
    std::string id;
    std::string lease;
};
struct WaitArguments {
    MessageArguments message;
    std::string timeout;  // empty: none
};
struct LeaseEndArguments {
    const char* call = nullptr;
    std::vector<std::string> leases;
    std::optional<std::string> result;  // of an acknowledgement
    FieldOptions members;
};

// ---- what is shown

// Prints the outcome, also of a command that came too late, which is refused. `waiting`: the text for the outcome
// `waiting`.
int show_outcome(const Session& session, const ServerAnswer& answer, std::string_view waiting) {
    if (!answer.has_outcome()) return answer.exit_code;
    const std::string_view outcome = answer.word("outcome");
    const bool done = static_cast<bool>(answer);
    const auto people = [&] {
        const std::string shown = printable(outcome);
        const std::int64_t attempts = answer.number("attempts");
        const std::int64_t due = answer.number("due_ms");
        if (!done && outcome != "waiting") std::printf("too late: ");
        std::printf("%s", shown.c_str());
        if (outcome == "waiting") std::printf(": %s", std::string(waiting).c_str());
        if (outcome == "cancelling") std::printf(": its consumer is asked to stop");
        if (done && due != 0) std::printf(", due %s", format_when(due).c_str());
        if (attempts > 0) std::printf(", %lld attempt%s", static_cast<long long>(attempts), attempts == 1 ? "" : "s");
        if (is_true(answer.members, "maybe_delivered")) {
            std::printf(", and a delivery may have begun before the server's last start");
        }
        std::printf("\n");
    };
    return session.show(answer, people, answer.exit_code);
}

int show_change(const Session& session, const ServerAnswer& answer) {
    return show_outcome(session, answer, "it is neither held nor dead");
}

int show_discard(const Session& session, const ServerAnswer& answer) {
    return show_outcome(session, answer, "it is not a dead letter; use `cancel` to cancel it");
}

int show_end_of_prepared(const Session& session, const ServerAnswer& answer) {
    if (!answer) return answer.exit_code;
    return session.show(answer, [&] {
        const bool is_committed = answer.word("outcome") == "committed";
        std::printf("%s  %s\n", printable(answer.word("id")).c_str(), is_committed ? "committed" : "rolled back");
    });
}

std::string shown(std::string_view member, const json::value& value) {
    if (value.is_string()) return printable({value.get_string().data(), value.get_string().size()});
    if (value.is_bool()) return value.get_bool() ? "yes" : "no";
    if (member == "expires_in_ms" && value.is_int64()) return format_span(value.get_int64());
    if (member.ends_with("_ms") && value.is_int64()) return format_when(value.get_int64());
    return printable(plain_json(value));
}

// "lease_until_ms" -> "lease until"
std::string label(std::string_view member) {
    std::string words = setting_name(member);
    for (char& c : words) c = c == '_' ? ' ' : c;
    return words;
}

// "failed, 2026-11-30 10:00:00 +01:00, took 2s, worker host-7:1234: no route"
std::string shown_attempt(const json::object& attempt) {
    const std::int64_t started = number_of(attempt, "started_ms");
    const std::int64_t ended = number_of(attempt, "ended_ms");
    const std::string worker = printable(word_of(attempt, "worker"));
    const std::string reason = printable(word_of(attempt, "reason"));
    std::string text = ended == 0 ? "leased" : printable(word_of(attempt, "outcome"));
    text += ", " + format_local(started);
    if (ended != 0) text += ", took " + format_span(ended - started);
    if (!worker.empty()) text += ", worker " + worker;
    return reason.empty() ? text : text + ": " + reason;
}

// All members in the order of the response, with the body last, so that members of a newer server are shown too.
void print_message(const json::object& message) {
    Rows rows;
    for (const auto& [key, value] : message) {
        const std::string member(key.data(), key.size());
        if (member == "body" || member == "body_base64" || member == "json") continue;
        if (message.contains(member + "_ms")) continue;  // shown in local time, from its member in milliseconds
        if (member == "headers" && value.is_object()) {
            for (const auto& [name, content] : value.get_object()) {
                rows.push_back({"header", printable({name.data(), name.size()}) + "=" + shown("", content)});
            }
        } else if (member == "timeline" && value.is_array()) {
            for (const json::value& attempt : value.get_array()) {
                if (!attempt.is_object()) continue;
                const std::int64_t number = number_of(attempt.get_object(), "attempt");
                rows.push_back({"attempt " + std::to_string(number), shown_attempt(attempt.get_object())});
            }
        } else {
            rows.push_back({label(member), shown(member, value)});
        }
    }
    if (message.contains("body_base64")) rows.push_back({"body", "not text, shown in base64:"});
    std::printf("%s", fields(rows).c_str());
    if (message.contains("body") || message.contains("json")) {
        const char* const member = message.contains("body") ? "body" : "json";
        std::printf("\n%s\n", printable_lines(word_of(message, member)).c_str());
    } else if (message.contains("body_base64")) {
        std::printf("\n%s\n", printable(word_of(message, "body_base64")).c_str());
    }
}

// Prints one line; returns whether the outcome is the requested one.
bool print_lease_end(const json::object& result) {
    const std::string outcome = printable(word_of(result, "outcome"));
    if (outcome.empty()) {  // a problem document
        std::printf("refused: %s (%s)\n", printable(word_of(result, "detail")).c_str(),
                    printable(word_of(result, "code")).c_str());
        return false;
    }
    if (outcome == "expired") {
        std::printf("expired: the lease had already ended; nothing was changed\n");
        return false;
    }
    if (outcome == "dead") {
        std::printf("dead: it is not retried; `duewheel kick` returns it to its queue\n");
    } else if (const std::int64_t until = number_of(result, "lease_until_ms"); until != 0) {
        const bool is_to_stop = is_true(result, "cancel_requested");
        std::printf("%s, leased until %s%s\n", outcome.c_str(), format_when(until).c_str(),
                    is_to_stop ? ", asked to stop: end the work, then release it" : "");
    } else if (const std::int64_t due = number_of(result, "due_ms"); due != 0) {
        std::printf("%s, due %s\n", outcome.c_str(), format_when(due).c_str());
    } else {
        std::printf("%s\n", outcome.c_str());
    }
    return true;
}

bool is_done(const json::object& result) {
    const std::string_view outcome = word_of(result, "outcome");
    return !outcome.empty() && outcome != "expired";
}

int show_results(const Session& session, const ServerAnswer& answer, std::size_t asked) {
    const json::value* results = answer.members.if_contains("results");
    if (results == nullptr || !results->is_array() || results->get_array().size() != asked) {
        return session.complain({"bad_answer"_code, "The address " + session.server.url +
                                                        " does not belong to a Duewheel server: check it."},
                                kExitUnreachable);
    }
    const json::object none;
    int exit_code = kExitDone;
    for (const json::value& value : results->get_array()) {
        const json::object& result = value.is_object() ? value.get_object() : none;
        const bool done = session.json ? is_done(result) : print_lease_end(result);
        if (!done) exit_code = kExitRefused;
    }
    if (session.json) std::printf("%s\n", printable_json(answer.text).c_str());
    return exit_code;
}

// The outcome of one lease. A refusal if the lease had ended before.
int show_lease_end(const Session& session, const ServerAnswer& answer) {
    if (!answer.has_outcome()) return answer.exit_code;
    return session.show(
        answer, [&] { static_cast<void>(print_lease_end(answer.members)); }, answer.exit_code);
}

// ---- the verbs

int get(Session& session, const MessageArguments& message) {
    const Result<std::string> path = message.path(session);
    if (!path) return session.complain(path.error(), kExitUsage);
    const ServerAnswer answer = session.ask("GET", *path);
    if (!answer) return answer.exit_code;
    return session.show(answer, [&] { print_message(answer.members); });
}

// How a message that was waited for ended, besides kExitDone for `done`.
constexpr std::pair<std::string_view, int> kEndsOfWait[] = {{"dead", 4}, {"cancelled", 5}, {"expired", 6}};
constexpr int kExitTimedOut = 7;

int show_end(const Session& session, const ServerAnswer& answer, int exit_code) {
    return session.show(
        answer,
        [&] {
            const std::string_view state = answer.word("state");
            const std::string result(answer.word("result"));
            if (state == "done" && !result.empty()) {
                std::printf("%s\n", printable_lines(result).c_str());
                return;
            }
            const std::string reason = printable(answer.word("reason"));
            std::printf("%s%s%s\n", printable(state).c_str(), reason.empty() ? "" : ": ", reason.c_str());
        },
        exit_code);
}

std::int64_t now_ms() {
    return monotonic_now_ns() / 1'000'000;
}

// Each request waits as long as the server allows, until the message has ended or the time is over. A server that has
// answered before may be away for a while, because it is restarted; the first request does not wait, so that this is
// known.
int wait(Session& session, const WaitArguments& arguments) {
    constexpr std::int64_t kWaitMs = 30'000;
    constexpr std::chrono::seconds kAnswerPatience{60};
    constexpr std::int64_t kPauseFirstMs = 100;
    constexpr std::int64_t kPauseMostMs = 5'000;
    const Result<std::string> path = arguments.message.path(session);
    if (!path) return session.complain(path.error(), kExitUsage);
    std::optional<std::int64_t> end_ms;
    if (!arguments.timeout.empty()) {
        const Result<std::int64_t> timeout = parse_duration(arguments.timeout);
        if (!timeout) {
            return session.complain({timeout.error().code, timeout.error().message, "--timeout"}, kExitUsage);
        }
        end_ms = now_ms() + *timeout;
    }
    const auto up_to_the_end = [&](std::int64_t time_ms) {
        return end_ms ? std::clamp<std::int64_t>(*end_ms - now_ms(), 0, time_ms) : time_ms;
    };
    bool has_answered = false;
    std::int64_t pause_ms = kPauseFirstMs;
    for (std::int64_t wait_ms = 0;; wait_ms = up_to_the_end(kWaitMs)) {
        const bool is_last = up_to_the_end(1) == 0;
        const std::int64_t asked_ms = now_ms();
        std::string call = *path;
        if (wait_ms > 0) add_parameter(call, "wait", std::to_string(wait_ms) + "ms");
        const ServerAnswer answer = session.ask("GET", call, {}, kAnswerPatience);
        if (!answer) {
            const bool is_away = answer.exit_code == kExitUnreachable && has_answered;
            const bool is_busy = answer.status == 429 || answer.status == 503;
            if (is_last || (!is_away && !is_busy)) return answer.exit_code;
        } else {
            const std::string_view state = answer.word("state");
            if (state == "done") return show_end(session, answer, kExitDone);
            for (const auto& [end, exit_code] : kEndsOfWait) {
                if (state == end) return show_end(session, answer, exit_code);
            }
            if (is_last) return show_end(session, answer, kExitTimedOut);
            has_answered = true;
            const bool has_waited = wait_ms == 0 || now_ms() - asked_ms >= wait_ms / 2;
            if (has_waited) pause_ms = kPauseFirstMs;
            if (has_waited) continue;  // otherwise the server is about to stop
        }
        ::poll(nullptr, 0, static_cast<int>(up_to_the_end(pause_ms)));
        pause_ms = std::min(2 * pause_ms, kPauseMostMs);
    }
}

int cancel(Session& session, const CancelArguments& arguments) {
    Result<std::string> path = arguments.message.path(session);
    if (!path) return session.complain(path.error(), kExitUsage);
    if (arguments.running) add_parameter(*path, "running", "true");
    return show_change(session, session.ask("DELETE", *path));
}

int move(Session& session, const MoveArguments& arguments) {
    if (!arguments.when.given()) {
        return session.complain(
            {"missing_member"_code, "Give --delay, such as 10m, or --due, such as 2027-01-01T06:00.", "--delay"},
            kExitUsage);
    }
    json::object request;
    if (Status read = arguments.when.put_into(request); !read) return session.complain(read.error(), kExitUsage);
    const Result<std::string> path = arguments.message.path(session);
    if (!path) return session.complain(path.error(), kExitUsage);
    return show_change(session, session.ask("PATCH", *path, request));
}

int hold(Session& session, const HoldArguments& arguments) {
    if (arguments.lease.empty()) {
        return show_change(session, session.ask("POST", session.path("messages", arguments.id, ":hold")));
    }
    return show_lease_end(session, session.ask("POST", session.lease_path(arguments.lease, ":hold")));
}

// A single lease is sent with its own call, several in one request, and the outcome of each is printed on a line, in
// order. The result is a refusal if one of them had ended before or is invalid; the call takes effect on the others.
int end_leases(Session& session, const LeaseEndArguments& arguments) {
    json::object members;
    arguments.members.put_into(members);
    const std::vector<std::string>& leases = arguments.leases;
    if (leases.size() > 1) {
        json::array& all = members["leases"].emplace_array();
        for (const std::string& lease : leases) all.emplace_back(json_text(lease));
    }
    std::string body = members.empty() ? std::string() : plain_json(members);
    if (arguments.result) {
        const Result<std::string> result = read_body_argument(*arguments.result);
        if (!result) return session.complain(result.error(), kExitUsage);
        if (!is_json_text(*result)) {
            return session.complain(
                {"bad_json"_code, "The result is not valid JSON, or is nested too deeply.", "--result"}, kExitUsage);
        }
        body = with_member(members, "result", *result);
    }
    if (leases.size() == 1) {
        return show_lease_end(session,
                              session.ask_with_text("POST", session.lease_path(leases.front(), arguments.call), body));
    }
    const ServerAnswer answer = session.ask_with_text("POST", "/v1/leases" + std::string(arguments.call), body);
    return answer ? show_results(session, answer, leases.size()) : answer.exit_code;
}

void add_hold(CLI::App& program, Session& session) {
    const std::string example = std::string(kPutExample) +
                                "duewheel hold \"$ID\"\n"
                                "  duewheel put mail 'Strange'\n  " +
                                lease_example("mail") + "duewheel hold --lease \"$LEASE\"";
    Verb<HoldArguments> verb(program, session, "hold",
                             "Hold a message: it is not delivered until `kick`; exits 1 if it is too late",
                             example.c_str(), hold);
    CLI::Option* id = verb.app->add_option("ID", verb.options->id, kMessage.help);
    verb.app
        ->add_option("--lease", verb.options->lease,
                     "Hold the message of this lease, as printed by `lease`, and end the lease")
        ->type_name("LEASE")
        ->excludes(id);
    verb.app->require_option(1);
}

void add_lease_end(CLI::App& program, Session& session, const char* name, const char* call, const char* description,
                   const std::string& example, std::span<const Field> members) {
    const std::string whole = "duewheel put mail 'Hello'\n  " + lease_example("mail") + example;
    Verb<LeaseEndArguments> verb(program, session, name, description, whole.c_str(), end_leases);
    verb.options->call = call;
    verb.app
        ->add_option("LEASE", verb.options->leases,
                     "The leases, as printed by `lease`; several are sent in one request")
        ->required();
    verb.options->members.add_to(*verb.app, members, {}, {"result"});
    const bool is_ack = std::string_view(call) == ":ack";
    if (!is_ack) return;
    verb.app
        ->add_option("--result", verb.options->result,
                     "The result of the work: JSON, @FILE for that of a file, or - for that of standard input")
        ->type_name("JSON");
}

}  // namespace

void add_message_verbs(CLI::App& program, Session& session) {
    const ResourceVerbs prepared(program, session, kPrepared);
    prepared.add("commit", "Commit a prepared message: it is delivered; exits 1 if it is too late",
                 std::string(kPrepareExample) + "duewheel commit \"$ID\"", "POST", ":commit", show_end_of_prepared);
    prepared.add("rollback", "Roll back a prepared message: it is never delivered; exits 1 if it is too late",
                 std::string(kPrepareExample) + "duewheel rollback \"$ID\"", "POST", ":rollback", show_end_of_prepared);
    const std::string put(kPutExample);
    Verb<MessageArguments> getting(program, session, "get", "Show a message", (put + "duewheel get \"$ID\"").c_str(),
                                   get);
    getting.options->add_to(*getting.app);
    Verb<WaitArguments> waiting(
        program, session, "wait",
        "Wait for the end of a message, and print its result; exits 0 if it is done, 4 if dead, 5 if cancelled, 6 if "
        "expired, 7 if the time is over",
        ("ID=$(duewheel put sums '17 + 4' --json | sed -E 's/.*\"id\":\"([0-9]+)\".*/\\1/')\n  " +
         lease_example("sums") +
         "duewheel ack \"$LEASE\" --result '{\"sum\": 21}'\n"
         "  duewheel wait \"$ID\" --timeout 5m")
            .c_str(),
        wait);
    waiting.options->message.add_to(*waiting.app);
    waiting.app->add_option("--timeout", waiting.options->timeout, "How long to wait; default: until it has ended")
        ->type_name("DURATION");
    Verb<CancelArguments> cancelling(program, session, "cancel", "Cancel a message; exits 1 if it is too late",
                                     (put + "duewheel cancel \"$ID\"\n"
                                            "  duewheel put mail 'Hello' --delay 1h --key 'order 7'\n"
                                            "  duewheel cancel --queue mail --key 'order 7'")
                                         .c_str(),
                                     cancel);
    cancelling.options->message.add_to(*cancelling.app);
    cancelling.app->add_flag("--running", cancelling.options->running,
                             "If it is leased, ask its consumer to stop; it ends when the consumer gives it back");
    Verb<MoveArguments> moving(program, session, "move",
                               "Change the due time of a waiting message; exits 1 if it is too late",
                               (put + "duewheel move \"$ID\" --due 2027-01-01T06:00 --zone Europe/Oslo").c_str(), move);
    moving.options->message.add_to(*moving.app);
    moving.options->when.add_to(*moving.app);
    const ResourceVerbs verbs(program, session, kMessage);
    verbs.add("fire", "Make a waiting message due now; exits 1 if it is too late", put + "duewheel fire \"$ID\"",
              "POST", ":fire", show_change);
    add_hold(program, session);
    verbs.add("kick", "Return a held message or a dead letter to its queue; exits 1 if it is neither",
              put + "duewheel hold \"$ID\"\n  duewheel kick \"$ID\"", "POST", ":kick", show_change);
    verbs.add("discard", "End a dead letter for good; exits 1 if the message is not a dead letter",
              "ID=$(duewheel put ruins 'Beyond repair' --retry-attempts 1 --json | sed -E "
              "'s/.*\"id\":\"([0-9]+)\".*/\\1/')\n  " +
                  lease_example("ruins") +
                  "duewheel fail \"$LEASE\" --reason 'fell apart'\n"
                  "  duewheel discard \"$ID\"",
              "POST", ":discard", show_discard);
}

void add_lease_verbs(CLI::App& program, Session& session) {
    add_lease_end(
        program, session, "ack", ":ack",
        "Acknowledge leased messages: they are done; exits 1 if a lease had already ended",
        "duewheel ack \"$LEASE\"\n"
        "  duewheel put mail 'Hello'; duewheel put mail 'Goodbye'\n"
        "  LEASES=$(duewheel lease mail --max 2 --wait 5s --json | grep -oE '\"lease\":\"[^\"]+' | cut -d'\"' -f4)\n"
        "  duewheel ack $LEASES",
        {});
    add_lease_end(program, session, "fail", ":fail",
                  "Report failed attempts: the messages are retried, or become dead letters after their last attempt",
                  "duewheel fail \"$LEASE\" --reason 'no route' --retry-in 1m", fields_of<FailCommand>().rows());
    add_lease_end(program, session, "extend", ":extend", "Extend leases", "duewheel extend \"$LEASE\" --lease 5m",
                  fields_of<ExtendCommand>().rows());
    add_lease_end(program, session, "release", ":release", "Release leases: their messages return to the queue",
                  "duewheel release \"$LEASE\" --delay 10s", fields_of<ReleaseCommand>().rows());
}

}  // namespace duewheel
