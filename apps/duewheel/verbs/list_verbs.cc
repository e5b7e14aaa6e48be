// The verbs that show many messages of a queue: duewheel list, history and forecast.
#include <algorithm>
#include <cstdio>

#include "arguments.h"
#include "base/error_codes.h"
#include "local_time.h"
#include "plain_text.h"
#include "resource_verbs.h"
#include "shared/system_clock.h"
#include "terminal.h"
#include "verbs.h"

namespace duewheel {
namespace {

struct ListArguments {
    std::string queue;
    std::vector<std::string> states;
    StretchArguments stretch;
};

// When and why a dead letter died: its due time has passed and no longer matters.
// The exception stands at the end of a stack trace.
std::string_view last_line(std::string_view text) {
    const std::size_t end = text.find_last_not_of(" \t\r\n");
    text = text.substr(0, end == text.npos ? 0 : end + 1);
    return text.substr(text.find_last_of("\r\n") + 1);
}

std::vector<std::string> dead_row_of(const boost::json::object& message, InstantMs now) {
    const std::int64_t ended = number_of(message, "ended_ms");
    return {printable(word_of(message, "id")), format_local(ended), format_relative(ended, now),
            std::to_string(number_of(message, "attempts")), printable(last_line(word_of(message, "reason")))};
}

std::vector<std::string> row_of(const boost::json::object& message, InstantMs now) {
    const std::int64_t due = number_of(message, "due_ms");
    return {printable(word_of(message, "id")),
            printable(word_of(message, "state")),
            format_local(due),
            format_relative(due, now),
            std::to_string(number_of(message, "attempts")),
            std::to_string(number_of(message, "priority"))};
}

int list(Session& session, const ListArguments& arguments) {
    std::string path = session.path("queues", arguments.queue, "/messages");
    add_parameter(path, "state", arguments.states);
    if (Status added = arguments.stretch.add_parameters(path, "due_after", "due_before"); !added) {
        return session.complain(added.error(), kExitUsage);
    }
    const InstantMs now = wall_now_ms();
    Listing listing = {.path = path,
                       .member = "messages",
                       .limit = arguments.stretch.limit,
                       .heading = {"id", "state", "due", "", "tries", "prio"},
                       .cut = 2,
                       .none = "no such messages"};
    if (arguments.states != std::vector<std::string>{"dead"}) {
        return show_list(session, listing, [&](const auto& message) { return row_of(message, now); });
    }
    listing.heading = {"id", "died", "", "tries", "reason"};
    listing.cut = 4;
    return show_list(session, listing, [&](const auto& message) { return dead_row_of(message, now); });
}

struct HistoryArguments {
    std::string queue;
    std::optional<std::string> id;
    std::vector<std::string> outcomes;
    StretchArguments stretch;
};

std::vector<std::string> row_of_ended(const boost::json::object& ended) {
    const bool delivered = ended.contains("lateness_ms");
    return {printable(word_of(ended, "id")),
            printable(word_of(ended, "outcome")),
            printable(word_of(ended, "cause")),
            format_local(number_of(ended, "ended_ms")),
            delivered ? format_span(number_of(ended, "wait_ms")) : "-",
            delivered ? format_span(number_of(ended, "lateness_ms")) : "-",
            std::to_string(number_of(ended, "attempts"))};
}

int history(Session& session, const HistoryArguments& arguments) {
    std::string path = session.path("history");
    add_parameter(path, "queue", arguments.queue);
    if (arguments.id) add_parameter(path, "id", *arguments.id);
    add_parameter(path, "outcome", arguments.outcomes);
    if (Status added = arguments.stretch.add_parameters(path, "from", "to"); !added) {
        return session.complain(added.error(), kExitUsage);
    }
    return show_list(session,
                     {.path = path,
                      .member = "ended",
                      .limit = arguments.stretch.limit,
                      .heading = {"id", "outcome", "cause", "ended", "waited", "late", "tries"},
                      .cut = 2,
                      .none = "no message like this has ended"},
                     row_of_ended);
}

namespace json = boost::json;

struct ForecastArguments {
    std::optional<std::string> queue;
    std::uint64_t minutes = 60;
};

constexpr std::int64_t kMinuteMs = 60'000;
constexpr std::size_t kLinesMax = 60;
constexpr std::size_t kBarMost = 60;

// The minutes of one line: one or, in a long forecast, several.
struct Bar {
    std::int64_t start_ms = 0;
    std::int64_t due = 0;
    bool at_least = false;
};

// The smallest number of minutes per line with which all lines fit, and which divides an hour.
std::int64_t minutes_a_line(std::size_t minutes) {
    for (const std::int64_t few : {1, 2, 5, 10, 15, 20, 30}) {
        if (minutes <= kLinesMax * static_cast<std::size_t>(few)) return few;
    }
    return 60;
}

std::vector<Bar> bars_of(const json::array& minutes) {
    const std::int64_t line_ms = minutes_a_line(minutes.size()) * kMinuteMs;
    std::vector<Bar> bars;
    for (const json::value& value : minutes) {
        if (!value.is_object()) continue;
        const json::object& minute = value.get_object();
        const std::int64_t start_ms = number_of(minute, "start_ms");
        if (bars.empty() || bars.back().start_ms / line_ms != start_ms / line_ms)
            bars.push_back({.start_ms = start_ms});
        bars.back().due += number_of(minute, "due");
        bars.back().at_least |= minute.contains("at_least");
    }
    return bars;
}

// "2027-01-01 06:00", without the date if it is that of the line above.
std::string label(std::int64_t at_ms, std::string& date) {
    const std::string local = format_local(at_ms);
    const std::string day = local.substr(0, 10);
    const bool is_new = day != date;
    date = day;
    return (is_new ? day : std::string(day.size(), ' ')) + local.substr(10, 6);
}

void print_bars(const std::vector<Bar>& bars) {
    std::int64_t most = 1;
    std::size_t digits = 1;
    for (const Bar& bar : bars) {
        most = std::max(most, bar.due);
        digits = std::max(digits, std::to_string(bar.due).size());
    }
    const std::size_t used = 16 + 2 + digits + 2;
    const std::size_t columns = std::max(std::min(output_columns(), used + kBarMost), used + 10) - used;
    std::string date;
    for (const Bar& bar : bars) {
        const std::string due = std::to_string(bar.due);
        // A count above 0 always has a bar, and only the maximum has the longest.
        const auto length = static_cast<std::size_t>(static_cast<double>(bar.due) * static_cast<double>(columns) /
                                                     static_cast<double>(most));
        const std::string drawn(bar.due == 0 ? 0 : std::max<std::size_t>(length, 1), '#');
        std::string line = label(bar.start_ms, date) + "  " + std::string(digits - due.size(), ' ') + due;
        if (bar.at_least || !drawn.empty()) line += (bar.at_least ? "+ " : "  ") + drawn;
        std::printf("%s\n", line.c_str());
    }
}

// "9 scheduled, 1 retrying": the counts that are not 0.
std::string kinds_of(const json::object& total) {
    std::string words;
    for (const auto& [member, name] : {std::pair("scheduled", "scheduled"),
                                       {"retrying", "retrying"},
                                       {"recurring", "of recurring messages"},
                                       {"runs", "runs of schedules"}}) {
        const std::int64_t count = number_of(total, member);
        if (count != 0) words += (words.empty() ? "" : ", ") + std::to_string(count) + " " + name;
    }
    return words;
}

void print_forecast(const json::object& forecast) {
    const json::value* minutes = forecast.if_contains("minutes");
    const json::value* total = forecast.if_contains("total");
    if (minutes == nullptr || !minutes->is_array() || total == nullptr || !total->is_object()) return;
    const bool is_exact = is_true(forecast, "exact");
    const std::int64_t due = number_of(total->get_object(), "due");
    const std::size_t count = minutes->get_array().size();
    const std::string span = count == 1 ? "this minute" : "the next " + std::to_string(count) + " minutes";
    if (due == 0 && is_exact) return void(std::printf("nothing becomes due in %s\n", span.c_str()));
    print_bars(bars_of(minutes->get_array()));
    std::printf("%s%lld due in %s: %s\n", is_exact ? "" : "at least ", static_cast<long long>(due), span.c_str(),
                due == 0 ? "more than was counted" : kinds_of(total->get_object()).c_str());
    if (!is_exact) std::printf("a + means that there may be more: not everything was counted\n");
}

int forecast(Session& session, const ForecastArguments& arguments) {
    std::string path = session.path("forecast");
    if (arguments.queue) add_parameter(path, "queue", *arguments.queue);
    add_parameter(path, "minutes", std::to_string(arguments.minutes));
    const ServerAnswer answer = session.ask("GET", path);
    if (!answer) return answer.exit_code;
    return session.show(answer, [&] { print_forecast(answer.members); });
}

void add_choice(CLI::App& verb, const char* name, std::vector<std::string>& chosen, const char* help,
                const char* type) {
    verb.add_option(name, chosen, std::string("Only these, separated by commas: ") + help)
        ->delimiter(',')
        ->type_name(type);
}

void add_list(CLI::App& program, Session& session) {
    Verb<ListArguments> verb(program, session, "list",
                             "List the pending messages of a queue by due time; with --json one per line",
                             "duewheel list mail --state ready,leased --to 1h --limit 20", list);
    ListArguments& options = *verb.options;
    verb.app->add_option("QUEUE", options.queue, "The queue's name")->required();
    add_choice(*verb.app, "--state", options.states,
               "prepared, scheduled, ready, leased, retrying, held; or dead alone", "STATE");
    options.stretch.add_to(*verb.app, "Due");
}

void add_history(CLI::App& program, Session& session) {
    Verb<HistoryArguments> verb(program, session, "history",
                                "Show how the messages of a queue ended, oldest first; with --json one per line",
                                "duewheel history mail --from=-1h --outcome done,expired", history);
    HistoryArguments& options = *verb.options;
    verb.app->add_option("QUEUE", options.queue, "The queue's name")->required();
    verb.app
        ->add_option("--id", options.id, "Only this message; history is kept longer than `get` shows ended messages")
        ->type_name("ID");
    add_choice(*verb.app, "--outcome", options.outcomes, "done, cancelled, expired, dead", "OUTCOME");
    options.stretch.add_to(*verb.app, "Ended");
}

void add_forecast(CLI::App& program, Session& session) {
    Verb<ForecastArguments> verb(
        program, session, "forecast",
        "Show how many messages become due in each of the next minutes, in one queue or in all",
        "duewheel forecast mail --minutes 30", forecast);
    ForecastArguments& options = *verb.options;
    verb.app->add_option("QUEUE", options.queue, "Name of the queue; default: all queues of the namespace");
    takes_at_least_one(verb.app->add_option("--minutes", options.minutes, "Number of minutes, up to those of a day"));
}

}  // namespace

void add_list_verbs(CLI::App& program, Session& session) {
    add_list(program, session);
    add_history(program, session);
    add_forecast(program, session);
}

}  // namespace duewheel
