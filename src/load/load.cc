#include "load/load.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error_codes.h"
#include "load/pipe.h"
#include "shared/random.h"
#include "shared/system_clock.h"

namespace duewheel {
namespace {

constexpr int kTurnMs = 10;
constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::int64_t kLastMs = 30'000;  // how long requests in flight are waited for at the end
constexpr std::int64_t kCancelAfterMs = 1000;
constexpr std::uint64_t kStays = 100;         // of this number of messages, one is not cancelled
constexpr std::uint64_t kAheadOfTakers = 20;  // the maximum of batches per consumer that cycle puts ahead

std::uint64_t micros_since(std::int64_t start_ns) {
    return static_cast<std::uint64_t>((monotonic_now_ns() - start_ns) / 1000);
}

// The number after `name` in a JSON text, from `at` on; 0 if there is none.
std::int64_t number_after(std::string_view text, std::string_view name, std::size_t at) {
    std::int64_t number = 0;
    const std::size_t found = text.find(name, at);
    if (found != std::string_view::npos) {
        std::from_chars(text.data() + found + name.size(), text.data() + text.size(), number);
    }
    return number;
}

std::uint64_t occurrences(std::string_view text, std::string_view part) {
    std::uint64_t count = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string_view::npos; at += part.size()) ++count;
    return count;
}

class Run {
  public:
    static Result<LoadReport> of(const LoadOptions& options, std::uint64_t connections, void (Run::*what)()) {
        Result<std::unique_ptr<PipeSet>> pipes = PipeSet::open(options.server, connections);
        if (!pipes) return pipes.error();
        Run run(options, **pipes);
        const std::int64_t cpu_ns = thread_cpu_ns();
        (run.*what)();
        if (run.failure_) return *std::move(run.failure_);
        run.report_.seconds = static_cast<double>(run.end_ns_ - run.start_ns_) / 1e9;
        run.report_.client_cpu_seconds = static_cast<double>(thread_cpu_ns() - cpu_ns) / 1e9;
        return std::move(run.report_);
    }

    void put();
    void fire();
    void cycle();
    void drain();
    void cancel();
    void get_once();

  private:
    Run(const LoadOptions& options, PipeSet& pipes)
        : options_(options), pipes_(pipes), random_(options.seed), start_ns_(monotonic_now_ns()) {}

    bool time_is_over() const { return monotonic_now_ns() - start_ns_ >= options_.run_ms * kNsPerMs; }
    bool has_more() const { return options_.count != 0 ? submitted_ < options_.count : !time_is_over(); }
    std::uint64_t allowed_by_now() const {
        return static_cast<std::uint64_t>((monotonic_now_ns() - start_ns_) / 1000) * options_.rate / 1'000'000;
    }
    bool is_http() const { return pipes_.protocol() == PipeProtocol::http; }

    // False when the run has failed.
    bool turn(int wait_ms = kTurnMs);
    void until(const auto& condition, std::int64_t patience_ms = INT64_MAX / kNsPerMs);
    void fail(const PipeAnswer& answer);
    void note_refusal(std::uint64_t messages, std::string_view why);

    std::string body();
    std::string http_request(std::string_view method, const std::string& path, std::string_view type,
                             std::string_view text) const;
    std::string put_line();
    void send_put(Pipe& pipe, const std::function<void(const PipeAnswer&)>& then = {});
    void keep_putting(Pipe& pipe);
    void take(Pipe& pipe, const std::string& wait, const std::function<bool()>& goes_on);
    void acknowledge(Pipe& pipe, std::string_view messages);
    void keep_cancelling(Pipe& pipe);

