// duewheel demo: fills a server with a small shop, so that the dashboard has something to show, and removes it again.
//
// The shop is the tables below. Each message has a key, so filling again puts only what is missing: a put with a known
// key is answered with the state of its message. After `demo rm` that state is `cancelled`, and the message is put once
// more. The lease token of a leased message is in its checkpoint, so that `demo rm` can release it.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <poll.h>

#include "arguments.h"
#include "base/error_codes.h"
#include "http_api/fields/json_text.h"
#include "net/http/http_target.h"
#include "plain_text.h"
#include "verbs.h"

namespace duewheel {
namespace {

namespace json = boost::json;

struct DemoArguments {};

struct DemoSetting {
    const char* kind;  // "queues" or "schedules"
    const char* name;
    const char* group;     // of the queue, or nullptr
    const char* settings;  // JSON
};

constexpr DemoSetting kDemoSettings[] = {
    {"queues", "demo-orders", nullptr, R"({"lease": "1m"})"},
    {"queues", "demo-mail", nullptr, R"({"lease": "1m", "rate": {"count": 50}})"},
    {"queues", "demo-calls", nullptr, R"({"lease": "10m"})"},
    {"queues", "demo-payments", nullptr, R"({"retry": {"attempts": 1}})"},
    {"queues", "demo-customers", nullptr, R"({"limits": {"leased": 20}, "groups": {"leased": 2}})"},
    {"queues", "demo-customers", "megastore", R"({"leased": 1, "rate": {"count": 30, "per": "1m"}})"},
    {"queues", "demo-customers", "dora", R"({"weight": 3})"},
    {"queues", "demo-newsletter", nullptr, R"({"paused": true})"},
    {"queues", "demo-reports", nullptr, R"({"lease": "5m"})"},
    {"queues", "demo-jobs", nullptr, R"({"lease": "5m"})"},
    {"schedules", "demo-nightly", nullptr,
     R"({"queue": "demo-jobs", "cron": "30 2 * * *", "zone": "Europe/Oslo", "json": {"job": "close the books"}})"},
    {"schedules", "demo-heartbeat", nullptr,
     R"({"queue": "demo-jobs", "every": "1m", "expires_in": "5m", "json": {"job": "heartbeat"}})"},
    {"schedules", "demo-weekly", nullptr,
     R"({"queue": "demo-newsletter", "cron": "0 9 * * MON", "paused": true, "json": {"job": "weekly newsletter"}})"},
};

enum class DemoFate : std::uint8_t { kWait, kLease, kDie, kEnd };

struct DemoMessages {
    const char* queue;
    const char* what;  // begins the key of each
    int count;
    int first_s;  // when the first is due, from the put
    int every_s;  // and each further one later by this
    const char* group = nullptr;
    int priorities = 1;  // 0 to one less, in turn
    DemoFate fate = DemoFate::kWait;
    int affected = 0;  // of kLease: how many
};

// Messages that die or end share a queue only with ones that are due later, so that no others are leased.
constexpr DemoMessages kDemoMessages[] = {
    {"demo-orders", "payment time-out", 60, 60, 58},
    {"demo-mail", "receipt", 8, 0, 0, nullptr, 3},
    {"demo-mail", "reminder", 16, 120, 200, nullptr, 3},
    {"demo-calls", "call back", 12, 0, 0},
    {"demo-payments", "refund", 5, 0, 0, nullptr, 1, DemoFate::kDie},
    {"demo-payments", "charge", 6, 600, 300},
    {"demo-customers", "export for megastore", 80, 0, 0, "megastore"},
    {"demo-customers", "export for ann", 3, 0, 0, "ann"},
    {"demo-customers", "export for bob", 2, 0, 0, "bob"},
    {"demo-customers", "export for dora", 4, 0, 0, "dora", 1, DemoFate::kLease, 5},
    {"demo-newsletter", "newsletter", 10, 0, 0},
    {"demo-reports", "report", 4, 0, 0, nullptr, 1, DemoFate::kEnd},
    {"demo-reports", "monthly report", 3, 900, 900},
};

constexpr const char* kDemoCustomers[] = {"Ann Berg", "Bob Chen", "Dora Lind", "Emil Novak", "Fatima Aziz", "Li Wei"};

json::object demo_message(const DemoMessages& batch, int number) {
    json::object content = {{"task", batch.what},
                            {"customer", kDemoCustomers[number % std::ssize(kDemoCustomers)]},
                            {"number", 1001 + number},
                            {"total", 20 + number * 7 % 90}};
    json::object message = {{"key", "demo " + std::string(batch.what) + " " + std::to_string(number + 1)},
                            {"delay", std::to_string(batch.first_s + number * batch.every_s) + "s"},
                            {"priority", number % batch.priorities},
                            {"json", std::move(content)}};
    if (batch.group != nullptr) message["group"] = batch.group;
    return message;
}

struct DemoPuts {
    int exit_code = kExitDone;
    int created = 0;
    int ready = 0;
    std::vector<int> cancelled;  // numbers of those that an earlier `demo rm` ended
};

DemoPuts put_demo_messages(Session& session, const DemoMessages& batch, const std::vector<int>& numbers,
                           const char* on_key) {
    std::string lines;
    for (const int number : numbers) {
        json::object message = demo_message(batch, number);
        message["on_key"] = on_key;
        lines += plain_json(message) + "\n";
    }
    const ServerAnswer answer = session.look_up_lines(session.path("queues", batch.queue, "/messages:batch"), lines);
    DemoPuts puts{answer.exit_code};
    std::string_view text = answer.text;
    for (const int number : numbers) {
        if (puts.exit_code != kExitDone) break;
        const std::size_t end = std::min(text.find('\n'), text.size());
        json::error_code broken;
        const json::value line = json::parse(json::string_view(text.data(), end), broken);
        text.remove_prefix(std::min(end + 1, text.size()));
        const json::object* result = broken ? nullptr : line.if_object();
        if (result == nullptr) {
            puts.exit_code = session.complain({"bad_answer"_code, "The server has another version."}, kExitUnreachable);
        } else if (number_of(*result, "status") >= 400) {
            puts.exit_code = session.complain(refusal_of(*result), kExitRefused);
        } else {
            const std::string_view state = word_of(*result, "state");
            puts.created += number_of(*result, "status") == 201 ? 1 : 0;
            puts.ready += state == "ready" ? 1 : 0;
            if (state == "cancelled" || state == "expired") puts.cancelled.push_back(number);
        }
    }
    return puts;
}

// The messages of a response.
std::vector<const json::object*> demo_rows(const ServerAnswer& answer) {
    std::vector<const json::object*> rows;
    const json::value* messages = answer.members.if_contains("messages");
    if (messages == nullptr || !messages->is_array()) return rows;
    for (const json::value& each : messages->get_array()) {
        if (each.is_object()) rows.push_back(&each.get_object());
    }
    return rows;
}

// Leases up to `count` ready messages and does with them what their fate is.
ServerAnswer deal_demo_fate(Session& session, const DemoMessages& batch, int count) {
    const bool stays = batch.fate == DemoFate::kLease;
    const ServerAnswer leased =
        session.ask("POST", session.path("queues", batch.queue, ":lease"),
                    {{"max", count}, {"lease", stays ? "1h" : "1m"}, {"worker", "demo"}, {"wait", "2s"}});
    if (!leased) return leased;
    json::array leases;
    for (const json::object* message : demo_rows(leased)) {
        const json::string token = json_text(word_of(*message, "lease"));
        json::object lease = {{"token", token}};
        if (stays) lease["checkpoint"] = {{"lease", token}};
        if (stays) lease["progress"] = 0.4;
        if (batch.fate == DemoFate::kEnd) lease["result"] = {{"pages", 3 + leases.size()}};
        leases.push_back(std::move(lease));
    }
    if (leases.empty()) return leased;
    json::object request = {{"leases", std::move(leases)}};
    if (batch.fate == DemoFate::kDie) {
        request["reason"] = "the bank refused the refund: account closed";
        request["dead"] = true;
    }
    if (stays) request["lease"] = "1h";
    const char* call = stays                          ? "/v1/leases:extend"
                       : batch.fate == DemoFate::kDie ? "/v1/leases:fail"
                                                      : "/v1/leases:ack";
    return session.ask("POST", call, request);
}

std::string demo_path(const Session& session, const DemoSetting& setting) {
    std::string path = session.path(setting.kind, setting.name);
    return setting.group == nullptr ? path : path + "/groups/" + percent_encode(setting.group);
}

int fill_demo(Session& session, const DemoArguments&) {
    for (const DemoSetting& each : kDemoSettings) {
        const ServerAnswer answer = session.ask_with_text("PUT", demo_path(session, each), each.settings);
        if (!answer) return answer.exit_code;
    }
    int created = 0;
    for (const DemoMessages& batch : kDemoMessages) {
        std::vector<int> numbers;
        for (int number = 0; number < batch.count; ++number) numbers.push_back(number);
        DemoPuts puts = put_demo_messages(session, batch, numbers, "once");
        if (puts.exit_code == kExitDone && !puts.cancelled.empty()) {
            const DemoPuts again = put_demo_messages(session, batch, puts.cancelled, "keep");
            puts.exit_code = again.exit_code;
            puts.created += again.created;
            puts.ready += again.ready;
        }
        if (puts.exit_code != kExitDone) return puts.exit_code;
        created += puts.created;
        if (batch.fate == DemoFate::kWait) continue;
        std::int64_t count = puts.ready;
        if (batch.fate == DemoFate::kLease) {
            const ServerAnswer queue = session.ask("GET", session.path("queues", batch.queue));
            if (!queue) return queue.exit_code;
            count = batch.affected - queue.number("leased");
        }
        if (count <= 0) continue;
        const ServerAnswer dealt = deal_demo_fate(session, batch, static_cast<int>(count));
        if (!dealt) return dealt.exit_code;
    }
    ServerAnswer sum;
    sum.members["put"] = created;
    sum.text = plain_json(sum.members);
    return session.show(sum, [&] {
        std::printf(
            "put %d messages into queues named demo-...: see the dashboard at %s/\n"
            "`duewheel%s demo rm` removes them.\n",
            created, printable(session.server.url).c_str(),
            session.name_space ? (" --namespace " + printable(*session.name_space)).c_str() : "");
    });
}

// Releases the leases of `demo fill`, so that a purge ends their messages at once; purged ones are not listed. One that
// ended meanwhile is no error.
int release_demo_leases(Session& session, const std::string& queue) {
    std::string path = session.path("queues", queue, "/messages");
    add_parameter(path, "state", "leased");
    add_parameter(path, "limit", "1000");
    const ServerAnswer leased = session.ask("GET", path);
    if (!leased) return leased.exit_code;
    json::array leases;
    for (const json::object* row : demo_rows(leased)) {
        const ServerAnswer message = session.get(session.path("messages", word_of(*row, "id")));
        json::error_code broken;
        const std::string checkpoint(message.word("checkpoint"));  // JSON as text
        const json::value kept = json::parse(checkpoint, broken);
        const std::string_view lease = broken || !kept.is_object() ? "" : word_of(kept.get_object(), "lease");
        if (!lease.empty()) leases.push_back(json_text(lease));
    }
    if (leases.empty()) return kExitDone;
    return session.ask("POST", "/v1/leases:release", {{"leases", std::move(leases)}}).exit_code;
}

// Ends all messages of a queue. The server does so after its response; this waits for it.
int empty_demo_queue(Session& session, const std::string& name) {
    constexpr int kPauseMs = 20;
    constexpr int kPauses = 1500;  // half a minute
    const std::string path = session.path("queues", name);
    if (const ServerAnswer queue = session.get(path); !queue) return queue.status == 404 ? kExitDone : queue.exit_code;
    if (const int exit_code = release_demo_leases(session, name); exit_code != kExitDone) return exit_code;
    for (const char* call : {":purge", ":discard"}) {
        if (const ServerAnswer answer = session.ask("POST", path + call); !answer) return answer.exit_code;
    }
    for (int pauses = 0; pauses < kPauses; ++pauses) {
        const ServerAnswer queue = session.get(path);
        if (!queue) return queue.status == 404 ? kExitDone : queue.exit_code;
        const std::int64_t unpurged = queue.number("pending") - queue.number("leased");
        if (unpurged + queue.number("dead") == 0) break;  // those that others have leased end with their leases
        ::poll(nullptr, 0, kPauseMs);
    }
    return kExitDone;
}

int remove_demo(Session& session, const DemoArguments&) {
    int removed = 0;
    int exit_code = kExitDone;  // of what was refused, such as a queue of which a client has leased messages
    // Schedules first, because they put messages; the settings of a queue after those of its groups.
    for (auto each = std::rbegin(kDemoSettings); each != std::rend(kDemoSettings); ++each) {
        if (each->kind == std::string_view("queues") && each->group == nullptr) {
            const int emptied = empty_demo_queue(session, each->name);
            if (emptied != kExitDone) exit_code = emptied;
        }
        const ServerAnswer answer = session.ask("DELETE", demo_path(session, *each));
        if (!answer) exit_code = answer.exit_code;
        if (exit_code == kExitUnreachable) return exit_code;
        removed += is_true(answer.members, "removed") ? 1 : 0;
    }
    if (exit_code != kExitDone) return exit_code;
    ServerAnswer sum;
    sum.members["removed"] = removed != 0;
    sum.text = plain_json(sum.members);
    return session.show(sum, [&] { std::printf("%s\n", removed != 0 ? "demo removed" : "there was no demo"); });
}

}  // namespace

void add_demo(CLI::App& program, Session& session) {
    CLI::App& demo = add_group(program, "demo", "Fill a server with a small shop to look at, and remove it",
                               "duewheel demo fill\n  duewheel demo rm");
    Verb<DemoArguments>(demo, session, "fill",
                        "Put a shop into queues and schedules named demo-...; if repeated, only what is missing",
                        "duewheel demo fill", fill_demo);
    Verb<DemoArguments>(demo, session, "rm",
                        "Remove the queues and schedules of `demo fill`, with all messages that are in them",
                        "duewheel demo rm", remove_demo);
}

}  // namespace duewheel
