// duewheel put: puts a message, or many from a file. duewheel prepare: puts a message that waits for a commit.
#include <algorithm>
#include <cstdio>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "arguments.h"
#include "base/error_codes.h"
#include "calendar/instant_text.h"
#include "content.h"
#include "field_options.h"
#include "http_api/fields/put_rows.h"
#include "local_time.h"
#include "plain_text.h"
#include "resource/retry_fields.h"
#include "verbs.h"

namespace duewheel {
namespace {

namespace json = boost::json;

struct PutArguments {
    std::string queue;
    ContentArguments content;
    WhenArguments when;
    FieldOptions members;
    std::string traceparent;
    std::optional<std::string> lines;  // many messages instead: the file with one JSON object a line
    std::uint32_t batch = 1'000;       // lines in a request

    // `except`: members of a put without an option.
    void add_to(CLI::App& verb, std::initializer_list<std::string_view> except);
};

// The default limit of a request's size; a longer line is sent alone.
constexpr std::size_t kRequestBytes = std::size_t{4} << 20;
// Lines of a request, and the number of the first one in the file.
struct Request {
    std::string lines;
    std::size_t count = 0;
    std::size_t first = 1;
};

// What became of the message of its key, if there was one.
const char* note_of(const json::object& answer) {
    if (answer.contains("kept")) return ", kept";
    if (answer.contains("replaced")) return ", replaced";
    if (answer.contains("ended")) return ", ended: nothing was put; --on-key keep puts a new message";
    return "";
}

// Prints the outcome of each; returns whether all were put.
bool print_results(const Session& session, const Request& request, std::string_view answer) {
    bool all_put = true;
    for (std::size_t line = request.first; !answer.empty(); ++line) {
        const std::size_t end = std::min(answer.find('\n'), answer.size());
        const std::string result(answer.substr(0, end));
        answer.remove_prefix(std::min(end + 1, answer.size()));
        boost::json::error_code broken;
        const boost::json::value value = boost::json::parse(result, broken);
        const boost::json::object none;
        const boost::json::object& members = !broken && value.is_object() ? value.get_object() : none;
        const bool was_put = !word_of(members, "id").empty();
        all_put &= was_put;
        if (session.json) {
            std::printf("%s\n", printable_json(result).c_str());
        } else if (was_put) {
            std::printf("%s  %s, due %s%s\n", printable(word_of(members, "id")).c_str(),
                        printable(word_of(members, "state")).c_str(), format_when(number_of(members, "due_ms")).c_str(),
                        note_of(members));
        } else {
            std::printf("line %zu: refused: %s (%s)\n", line, printable(word_of(members, "detail")).c_str(),
                        printable(word_of(members, "code")).c_str());
        }
    }
    std::fflush(stdout);
    return all_put;
}

// Puts the lines of `file` ("-": standard input), up to `batch` of them in a request and therefore in one sync of the
// disk, and prints a result for each line when its request is answered. The result is a refusal if any line was
// refused; the other lines are put. A request that is refused or not answered as a whole ends it, and standard error
// names the first line of that request.
int put_lines(Session& session, const std::string& queue, const std::string& file, std::size_t batch) {
    const std::string path = session.path("queues", queue, "/messages:batch");
    LineFile lines(file);
    Request request;
    int exit_code = kExitDone;
    // False if the whole request failed.
    const auto send = [&] {
        if (request.count == 0) return true;
        const ServerAnswer answer = session.look_up_lines(path, request.lines);
        if (!answer) {
            const std::size_t last = request.first + request.count - 1;
            const char* what =
                answer.exit_code == kExitUnreachable ? "it is unknown whether they were put" : "none of them was put";
            std::fprintf(stderr, "duewheel: Stopped at lines %zu to %zu: %s. No later line was sent.\n", request.first,
                         last, what);
            exit_code = answer.exit_code;
            return false;
        }
        if (!print_results(session, request, answer.text)) exit_code = kExitRefused;
        request = {{}, 0, request.first + request.count};
        return true;
    };
    for (;;) {
        const Result<std::optional<std::string_view>> line = lines.next();
        if (!line) {  // the lines before it are complete
            if (!send()) return exit_code;
            return session.complain(line.error(), request.first == 1 ? kExitUsage : kExitRefused);
        }
        if (!*line) return static_cast<void>(send()), exit_code;
        const bool is_full = request.count == batch || request.lines.size() + (*line)->size() + 1 > kRequestBytes;
        if (is_full && !send()) return exit_code;
        request.lines.append(**line) += '\n';
        ++request.count;
    }
}

// Makes an instant of a local time, in the zone of --due if that is given.
Status read_instant(json::object& object, std::string_view member, const PutArguments& arguments) {
    if (!object.contains({member.data(), member.size()})) return {};
    const Result<InstantMs> instant = parse_local_instant(word_of(object, member), arguments.when.zone);
    if (!instant) return Error{instant.error().code, instant.error().message, "--" + std::string(member)};
    object[{member.data(), member.size()}] = format_instant(*instant);
    return {};
}

Status read_message(const PutArguments& arguments, json::object& request) {
    arguments.members.put_into(request);
    if (Status read = arguments.when.put_into(request); !read) return read;
    if (Status read = read_instant(request, "expires", arguments); !read) return read;
    if (json::value* repeat = request.if_contains("repeat")) {
        if (Status read = read_instant(repeat->as_object(), "until", arguments); !read) return read;
    }
    return arguments.content.put_into(request);
}

int put(Session& session, const PutArguments& arguments) {
    if (!arguments.traceparent.empty()) session.trace(arguments.traceparent);
    if (arguments.lines) return put_lines(session, arguments.queue, *arguments.lines, arguments.batch);
    if (!arguments.content.is_given()) {
        return session.complain({"missing_body"_code, "Give the content as BODY, or --ndjson FILE for many messages."},
                                kExitUsage);
    }
    json::object request;
    if (Status read = read_message(arguments, request); !read) return session.complain(read.error(), kExitUsage);
    const ServerAnswer answer = session.ask("POST", session.path("queues", arguments.queue, "/messages"), request);
    if (!answer) return answer.exit_code;
    return session.show(answer, [&] {
        std::printf("%s  %s, due %s%s\n", printable(answer.word("id")).c_str(), printable(answer.word("state")).c_str(),
                    format_when(answer.number("due_ms")).c_str(), note_of(answer.members));
    });
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

void PutArguments::add_to(CLI::App& verb, std::initializer_list<std::string_view> except) {
    verb.add_option("QUEUE", queue, "The queue's name")->required();
    content.add_to(verb, "The content: a text, - for standard input, @FILE for a file");
    when.add_to(verb);
    members.add_to(verb, fields_of<PutCommand>().rows(), {}, except);
    members.at("expires")->excludes(members.at("expires_in"));
    members.add_to(verb, fields_of<RetryChoice>().rows(), "retry.");
    verb.add_option("--traceparent", traceparent, "W3C trace context, delivered with the message")
        ->type_name("TEXT")
        ->check(CLI::Validator(check_traceparent, ""));
}

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
        "  duewheel put index 'page 7' --key 'page 7' --on-key replace --delay 10s --within 5m\n"
        "  printf '{\"body\":\"one\"}\\n{\"body\":\"two\",\"delay\":\"1h\"}\\n' | duewheel put mail --ndjson -",
        put);
    PutArguments& options = *verb.options;
    options.add_to(*verb.app, {"transaction"});
    for (const char* other : {"repeat.times", "repeat.factor", "repeat.until"}) {
        options.members.at(other)->needs(options.members.at("repeat.every"));
    }
    options.members.at("repeat.max")->needs(options.members.at("repeat.factor"));
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
    Verb<PutArguments> verb(
        program, session, "prepare", "Put a prepared message: it is not delivered until `commit`",
        "ID=$(duewheel prepare mail 'Your order' --answer-in 10m --json | sed -E 's/.*\"id\":\"([0-9]+)\".*/\\1/')\n"
        "  duewheel commit \"$ID\"\n"
        "  duewheel prepare mail 'Tomorrow' --delay 1d --answer-in 1m --check-queue checks --check-times 3",
        put);
    verb.options->add_to(*verb.app, {"repeat", "held", "within"});
    verb.app->get_option("BODY")->required();
    FieldOptions& members = verb.options->members;
    members.at("transaction.check_back.after")->required();
    members.at("transaction.check_back.times")->needs(members.at("transaction.check_back.queue"));
}

}  // namespace

void add_put_verbs(CLI::App& program, Session& session) {
    add_put(program, session);
    add_prepare(program, session);
}

}  // namespace duewheel
