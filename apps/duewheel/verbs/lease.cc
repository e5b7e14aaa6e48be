// duewheel lease: leases due messages, to be ended with ack, fail or release before the lease expires; or runs a
// command for each of them (work.h).
#include <cstdio>

#include "arguments.h"
#include "calendar/duration.h"
#include "field_options.h"
#include "http_api/fields/lease_rows.h"
#include "local_time.h"
#include "plain_text.h"
#include "verbs.h"
#include "work.h"

namespace duewheel {
namespace {

struct LeaseArguments {
    std::string queue;
    FieldOptions members;
    std::optional<std::string> command;
    std::optional<std::uint32_t> jobs;
    bool drain = false;
    bool result = false;
};

constexpr std::size_t kShownLettersMax = 2000;
constexpr std::chrono::seconds kPatience{30};  // in addition to the requested wait

// The body is printed on one line: otherwise a body with line breaks could look like the next message.
void print_delivery(const boost::json::object& message) {
    Rows rows = {
        {"message", printable(word_of(message, "id"))},
        {"due", format_local(number_of(message, "due_ms")) + ", waited " + format_span(number_of(message, "wait_ms")) +
                    ", " + format_span(number_of(message, "lateness_ms")) + " late, attempt " +
                    std::to_string(number_of(message, "attempt"))},
        {"leased until", format_when(number_of(message, "lease_until_ms"))},
    };
    const std::pair<const char*, const char*> makers[] = {
        {"schedule", "schedule"}, {"watchdog", "watchdog"}, {"loop", "parent"}};
    for (const auto& [what, member] : makers) {
        if (!message.contains(member)) continue;
        const std::int64_t occurrence = number_of(message, "occurrence");
        const std::string number = occurrence == 0 ? "by hand" : "number " + std::to_string(occurrence);
        rows.push_back({"created by", std::string(what) + " " + printable(word_of(message, member)) + ", " + number});
        break;
    }
    if (const std::string_view checkpoint = word_of(message, "checkpoint"); !checkpoint.empty()) {
        rows.push_back({"checkpoint", printable(checkpoint, kShownLettersMax)});
    }
    if (is_true(message, "maybe_delivered")) rows.push_back({"", "may have been delivered before"});
    if (const boost::json::object* check = object_of(message, "check")) {
        rows.push_back({"check of", printable(word_of(*check, "message")) + ", number " +
                                        std::to_string(number_of(*check, "number")) + " of " +
                                        std::to_string(number_of(*check, "times")) + ", otherwise " +
                                        printable(word_of(*check, "otherwise"))});
    }
    if (const boost::json::object* headers = object_of(message, "headers")) {
        for (const auto& [name, value] : *headers) {
            const std::string text = value.is_string() ? value.get_string().c_str() : plain_json(value);
            rows.push_back({"header", printable({name.data(), name.size()}) + "=" + printable(text)});
        }
    }
    for (const auto& [member, label] :
         {std::pair("body", "body"), std::pair("json", "json"), std::pair("body_base64", "body (base64)")}) {
        if (message.contains(member)) rows.push_back({label, printable(word_of(message, member), kShownLettersMax)});
    }
    rows.push_back({"lease", printable(word_of(message, "lease"))});
    std::printf("%s", fields(rows).c_str());
}

void print_all(const ServerAnswer& answer) {
    const boost::json::value* messages = answer.members.if_contains("messages");
    if (messages == nullptr || !messages->is_array() || messages->get_array().empty()) {
        std::printf("no message is due\n");
        return;
    }
    bool first = true;
    for (const boost::json::value& message : messages->get_array()) {
        if (!message.is_object()) continue;
        if (!first) std::printf("\n");
        first = false;
        print_delivery(message.get_object());
    }
}

int lease(Session& session, const LeaseArguments& arguments) {
    boost::json::object request;
    arguments.members.put_into(request);
    if (arguments.command) {
        WorkArguments work_arguments{.queue = arguments.queue, .command = *arguments.command};
        work_arguments.lease = word_of(request, "lease");
        work_arguments.worker = word_of(request, "worker");
        work_arguments.jobs = arguments.jobs.value_or(1);
        work_arguments.drain = arguments.drain;
        work_arguments.result = arguments.result;
        return work(session, work_arguments);
    }
    std::chrono::milliseconds patience = kPatience;
    if (request.contains("wait")) {
        // Beyond an hour the server refuses at once.
        const std::int64_t wait_ms = parse_duration(word_of(request, "wait")).value();
        patience += std::chrono::milliseconds(std::min<std::int64_t>(wait_ms, 3'600'000));
    }
    const ServerAnswer answer =
        session.ask("POST", session.path("queues", arguments.queue, ":lease"), request, patience);
    if (!answer) return answer.exit_code;
    return session.show(answer, [&] { print_all(answer); });
}

}  // namespace

void add_lease(CLI::App& program, Session& session) {
    Verb<LeaseArguments> verb(program, session, "lease", "Lease due messages; end the lease with ack, fail or release",
                              "duewheel put mail 'Hello'\n"
                              "  duewheel lease mail --max 10 --lease 1m --wait 20s",
                              lease);
    LeaseArguments& options = *verb.options;
    verb.app->add_option("QUEUE", options.queue, "The queue's name")->required();
    options.members.add_to(*verb.app, fields_of<LeaseCommand>().rows());
    CLI::Option* command =
        verb.app
            ->add_option("--exec", options.command,
                         "Run this shell command for each message, with the body on standard input and "
                         "DUEWHEEL_MESSAGE_ID, _ATTEMPT, _HEADERS and others in its environment; ack the message if "
                         "the command exits with 0, otherwise fail it with the last lines of standard error. The "
                         "command may write lines `progress JSON` and `checkpoint JSON` to DUEWHEEL_PROGRESS_FILE; the "
                         "next attempt gets the checkpoint as DUEWHEEL_CHECKPOINT")
            ->type_name("COMMAND")
            ->check(CLI::Validator(
                [](const std::string& text) {
                    // A shell runs an empty command successfully, so every message would be acknowledged.
                    const bool blank = text.find_first_not_of(" \t\n\r") == text.npos;
                    return blank ? std::string("the command is empty, so every message would be acknowledged")
                                 : std::string();
                },
                ""))
            ->excludes(options.members.at("max"))
            ->excludes(options.members.at("min"))
            ->excludes(options.members.at("wait"));
    verb.app->add_option("--jobs", options.jobs, "Number of commands that run at the same time; default 1")
        ->check(CLI::Range(1, 256))
        ->needs(command);
    verb.app->add_flag("--drain", options.drain, "Exit when no message is due")->needs(command);
    verb.app
        ->add_flag("--result", options.result,
                   "The standard output of a command that exits with 0 is the result of its message: JSON as it is, "
                   "otherwise a JSON string")
        ->needs(command);
}

}  // namespace duewheel
