#include "import_run.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <poll.h>

#include "base/error_codes.h"
#include "net/http/http_target.h"
#include "plain_text.h"
#include "session.h"
#include "session.h"  // for word_of()
#include "terminal.h"

namespace duewheel {
namespace {

constexpr std::size_t kBatchLines = 1000;
constexpr std::size_t kBatchBytes = std::size_t{3} << 20;
constexpr std::string_view kJson = "application/json";

std::string queue_path(const MessageLine& line) {
    return "/v1/namespaces/" + percent_encode(line.name_space) + "/queues/" + percent_encode(line.queue);
}

std::string shown_name(const std::string& name_space, const std::string& queue) {
    return name_space == kDefaultNamespace ? queue : queue + " of namespace " + name_space;
}

// The settings of a PUT without the limits that could refuse puts; none if they have no such limits. A limit of leases
// stays: consumers may lease messages during the import.
std::optional<std::string> without_limits(const SettingsLine& line) {
    if (line.kind != SettingsLine::Kind::queue && line.kind != SettingsLine::Kind::name_space) return std::nullopt;
    boost::json::object settings = boost::json::parse(line.body).get_object();
    boost::json::value* const limits = settings.if_contains("limits");
    if (limits == nullptr || !limits->is_object()) return std::nullopt;
    boost::json::object kept;
    if (const auto* leased = limits->get_object().if_contains("leased")) kept["leased"] = *leased;
    if (kept.size() == limits->get_object().size()) return std::nullopt;
    settings.erase("limits");
    if (!kept.empty()) settings["limits"] = std::move(kept);
    return plain_json(settings);
}

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
        return {"bad_answer"_code,
                "The address does not belong to a Duewheel server (status " + std::to_string(answer.status) +
                    "): check the address.",
                ""};
    }
    return refusal_of(value.get_object());
}

}  // namespace

bool ImportRun::stop(std::uint64_t number, const Refusal& why) {
    ended_ = why;
    ended_at_ = number;
    return false;
}

void ImportRun::refuse(std::uint64_t number, const Refusal& why) {
    ++counts_.refused;
    report_(number, why);
}

bool ImportRun::submit(std::uint64_t number, const ExportLine& line) {
    if (is_to_stop()) return stop(batch_.empty() ? number : batch_.front().line, told_to_stop());
    if (const auto* header = std::get_if<ExportHeader>(&line)) {
        instance_ = header->instance;
        exported_ms_ = header->server_time_ms;
    }
    if (const auto* settings = std::get_if<SettingsLine>(&line)) return set(number, *settings);
    if (const auto* message = std::get_if<MessageLine>(&line)) return put(number, *message);
    return true;
}

bool ImportRun::set(std::uint64_t number, const SettingsLine& line) {
    if (!flush()) return false;
    const bool is_due = line.next_ms != 0 && line.next_ms <= exported_ms_ && !line.is_paused;
    counts_.overdue += line.has_overdue || line.has_waiting_run || is_due;
    if (line.has_ended) return ++counts_.ended, true;
    if (line.lacks_rate) unspread_queues_.push_back(shown_name(line.name_space, line.name));
    if (server_ == nullptr) return ++counts_.set, true;
    const std::string path = line.path();
    const ImportAnswer there = server_->ask("GET", path);
    if (!there.ok() && there.status != 404) return stop(number, there.refusal);
    const std::optional<std::string> unlimited = without_limits(line);
    Standing standing = standing_of(line, there.status, there.body);
    if (unlimited && standing == Standing::other) {  // of an import that could not continue
        SettingsLine begun = line;
        begun.body = *unlimited;
        if (standing_of(begun, there.status, there.body) == Standing::same) standing = Standing::absent;
    }
    if (standing == Standing::same) return ++counts_.same, true;
    if (standing == Standing::other && !options_.replaces) {
        refuse(number, {"already_set",
                        "the " + std::string(kind_name(line.kind)) + " " + line.name +
                            " has other settings on the server and was not changed: --replace replaces it",
                        ""});
        return true;
    }
    const ImportAnswer set = server_->ask("PUT", path, kJson, unlimited.value_or(line.body), line.traceparent);
    if (set.ok()) {
        server_->note_progress();
        if (unlimited) {
            const bool is_queue = line.kind == SettingsLine::Kind::queue;
            limits_.push_back({number, path, line.body,
                               is_queue ? shown_name(line.name_space, line.name) : "namespace " + line.name});
        }
        if (line.kind == SettingsLine::Kind::watchdog) ++counts_.fed;
        if (line.lacks_secrets) unsigned_queues_.push_back(shown_name(line.name_space, line.name));
        return ++counts_.set, true;
    }
    if (set.status == 0 || says_later(set.status)) return stop(number, set.refusal);
    if (line.kind == SettingsLine::Kind::schedule && set.refusal.is("never_due"_code)) return ++counts_.ended, true;
    refuse(number, set.refusal);
    return true;
}

