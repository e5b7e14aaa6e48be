#include "http_api/calls/dashboard_call.h"

#include <optional>
#include <utility>
#include <vector>

#include "base/error_codes.h"
#include "base/json_writer.h"
#include "calendar/duration.h"
#include "http_api/fields/name_rule.h"
#include "http_api/http_api.h"
#include "http_api/requests/query_request.h"

namespace duewheel {
namespace {

constexpr DueMs kWindowMaxMs = static_cast<DueMs>(LatenessHistory::kRows) * LatenessHistory::kRowMs;
constexpr unsigned kWheelSlots = 128;  // of a level: two blocks of 64 (duewheel/parking_levels.h)
constexpr unsigned kWheelDigitBits = 6;

Result<DueMs> read_window(const QueryRequest& query) {
    const std::optional<std::string_view> text = query.text("window");
    if (!text) return kWindowMaxMs;
    Result<std::int64_t> window_ms = parse_duration(*text);
    if (!window_ms) return Error{window_ms.error().code, window_ms.error().message, "window"};
    if (*window_ms < LatenessHistory::kRowMs || *window_ms > kWindowMaxMs) {
        return Error{"out_of_range"_code, "`window` must be from 5s to 1h: the history is that long", "window"};
    }
    return *window_ms;
}

void write_row(JsonWriter& json, const LatenessHistory::Row& row) {
    json.open().number("time_ms", row.time_ms).number("count", row.count);
    json.number("p50_ms", row.p50_ms).number("p99_ms", row.p99_ms).number("max_ms", row.max_ms);
    json.number("wait_p50_ms", row.wait_p50_ms).number("wait_p99_ms", row.wait_p99_ms);
    json.number("wait_max_ms", row.wait_max_ms).close();
}

}  // namespace

Result<HttpResponse> answer_lateness_call(const HttpRequest& request, const CommandPort& port,
                                          const HttpApiOptions& options) {
    const Result<QueryRequest> query = QueryRequest::parse(request.query, {"window", "queue", "namespace"});
    if (!query) return query.error();
    const Result<DueMs> window_ms = read_window(*query);
    if (!window_ms) return window_ms.error();
    const std::optional<std::string_view> queue = query->text("queue");
    const std::string_view name_space = query->text("namespace").value_or(kDefaultNamespace);
    if (queue) {
        if (Status fits = check_name(*queue, options.queue_name_bytes_max, kQueueName); !fits) return fits.error();
    }
    if (Status fits = check_name(name_space, options.queue_name_bytes_max, kNamespaceName); !fits) {
        return fits.error();
    }
    const DueMs now = port.clock().server_ms;
    const LatenessHistory& history = port.lateness_history();
    HttpResponse response;
    response.content_type = "application/json";
    JsonWriter json(response.body);
    json.open().number("row_ms", LatenessHistory::kRowMs);
    json.number("from_ms", (now - *window_ms) / LatenessHistory::kRowMs * LatenessHistory::kRowMs);
    json.number("until_ms", now / LatenessHistory::kRowMs * LatenessHistory::kRowMs);
    json.open_array("rows");
    std::vector<LatenessHistory::Row> rows;
    if (queue) {
        const QueueName name{std::string(name_space), std::string(*queue)};
        rows = history.rows_of(name, now, *window_ms);
    } else {
        rows = history.rows(now, *window_ms);
    }
    for (const LatenessHistory::Row& row : rows) write_row(json, row);
    json.close_array();
    if (!queue) {
        json.open_array("queues");
        for (const LatenessHistory::QueueRows& each : history.queues(now, *window_ms)) {
            json.open();
            if (each.name.name_space != kDefaultNamespace) json.text("namespace", each.name.name_space);
            json.text("queue", each.name.queue).number("count", each.count);
            json.number("p99_ms", each.p99_ms).number("max_ms", each.max_ms);
            json.number("wait_p99_ms", each.wait_p99_ms).number("wait_max_ms", each.wait_max_ms).close();
        }
        json.close_array();
    }
    json.close();
    return response;
}

std::string lateness_row_text(const LatenessHistory::Row& row) {
    std::string text;
    JsonWriter json(text);
    write_row(json, row);
    return text;
}

std::string wheel_text(const WheelView& wheel) {
    std::string text;
    JsonWriter json(text);
    json.open().number("now_ms", wheel.now_ms).number("tick_ms", 1).number("timers", wheel.timers);
    json.number("late", wheel.late).number("indexed_only", wheel.indexed_only).open_array("levels");
    for (const auto& [level, slots] : wheel.levels) {
        const unsigned shift = level * kWheelDigitBits;
        json.open().number("level", level).number("slot_ms", std::uint64_t{1} << shift).number("slots", kWheelSlots);
        json.number("position", static_cast<std::uint64_t>(wheel.now_ms) >> shift);
        std::string counts;
        for (const auto& [slot, timers] : slots) {
            counts += counts.empty() ? "[" : ",";
            counts += "[" + std::to_string(slot) + "," + std::to_string(timers) + "]";
        }
        json.json("counts", counts + "]").close();
    }
    json.close_array().close();
    return text;
}

}  // namespace duewheel
