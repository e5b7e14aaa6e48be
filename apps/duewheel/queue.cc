// duewheel queue: the settings and the state of queues. Each verb of `queue` is one call.
#include <cstdio>

#include "arguments.h"
#include "kafka_arguments.h"
#include "local_time.h"
#include "pages.h"
#include "plain_json.h"
#include "plain_text.h"
#include "queue_verbs.h"
#include "retry_arguments.h"
#include "settings_arguments.h"
#include "terminal.h"
#include "verbs.h"
#include "webhook_arguments.h"

namespace duewheel {
namespace {

namespace json = boost::json;

struct SetArguments {
    std::string queue;
    bool paused = false;
    std::string lease;
    std::optional<std::uint64_t> pending;
    std::optional<std::uint64_t> per_second;
    RetryArguments retry;
    WebhookArguments webhook;
    KafkaArguments kafka;
    SettingsArguments settings;
};

std::string count(const json::object& queue, std::string_view member) {
    return std::to_string(number_of(queue, member));
}

// More messages may be due than are in memory.
std::string ready(const json::object& queue) {
    return count(queue, "ready") + (is_true(queue, "backlog_on_disk") ? "+" : "");
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

void print_topic(const json::object& kafka, Rows& rows) {
    rows.push_back({"sent to topic", printable(word_of(kafka, "topic"))});
    if (kafka.contains("key")) rows.push_back({"key", printable(word_of(kafka, "key"))});
    if (kafka.contains("partition")) rows.push_back({"partition", count(kafka, "partition")});
    rows.push_back({"delivery", word_of(kafka, "delivery") == "at_least_once" ? "at least once" : "exactly once"});
}

void print_target(const json::object& target, Rows& rows) {
    if (const json::object* kafka = object_of(target, "kafka")) print_topic(*kafka, rows);
    const json::object* webhook = object_of(target, "webhook");
    if (webhook == nullptr) return;
    rows.push_back({"posted to", printable(word_of(*webhook, "url"))});
    if (const json::value* secrets = webhook->if_contains("secrets")) {
        rows.push_back({"signed with", printable(plain_json(*secrets))});
    }
    if (const json::object* headers = object_of(*webhook, "headers")) {
        for (const auto& [name, value] : *headers) {
            rows.push_back({"header", printable({name.data(), name.size()}) + ", whose value is not shown"});
        }
    }
    if (const std::int64_t timeout_ms = number_of(*webhook, "timeout_ms"); timeout_ms != 0) {
        rows.push_back({"timeout", format_span(timeout_ms)});
    }
    if (webhook->contains("concurrency")) rows.push_back({"concurrency", count(*webhook, "concurrency")});
    if (webhook->contains("rate")) rows.push_back({"posts per second", count(*webhook, "rate")});
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
    return count(webhook, "in_flight") + " posts in progress";
}

std::string sending(const json::object& kafka) {
    const std::string_view state = word_of(kafka, "state");
    if (state == "backing_off") {
        return "backing off until " + format_when(number_of(kafka, "until_ms")) + ": see the server's log";
    }
    if (state == "probing") return "the server tests whether it works again: see its log";
    if (state == "disabled") return "disabled: the server has no brokers (kafka.bootstrap)";
    return count(kafka, "in_flight") + " records in progress";
}

void print(const json::object& queue) {
    Rows rows = {{"queue", printable(word_of(queue, "queue"))},
                 {"pending", count(queue, "pending") + ": " + count(queue, "scheduled") + " scheduled, " +
                                 ready(queue) + " ready, " + count(queue, "leased") + " leased, " +
                                 count(queue, "held") + " held, " + count(queue, "prepared") + " prepared"},
                 {"dead", count(queue, "dead")},
                 {"consumers waiting", count(queue, "waiters")},
                 {"paused", is_gone(queue)             ? "yes: its target answered 410 Gone"
                            : is_true(queue, "paused") ? "yes"
                                                       : "no"}};
    if (const json::object* purge = object_of(queue, "purge")) {
        rows.push_back({"purge", "begun " + format_when(number_of(*purge, "started_ms")) + ", " +
                                     count(*purge, "purged") + " ended so far"});
    }
    if (const json::object* discard = object_of(queue, "discard")) {
        rows.push_back({"discard", "begun " + format_when(number_of(*discard, "started_ms")) + ", " +
                                       count(*discard, "discarded") + " ended so far"});
    }
    if (const json::object* webhook = object_of(queue, "webhook")) rows.push_back({"target", doing(*webhook)});
    if (const json::object* kafka = object_of(queue, "kafka")) rows.push_back({"target", sending(*kafka)});
    if (const json::object* settings = object_of(queue, "settings")) {
        if (const std::int64_t lease_ms = number_of(*settings, "lease_ms"); lease_ms != 0) {
            rows.push_back({"lease", format_span(lease_ms)});
        }
        if (const json::object* retry = object_of(*settings, "retry")) {
            rows.push_back({"retry", printable(plain_json(*retry))});
        }
        if (const json::object* target = object_of(*settings, "target")) print_target(*target, rows);
        const json::object* limits = object_of(*settings, "limits");
        if (limits != nullptr && limits->contains("pending")) {
            rows.push_back({"max pending", count(*limits, "pending")});
        }
        if (limits != nullptr && limits->contains("per_second")) {
            rows.push_back({"max due per second", count(*limits, "per_second")});
        }
    }
    std::printf("%s", fields(rows).c_str());
}

int show_queue(const Session& session, const ServerAnswer& answer) {
    if (!answer) return answer.exit_code;
    return session.show(answer, [&] { print(answer.members); });
}

int get(Session& session, const NameArguments& arguments) {
    return show_queue(session, session.ask("GET", session.path("queues", arguments.name)));
}

int set(Session& session, const SetArguments& arguments) {
    json::object request;
    if (arguments.paused) request["paused"] = true;
    if (!arguments.lease.empty()) request["lease"] = arguments.lease;
    Status read = arguments.retry.put_into(request);
    if (read) read = arguments.webhook.put_into(request);
    if (!read) return session.complain(read.error(), kExitUsage);
    arguments.kafka.put_into(request);
    json::object limits;
    if (arguments.pending) limits["pending"] = *arguments.pending;
    if (arguments.per_second) limits["per_second"] = *arguments.per_second;
    if (!limits.empty()) request["limits"] = std::move(limits);
    arguments.settings.put_into(request);
    return show_queue(session,
                      session.ask(arguments.settings.method(), session.path("queues", arguments.queue), request));
}

int pause(Session& session, const NameArguments& arguments) {
    return show_queue(session, session.ask("POST", session.path("queues", arguments.name, ":pause")));
}

int resume(Session& session, const NameArguments& arguments) {
    return show_queue(session, session.ask("POST", session.path("queues", arguments.name, ":resume")));
}

int purge(Session& session, const NameArguments& arguments) {
    const ServerAnswer answer = session.ask("POST", session.path("queues", arguments.name, ":purge"));
    if (!answer) return answer.exit_code;
    return session.show(answer, [&] {
        const std::string pending = count(answer.members, "pending");
        std::printf("purging %s message%s; none of them is delivered any more\n", pending.c_str(),
                    pending == "1" ? "" : "s");
    });
}

int remove(Session& session, const NameArguments& arguments) {
    const ServerAnswer answer = session.ask("DELETE", session.path("queues", arguments.name));
    if (!answer) return answer.exit_code;
    const bool removed = is_true(answer.members, "removed");
    return session.show(answer, [&] { std::printf(removed ? "settings removed\n" : "it had no settings\n"); });
}

int list(Session& session, const LimitArguments& arguments) {
    // Columns that are rarely needed are shown only on wide terminals, so that names are not truncated; `queue get`
    // shows all.
    constexpr std::size_t kWide = 110;
    const bool is_wide = output_columns() >= kWide;
    Listing listing = {.path = session.path("queues"),
                       .member = "queues",
                       .limit = arguments.limit,
                       .heading = {"queue", "pending", "ready", "leased", "held", "dead"},
                       .none = "no queues"};
    if (is_wide) listing.heading.insert(listing.heading.end(), {"scheduled", "prepared", "waiters"});
    listing.heading.emplace_back();
    return show_list(session, listing, [&](const json::object& queue) {
        std::vector<std::string> row = {printable(word_of(queue, "queue")),
                                        count(queue, "pending"),
                                        ready(queue),
                                        count(queue, "leased"),
                                        count(queue, "held"),
                                        count(queue, "dead")};
        if (is_wide) {
            for (const char* more : {"scheduled", "prepared", "waiters"}) row.push_back(count(queue, more));
        }
        row.push_back(state(queue));
        return row;
    });
}

void add_set(CLI::App& parent, Session& session) {
    Verb<SetArguments> verb(parent, session, "set", "Change settings of a queue; the other settings stay unchanged",
                            "duewheel queue set letters --lease 2m --pending 10000\n"
                            "  duewheel queue set letters --retry-attempts 5 --unset limits.pending\n"
                            "  duewheel queue set calls --webhook https://receiver.example/in --webhook-rate 100\n"
                            "  duewheel queue set payments --kafka-topic payments",
                            set);
    SetArguments& options = *verb.options;
    verb.app->add_option("QUEUE", options.queue, "The queue's name")->required();
    verb.app->add_flag("--paused", options.paused, "Pause the queue: deliver nothing");
    takes_duration(verb.app->add_option("--lease", options.lease, "Default duration of leases"));
    verb.app->add_option("--pending", options.pending, "Maximum number of unfinished messages");
    verb.app->add_option("--per-second", options.per_second, "Maximum number of messages due in one second");
    options.settings.add_to(*verb.app);
    options.retry.add_to(*verb.app);
    options.webhook.add_to(*verb.app);
    options.kafka.add_to(*verb.app);
}

}  // namespace

void add_queue(CLI::App& program, Session& session) {
    CLI::App& queue = add_group(program, "queue", "Settings and state of queues",
                                "duewheel queue pause letters\n"
                                "  duewheel queue list\n"
                                "  duewheel queue resume letters");
    const NamedVerbs verbs(queue, session, "QUEUE", "The queue's name");
    add_set(queue, session);
    verbs.add("get", "Show the settings and counts of a queue",
              "duewheel queue set letters\n  duewheel queue get letters", get);
    add_listing(queue, session, "List queues by name; with --json one per line", "duewheel queue list --limit 1000",
                list);
    verbs.add("pause", "Pause a queue: deliver nothing until it is resumed", "duewheel queue pause letters", pause);
    verbs.add("resume", "Resume a paused queue", "duewheel queue pause letters\n  duewheel queue resume letters",
              resume);
    verbs.add("purge", "End all messages that are in the queue now",
              "duewheel put letters 'Dear Ann' --delay 1h\n  duewheel queue purge letters", purge);
    verbs.add("rm", "Remove the settings of an empty queue",
              "duewheel queue set old-letters --lease 2m\n  duewheel queue rm old-letters", remove);
    add_queue_redrive(queue, session);
    add_queue_discard(queue, session);
}

}  // namespace duewheel