bool ImportRun::put(std::uint64_t number, const MessageLine& line) {
    if (line.check_of != 0) return ++counts_.checks, true;
    const bool is_dead = line.state == State::dead;
    if (is_dead && !options_.dead_as_held) return ++counts_.dead, true;
    if (!begin_queue(line)) return false;
    Item item{number, {}, is_dead || line.state == State::held, !line.key.empty()};
    write_put_of_line(item.put, line, instance_, item.losses);
    const bool is_full = batch_.size() == kBatchLines || batch_bytes_ + item.put.size() + 1 > kBatchBytes;
    if ((is_full || line.traceparent != traceparent_) && !flush()) return false;
    traceparent_ = line.traceparent;
    batch_bytes_ += item.put.size() + 1;
    batch_.push_back(std::move(item));
    return true;
}

bool ImportRun::begin_queue(const MessageLine& line) {
    std::string path = queue_path(line);
    if (path == path_) return true;
    if (!flush()) return false;
    path_ = std::move(path);
    return true;
}

bool ImportRun::flush() {
    while (!batch_.empty()) {
        const std::uint64_t first = batch_.front().line;
        if (!send()) return false;
        if (batch_.empty()) break;
        if (batch_.front().line != first) server_->note_progress();
        if (!server_->may_wait()) return stop(batch_.front().line, is_to_stop() ? told_to_stop() : later_);
    }
    batch_bytes_ = 0;
    return true;
}

bool ImportRun::send() {
    if (server_ == nullptr) {
        for (const Item& item : batch_) {
            counts_.held += item.is_held;
            counts_.losses.add(item.losses);
        }
        counts_.put += batch_.size();
        batch_.clear();
        return true;
    }
    std::string lines;
    lines.reserve(batch_bytes_);
    for (const Item& item : batch_) lines.append(item.put) += '\n';
    const ImportAnswer answer =
        server_->ask("POST", path_ + "/messages:batch", "application/x-ndjson", lines, traceparent_);
    if (!answer.ok()) return stop(batch_.front().line, answer.refusal);
    std::vector<Item> left;
    std::string_view rest = answer.body;
    for (Item& item : batch_) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        bool is_later = false;
        if (!take_result(item, rest.substr(0, end), is_later)) return false;
        if (is_later) left.push_back(std::move(item));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (left.size() < batch_.size()) server_->note_progress();
    batch_ = std::move(left);
    return true;
}

bool ImportRun::take_result(const Item& item, std::string_view result, bool& is_later) {
    boost::json::error_code broken;
    const boost::json::value value = boost::json::parse({result.data(), result.size()}, broken);
    if (broken || !value.is_object()) {
        return stop(item.line, no_duewheel());
    }
    const boost::json::object& members = value.get_object();
    const std::int64_t status = number_of(members, "status");
    is_later = says_later(status);
    if (is_later) return later_ = refusal_of(members), true;
    if (word_of(members, "code") == "expires_too_soon") return ++counts_.expired, true;
    if (word_of(members, "code") == "key_conflict" && !item.has_own_key) {
        refuse(item.line,
               {"key_conflict",
                "an import of an earlier export has put this message with other content; it was not changed", ""});
        return true;
    }
    if (word_of(members, "id").empty()) return refuse(item.line, refusal_of(members)), true;
    if (status == 201) counts_.losses.add(item.losses);
    ++(status == 201 ? counts_.put : counts_.before);
    if (word_of(members, "state") == "held") ++counts_.held;
    return true;
}

bool ImportRun::set_limits() {
    while (!limits_.empty()) {
        const Limits& next = limits_.back();
        const ImportAnswer set = server_->ask("PUT", next.path, kJson, next.body);
        if (!set.ok() && (set.status == 0 || says_later(set.status))) return stop(next.line, set.refusal);
        if (!set.ok()) refuse(next.line, set.refusal);
        limits_.pop_back();
    }
    return true;
}

std::vector<std::string> ImportRun::unlimited() const {
    std::vector<std::string> names;
    for (const Limits& each : limits_) names.push_back(each.shown);
    return names;
}

bool ImportRun::finish() {
    return ended_.code.empty() && flush() && set_limits();
}

Refusal no_duewheel() {
    return {"bad_answer"_code, "The address does not belong to a Duewheel server: check it.", ""};
}

Refusal told_to_stop() {
    return {"stopped"_code, "Stopped by a signal.", ""};
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
        const bool is_away = !answered && has_answered_ && answered.error().code == "unreachable"_code;
        const bool is_later = answered.ok() && says_later(answered->status);
        if ((is_away || is_later) && wait(is_away ? kPause : retry_after(*answered))) continue;
        ImportAnswer answer;
        if (is_to_stop() && (is_away || is_later)) {
            answer.refusal = told_to_stop();
        } else if (!answered) {
            answer.refusal = {answered.error().code, answered.error().message};
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
