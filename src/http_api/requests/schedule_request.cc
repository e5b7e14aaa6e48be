#include "http_api/requests/schedule_request.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/error_codes.h"
#include "http_api/access/foreign_policy.h"
#include "http_api/answers/name_page.h"
#include "http_api/answers/schedule_text.h"
#include "http_api/fields/content_members.h"
#include "http_api/fields/field_reader.h"
#include "http_api/fields/json_request.h"
#include "http_api/fields/request_members.h"
#include "http_api/fields/rule_members.h"
#include "http_api/requests/query_request.h"
#include "resource/schedule_fields.h"

namespace duewheel {
namespace {

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
            return Error{"conflicting_members"_code,
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
        return Error{"missing_member"_code,
                     "the rule is missing: give `cron` (\"0 9 * * MON-FRI\"), `every` (\"10m\"), `iso` "
                     "(\"R/2027-01-01T09:00:00/P1M\") or `at` (\"2027-01-01T06:00:00\")",
                     "cron"};
    }
    if (times.kind == TimesKind::every) return assign(json.duration_ms("every"), times.every_ms);
    if (Status read = assign(json.text(given), times.text); !read) return read;
    if (times.kind != TimesKind::cron && times.text.size() > kIntervalBytesMax) {
        return Error{times.kind == TimesKind::iso ? "bad_interval"_code : "bad_instant"_code,
                     "`" + std::string(given) + "` has up to " + std::to_string(kIntervalBytesMax) + " bytes",
                     std::string(given)};
    }
    return {};
}

Status check_clock_policies(const TimesRule& times) {
    if (times.kind == TimesKind::cron || !(times.skips_gaps || times.repeats_folds)) return {};
    const std::string member = times.skips_gaps ? "dst" : "dst_repeat";
    return Error{"conflicting_members"_code,
                 "`" + member +
                     "` is for `cron` rules only: omit it, or write the rule as `cron`. With `iso` and `at`, a local "
                     "time that a " +
                     "clock change skips moves to the end of the gap, and one that it repeats fires once",
                 member};
}

Status read_bounds(const JsonRequest& json, TimesRule& times) {
    reset_if_removed(json, "zone", times.zone);
    reset_if_removed(json, "closed", times.closed);
    reset_if_time_removed(json, "start", times.start_ms);
    reset_if_time_removed(json, "end", times.end_ms);
    Status read = assign(json.text("zone"), times.zone);
    if (read && times.zone.empty() && json.has("zone")) {
        read = Error{"bad_zone"_code, "`zone` must be a name such as Europe/Oslo; omit it for UTC", "zone"};
    }
    if (read) read = assign(json.text("closed"), times.closed);
    if (read && times.closed.size() > kClosedDaysBytesMax) {
        read = Error{"bad_exclusion"_code,
                     "`closed` has up to " + std::to_string(kClosedDaysBytesMax) +
                         " bytes: remove comments and days in the past, or use ranges",
                     "closed"};
    }
    if (read) read = assign(json.instant_ms("start"), times.start_ms);
    if (read) read = assign(json.instant_ms("end"), times.end_ms);
    // 0 means no bound. An interval from the epoch has the same times as one that starts one interval later; no time is
    // before either.
    if (read && times.start_ms == 0 && json.has_time("start")) times.start_ms = times.every_ms;
    if (read && times.end_ms == 0 && json.has_time("end")) times.end_ms = 1;
    return read;
}

// The members that their rows read.
Status read_rows(const JsonRequest& json, ScheduleRule& rule) {
    Status read = read_known_fields(json, fields_of<ScheduleRule>(), &rule);
    if (read || read.error().code != "bad_policy"_code) return read;
    Error error = std::move(read).error();
    const Result<std::optional<std::string_view>> word = json.text(error.field);
    error.message += foreign_policy_hint(error.field, word->value_or(""));
    return error;
}

// Applies the members to a rule and its content; both are empty except for a patch, which keeps what it does not name.
Result<PutScheduleCommand> changed_schedule(const JsonRequest& json, ScheduleRule rule, const MessageContent& content,
                                            const HttpApiOptions& options) {
    Status read = read_rule_queue(json, options, rule.queue);
    if (read) read = read_kind(json, rule.times);
    if (read) read = read_rows(json, rule);
    if (read) read = check_clock_policies(rule.times);
    if (read) read = read_bounds(json, rule.times);
    std::optional<bool> paused;
    if (json.removes("paused")) paused = false;
    if (read) read = assign(json.boolean("paused"), paused);
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
    Status read = assign(query->integer("count", 1, kPreviewMax), preview.count);
    if (read) read = assign(query->instant_ms("from"), preview.from_ms);
    if (!read) return std::move(read).error();
    if (request.method != "POST") {
        if (const Result<JsonRequest> none = read_members(request, {}); !none) return none.error();
        return Command(std::move(preview));
    }
    const Result<JsonRequest> json = read_members(request, fields_of<ScheduleRule>().members_of({}));
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
    const std::span<const std::string_view> known = fields_of<ScheduleRule>().members_of({});
    const auto changed = [&options](const JsonRequest& json, const ScheduleRule& rule, const MessageContent& content) {
        return changed_schedule(json, rule, content, options);
    };
    if (what == CallPath::What::schedule && request.method == "PUT") {
        return read_put_rule<ScheduleRule>(request, known, std::move(name_space), std::move(name), changed);
    }
    if (what == CallPath::What::schedule && request.method == "PATCH") {
        return read_patch_rule<ScheduleRule, PatchScheduleCommand>(request, known, std::move(name_space),
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
