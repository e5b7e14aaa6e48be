#include "http_api/calls/clock_call.h"

#include <string>
#include <string_view>
#include <utility>

#include "base/error_codes.h"
#include "base/json_writer.h"
#include "calendar/instant_text.h"
#include "http_api/fields/json_request.h"
#include "http_api/fields/json_response.h"
#include "http_api/fields/request_members.h"

namespace duewheel {
namespace {

constexpr std::string_view kAdvanceMembers[] = {"by", "by_ms", "to", "to_ms"};

HttpResponse clock_text(const ClockStatus& status) {
    return json_response(200, [&](JsonWriter& json) {
        json.open().text("server_time", format_instant(status.server_ms)).number("server_time_ms", status.server_ms);
        json.number("wall_clock_ms", status.wall_ms).number("wall_clock_ahead_ms", status.ahead_ms());
        json.text("state", clock_state_name(status.state));
        json.text("on_jump", status.on_jump == ClockJump::hold ? "hold" : "accept").number("jumps", status.jumps);
        json.close();
    });
}

// The time by which a test advances the clock.
Result<std::int64_t> read_advance(const JsonRequest& json, const ClockStatus& now) {
    if (json.has_time("by") && json.has_time("to")) {
        return Error{"conflicting_members"_code, "give either `by`, a duration, or `to`, an instant, not both", "to"};
    }
    if (!json.has_time("by") && !json.has_time("to")) {
        return Error{"missing_member"_code, "give `by`, such as 1h, or `to`, such as 2027-01-01T06:00:00Z", "by"};
    }
    const bool to = json.has_time("to");
    const Result<std::optional<std::int64_t>> read = to ? json.instant_ms("to") : json.duration_ms("by");
    if (!read) return read.error();
    const std::int64_t left = kServerTimeMaxMs - now.server_ms;
    const std::int64_t by = to ? **read - now.server_ms : **read;
    if (to && by < 0) {
        return Error{"out_of_range"_code,
                     "server time never goes back, and is " + format_instant(now.server_ms) + " already", "to"};
    }
    if (by > left) {
        return Error{"out_of_range"_code, "server time cannot be later than " + format_instant(kServerTimeMaxMs),
                     to ? "to" : "by"};
    }
    return by;
}

}  // namespace

Result<HttpResponse> answer_clock_call(const HttpRequest& request, CommandPort& port) {
    if (request.path == "/v1/clock:accept") {
        if (const Result<JsonRequest> none = read_members(request, {}); !none) return none.error();
        if (!port.accept_clock()) {
            return Error{"clock_not_held"_code, "the wall clock is not held back, so there is nothing to accept"};
        }
    } else if (request.path == "/v1/clock:advance") {
        const Result<JsonRequest> json = read_members(request, kAdvanceMembers);
        if (!json) return json.error();
        const ClockStatus now = port.clock();
        const Result<std::int64_t> by = read_advance(*json, now);
        if (!by) return by.error();
        if (now.state != ClockState::test) {
            return Error{"not_a_test_clock"_code,
                         "server time can be advanced only if the server runs with --test-clock"};
        }
        port.advance_clock(*by);
    }
    return clock_text(port.clock());
}

}  // namespace duewheel
