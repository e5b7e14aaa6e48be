// duewheel put: puts a message, or many. duewheel prepare: puts a message that waits for a commit.
#include <algorithm>
#include <cstdio>
#include <string_view>
#include <vector>

#include "arguments.h"
#include "body_argument.h"
#include "calendar/instant_text.h"
#include "header_arguments.h"
#include "local_time.h"
#include "plain_text.h"
#include "put_lines.h"
#include "repeat_arguments.h"
#include "retry_arguments.h"
#include "transaction_arguments.h"
#include "verbs.h"

namespace duewheel {
namespace {

// The arguments of `put` and `prepare`.
struct MessageArguments {
    std::string queue;
    BodyArgument body;
    WhenArguments when;
    std::optional<std::string> expires_in;
    std::optional<std::string> expires;
    std::optional<std::string> order_key;
    std::optional<std::int32_t> priority;
    RetryArguments retry;
    std::optional<std::string> key;
    std::string traceparent;
    std::vector<std::string> headers;  // "name=value"

    void add_to(CLI::App& verb);
};

struct PutArguments : MessageArguments {
    std::optional<std::string> lines;  // many messages instead: the file with one JSON object a line
    std::uint32_t batch = 1'000;       // lines in a request
    RepeatArguments repeat;
    bool held = false;
};

struct PrepareArguments : MessageArguments {
    TransactionArguments transaction;
};

// Adds the expiry of the message; a local time is in the zone of --due, if that is given.
Status put_expiry_into(const MessageArguments& arguments, boost::json::object& request) {
    if (arguments.expires_in) request["expires_in"] = *arguments.expires_in;
    if (!arguments.expires) return {};
    const Result<InstantMs> instant = parse_local_instant(*arguments.expires, arguments.when.zone);
    if (!instant) return Error{instant.error().code, instant.error().message, "--expires"};
    request["expires"] = format_instant(*instant);
    return {};
}

// `request`: the members that only this verb sets.
int put_message(Session& session, const MessageArguments& arguments, boost::json::object request) {
    if (Status read = put_headers_into(arguments.headers, request); !read) {
        return session.complain(read.error(), kExitUsage);
    }
    if (Status read = arguments.retry.put_into(request); !read) return session.complain(read.error(), kExitUsage);
    if (Status read = arguments.when.put_into(request); !read) return session.complain(read.error(), kExitUsage);
    if (Status read = put_expiry_into(arguments, request); !read) return session.complain(read.error(), kExitUsage);
    if (arguments.order_key) request["order_key"] = json_text(*arguments.order_key);
    if (Status read = arguments.body.put_into(request); !read) return session.complain(read.error(), kExitUsage);
    if (arguments.priority) request["priority"] = *arguments.priority;
    if (arguments.key) request["key"] = *arguments.key;
    const ServerAnswer answer = session.ask("POST", session.path("queues", arguments.queue, "/messages"), request);
    if (!answer) return answer.exit_code;
    return session.show(answer, [&] {
        std::printf("%s  %s, due %s\n", printable(answer.word("id")).c_str(), printable(answer.word("state")).c_str(),
                    format_when(answer.number("due_ms")).c_str());
    });
}

int put(Session& session, const PutArguments& arguments) {
    if (!arguments.traceparent.empty()) session.trace(arguments.traceparent);
    if (arguments.lines) return put_lines(session, arguments.queue, *arguments.lines, arguments.batch);
    if (!arguments.body.is_given()) {
        return session.complain({"missing_body", "Give the content as BODY, or --ndjson FILE for many messages."},
                                kExitUsage);
    }
    boost::json::object request;
    if (Status read = arguments.repeat.put_into(arguments.when.zone, request); !read) {
        return session.complain(read.error(), kExitUsage);
    }
    if (arguments.held) request["held"] = true;
    return put_message(session, arguments, std::move(request));
}

int prepare(Session& session, const PrepareArguments& arguments) {
    if (!arguments.traceparent.empty()) session.trace(arguments.traceparent);
    boost::json::object request;
    arguments.transaction.put_into(request);
    return put_message(session, arguments, std::move(request));
}

// Lets --ndjson exclude all options except `others`: its lines have the members that the options would set.
void exclude_all_but(CLI::App& verb, CLI::Option* lines, const std::vector<CLI::Option*>& others) {
    for (CLI::Option* each : verb.get_options()) {
        const bool goes_together = each == lines || each == verb.get_help_ptr() ||
                                   std::find(others.begin(), others.end(), each) != others.end();
        if (!goes_together) lines->excludes(each);
    }
}

// In the form of W3C Trace Context; a server ignores one that it cannot read.
std::string check_traceparent(const std::string& text) {
    const auto is_small_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
    constexpr std::string_view kShape = "hh-hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh-hhhhhhhhhhhhhhhh-hh";
    bool fits = text.size() == kShape.size() && !text.starts_with("ff");
    for (std::size_t i = 0; fits && i < kShape.size(); ++i) {
        fits = kShape[i] == '-' ? text[i] == '-' : is_small_hex(text[i]);
    }
    fits = fits && text.substr(3, 32).find_first_not_of('0') != std::string::npos &&
           text.substr(36, 16).find_first_not_of('0') != std::string::npos;
    return fits ? std::string() : "a traceparent has the form 00-<32 hexadecimal digits>-<16>-<2>, in lower case";
}

void MessageArguments::add_to(CLI::App& verb) {
    verb.add_option("QUEUE", queue, "The queue's name")->required();
    body.add_to(verb, "The content: a text, - for standard input, @FILE for a file");
    when.add_to(verb);
    CLI::Option* duration = verb.add_option("--expires-in", expires_in,
                                            "Expires if it has not been leased within this time: 250ms, 10m, PT1H");
    takes_duration(duration);
    verb.add_option("--expires", expires,
                    "Expires if it has not been leased by this time; format and time zone as for --due")
        ->type_name("TIME")
        ->excludes(duration);
    verb.add_option("--order-key", order_key,
                    "Messages of the queue with the same key are delivered one after the other")
        ->type_name("KEY");
    verb.add_option("--priority", priority, "Due messages with smaller values are delivered first; default 0");
    retry.add_to(verb);
    verb.add_option("--key", key, "Idempotency key: repeating the same request with the same key puts one message");
    verb.add_option("--header", headers, "Header delivered with the message; can be repeated")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
    verb.add_option("--traceparent", traceparent, "W3C trace context, delivered with the message")
        ->type_name("TEXT")
        ->check(CLI::Validator(check_traceparent, ""));
}

}  // namespace

void add_put(CLI::App& program, Session& session) {
    Verb<PutArguments> verb(
        program, session, "put", "Put a message; without --delay or --due it is due at once",
        "duewheel put mail 'Hello' --delay 10m\n"
        "  echo '<p>God morgen</p>' > letter.html\n"
        "  duewheel put mail @letter.html --due 2027-01-01T06:00 --zone Europe/Oslo --header lang=nb\n"
        "  date | duewheel put mail - --delay 1h30m\n"
        "  duewheel put orders '{\"order\": 7}' --json-body --delay 10m\n"
        "  duewheel put mail 'Every hour, five times' --every 1h --times 5\n"
        "  duewheel put mail 'Once or never' --retry-attempts 1\n"
        "  printf '{\"body\":\"one\"}\\n{\"body\":\"two\",\"delay\":\"1h\"}\\n' | duewheel put mail --ndjson -",
        put);
    PutArguments& options = *verb.options;
    options.add_to(*verb.app);
    options.repeat.add_to(*verb.app);
    verb.app->add_flag("--held", options.held, "Hold the message at once: it is not delivered until `kick`");
    CLI::Option* lines = verb.app->add_option(
        "--ndjson", options.lines,
        "Instead of BODY: a file of messages, one JSON object per line as in the HTTP API; - for standard input");
    lines->type_name("FILE");
    CLI::Option* batch =
        verb.app->add_option("--batch", options.batch, "Messages per request with --ndjson; default 1000");
    batch->check(CLI::Range(1, 1'000'000))->needs(lines);
    exclude_all_but(*verb.app, lines, {verb.app->get_option("QUEUE"), verb.app->get_option("--traceparent"), batch});
}

void add_prepare(CLI::App& program, Session& session) {
    Verb<PrepareArguments> verb(
        program, session, "prepare", "Put a prepared message: it is not delivered until `commit`",
        "ID=$(duewheel prepare mail 'Your order' --answer-in 10m --json | sed -E 's/.*\"id\":\"([0-9]+)\".*/\\1/')\n"
        "  duewheel commit \"$ID\"\n"
        "  duewheel prepare mail 'Tomorrow' --delay 1d --answer-in 1m --check-queue checks --check-times 3",
        prepare);
    verb.options->add_to(*verb.app);
    verb.app->get_option("BODY")->required();
    verb.options->transaction.add_to(*verb.app);
}

}  // namespace duewheel
