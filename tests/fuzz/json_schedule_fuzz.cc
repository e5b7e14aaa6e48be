// The JSON of a schedule: refused with a listed code, or a rule whose times ascend within its bounds, and which is the
// same after the API shows it and it is put again.
#include <optional>
#include <string>
#include <variant>

#include <boost/json.hpp>

#include "base/error_codes.h"
#include "fuzz/fuzz_target.h"
#include "http_api/answers/schedule_text.h"
#include "http_api/problem.h"
#include "http_api/requests/schedule_request.h"
#include "message/zone_cache.h"

namespace duewheel::json_schedule_fuzz {
namespace {

namespace json = boost::json;

constexpr DueMs kNow = 1'700'000'000'000;

std::optional<json::value> tree_of(std::string_view text) {
    json::error_code code;
    json::value tree = json::parse({text.data(), text.size()}, code);
    return code ? std::nullopt : std::optional(std::move(tree));
}

Result<Command> read(std::string_view body) {
    static ZoneCache zones;  // what a name means does not change between two calls
    HttpApiOptions options;
    options.find_zone = [](std::string_view name) { return zones.find(name); };
    HttpRequest request;
    request.method = "PUT";
    request.path = "/v1/schedules/s";
    request.body = body;
    return read_schedule_call(request, CallPath::What::schedule, "default", "s", options);
}

void judge_refusal(const Error& error) {
    require(is_for_clients(error.code), "a code is not listed:", name_of(error.code));
    const HttpResponse answer = problem(error);
    require(tree_of(answer.body).has_value(), "a refusal is no JSON:", answer.body);
}

void judge_times(const PutScheduleCommand& put) {
    const TimesRule& rule = put.rule.times;
    DueMs seen = kNow;
    for (int i = 0; i < 4; ++i) {
        const std::optional<DueMs> next = put.times.next(seen, kNow);
        if (!next) return;
        require(*next > seen, "a time does not come after the one before");
        require(rule.start_ms == 0 || *next >= rule.start_ms, "a time is before the start");
        require(rule.end_ms == 0 || *next <= rule.end_ms, "a time is after the end");
        seen = *next;
    }
}

// As a client reads it, and sends it back.
std::string shown(const PutScheduleCommand& put) {
    ScheduleAnswer answer;
    answer.name = put.name;
    answer.state.rule = put.rule;
    answer.has_content = true;
    answer.body = put.body;
    answer.content_type = put.content_type;
    answer.headers = put.headers;
    std::string text;
    JsonWriter writer(text);
    write_schedule(writer, answer);
    const std::optional<json::value> tree = tree_of(text);
    require(tree && tree->is_object() && tree->get_object().contains("settings"), "a schedule is no JSON:", text);
    return json::serialize(tree->get_object().at("settings"));
}

}  // namespace

void fuzz(std::string_view input) {
    const Result<Command> command = read(input);
    if (!command) return judge_refusal(command.error());
    const auto* put = std::get_if<PutScheduleCommand>(&*command);
    require(put != nullptr, "a put of a schedule is another command");
    require(!put->rule.queue.empty() && put->rule.jitter_ms >= 0 && put->rule.expires_after_ms >= 0 &&
                put->rule.misfire_window_ms >= 0,
            "a rule has a value that none can have");
    judge_times(*put);
    const std::string settings = shown(*put);
    const Result<Command> again = read(settings);
    require(again.ok(), "what is shown of a schedule is refused:", settings);
    const auto& second = std::get<PutScheduleCommand>(*again);
    require(second.rule.times == put->rule.times, "the times are others after they were shown:", settings);
    require(second.body == put->body && second.content_type == put->content_type, "the content is another:", settings);
    ScheduleRule same = second.rule;
    same.content_hash = put->rule.content_hash;  // of headers that may be written otherwise
    require(same == put->rule, "the policies are others after they were shown:", settings);
}

}  // namespace duewheel::json_schedule_fuzz