    const LoadOptions& options_;
    PipeSet& pipes_;
    Random random_;
    LoadReport report_;
    std::optional<Error> failure_;
    std::int64_t start_ns_;
    std::int64_t end_ns_ = 0;
    std::uint64_t submitted_ = 0;  // messages, or gets
    std::uint64_t lines_ = 0;
    std::uint64_t empty_in_a_row_ = 0;
    std::int64_t behind_before_ms_ = 0;  // messages due earlier are late
    struct Waiting {
        std::string id;
        std::int64_t cancel_ns;
    };
    std::deque<Waiting> to_cancel_;
};

bool Run::turn(int wait_ms) {
    if (failure_) return false;
    if (Status turned = pipes_.turn(wait_ms); !turned && !failure_) failure_ = turned.error();
    return !failure_;
}

void Run::until(const auto& condition, std::int64_t patience_ms) {
    const std::int64_t give_up_ns =
        patience_ms == INT64_MAX / kNsPerMs ? INT64_MAX : monotonic_now_ns() + patience_ms * kNsPerMs;
    while (!condition() && monotonic_now_ns() < give_up_ns && turn()) {
    }
    end_ns_ = monotonic_now_ns();
}

void Run::fail(const PipeAnswer& answer) {
    if (!failure_) failure_ = Error{"refused"_code, "the server refused: " + std::string(answer.body), ""};
}

void Run::note_refusal(std::uint64_t messages, std::string_view why) {
    if (messages > 0 && report_.refused == 0) report_.refusal = why;
    report_.refused += messages;
}

std::string Run::body() {
    static constexpr char kDigits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
    std::string text(options_.body_bytes, ' ');
    for (std::size_t i = 0; i < text.size();) {
        std::uint64_t bits = random_.next();
        for (int k = 0; k < 10 && i < text.size(); ++k, bits >>= 6) text[i++] = kDigits[bits & 63];
    }
    return text;
}

std::string Run::http_request(std::string_view method, const std::string& path, std::string_view type,
                              std::string_view text) const {
    std::string request(method);
    request.append(" ").append(path).append(" HTTP/1.1\r\nHost: ").append(pipes_.authority());
    if (!options_.token.empty()) request.append("\r\nAuthorization: Bearer ").append(options_.token);
    if (!text.empty()) {
        request.append("\r\nContent-Type: ").append(type).append("\r\nContent-Length: ");
        request.append(std::to_string(text.size()));
    } else if (method != "GET") {
        request.append("\r\nContent-Length: 0");
    }
    return request.append("\r\n\r\n").append(text);
}

// One message as a line of a batch, or alone.
std::string Run::put_line() {
    std::string line = "{\"body\":\"" + body() + "\",";
    if (options_.groups != 0) {
        line += "\"group\":\"" + std::to_string(lines_++ % options_.groups) + " of " + std::to_string(options_.groups) +
                "\",";
    }
    if (options_.due_ms != 0) return line + "\"due_ms\":" + std::to_string(options_.due_ms) + "}";
    return line + "\"delay_ms\":" + std::to_string(random_.between(options_.delay_min_ms, options_.delay_max_ms)) + "}";
}

// One request with `batch` messages, the last one of a run perhaps with fewer.
void Run::send_put(Pipe& pipe, const std::function<void(const PipeAnswer&)>& then) {
    std::uint64_t messages = std::max<std::uint64_t>(1, options_.batch);
    if (options_.count != 0) messages = std::min(messages, options_.count - submitted_);
    submitted_ += messages;
    std::string request;
    if (!is_http()) {
        const std::int64_t delay_ms = random_.between(options_.delay_min_ms, options_.delay_max_ms);
        request = "put 0 " + std::to_string(delay_ms / 1000) + " 60 " + std::to_string(options_.body_bytes) + "\r\n" +
                  body() + "\r\n";
    } else if (options_.batch <= 1) {
        request = http_request("POST", options_.queue_path + "/messages", "application/json", put_line());
    } else {
        std::string lines;
        for (std::uint64_t i = 0; i < messages; ++i) lines.append(put_line()).append("\n");
        request = http_request("POST", options_.queue_path + "/messages:batch", "application/x-ndjson", lines);
    }
    const std::int64_t sent_ns = monotonic_now_ns();
    const bool is_batch = is_http() && options_.batch > 1;
    pipe.send(request, [this, sent_ns, messages, is_batch, then](const PipeAnswer& answer) {
        ++report_.answered;
        report_.took_us.record(micros_since(sent_ns));
        std::uint64_t accepted = answer.ok() ? messages : 0;
        if (!is_http()) accepted = answer.body.starts_with("INSERTED") ? 1 : 0;
        if (is_batch && answer.ok()) accepted = occurrences(answer.body, "{\"status\":201,");
        report_.accepted += accepted;
        note_refusal(messages - accepted, answer.body);
        // If the first request is refused, the arguments are wrong, and all others would be refused too.
        if (is_http() && !answer.ok() && report_.accepted == 0) return fail(answer);
        if (then) then(answer);
    });
}

void Run::keep_putting(Pipe& pipe) {
    if (!has_more()) return;
    send_put(pipe, [this, &pipe](const PipeAnswer&) { keep_putting(pipe); });
}

void Run::put() {
    const std::uint64_t at_once = pipes_.size() * options_.pipeline;
    for (std::uint64_t i = 0; i < at_once; ++i) keep_putting(pipes_[i % pipes_.size()]);
    until([this] { return submitted_ == report_.accepted + report_.refused && !has_more(); });
}

// Leases repeatedly while `goes_on` returns true, and acknowledges the messages at once.
void Run::take(Pipe& pipe, const std::string& wait, const std::function<bool()>& goes_on) {
    const std::string json =
        "{\"max\":" + std::to_string(options_.take_batch) + ",\"lease\":\"60s\",\"wait\":\"" + wait + "\"}";
    pipe.send(http_request("POST", options_.queue_path + ":lease", "application/json", json),
              [this, &pipe, wait, goes_on](const PipeAnswer& answer) {
                  if (!answer.ok()) return fail(answer);
                  const std::uint64_t before = report_.taken;
                  acknowledge(pipe, answer.body);
                  empty_in_a_row_ = report_.taken == before ? empty_in_a_row_ + 1 : 0;
                  if (goes_on()) take(pipe, wait, goes_on);
              });
}

void Run::acknowledge(Pipe& pipe, std::string_view messages) {
    constexpr std::string_view kLease = "\"lease\":\"";
    const std::int64_t now = wall_now_ms();
    std::string tokens;
    std::uint64_t count = 0;
    for (std::size_t at = 0; (at = messages.find(kLease, at)) != std::string_view::npos; ++count) {
        at += kLease.size();
        const std::string_view token = messages.substr(at, messages.find('"', at) - at);
        tokens.append(tokens.empty() ? "" : "\",\"").append(token);
        const std::int64_t due = number_after(messages, "\"due_ms\":", at);
        const std::int64_t delivered = number_after(messages, "\"delivered_ms\":", at);
        if (delivered < due || now < due) ++report_.early;
        if (due < behind_before_ms_) {
            ++report_.behind;
        } else {
            report_.late_ms.record(static_cast<std::uint64_t>(std::max<std::int64_t>(0, now - due)));
        }
    }
    if (count == 0) return;
    if (report_.taken == 0) report_.first_taken_seconds = static_cast<double>(monotonic_now_ns() - start_ns_) / 1e9;
    report_.taken += count;
    if (count == 1) {
        return pipe.send(http_request("POST", "/v1/leases/" + tokens + ":ack", "", ""),
                         [this](const PipeAnswer& answer) {
                             ++report_.answered;
                             if (answer.ok()) ++report_.acknowledged;
                             note_refusal(answer.ok() ? 0 : 1, answer.body);
                         });
    }
    const std::string json = "{\"leases\":[\"" + tokens + "\"]}";
    pipe.send(http_request("POST", "/v1/leases:ack", "application/json", json),
              [this, count](const PipeAnswer& answer) {
                  ++report_.answered;
                  const std::uint64_t done = answer.ok() ? occurrences(answer.body, "\"outcome\":\"done\"") : 0;
                  report_.acknowledged += done;
                  note_refusal(count - done, answer.body);
              });
}

void Run::fire() {
    const std::size_t putters = std::max<std::size_t>(1, options_.connections);
    const auto goes_on = [this] { return !failure_; };
    behind_before_ms_ = wall_now_ms();
    for (std::size_t i = putters; i < pipes_.size(); ++i) take(pipes_[i], "1s", goes_on);
    std::size_t next = 0;
    while (!time_is_over() && turn(1)) {
        while (submitted_ < allowed_by_now()) send_put(pipes_[next++ % putters]);
    }
    until([this] { return submitted_ == report_.accepted + report_.refused; }, kLastMs);
    until([this] { return report_.acknowledged + report_.refused >= report_.accepted + report_.behind; },
          options_.delay_max_ms + kLastMs);
}

// Producers pause while the consumers are far behind, so that the whole cycle is measured and no backlog grows.
void Run::cycle() {
    const std::size_t putters = std::max<std::size_t>(1, options_.connections);
    const std::uint64_t most_ahead = kAheadOfTakers * options_.take_batch * options_.takers;
    const auto goes_on = [this] { return !failure_ && (!time_is_over() || report_.taken < report_.accepted); };
    for (std::size_t i = putters; i < pipes_.size(); ++i) take(pipes_[i], "1s", goes_on);
    while (!time_is_over() && turn(1)) {
        for (std::size_t i = 0; i < putters; ++i) {
            const bool may_put = submitted_ - std::min(submitted_, report_.taken + report_.refused) < most_ahead;
            if (may_put && pipes_[i].outstanding() < options_.pipeline) send_put(pipes_[i]);
        }
    }
    until(
        [this] { return submitted_ == report_.accepted + report_.refused && report_.acknowledged == report_.accepted; },
        kLastMs);
}

void Run::drain() {
    const auto goes_on = [this] {
        if (failure_) return false;
        return options_.count != 0 ? report_.taken < options_.count : empty_in_a_row_ < pipes_.size();
    };
    for (std::size_t i = 0; i < pipes_.size(); ++i) take(pipes_[i], options_.count != 0 ? "1s" : "0s", goes_on);
    until([&] {
        bool rests = true;
        for (std::size_t i = 0; i < pipes_.size(); ++i) rests &= pipes_[i].outstanding() == 0;
        return rests && !goes_on();
    });
}

void Run::keep_cancelling(Pipe& pipe) {
    if (time_is_over()) return;
    const auto next = [this, &pipe] { keep_cancelling(pipe); };
    if (to_cancel_.empty() || to_cancel_.front().cancel_ns > monotonic_now_ns()) {
        return send_put(pipe, [this, next](const PipeAnswer& answer) {
            if (!answer.ok() || answer.body.empty()) return next();
            constexpr std::string_view kId = "\"id\":\"";
            const std::size_t at = is_http() ? answer.body.find(kId) + kId.size() : answer.body.find(' ') + 1;
            const std::string_view id = answer.body.substr(at, answer.body.find_first_not_of("0123456789", at) - at);
            if (report_.accepted % kStays != 0) {
                to_cancel_.push_back({std::string(id), monotonic_now_ns() + kCancelAfterMs * kNsPerMs});
            }
            next();
        });
    }
    const std::string id = std::move(to_cancel_.front().id);
    to_cancel_.pop_front();
    const std::string request =
        is_http() ? http_request("DELETE", "/v1/messages/" + id, "", "") : "delete " + id + "\r\n";
    pipe.send(request, [this, next](const PipeAnswer& answer) {
        ++report_.answered;
        const bool done = is_http() ? answer.body.find("\"outcome\":\"cancelled\"") != std::string_view::npos
                                    : answer.body == "DELETED";
        if (done) ++report_.acknowledged;
        note_refusal(done ? 0 : 1, answer.body);
        next();
    });
}

void Run::cancel() {
    for (std::uint64_t i = 0; i < pipes_.size() * options_.pipeline; ++i) keep_cancelling(pipes_[i % pipes_.size()]);
    until(
        [this] {
            for (std::size_t i = 0; i < pipes_.size(); ++i) {
                if (pipes_[i].outstanding() > 0) return false;
            }
            return time_is_over();
        },
        options_.run_ms + kLastMs);
}

void Run::get_once() {
    const std::string request = http_request("GET", options_.ask_path, "", "");
    std::function<void(Pipe&)> more = [&](Pipe& pipe) {
        if (!has_more()) return;
        ++submitted_;
        pipe.send(request, [&, sent_ns = monotonic_now_ns()](const PipeAnswer& answer) {
            ++report_.answered;
            report_.took_us.record(micros_since(sent_ns));
            note_refusal(answer.ok() ? 0 : 1, answer.body);
            more(pipe);
        });
    };
    for (std::uint64_t i = 0; i < pipes_.size() * options_.pipeline; ++i) more(pipes_[i % pipes_.size()]);
    until([this] { return report_.answered == submitted_ && !has_more(); });
}

}  // namespace

Result<LoadReport> load_put(const LoadOptions& options) {
    return Run::of(options, options.connections, &Run::put);
}
Result<LoadReport> load_fire(const LoadOptions& options) {
    return Run::of(options, options.connections + options.takers, &Run::fire);
}
Result<LoadReport> load_cycle(const LoadOptions& options) {
    return Run::of(options, options.connections + options.takers, &Run::cycle);
}
Result<LoadReport> load_drain(const LoadOptions& options) {
    return Run::of(options, options.connections, &Run::drain);
}
Result<LoadReport> load_cancel(const LoadOptions& options) {
    return Run::of(options, options.connections, &Run::cancel);
}
Result<LoadReport> load_ask(const LoadOptions& options) {
    return Run::of(options, options.connections, &Run::get_once);
}

}  // namespace duewheel
