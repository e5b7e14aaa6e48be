#include "http_api/requests/schedule_request.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "http_api/access/foreign_policy.h"
#include "http_api/answers/name_page.h"
#include "http_api/answers/schedule_text.h"
#include "http_api/fields/content_members.h"
#include "http_api/fields/field_syntax.h"
#include "http_api/fields/json_request.h"
#include "http_api/fields/request_members.h"
#include "http_api/fields/rule_members.h"
#include "http_api/requests/query_request.h"

namespace duewheel {
namespace {

constexpr std::string_view kScheduleMembers[] = {
    "queue",     "cron",      "every",       "every_ms",       "iso",
    "at",        "zone",      "dst",         "start",          "start_ms",
    "end",       "end_ms",    "times",       "closed",         "jitter",
    "jitter_ms", "misfire",   "dst_repeat",  "misfire_window", "misfire_window_ms",
    "overlap",   "paused",    "body",        "body_base64",    "json",
    "headers",   "kafka",     "priority",    "expires_in",     "expires_in_ms",
    "retry",     "order_key", "content_type"};

// A member with one of a few words; `names` are the words of the values from 0 on.
template <class T>
Status read_word(const JsonRequest& json, std::string_view member, std::initializer_list<std::string_view> names,
                 T& into) {
    const Result<std::optional<std::string_view>> text = json.text(member);
    if (!text) return text.error();
    reset_if_removed(json, member, into);
    if (!*text) return {};
    const auto* found = std::find(names.begin(), names.end(), **text);
    if (found != names.end()) {
        into = static_cast<T>(found - names.begin());
        return {};
    }
    std::string known;
    for (const std::string_view name : names) known += (known.empty() ? "\"" : ", \"") + std::string(name) + "\"";
    return Error{"bad_policy",
                 "`" + std::string(member) + "` must be one of " + known + foreign_policy_hint(member, **text),
                 std::string(member)};
}

// The kind of rule in a patch replaces the previous one.
Status read_kind(const JsonRequest& json, TimesRule& times) {
    std::string_view given;
    const std::string_view before = times_kind_name(times.kind);
    const bool is_removed = times.kind == TimesKind::every ? json.removes_time(before) : json.removes(before);
    const bool has_rule = !is_removed && (!times.text.empty() || times.every_ms != 0);
    for (const TimesKind kind : {TimesKind::cron, TimesKind::every, TimesKind::iso, TimesKind::at}) {
        const std::string_view name = times_kind_name(kind);
        if (!(kind == TimesKind::every ? json.has_time(name) : json.has(name))) continue;
        if (!given.empty()) {
            return Error{"conflicting_members",
                         "give `" + std::string(given) + "` or `" + std::string(name) +
                             "`, not both: a schedule has one rule; create two schedules",
                         std::string(name)};
        }
        given = name;
        if (times.kind != kind) times.skips_gaps = times.repeats_folds = false;  // they belonged to the previous rule
        times.kind = kind;
        times.text.clear();
        times.every_ms = 0;
    }
    if (given.empty() && has_rule) return {};
    if (given.empty()) {
        return Error{"missing_member",
                     "the rule is missing: give `cron` (\"0 9 * * MON-FRI\"), `every` (\"10m\"), `iso` "
                     "(\"R/2027-01-01T09:00:00/P1M\") or `at` (\"2027-01-01T06:00:00\")",
                     "cron"};
    }
    if (times.kind == TimesKind::every) return take(json.duration_ms("every"), times.every_ms);
    if (Status read = take(json.text(given), times.text); !read) return read;
    if (times.kind != TimesKind::cron && times.text.size() > kIntervalBytesMax) {
        return Error{times.kind == TimesKind::iso ? "bad_interval" : "bad_instant",
                     "`" + std::string(given) + "` has up to " + std::to_string(kIntervalBytesMax) + " bytes",
                     std::string(given)};
    }
    return {};
}

Status read_clock_policies(const JsonRequest& json, TimesRule& times) {
    Status read = read_word(json, "dst", {"shift", "skip"}, times.skips_gaps);
    if (read) read = read_word(json, "dst_repeat", {"first", "both"}, times.repeats_folds);
    if (!read || times.kind == TimesKind::cron || !(times.skips_gaps || times.repeats_folds)) return read;
    const std::string member = times.skips_gaps ? "dst" : "dst_repeat";
    return Error{"conflicting_members",
                 "`" + member +
                     "` is for `cron` rules only: omit it, or write the rule as `cron`. With `iso` and `at`, a local "
                     "time that a " +
                     "clock change skips moves to the end of the gap, and one that it repeats fires once",
                 member};
}

Status read_times(const JsonRequest& json, TimesRule& times) {
    Status read = read_kind(json, times);
    reset_if_removed(json, "zone", times.zone);
    reset_if_removed(json, "closed", times.closed);
    reset_if_time_removed(json, "start", times.start_ms);
    reset_if_time_removed(json, "end", times.end_ms);
    reset_if_removed(json, "times", times.times);
    if (read) read = take(json.text("zone"), times.zone);
    if (read && times.zone.empty() && json.has("zone")) {
        read = Error{"bad_zone", "`zone` must be a name such as Europe/Oslo; omit it for UTC", "zone"};
    }
    if (read) read = read_clock_policies(json, times);
    if (read) read = take(json.text("closed"), times.closed);
    if (read && times.closed.size() > kClosedDaysBytesMax) {
        read = Error{"bad_exclusion",
                     "`closed` has up to " + std::to_string(kClosedDaysBytesMax) +
                         " bytes: remove comments and days in the past, or use ranges",
                     "closed"};
    }
    if (read) read = take(json.instant_ms("start"), times.start_ms);
    if (read) read = take(json.instant_ms("end"), times.end_ms);
    // 0 means no bound. An interval from the epoch has the same times as one that starts one interval later; no time is
    // before either.
    if (read && times.start_ms == 0 && json.has_time("start")) times.start_ms = times.every_ms;
    if (read && times.end_ms == 0 && json.has_time("end")) times.end_ms = 1;
    std::optional<std::int64_t> count;
    if (read) read = take(json.integer("times"), count);
    if (read && count && *count < 1) {
        read =
            Error{"out_of_range",
                  "`times` is the total number of nominal times and must be at least 1; omit it for no end", "times"};
    }
    if (read && count) times.times = static_cast<std::uint64_t>(*count);
    return read;
}

Status read_policies(const JsonRequest& json, ScheduleRule& rule) {
    reset_if_time_removed(json, "jitter", rule.jitter_ms);
    reset_if_time_removed(json, "misfire_window", rule.misfire_window_ms);
    reset_if_time_removed(json, "expires_in", rule.expires_after_ms);
    Status read = take(json.duration_ms("jitter"), rule.jitter_ms);
    if (read) read = read_word(json, "misfire", {"once", "all", "skip"}, rule.misfire);
    std::optional<std::int64_t> window;
    if (read) read = take(json.duration_ms("misfire_window"), window);
    if (read && window && *window < 1) {
        read = Error{"out_of_range",
                     "`misfire_window` is the maximum age of a missed run and must be at least 1ms; for no missed "
                     "runs use `\"misfire\": \"skip\"`",
                     "misfire_window"};
    }
    if (read) rule.misfire_window_ms = window.value_or(rule.misfire_window_ms);
    if (read) read = read_word(json, "overlap", {"allow", "skip", "queue_one"}, rule.overlap);
    std::optional<std::int64_t> expires;
    if (read) read = take(json.duration_ms("expires_in"), expires);
    if (read && expires && *expires < 1) {
        read = Error{"out_of_range", "`expires_in` is how long a run waits for a consumer, and must be at least 1ms",
                     "expires_in"};
    }
    if (read) rule.expires_after_ms = expires.value_or(rule.expires_after_ms);
    return read;
}

// Applies the members to a rule and its content; both are empty except for a patch, which keeps what it does not name.
Result<PutScheduleCommand> changed_schedule(const JsonRequest& json, ScheduleRule rule, const MessageContent& content,
                                            const HttpApiOptions& options) {
    Status read = read_rule_queue(json, options, rule.queue);
    if (read) read = read_times(json, rule.times);
    if (read) read = read_policies(json, rule);
    std::optional<bool> paused;
    if (json.removes("paused")) paused = false;
    if (read) read = take(json.boolean("paused"), paused);
    PutCommand put = content_to_change(rule, content);
    if (read) read = read_content_members(json, options, put);
    if (!read) return std::move(read).error();
    set_content(rule, put);
    Result<ScheduleTimes> times = ScheduleTimes::make(rule.times, options.find_zone);
    if (!times) return std::move(times).error();
    PutScheduleCommand command{.rule = std::move(rule), .times = *std::move(times), .paused = paused};
    move_content(put, command);
    return command;
}

// GET previews the schedule as it is, POST as it would be after a put with this body.
Result<Command> read_preview(const HttpRequest& request, PreviewScheduleCommand preview,
                             const HttpApiOptions& options) {
    const Result<QueryRequest> query = QueryRequest::parse(request.query, {"count", "from"});
    if (!query) return query.error();
    Status read = take(query->integer("count", 1, kPreviewMax), preview.count);
    if (read) read = take(query->instant_ms("from"), preview.from_ms);
    if (!read) return std::move(read).error();
    if (request.method != "POST") {
        if (const Result<JsonRequest> none = read_members(request, {}); !none) return none.error();
        return Command(std::move(preview));
    }
    const Result<JsonRequest> json = read_members(request, kScheduleMembers);
    if (!json) return json.error();
    Result<PutScheduleCommand> put = changed_schedule(*json, {}, {}, options);
    if (!put) return std::move(put).error();
    preview.after_put = std::make_shared<const PutScheduleCommand>(*std::move(put));
    return Command(std::move(preview));
}

}  // namespace

Result<Command> read_schedule_call(const HttpRequest& request, CallPath::What what, std::string name_space,
                                   std::string name, const HttpApiOptions& options) {
    using What = ControlScheduleCommand::What;
    const auto changed = [&options](const JsonRequest& json, const ScheduleRule& rule, const MessageContent& content) {
        return changed_schedule(json, rule, content, options);
    };
    if (what == CallPath::What::schedule && request.method == "PUT") {
        return read_put_rule<ScheduleRule>(request, kScheduleMembers, std::move(name_space), std::move(name), changed);
    }
    if (what == CallPath::What::schedule && request.method == "PATCH") {
        return read_patch_rule<ScheduleRule, PatchScheduleCommand>(request, kScheduleMembers, std::move(name_space),
                                                                   std::move(name), changed);
    }
    if (what == CallPath::What::preview_schedule) {
        return read_preview(request, {.name_space = std::move(name_space), .name = std::move(name)}, options);
    }
    if (const Result<JsonRequest> none = read_members(request, {}); !none) return none.error();
    switch (what) {
        case CallPath::What::pause_schedule:
            return Command(ControlScheduleCommand{std::move(name_space), std::move(name), What::pause});
        case CallPath::What::resume_schedule:
            return Command(ControlScheduleCommand{std::move(name_space), std::move(name), What::resume});
        case CallPath::What::fire_schedule:
            return Command(ControlScheduleCommand{std::move(name_space), std::move(name), What::fire});
        default:
            break;
    }
    if (request.method == "DELETE") {
        return Command(ControlScheduleCommand{std::move(name_space), std::move(name), What::remove});
    }
    return Command(DescribeScheduleCommand{std::move(name_space), std::move(name)});
}

Result<Command> read_schedule_list(const HttpRequest& request, std::string name_space) {
    return read_name_list(request, NameList::schedules, "this list of schedules",
                          ListSchedulesCommand{.name_space = std::move(name_space)});
}

}  // namespace duewheel
