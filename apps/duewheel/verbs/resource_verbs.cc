#include "resource_verbs.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/error_codes.h"
#include "calendar/instant_text.h"
#include "local_time.h"
#include "net/http/http_target.h"
#include "plain_text.h"
#include "terminal.h"

namespace duewheel {
namespace {

namespace json = boost::json;

constexpr std::uint64_t kPage = 1000;

struct PagesShown {
    int exit_code = 0;
    bool stopped = false;  // at the limit, and there may be more
};

PagesShown show_pages(Session& session, const Listing& listing, const std::function<void(const json::object&)>& show) {
    std::uint64_t limit = listing.limit;
    std::string cursor;
    while (limit > 0) {
        std::string page = listing.path;
        add_parameter(page, "limit", std::to_string(std::min(limit, kPage)));
        if (!cursor.empty()) add_parameter(page, "cursor", cursor);
        const ServerAnswer answer = session.ask("GET", page);
        if (!answer) return {answer.exit_code};
        const json::value* rows =
            answer.members.if_contains(json::string_view(listing.member.data(), listing.member.size()));
        if (rows == nullptr || !rows->is_array()) {
            return {session.complain(
                {"bad_answer"_code, "The server's response has no list: the server has another version."},
                kExitUnreachable)};
        }
        for (const json::value& row : rows->get_array()) {
            if (limit == 0 || !row.is_object()) break;
            show(row.get_object());
            --limit;
        }
        cursor = answer.word("cursor");
        if (cursor.empty()) break;
    }
    return {kExitDone, limit == 0 && !cursor.empty()};
}

struct NamedCall {
    const ResourceKind* kind = nullptr;
    const char* method = nullptr;
    const char* call = nullptr;
    ShowAnswer show = nullptr;
    const char* removed = nullptr;
    const char* absent = nullptr;
    std::string name;
};

struct NamedList {
    const ResourceKind* kind = nullptr;
    Listing listing;
    std::vector<std::string> (*row_of)(const json::object& one) = nullptr;
};

int run_call(Session& session, const NamedCall& verb) {
    return verb.show(session, session.ask(verb.method, verb.kind->path(session, verb.name, verb.call)));
}

int run_rm(Session& session, const NamedCall& verb) {
    const ServerAnswer answer = session.ask("DELETE", verb.kind->path(session, verb.name));
    if (!answer) return answer.exit_code;
    const bool was_there = is_true(answer.members, "removed");
    return session.show(answer, [&] { std::printf("%s\n", was_there ? verb.removed : verb.absent); });
}

int run_list(Session& session, const NamedList& verb) {
    Listing listing = verb.listing;
    listing.path = verb.kind->path(session);
    return show_list(session, listing, verb.row_of);
}

std::string setting_text(const std::string& path, const json::object& settings, std::string_view member,
                         const json::value& value) {
    if (member.ends_with("_ms")) return format_span(number_of(settings, member));
    if (path == "start" || path == "end") {
        if (const Result<InstantMs> instant = parse_instant(word_of(settings, member))) return format_when(*instant);
    }
    if (!value.is_array()) return value.is_string() ? std::string(word_of(settings, member)) : plain_json(value);
    std::string names;
    for (const json::value& each : value.get_array()) {
        names += (names.empty() ? "" : ", ") + (each.is_string() ? each.get_string().c_str() : plain_json(each));
    }
    return names;
}

}  // namespace

int show_list(Session& session, const Listing& listing,
              const std::function<std::vector<std::string>(const json::object&)>& row_of) {
    Rows rows = {listing.heading};
    const PagesShown shown = show_pages(session, listing, [&](const json::object& object) {
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

std::string ResourceKind::path(const Session& session) const {
    return has_namespace ? session.path(call) : "/v1/" + std::string(call);
}

std::string ResourceKind::path(const Session& session, std::string_view name, std::string_view verb) const {
    return path(session) + "/" + percent_encode(name) + std::string(verb);
}

void ResourceVerbs::add(const char* name, const char* description, const std::string& example, const char* method,
                        const char* call, ShowAnswer show) const {
    Verb<NamedCall> verb(group_, session_, name, description, example.c_str(), run_call);
    *verb.options = {.kind = &kind_, .method = method, .call = call, .show = show};
    verb.app->add_option(kind_.placeholder, verb.options->name, kind_.help)->required();
}

void ResourceVerbs::add_rm(const char* description, const std::string& example, const char* removed,
                           const char* absent) const {
    Verb<NamedCall> verb(group_, session_, "rm", description, example.c_str(), run_rm);
    *verb.options = {.kind = &kind_, .removed = removed, .absent = absent};
    verb.app->add_option(kind_.placeholder, verb.options->name, kind_.help)->required();
}

void ResourceVerbs::add_list(const char* description, Listing listing,
                             std::vector<std::string> (*row_of)(const json::object& one)) const {
    const std::string example = "duewheel " + group_.get_name() + " list --limit 1000";
    Verb<NamedList> verb(group_, session_, "list", description, example.c_str(), run_list);
    listing.member = kind_.call;
    *verb.options = {.kind = &kind_, .listing = std::move(listing), .row_of = row_of};
    takes_limit(*verb.app, verb.options->listing.limit);
}

void add_settings(Rows& rows, const json::object& settings, std::initializer_list<std::string_view> shown_otherwise,
                  const std::string& within) {
    for (const auto& [key, value] : settings) {
        const std::string_view member(key.data(), key.size());
        if (std::find(shown_otherwise.begin(), shown_otherwise.end(), member) != shown_otherwise.end()) continue;
        const std::string path = within + setting_name(member);
        if (value.is_object()) {
            add_settings(rows, value.get_object(), {}, path + ".");
        } else {
            rows.push_back({printable(path), printable(setting_text(path, settings, member, value))});
        }
    }
}

std::string count_of(const json::object& object, std::string_view member) {
    return std::to_string(number_of(object, member));
}

std::string when_of(const json::object& object, std::string_view member_ms) {
    const std::int64_t at_ms = number_of(object, member_ms);
    return at_ms == 0 ? "-" : format_when(at_ms);
}

}  // namespace duewheel
