#include "http_api/calls/request_log.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error_codes.h"
#include "http_api/answers/lease_text.h"
#include "http_api/fields/field_syntax.h"

namespace duewheel {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kRefusalIntervalNs = 10 * kSecondNs;
constexpr std::int64_t kSlowIntervalNs = kSecondNs;
constexpr std::size_t kPathBytesMax = 200;

bool is_limit(int status) {
    return status == 413 || status == 414 || status == 429 || status == 431 || status == 503 || status == 507;
}

// Whether a part of a path is a secret: a lease token, wherever a client has put it, or an access token.
bool is_secret(std::string_view part, std::string_view before) {
    return before.ends_with("/leases/") || part.starts_with("dw_") || parse_lease_text(part).has_value();
}

}  // namespace

std::string path_to_log(std::string_view received_path) {
    const std::string_view path = received_path.substr(0, kPathBytesMax);
    std::string shown;
    for (std::size_t at = 0; at < path.size();) {
        const std::size_t end = std::min(path.find_first_of(":/", at), path.size());
        const std::string_view part = path.substr(at, end - at);
        shown += !part.empty() && is_secret(part, path.substr(0, at)) ? "-" : part;
        if (end < path.size()) shown += path[end];
        at = end + 1;
    }
    return shown;
}

RequestNote RequestLog::note(const HttpRequest& request, std::int64_t now_ns) {
    RequestNote note;
    note.method = request.method;
    note.received_path = request.path.substr(0, kPathBytesMax);
    note.remote_address = request.peer.address;
    if (!request.peer.certificate_names.empty()) note.certificate_name = request.peer.certificate_names.front();
    note.traceparent = traceparent_of(request);
    note.start_ns = now_ns;
    return note;
}

void RequestLog::answered(const RequestNote& note, int status, ErrorCode code, std::int64_t now_ns) {
    if (code != ErrorCode::none) refused(status, code, now_ns);
    const std::int64_t took_ns = now_ns - note.start_ns;
    const auto write = [&](LogLevel level, std::string_view event, std::string_view message, std::uint64_t count) {
        const std::string path = path_to_log(note.received_path);
        std::vector<LogField> fields{{"method", note.method}, {"path", path}, {"status", status}};
        if (code != ErrorCode::none) fields.emplace_back("code", name_of(code));
        fields.emplace_back("micros", took_ns / 1000);
        fields.emplace_back("remote", note.remote_address);
        if (!note.traceparent.empty()) fields.emplace_back("traceparent", note.traceparent);
        if (count > 1) fields.emplace_back("count", count);
        log_.write(level, event, message, fields);
    };
    // The requested wait may be any number; the engine validates it later.
    const bool waited_enough = took_ns / 1'000'000 > note.wait_ms;
    const bool is_slow = waited_enough && took_ns - note.wait_ms * 1'000'000 > options_.slow_ms * 1'000'000;
    if (options_.slow_ms > 0 && is_slow) {
        if (const std::uint64_t count = due("slow_request", kSlowIntervalNs, now_ns); count > 0) {
            write(LogLevel::warning, "slow_request", "A request was slow.", count);
        }
    }
    if (options_.every == 0) return;
    if (until_sample_ == 0) {
        until_sample_ = options_.every;
        write(LogLevel::info, "request", "A request was answered.", 1);
    }
    --until_sample_;
}

void RequestLog::refused(int status, ErrorCode code, std::int64_t now_ns) {
    if (!is_limit(status)) return;
    const std::uint64_t count = due(name_of(code), kRefusalIntervalNs, now_ns);
    if (count == 0) return;
    log_.warning("limit_refused", "Requests are refused at a limit.",
                 {{"code", name_of(code)}, {"status", status}, {"count", count}});
}

std::uint64_t RequestLog::due(std::string_view kind, std::int64_t interval_ns, std::int64_t now_ns) {
    Kind& of = kinds_.try_emplace(kind, Kind{now_ns, 0}).first->second;
    ++of.count;
    if (now_ns < of.next_line_ns) return 0;
    of.next_line_ns = now_ns + interval_ns;
    return std::exchange(of.count, 0);
}

}  // namespace duewheel
