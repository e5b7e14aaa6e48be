#include "http_api/fields/work_members.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "base/error_codes.h"
#include "http_api/fields/field_reader.h"
#include "http_api/fields/json_text.h"
#include "http_api/fields/put_rows.h"
#include "http_api/fields/request_members.h"
#include "message/failure_reason.h"
#include "message/records/past_attempts.h"

namespace duewheel {
namespace {

Error out_of_range(std::string member, std::string_view what) {
    std::string text = "`" + member + "` must be " + std::string(what);
    return {"out_of_range"_code, std::move(text), std::move(member)};
}

Status read_number(const JsonRequest& json, std::string_view within, std::string_view member, std::int64_t max,
                   std::int64_t& into) {
    if (Status read = assign(json.integer(member), into); !read) return read;
    if (into >= 1 && into <= max) return {};
    return out_of_range(std::string(within).append(member), "a whole number from 1 to " + std::to_string(max));
}

Result<PastAttempt> read_attempt(const JsonRequest& json, const std::string& within, const WorkHistory& history) {
    PastAttempt attempt;
    std::int64_t number = 0;
    std::string outcome;
    Status read = json.only({"attempt", "started_ms", "ended_ms", "outcome", "reason", "worker"});
    if (read) read = read_number(json, within, "attempt", std::max<std::int64_t>(history.attempts, 1), number);
    if (read) read = assign(json.epoch_ms("started_ms"), attempt.started_ms);
    if (read) read = assign(json.epoch_ms("ended_ms"), attempt.ended_ms);
    if (read) read = assign(json.text("outcome"), outcome);
    if (read) read = assign(json.text("reason"), attempt.reason);
    if (read) read = assign(json.text("worker"), attempt.worker);
    if (!read) return std::move(read).error();
    if (history.attempts == 0) return out_of_range("attempts", "the number of deliveries begun, with `timeline`");
    const std::optional<AttemptOutcome> known = parse_attempt_outcome(outcome);
    if (!known) return out_of_range(within + "outcome", "how the attempt ended, such as \"failed\"");
    if (attempt.ended_ms < std::max<DueMs>(attempt.started_ms, 1)) {
        return out_of_range(within + "ended_ms", "when the attempt ended, not before it started");
    }
    if (attempt.reason.size() > kAttemptReasonBytesMax) {
        return out_of_range(within + "reason", "at most " + std::to_string(kAttemptReasonBytesMax) + " bytes");
    }
    if (!is_worker_name(attempt.worker)) {
        return out_of_range(within + "worker", "a name of up to " + std::to_string(kWorkerNameBytesMax) +
                                                   " bytes without control characters");
    }
    attempt.attempt = static_cast<std::uint32_t>(number);
    attempt.outcome = *known;
    return attempt;
}

Status read_timeline(const JsonRequest& json, WorkHistory& into) {
    const Result<std::vector<JsonRequest>> objects = json.objects("timeline");
    if (!objects) return objects.error();
    if (objects->size() > kPastAttemptsMax) {
        return out_of_range("timeline", "the last " + std::to_string(kPastAttemptsMax) + " attempts at most");
    }
    std::vector<PastAttempt> attempts;
    for (const JsonRequest& object : *objects) {
        const std::string path = "timeline[" + std::to_string(attempts.size()) + "].";
        Result<PastAttempt> attempt = read_attempt(object, path, into);
        if (!attempt) return std::move(attempt).error();
        attempts.push_back(*std::move(attempt));
    }
    into.past_attempts = encode_past_attempts(attempts);
    return {};
}

Status check(const WorkHistory& history) {
    if (history.attempts > kAttemptsKeptMax) {
        return out_of_range("attempts", "at most " + std::to_string(kAttemptsKeptMax));
    }
    if (history.attempts_counted > history.attempts) {
        return out_of_range("attempts_counted", "at most `attempts`");
    }
    if (history.reason.size() > kReasonBytesMax) {
        return out_of_range("reason", "at most " + std::to_string(kReasonBytesMax) + " bytes");
    }
    if (!history.progress.empty() && !is_progress(history.progress)) {
        return out_of_range("progress", "a number from 0 to 1, or other JSON");
    }
    return {};
}

}  // namespace

bool is_worker_name(std::string_view text) {
    const bool has_control = std::any_of(text.begin(), text.end(),
                                         [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
    return text.size() <= kWorkerNameBytesMax && !has_control;
}

bool is_progress(std::string_view json) {
    if (json.front() != '-' && (json.front() < '0' || json.front() > '9')) return true;
    double part = -1;
    std::from_chars(json.data(), json.data() + json.size(), part);
    return part >= 0 && part <= 1;
}

Status read_work_history(const JsonRequest& json, WorkHistory& into) {
    Status read = read_known_fields(json, fields_of<WorkHistory>(), &into);
    for (std::string* const said : {&into.progress, &into.checkpoint}) {
        *said = *said == "null" ? std::string() : on_one_line(*said);
    }
    if (read) read = assign(json.epoch_ms("nominal_due_ms"), into.nominal_due_ms);
    if (read) read = check(into);
    if (read) read = read_timeline(json, into);
    return read;
}

// Its value holds any JSON, so it is read as a text of its own.
Status read_imported(const JsonRequest& put, WorkHistory& into) {
    const std::optional<std::string_view> text = put.json_text("imported");
    if (!text) return {};
    if (!text->starts_with('{')) {
        return Error{"wrong_type"_code, "`imported` must be an object", "imported"};
    }
    const Result<JsonRequest> json = JsonRequest::parse(*text);
    if (!json) return json.error();
    Status read = json->only(fields_of<WorkHistory>().members_of({}));
    if (read) read = read_work_history(*json, into);
    if (read) return {};
    return Error{read.error().code, read.error().message, "imported." + read.error().field};
}

void write_work_history(JsonWriter& json, const WorkHistory& history) {
    if (history.attempts != 0) json.number("attempts", history.attempts);
    if (history.attempts_counted != 0) json.number("attempts_counted", history.attempts_counted);
    if (history.maybe_delivered) json.boolean("maybe_delivered", true);
    if (history.nominal_due_ms != 0) json.number("nominal_due_ms", history.nominal_due_ms);
    if (history.is_retrying) json.boolean("retrying", true);
    if (!history.reason.empty()) json.text("reason", history.reason);
    if (!history.progress.empty()) json.json("progress", on_one_line(history.progress));
    if (!history.checkpoint.empty()) json.json("checkpoint", on_one_line(history.checkpoint));
    if (history.past_attempts.empty()) return;
    json.open_array("timeline");
    for (const PastAttempt& attempt :
         decode_past_attempts(history.past_attempts).value_or(std::vector<PastAttempt>())) {
        json.open().number("attempt", attempt.attempt);
        if (attempt.started_ms != 0) json.number("started_ms", attempt.started_ms);
        json.number("ended_ms", attempt.ended_ms).text("outcome", attempt_outcome_name(attempt.outcome));
        if (!attempt.reason.empty()) json.text("reason", attempt.reason);
        if (!attempt.worker.empty()) json.text("worker", attempt.worker);
        json.close();
    }
    json.close_array();
}

}  // namespace duewheel
