#include "http_api/calls/event_streams.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/error_codes.h"
#include "base/json_writer.h"
#include "http_api/answers/stats_text.h"
#include "http_api/calls/dashboard_call.h"
#include "shared/system_clock.h"

namespace duewheel {
namespace {

enum Event : std::size_t { kStatsEvent, kQueuesEvent, kLatenessEvent, kLogEvent };

constexpr std::size_t kQueuesMax = 100;
constexpr std::int64_t kShareOfTime = 100;  // reading the state takes up to a hundredth of the time

std::string row_text(const QueueCounters& queue) {
    std::string text;
    JsonWriter json(text);
    write_queue(json, queue, false);
    return text;
}

std::uint64_t number_of(std::string_view event_id) {
    std::uint64_t number = 0;
    const auto [end, failure] = std::from_chars(event_id.data(), event_id.data() + event_id.size(), number);
    return failure == std::errc{} && end == event_id.data() + event_id.size() ? number : 0;
}

}  // namespace

Result<EventSet> read_event_set(std::string_view only) {
    EventSet set = 0;
    while (true) {
        const std::size_t comma = std::min(only.find(','), only.size());
        const auto* name = std::find(kEventNames.begin(), kEventNames.end(), only.substr(0, comma));
        if (name == kEventNames.end()) {
            return Error{"bad_parameter"_code, "`only` lists events, separated by commas: stats, queues, lateness, log",
                         "only"};
        }
        set = static_cast<EventSet>(set | (1u << (name - kEventNames.begin())));
        if (comma == only.size()) return set;
        only.remove_prefix(comma + 1);
    }
}

EventStreams::EventStreams(const CommandPort& port, std::function<std::string()> stats, const RecentLog* log,
                           DashboardSessions& sessions)
    : port_(port), stats_(std::move(stats)), log_(log), sessions_(sessions) {}

Status EventStreams::admit(const AccessRight& right) {
    if (stopped_) return Error{"stream_limit"_code, "the server is stopping: connect again after its restart"};
    end_some();
    const auto of_token = static_cast<std::size_t>(std::count_if(
        streams_.begin(), streams_.end(), [&](const Stream& each) { return each.right.token_id == right.token_id; }));
    if (!right.token_id.empty() && of_token >= kEventStreamsOfTokenMax) {
        return Error{"stream_limit"_code,
                     "the access token `" + right.token_id + "` has " + std::to_string(of_token) +
                         " event streams, which is the limit: close pages of the dashboard that are "
                         "not needed, and try again"};
    }
    if (streams_.size() < kEventStreamsMax) return {};
    return Error{"stream_limit"_code,
                 "this server has " + std::to_string(kEventStreamsMax) +
                     " event streams, which is the limit: close pages of the dashboard that are not "
                     "needed, and try again"};
}

void EventStreams::open(HttpStream stream, EventSet wanted, AccessRight right, std::string_view last_event_id,
                        std::int64_t now_ns) {
    streams_.push_back({.http = std::move(stream),
                        .wanted = wanted,
                        .right = std::move(right),
                        .log_line = number_of(last_event_id),
                        .needs_all_queues = true,
                        .written_ns = now_ns});
    if (now_ns >= next_ns_) {
        run_due(now_ns);
    } else {
        send(streams_.back(), true, now_ns);
    }
}

std::int64_t EventStreams::run_due(std::int64_t now_ns) {
    if (streams_.empty()) return kNever;
    if (now_ns < next_ns_) return next_ns_;
    end_some();
    const std::int64_t begun_ns = monotonic_now_ns();
    refresh();
    for (Stream& each : streams_) send(each, false, now_ns);
    next_ns_ = now_ns + std::max(kTickNs, kShareOfTime * (monotonic_now_ns() - begun_ns));
    return streams_.empty() ? kNever : next_ns_;
}

void EventStreams::stop() {
    stopped_ = true;
    for (Stream& each : streams_) each.http.finish();
    streams_.clear();
}

void EventStreams::end_some() {
    for (Stream& each : streams_) {
        if (!each.http.is_over() && !may_stay(each.right)) each.http.finish();
    }
    std::erase_if(streams_, [](const Stream& each) { return each.http.is_over(); });
}

bool EventStreams::may_stay(const AccessRight& right) {
    // A page that shows events uses its session.
    if (right.session && sessions_.use(*right.session, monotonic_now_ns()) == nullptr) return false;
    return right.check(port_, sessions_, port_.clock().server_ms).ok();
}

void EventStreams::refresh() {
    stats_text_ = stats_();
    const std::vector<QueueCounters> queues = port_.busiest_queues(kQueuesMax);
    std::unordered_map<std::string, std::string> texts;
    rows_.clear();
    for (const QueueCounters& queue : queues) {
        std::string key = queue.name.name_space + '\n' + queue.name.queue;
        std::string text = row_text(queue);
        const auto before = row_texts_.find(key);
        rows_.push_back({text, before == row_texts_.end() || before->second != text});
        texts.emplace(std::move(key), std::move(text));
    }
    row_texts_ = std::move(texts);
    has_more_queues_ = port_.counters().queues > queues.size();
    const DueMs now = port_.clock().server_ms;
    const DueMs newest_ms = now / LatenessHistory::kRowMs * LatenessHistory::kRowMs - LatenessHistory::kRowMs;
    has_new_lateness_ = newest_ms != lateness_row_ms_;
    lateness_row_ms_ = newest_ms;
    if (!has_new_lateness_) return;
    const std::vector<LatenessHistory::Row> rows = port_.lateness_history().rows(now, LatenessHistory::kRowMs);
    const bool has_row = !rows.empty() && rows.back().time_ms == newest_ms;
    lateness_text_ = lateness_row_text(has_row ? rows.back() : LatenessHistory::Row{.time_ms = newest_ms});
}

std::string EventStreams::queue_rows(bool only_changed) const {
    std::string rows;
    for (const QueueRow& row : rows_) {
        if (only_changed && !row.has_changed) continue;
        rows.append(rows.empty() ? "" : ",").append(row.text);
    }
    if (rows.empty() && only_changed) return {};
    return "{\"queues\":[" + rows + "],\"more\":" + (has_more_queues_ ? "true" : "false") + "}";
}

void EventStreams::send(Stream& to, bool is_new, std::int64_t now_ns) {
    const auto wants = [&to](Event event) { return (to.wanted & (1u << event)) != 0; };
    if (wants(kLogEvent)) send_log(to, now_ns);
    if (wants(kStatsEvent)) static_cast<void>(write(to, kStatsEvent, stats_text_, now_ns));
    if (wants(kQueuesEvent)) {
        const std::string rows = queue_rows(!to.needs_all_queues);
        if (!rows.empty()) to.needs_all_queues = !write(to, kQueuesEvent, rows, now_ns);
    }
    if (wants(kLatenessEvent) && (has_new_lateness_ || is_new))
        static_cast<void>(write(to, kLatenessEvent, lateness_text_, now_ns));
    if (now_ns - to.written_ns < kHeartbeatNs) return;
    if (to.http.write(": heartbeat\n\n")) to.written_ns = now_ns;
}

// What cannot be sent now is sent with the next call.
void EventStreams::send_log(Stream& to, std::int64_t now_ns) {
    if (log_ == nullptr) return;
    for (const RecentLog::Line& line : log_->lines_after(to.log_line)) {
        const std::uint64_t before = std::exchange(to.log_line, line.number);
        if (write(to, kLogEvent, line.json, now_ns)) continue;
        to.log_line = before;
        return;
    }
}

bool EventStreams::write(Stream& to, std::size_t event, std::string_view data, std::int64_t now_ns) {
    std::string text("event: ");
    text.append(kEventNames[event]).append("\nid: ").append(std::to_string(to.log_line)).append("\ndata: ");
    if (!to.http.write(text.append(data).append("\n\n"))) return false;
    to.written_ns = now_ns;
    return true;
}

}  // namespace duewheel
