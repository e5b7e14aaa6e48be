#include "duewheel/client/client.h"

#include <array>
#include <stdexcept>
#include <utility>

#include <unistd.h>

#include "core.h"
#include "payload.h"
#include "wire.h"

namespace duewheel::client {

template <Is<Answer> Model, class Each>
static void for_each_member(Model& answer, Each&& each) {
    each("outcome", answer.outcome);
    each("state", answer.state);
    each("cancel_requested", answer.cancel_requested);
}

template <Is<Clock> Model, class Each>
static void for_each_member(Model& clock, Each&& each) {
    each("server_time_ms", clock.now);
    each("state", clock.state);
}

namespace {

constexpr std::chrono::minutes kWaitMax{1};  // of one request

Error no_answer(const std::string& what) {
    return {.family = Family::unavailable,
            .code = "not_duewheel",
            .detail = "the answer is not what this client expects: " + what};
}

// The answer as a T, which is an object.
template <class T>
Result<T> read(std::string body) {
    if (!is_json(body) || !body.starts_with('{')) return no_answer(body.substr(0, 200));
    if constexpr (std::same_as<T, Json>) {
        return Json{std::move(body)};
    } else {
        return read_model<T>(body);
    }
}

template <class T>
Result<T> read_item(std::string_view json) {
    if (std::optional<Error> refusal = problem_of(json)) return *std::move(refusal);
    return read<T>(std::string(json));
}

std::string random_key() {
    std::array<unsigned char, 16> random{};
    if (getentropy(random.data(), random.size()) != 0) throw std::runtime_error("the system has no random numbers");
    std::string key;
    for (const unsigned char byte : random) (key += "0123456789abcdef"[byte >> 4]) += "0123456789abcdef"[byte & 15];
    return key;
}

std::function<std::string(Duration)> fixed(std::string body) {
    return [body = std::move(body)](Duration) { return body; };
}

const PayloadCodec* codec_of(const detail::Sender& sender) {
    return sender.core->options().codec.get();
}

Call<Message>::Read read_message(const detail::Sender& sender) {
    return [codec = sender.core->options().codec](std::string body) -> Result<Message> {
        Result<Message> message = read<Message>(std::move(body));
        if (!message) return message;
        return opened(codec.get(), std::move(message).value());
    };
}

std::string changes_json(const Changes& changes) {
    ObjectWriter members;
    for (const auto& [name, value] : changes) members.add(name, value.json());
    return std::move(members).json();
}

// The options of a put, or settings, with the data of the messages.
template <class Options>
std::string options_json(const PayloadCodec* codec, Options options, Content data = {}) {
    if constexpr (requires { options.headers; }) seal(codec, data, options.headers);
    ObjectWriter members;
    members.add_content(data);
    for_each_member(options, members);
    return std::move(members).json();
}

// The path of a message, with the parameters of its call.
std::string path_of(const Which& which, const std::string& parameters = {}) {
    const bool has_id = which.queue.empty();
    const std::string path = has_id ? "/messages/" + segment(which.id)
                                    : "/messages?queue=" + segment(which.queue) + "&key=" + segment(which.key);
    return parameters.empty() ? path : path + (has_id ? "?" : "&") + parameters;
}

}  // namespace

std::shared_ptr<detail::Pending> detail::Sender::send(Request request) const {
    request.timeout = timeout;
    return core->send(std::move(request));
}

template <class Mode>
BasicClient<Mode>::BasicClient(const std::string& url, ClientOptions options)
    : sender_{std::make_shared<Core>(url, std::move(options))} {}

template <class Mode>
Duration BasicClient<Mode>::timeout() const {
    return sender_.timeout.value_or(sender_.core->options().timeout);
}

static std::string no_body() {
    return {};
}

// Makes a call whose body `write` writes. Failure of it is the answer.
template <class T, class Mode, class Write = decltype(&no_body)>
static typename Mode::template Answered<T> make(const detail::Sender& sender, const std::string& method,
                                                const std::string& below, Write&& write = no_body,
                                                typename Call<T>::Read read_answer = read<T>) {
    Request request{.method = method, .path = sender.core->path(below)};
    try {
        if (std::string body = write(); !body.empty()) request.body = fixed(std::move(body));
    } catch (const Failure& failure) {
        auto ended = std::make_shared<detail::Pending>();
        ended->cancel = [] {};
        ended->finish(failure.error());
        return Mode::answered(Call<T>(std::move(ended), nullptr));
    }
    return Mode::answered(Call<T>(sender.send(std::move(request)), std::move(read_answer)));
}

template <class Mode>
auto BasicClient<Mode>::put(const std::string& queue, Content data, PutOptions options) const -> Answered<Receipt> {
    if (sender_.core->options().before_put) sender_.core->options().before_put(queue, options);
    if (options.key.empty()) options.key = random_key();
    return make<Receipt, Mode>(sender_, "POST", "/queues/" + segment(queue) + "/messages",
                               [&] { return options_json(codec_of(sender_), std::move(options), std::move(data)); });
}

template <class Mode>
auto BasicClient<Mode>::put_many(const std::string& queue, std::vector<Put> puts) const
    -> Answered<std::vector<Result<Receipt>>> {
    Request request{.method = "POST",
                    .path = sender_.core->path("/queues/" + segment(queue) + "/messages:batch"),
                    .media_type = "application/x-ndjson"};
    std::string lines;
    for (Put& put : puts) {
        if (sender_.core->options().before_put) sender_.core->options().before_put(queue, put.options);
        if (put.options.key.empty()) put.options.key = random_key();
        try {
            (lines += options_json(codec_of(sender_), std::move(put.options), std::move(put.data))) += '\n';
        } catch (const Failure& failure) {
            return refused<std::vector<Result<Receipt>>>(failure.error().detail);
        }
    }
    request.body = fixed(std::move(lines));
    return Mode::answered(Call<std::vector<Result<Receipt>>>(
        sender_.send(std::move(request)), [](std::string body) -> Result<std::vector<Result<Receipt>>> {
            std::vector<Result<Receipt>> results;
            std::string_view left = body;
            while (!left.empty()) {
                const std::string_view line = left.substr(0, left.find('\n'));
                left.remove_prefix(std::min(line.size() + 1, left.size()));
                if (!line.empty()) results.push_back(read_item<Receipt>(line));
            }
            return results;
        }));
}

template <class Mode>
auto BasicClient<Mode>::get(const Which& which) const -> Answered<Message> {
    return make<Message, Mode>(sender_, "GET", path_of(which), no_body, read_message(sender_));
}

// One request of wait(), and the next ones.
static Request wait_request(std::string path, std::string parameter_mark, SteadyInstant end) {
    const Duration left = std::clamp<Duration>(end - std::chrono::steady_clock::now(), Duration::zero(), kWaitMax);
    Request request{.method = "GET", .path = path, .wait = left};
    if (left > Duration::zero()) request.path += parameter_mark + "wait=" + duration_text(left);
    request.next = [path, parameter_mark, end](const std::string& answer) -> std::optional<Request> {
        const std::string state = unquoted(member_of(answer, "state")).value_or("");
        const bool has_ended = state == "done" || state == "cancelled" || state == "expired" || state == "dead";
        if (has_ended || std::chrono::steady_clock::now() >= end) return {};
        return wait_request(path, parameter_mark, end);
    };
    return request;
}

template <class Mode>
auto BasicClient<Mode>::wait(const Which& which, Duration timeout) const -> Answered<Message> {
    const std::string path = sender_.core->path(path_of(which));
    const std::string mark = path.find('?') == std::string::npos ? "?" : "&";
    return Mode::answered(Call<Message>(
        sender_.send(wait_request(path, mark, std::chrono::steady_clock::now() + timeout)), read_message(sender_)));
}

template <class Mode>
auto BasicClient<Mode>::list(const std::string& queue, const ListOptions& options) const -> Answered<Page> {
    std::string path = "/queues/" + segment(queue) + "/messages?limit=" + std::to_string(options.limit);
    if (!options.state.empty()) path += "&state=" + segment(options.state);
    if (!options.cursor.empty()) path += "&cursor=" + segment(options.cursor);
    return make<Page, Mode>(sender_, "GET", path, no_body, [](std::string body) -> Result<Page> {
        Page page{.raw = body};
        for (const std::string_view each : elements_of(member_of(body, "messages")))
            page.messages.push_back(read_model<Message>(each));
        page.cursor = unquoted(member_of(body, "cursor")).value_or("");
        return page;
    });
}

template <class Mode>
auto BasicClient<Mode>::cancel(const Which& which) const -> Answered<Answer> {
    return make<Answer, Mode>(sender_, "DELETE", path_of(which));
}

template <class Mode>
auto BasicClient<Mode>::cancel_running(const Which& which) const -> Answered<Answer> {
    return make<Answer, Mode>(sender_, "DELETE", path_of(which, "running=true"));
}

template <class Mode>
auto BasicClient<Mode>::move(const Which& which, const Changes& changes) const -> Answered<Answer> {
    return make<Answer, Mode>(sender_, "PATCH", path_of(which), [&] {
        Changes sealed = changes;
        seal(codec_of(sender_), sealed);
        return changes_json(sealed);
    });
}

template <class Mode>
auto BasicClient<Mode>::act(const std::string& id, const std::string& verb) const -> Answered<Answer> {
    return make<Answer, Mode>(sender_, "POST", "/messages/" + segment(id) + ":" + verb);
}

template <class Mode>
auto BasicClient<Mode>::lease(const std::string& queue, const LeaseOptions& options) const
    -> Answered<std::vector<Lease>> {
    Request request{
        .method = "POST", .path = sender_.core->path("/queues/" + segment(queue) + ":lease"), .wait = options.wait};
    request.body = [options](Duration passed) {
        ObjectWriter members;
        members("max", std::optional(options.max));
        members("lease", options.lease);
        members("worker", options.worker);
        if (const Duration left = options.wait - passed; left > Duration::zero()) {
            members("wait", std::optional(left));
            if (options.min > 1) members("min", std::optional(options.min));
        }
        return std::move(members).json();
    };
    return Mode::answered(Call<std::vector<Lease>>(
        sender_.send(std::move(request)),
        [codec = sender_.core->options().codec](std::string body) -> Result<std::vector<Lease>> {
            if (!is_json(body)) return no_answer(body.substr(0, 200));
            std::vector<Lease> leases;
            for (const std::string_view each : elements_of(member_of(body, "messages")))
                leases.push_back(opened(codec.get(), read_model<Lease>(each)));
            return leases;
        }));
}

// A call that ends or extends a lease, or several. `members` gives its members.
template <class Mode, class Members>
static auto end_lease(const detail::Sender& sender, const std::string& token, const char* verb, Members&& members) {
    return make<Answer, Mode>(sender, "POST", "/leases/" + segment(token) + ":" + verb, [&] {
        const std::string written = members();
        return "{" + written.substr(std::min<std::size_t>(1, written.size())) + "}";
    });
}

template <class Mode, class Members>
static auto end_leases(const detail::Sender& sender, const std::vector<std::string>& tokens, const char* verb,
                       Members&& members) {
    using Answers = std::vector<Result<Answer>>;
    const auto write = [&] {
        std::string body = "{\"leases\":[";
        for (const std::string& token : tokens) {
            if (&token != &tokens.front()) body += ',';
            append_quoted(body, token);
        }
        return body + "]" + members() + "}";
    };
    return make<Answers, Mode>(sender, "POST", std::string("/leases:") + verb, write,
                               [](std::string body) -> Result<Answers> {
                                   Answers answers;
                                   for (const std::string_view each : elements_of(member_of(body, "results")))
                                       answers.push_back(read_item<Answer>(each));
                                   return answers;
                               });
}

template <class Mode>
auto BasicClient<Mode>::ack(const std::string& token, Json result) const -> Answered<Answer> {
    return end_lease<Mode>(sender_, token, "ack", [&] { return ack_members(result); });
}

template <class Mode>
auto BasicClient<Mode>::fail(const std::string& token, const std::string& reason, FailOptions options) const
    -> Answered<Answer> {
    return end_lease<Mode>(sender_, token, "fail", [&] { return fail_members(reason, options); });
}

template <class Mode>
auto BasicClient<Mode>::extend(const std::string& token, ExtendOptions options) const -> Answered<Answer> {
    return end_lease<Mode>(sender_, token, "extend", [&] { return extend_members(options); });
}

template <class Mode>
auto BasicClient<Mode>::release(const std::string& token, Duration delay) const -> Answered<Answer> {
    return end_lease<Mode>(sender_, token, "release", [&] { return release_members(delay); });
}

template <class Mode>
auto BasicClient<Mode>::hold_leased(const std::string& token) const -> Answered<Answer> {
    return end_lease<Mode>(sender_, token, "hold", no_body);
}

template <class Mode>
auto BasicClient<Mode>::ack_many(const std::vector<std::string>& tokens, Json result) const -> Answered<Answers> {
    return end_leases<Mode>(sender_, tokens, "ack", [&] { return ack_members(result); });
}

template <class Mode>
auto BasicClient<Mode>::fail_many(const std::vector<std::string>& tokens, const std::string& reason,
                                  FailOptions options) const -> Answered<Answers> {
    return end_leases<Mode>(sender_, tokens, "fail", [&] { return fail_members(reason, options); });
}

template <class Mode>
auto BasicClient<Mode>::extend_many(const std::vector<std::string>& tokens, ExtendOptions options) const
    -> Answered<Answers> {
    return end_leases<Mode>(sender_, tokens, "extend", [&] { return extend_members(options); });
}

template <class Mode>
auto BasicClient<Mode>::release_many(const std::vector<std::string>& tokens, Duration delay) const
    -> Answered<Answers> {
    return end_leases<Mode>(sender_, tokens, "release", [&] { return release_members(delay); });
}

template <class Mode>
auto BasicClient<Mode>::get_queue(const std::string& queue) const -> Answered<QueueState> {
    return make<QueueState, Mode>(sender_, "GET", "/queues/" + segment(queue));
}

template <class Mode>
auto BasicClient<Mode>::set_queue(const std::string& queue, const QueueSettings& settings) const
    -> Answered<QueueState> {
    return make<QueueState, Mode>(sender_, "PUT", "/queues/" + segment(queue),
                                  [&] { return options_json(nullptr, settings); });
}

template <class Mode>
auto BasicClient<Mode>::change_queue(const std::string& queue, const Changes& changes) const -> Answered<QueueState> {
    return make<QueueState, Mode>(sender_, "PATCH", "/queues/" + segment(queue), [&] { return changes_json(changes); });
}

template <class Mode>
auto BasicClient<Mode>::act_on_queue(const std::string& queue, const std::string& verb) const -> Answered<QueueState> {
    return make<QueueState, Mode>(sender_, "POST", "/queues/" + segment(queue) + ":" + verb);
}

template <class Mode>
auto BasicClient<Mode>::back_off_group(const std::string& queue, const std::string& group, Duration time) const
    -> Answered<Json> {
    return make<Json, Mode>(sender_, "POST", "/queues/" + segment(queue) + "/groups/" + segment(group) + ":backoff",
                            [&] {
                                return changes_json({{"for", time}});
                            });
}

template <class Mode>
auto BasicClient<Mode>::set_schedule(const std::string& name, const Content& data,
                                     const ScheduleSettings& settings) const -> Answered<Json> {
    return make<Json, Mode>(sender_, "PUT", "/schedules/" + segment(name),
                            [&] { return options_json(codec_of(sender_), settings, data); });
}

template <class Mode>
auto BasicClient<Mode>::set_watchdog(const std::string& name, const Content& data,
                                     const WatchdogSettings& settings) const -> Answered<Json> {
    return make<Json, Mode>(sender_, "PUT", "/watchdogs/" + segment(name),
                            [&] { return options_json(codec_of(sender_), settings, data); });
}

template <class Mode>
auto BasicClient<Mode>::act_on(const char* method, const char* kind, const std::string& name, const char* verb) const
    -> Answered<Json> {
    return make<Json, Mode>(sender_, method, kind + segment(name) + verb);
}

template <class Mode>
auto BasicClient<Mode>::clock() const -> Answered<Clock> {
    return Mode::answered(Call<Clock>(sender_.send({.method = "GET", .path = "/v1/clock"}), read<Clock>));
}

template <class Mode>
auto BasicClient<Mode>::advance(Duration by) const -> Answered<Clock> {
    Request request{
        .method = "POST", .path = "/v1/clock:advance", .body = fixed("{\"by\":\"" + duration_text(by) + "\"}")};
    return Mode::answered(Call<Clock>(sender_.send(std::move(request)), read<Clock>));
}

template <class Mode>
auto BasicClient<Mode>::call(const std::string& method, const std::string& path, Json body) const -> Answered<Json> {
    return make<Json, Mode>(sender_, method, path, [&] { return std::move(body.text); });
}

template class BasicClient<Blocking>;
template class BasicClient<Awaited>;

}  // namespace duewheel::client
