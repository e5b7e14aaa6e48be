// duewheel queue: the settings and the state of queues.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>

#include "arguments.h"
#include "calendar/instant_text.h"
#include "content.h"
#include "field_options.h"
#include "local_time.h"
#include "plain_text.h"
#include "resource/queue_settings.h"
#include "resource_verbs.h"
#include "terminal.h"
#include "verbs.h"

namespace duewheel {
namespace {

namespace json = boost::json;

constexpr ResourceKind kQueue = {"queues", "QUEUE", "The queue's name"};
constexpr std::size_t kWide = 110;  // columns of a terminal

struct SetQueueArguments {
    std::string queue;
    SetOptions settings;
    std::vector<std::string> headers;  // "name=value", or "name=@file"
};
struct DiscardArguments {
    std::string queue;
    StretchArguments stretch;  // only its end
};
struct RedriveArguments {
    std::string queue;
    std::optional<std::uint64_t> max;
};

// More messages may be due than are in memory.
std::string ready_messages(const json::object& queue) {
    return count_of(queue, "ready") + (is_true(queue, "backlog_on_disk") ? "+" : "");
}

// Its webhook responded that it is gone (410).
bool is_gone(const json::object& queue) {
    return word_of(queue, "paused_by") == "target";
}

std::string state(const json::object& queue) {
    std::string words;
    const auto say = [&](const char* word) { words += (words.empty() ? "" : ", ") + std::string(word); };
    if (is_true(queue, "paused")) say(is_gone(queue) ? "paused: its target is gone" : "paused");
    if (queue.contains("purge")) say("purging");
    if (queue.contains("discard")) say("discarding");
    for (const char* kind : {"webhook", "kafka"}) {
        const json::object* target = object_of(queue, kind);
        if (target != nullptr && word_of(*target, "state") != "ok" && !is_gone(queue))
            say(("target: " + std::string(word_of(*target, "state"))).c_str());
    }
    return words;
}

std::string doing(const json::object& webhook) {
    const std::string_view state = word_of(webhook, "state");
    if (state == "backing_off") {
        const bool asked = word_of(webhook, "reason") == "retry_after";
        return "backing off until " + format_when(number_of(webhook, "until_ms")) +
               (asked ? ", as the target asked for" : ", after several failures in a row");
    }
    if (state == "probing") return "one post tests whether it works again after several failures in a row";
    if (state == "misconfigured") return "misconfigured: see the server's log";
    if (state == "gone") return "it answered 410 Gone; `queue resume` tries it again";
    if (state == "disabled") return "disabled: the server runs without webhooks.post";
    return count_of(webhook, "in_flight") + " posts in progress";
}

std::string sending(const json::object& kafka) {
    const std::string_view state = word_of(kafka, "state");
    if (state == "backing_off") {
        return "backing off until " + format_when(number_of(kafka, "until_ms")) + ": see the server's log";
    }
    if (state == "probing") return "the server tests whether it works again: see its log";
    if (state == "disabled") return "disabled: the server has no brokers (kafka.bootstrap)";
    return count_of(kafka, "in_flight") + " records in progress";
}

void print_queue(const json::object& queue) {
    Rows rows = {{"queue", printable(word_of(queue, "queue"))},
                 {"pending", count_of(queue, "pending") + ": " + count_of(queue, "scheduled") + " scheduled, " +
                                 ready_messages(queue) + " ready, " + count_of(queue, "leased") + " leased, " +
                                 count_of(queue, "held") + " held, " + count_of(queue, "prepared") + " prepared"},
                 {"dead", count_of(queue, "dead")},
                 {"consumers waiting", count_of(queue, "waiters")},
                 {"paused", is_gone(queue)             ? "yes: its target answered 410 Gone"
                            : is_true(queue, "paused") ? "yes"
                                                       : "no"}};
    if (const json::object* purge = object_of(queue, "purge")) {
        rows.push_back({"purge", "begun " + format_when(number_of(*purge, "started_ms")) + ", " +
                                     count_of(*purge, "purged") + " ended so far"});
    }
    if (const json::object* discard = object_of(queue, "discard")) {
        rows.push_back({"discard", "begun " + format_when(number_of(*discard, "started_ms")) + ", " +
                                       count_of(*discard, "discarded") + " ended so far"});
    }
    if (const json::object* webhook = object_of(queue, "webhook")) rows.push_back({"target", doing(*webhook)});
    if (const json::object* kafka = object_of(queue, "kafka")) rows.push_back({"target", sending(*kafka)});
    if (const json::object* settings = object_of(queue, "settings")) add_settings(rows, *settings, {"paused"});
    std::printf("%s", fields(rows).c_str());
}

int show_queue(const Session& session, const ServerAnswer& answer) {
    if (!answer) return answer.exit_code;
    return session.show(answer, [&] { print_queue(answer.members); });
}

// Headers of posts, whose values may be in files: "Authorization=@FILE".
Status put_webhook_headers(const std::vector<std::string>& headers, json::object& request) {
    std::vector<std::string> pairs;
    for (const std::string& header : headers) {
        const std::size_t value = header.find("=@");
        if (value == std::string::npos || value != header.find('=')) {
            pairs.push_back(header);
            continue;
        }
        const Result<std::string> content = read_body_argument(header.substr(value + 1));
        if (!content) return Error{content.error().code, content.error().message, "--webhook-header"};
        pairs.push_back(header.substr(0, value + 1) + content->substr(0, content->find_last_not_of("\r\n") + 1));
    }
    if (pairs.empty()) return {};
    json::object webhook;
    if (Status read = put_headers_into(pairs, webhook); !read) {
        return Error{read.error().code, read.error().message, "--webhook-header"};
    }
    set_member(request, "target.webhook.headers", webhook["headers"]);
    return {};
}

int set_queue(Session& session, const SetQueueArguments& arguments) {
    json::object request;
    arguments.settings.put_into(request);
    if (Status read = put_webhook_headers(arguments.headers, request); !read) {
        return session.complain(read.error(), kExitUsage);
    }
    return show_queue(session,
                      session.ask(arguments.settings.method(), kQueue.path(session, arguments.queue), request));
}

int show_purge(const Session& session, const ServerAnswer& answer) {
    if (!answer) return answer.exit_code;
    return session.show(answer, [&] {
        const std::string pending = count_of(answer.members, "pending");
        std::printf("purging %s message%s; none of them is delivered any more\n", pending.c_str(),
                    pending == "1" ? "" : "s");
    });
}

// The server redrives up to a maximum per call; this repeats the call until none is left.
int redrive(Session& session, const RedriveArguments& arguments) {
    constexpr std::chrono::minutes kRedrivePatience{10};
    json::object request;
    if (arguments.max) request["max"] = *arguments.max;
    std::int64_t redriven = 0;
    for (;;) {
        const ServerAnswer answer =
            session.ask("POST", kQueue.path(session, arguments.queue, ":redrive"), request, kRedrivePatience);
        if (!answer) return answer.exit_code;
        redriven += answer.number("redriven");
        const bool has_more = is_true(answer.members, "more");
        if (has_more && !arguments.max && answer.number("redriven") > 0) continue;
        ServerAnswer sum = answer;
        sum.members["redriven"] = redriven;
        sum.text = plain_json(sum.members);
        return session.show(sum, [&] {
            std::printf("%lld returned to the queue%s\n", static_cast<long long>(redriven),
                        has_more ? "; there are more" : "");
        });
    }
}

// The server ends the dead letters after its response.
int discard_dead(Session& session, const DiscardArguments& arguments) {
    json::object request;
    if (arguments.stretch.to) {
        const Result<InstantMs> before = arguments.stretch.instant(*arguments.stretch.to);
        if (!before) return session.complain(before.error(), kExitUsage);
        request["died_before"] = format_instant(*before);
    }
    const ServerAnswer answer = session.ask("POST", kQueue.path(session, arguments.queue, ":discard"), request);
    if (!answer) return answer.exit_code;
    return session.show(answer, [&] {
        const json::object* in_flight = object_of(answer.members, "discard");
        if (in_flight == nullptr) return void(std::printf("the queue has no dead letters\n"));
        const std::int64_t dead = answer.number("dead");
        std::printf("discarding those from before %s, of %lld dead letter%s; this cannot be undone\n",
                    format_local(number_of(*in_flight, "died_before_ms")).c_str(), static_cast<long long>(dead),
                    dead == 1 ? "" : "s");
    });
}

// Columns that are rarely needed are shown only on wide terminals, so that names are not truncated; `queue get` shows
// all.
std::vector<std::string> row_of_queue(const json::object& queue) {
    std::vector<std::string> row = {
        printable(word_of(queue, "queue")), count_of(queue, "pending"), ready_messages(queue),
        count_of(queue, "leased"),          count_of(queue, "held"),    count_of(queue, "dead")};
    if (output_columns() >= kWide) {
        for (const char* more : {"scheduled", "prepared", "waiters"}) row.push_back(count_of(queue, more));
    }
    row.push_back(state(queue));
    return row;
}

void add_queue_set(CLI::App& group, Session& session) {
    Verb<SetQueueArguments> verb(group, session, "set", "Change settings of a queue; the other settings stay unchanged",
                                 "duewheel queue set letters --lease 2m --pending 10000\n"
                                 "  duewheel queue set letters --retry-attempts 5 --unset limits.pending\n"
                                 "  duewheel queue set calls --webhook https://receiver.example/in --webhook-rate 100\n"
                                 "  duewheel queue set payments --kafka-topic payments",
                                 set_queue);
    verb.app->add_option("QUEUE", verb.options->queue, kQueue.help)->required();
    verb.options->settings.add_to(*verb.app, fields_of<QueueSettings>().rows());
    verb.app
        ->add_option("--webhook-header", verb.options->headers,
                     "Send this header with each post, such as Authorization=@FILE; the server never shows its value")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
}

void add_dead_letters(CLI::App& group, Session& session) {
    Verb<RedriveArguments> redriving(group, session, "redrive",
                                     "Redrive dead letters: return them to their queue, oldest first",
                                     "duewheel queue redrive mail --max 100", redrive);
    redriving.app->add_option("QUEUE", redriving.options->queue, kQueue.help)->required();
    redriving.app->add_option("--max", redriving.options->max, "Maximum number; default: all");
    Verb<DiscardArguments> discarding(group, session, "discard", "End dead letters of a queue for good",
                                      "duewheel queue discard mail --died-before=-7d", discard_dead);
    StretchArguments& stretch = discarding.options->stretch;
    discarding.app->add_option("QUEUE", discarding.options->queue, kQueue.help)->required();
    discarding.app
        ->add_option(
            "--died-before", stretch.to,
            "Only those that became dead letters before this time: 2027-01-01T06:00, or =-10m (ago); default: all")
        ->type_name("TIME");
    discarding.app->add_option("--zone,--tz", stretch.zone, "Time zone of --died-before; default: this machine's zone")
        ->type_name("ZONE");
}

}  // namespace

void add_queue(CLI::App& program, Session& session) {
    CLI::App& queue = add_group(program, "queue", "Settings and state of queues",
                                "duewheel queue pause letters\n"
                                "  duewheel queue list\n"
                                "  duewheel queue resume letters");
    const ResourceVerbs verbs(queue, session, kQueue);
    add_queue_set(queue, session);
    verbs.add("get", "Show the settings and counts of a queue",
              "duewheel queue set letters\n  duewheel queue get letters", "GET", "", show_queue);
    Listing listing = {.heading = {"queue", "pending", "ready", "leased", "held", "dead"}, .none = "no queues"};
    if (output_columns() >= kWide) {
        listing.heading.insert(listing.heading.end(), {"scheduled", "prepared", "waiters"});
    }
    listing.heading.emplace_back();
    verbs.add_list("List queues by name; with --json one per line", std::move(listing), row_of_queue);
    verbs.add("pause", "Pause a queue: deliver nothing until it is resumed", "duewheel queue pause letters", "POST",
              ":pause", show_queue);
    verbs.add("resume", "Resume a paused queue", "duewheel queue pause letters\n  duewheel queue resume letters",
              "POST", ":resume", show_queue);
    verbs.add("purge", "End all messages that are in the queue now",
              "duewheel put letters 'Dear Ann' --delay 1h\n  duewheel queue purge letters", "POST", ":purge",
              show_purge);
    verbs.add_rm("Remove the settings of an empty queue",
                 "duewheel queue set old-letters --lease 2m\n  duewheel queue rm old-letters", "settings removed",
                 "it had no settings");
    add_dead_letters(queue, session);
}

}  // namespace duewheel
