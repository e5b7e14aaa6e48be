#include "import_server.h"

#include <algorithm>
#include <charconv>

#include <poll.h>

#include "session.h"  // for word_of()
#include "stop_signal.h"

namespace duewheel {
namespace {

constexpr std::chrono::milliseconds kPause{250};
constexpr std::chrono::seconds kRequestPatience{60};

std::chrono::milliseconds retry_after(const HttpAnswer& answer) {
    const std::string_view text = answer.header("Retry-After").value_or("");
    unsigned seconds = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (failed != std::errc() || end != text.data() + text.size()) return kPause;
    return std::max<std::chrono::milliseconds>(std::chrono::seconds(std::min(seconds, 60u)), kPause);
}

Refusal refusal_by(const HttpAnswer& answer) {
    boost::json::error_code broken;
    const boost::json::value value = boost::json::parse(answer.body, broken);
    if (broken || !value.is_object() || word_of(value.get_object(), "code").empty()) {
        return {"bad_answer",
                "The address does not belong to a Duewheel server (status " + std::to_string(answer.status) +
                    "): check the address.",
                ""};
    }
    return refusal_of(value.get_object());
}

}  // namespace

Refusal refusal_of(const boost::json::object& problem) {
    return {std::string(word_of(problem, "code")), std::string(word_of(problem, "detail")),
            std::string(word_of(problem, "field"))};
}

Refusal no_duewheel() {
    return {"bad_answer", "The address does not belong to a Duewheel server: check it.", ""};
}

Refusal told_to_stop() {
    return {"stopped", "Stopped by a signal.", ""};
}

bool ImportServer::wait(Milliseconds time) {
    if (waited_ >= patience_ || is_to_stop()) return false;
    waited_ += time;
    ::poll(nullptr, 0, static_cast<int>(time.count()));
    return !is_to_stop();
}

bool ImportServer::may_wait() {
    return wait(kPause);
}

ImportAnswer ImportServer::ask(std::string_view method, const std::string& path, std::string_view type,
                               std::string_view body, std::string_view traceparent) {
    std::vector<HttpHeader> headers;
    if (!type.empty()) headers.push_back({"Content-Type", std::string(type)});
    if (!traceparent.empty()) headers.push_back({"traceparent", std::string(traceparent)});
    for (;;) {
        Result<HttpAnswer> answered = client_.request(method, path, headers, body, kRequestPatience);
        const bool is_away = !answered && has_answered_ && answered.error().code == "unreachable";
        const bool is_later = answered.ok() && says_later(answered->status);
        if ((is_away || is_later) && wait(is_away ? kPause : retry_after(*answered))) continue;
        ImportAnswer answer;
        if (is_to_stop() && (is_away || is_later)) {
            answer.refusal = told_to_stop();
        } else if (!answered) {
            answer.refusal = {std::string(answered.error().code), answered.error().message, ""};
        } else {
            answer.status = answered->status;
            if (answered->status >= 300) answer.refusal = refusal_by(*answered);
            answer.body = std::move(answered->body);
            has_answered_ = true;
        }
        return answer;
    }
}

}  // namespace duewheel
