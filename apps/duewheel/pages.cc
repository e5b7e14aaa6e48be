#include "pages.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "arguments.h"
#include "base/system_clock.h"
#include "calendar/duration.h"
#include "calendar/instant_text.h"
#include "local_time.h"
#include "net/http_target.h"
#include "plain_json.h"
#include "plain_text.h"
#include "terminal.h"

namespace duewheel {
namespace {

constexpr std::uint64_t kPage = 1000;

struct PagesShown {
    int exit_code = 0;
    bool stopped = false;  // at the limit, and there may be more
};

// Shows each object of the pages.
PagesShown show_pages(Session& session, const Listing& listing,
                      const std::function<void(const boost::json::object&)>& show) {
    std::uint64_t limit = listing.limit;
    std::string cursor;
    while (limit > 0) {
        std::string page = listing.path;
        add_parameter(page, "limit", std::to_string(std::min(limit, kPage)));
        if (!cursor.empty()) add_parameter(page, "cursor", cursor);
        const ServerAnswer answer = session.ask("GET", page);
        if (!answer) return {answer.exit_code};
        const boost::json::value* rows =
            answer.members.if_contains(boost::json::string_view(listing.member.data(), listing.member.size()));
        if (rows == nullptr || !rows->is_array()) {
            return {
                session.complain({"bad_answer", "The server's response has no list: the server has another version."},
                                 kExitUnreachable)};
        }
        for (const boost::json::value& row : rows->get_array()) {
            if (limit == 0 || !row.is_object()) break;
            show(row.get_object());
            --limit;
        }
        cursor = answer.word("cursor");
        if (cursor.empty()) break;
    }
    return {kExitDone, limit == 0 && !cursor.empty()};
}

}  // namespace

void StretchArguments::add_to(CLI::App& verb, std::string_view what) {
    const std::string stands = std::string(what);
    CLI::Option* first = verb.add_option(
        "--from", from, stands + " at this time or later: 2027-01-01T06:00, 10m (from now), or =-10m (ago)");
    CLI::Option* last = verb.add_option("--to", to, stands + " before this time; in the format of --from");
    first->type_name("TIME");
    last->type_name("TIME");
    verb.add_option("--zone,--tz", zone,
                    "Time zone of --from and --to, such as Europe/Oslo; default: this machine's zone")
        ->type_name("ZONE");
    takes_limit(verb, limit);
}

Result<InstantMs> StretchArguments::instant(const std::string& text) const {
    const bool ago = text.starts_with('-');
    const Result<std::int64_t> apart = parse_duration(ago ? std::string_view(text).substr(1) : std::string_view(text));
    if (!apart) {
        Result<InstantMs> instant = parse_local_instant(text, zone);
        if (instant || instant.error().field != "--due") return instant;
        return Error{instant.error().code, instant.error().message + " A duration such as 10m counts from now.", ""};
    }
    const InstantMs then = wall_now_ms() + (ago ? -*apart : *apart);
    return std::max<InstantMs>(then, 0);
}

// The library's own check of a positive number prints its bounds with three hundred digits.
CLI::Option* takes_at_least_one(CLI::Option* option) {
    const auto positive = [](const std::string& text) {
        const bool zero = text.find_first_not_of("0") == text.npos;
        return zero || text.starts_with('-') ? std::string("must be at least 1") : std::string();
    };
    return option->check(CLI::Validator(positive, ""))->capture_default_str();
}

void takes_limit(CLI::App& verb, std::uint64_t& limit) {
    takes_at_least_one(verb.add_option("--limit", limit, "Maximum number of lines"));
}

void add_parameter(std::string& path, std::string_view name, std::string_view value) {
    path += path.find('?') == std::string::npos ? '?' : '&';
    path.append(name).append("=").append(percent_encode(value));
}

void add_parameter(std::string& path, std::string_view name, const std::vector<std::string>& values) {
    std::string joined;
    for (const std::string& value : values) joined += (joined.empty() ? "" : ",") + value;
    if (!values.empty()) add_parameter(path, name, joined);
}

Status StretchArguments::add_parameters(std::string& path, std::string_view from_name, std::string_view to_name) const {
    for (const auto& [name, text] : {std::pair(from_name, from), std::pair(to_name, to)}) {
        if (!text) continue;
        const Result<InstantMs> at = instant(*text);
        if (!at) return at.error();
        add_parameter(path, name, format_instant(*at));
    }
    return {};
}

void add_listing(CLI::App& group, Session& session, const char* description, const char* example,
                 int (*run)(Session&, const LimitArguments&)) {
    Verb<LimitArguments> verb(group, session, "list", description, example, run);
    takes_limit(*verb.app, verb.options->limit);
}

int show_list(Session& session, const Listing& listing,
              const std::function<std::vector<std::string>(const boost::json::object&)>& row_of) {
    Rows rows = {listing.heading};
    const PagesShown shown = show_pages(session, listing, [&](const boost::json::object& object) {
        if (session.json) return void(std::printf("%s\n", printable_json(plain_json(object)).c_str()));
        rows.push_back(row_of(object));
    });
    if (session.json) return shown.exit_code;
    if (rows.size() == 1) {
        if (shown.exit_code == kExitDone) std::printf("%s\n", listing.none);
        return shown.exit_code;
    }
    std::printf("%s", table(rows, listing.cut, output_columns()).c_str());
    if (shown.stopped) std::printf("stopped after %zu: increase --limit to see more\n", rows.size() - 1);
    return shown.exit_code;
}

}  // namespace duewheel
