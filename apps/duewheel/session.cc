#include "session.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/error_codes.h"
#include "http_api/fields/json_text.h"
#include "net/http/http_target.h"
#include "plain_text.h"

namespace duewheel {
namespace {

namespace json = boost::json;

const json::value* find(const json::object& object, std::string_view member) {
    return object.if_contains(json::string_view(member.data(), member.size()));
}

}  // namespace

std::string_view word_of(const json::object& object, std::string_view member) {
    const json::value* value = find(object, member);
    if (value == nullptr || !value->is_string()) return {};
    return {value->get_string().data(), value->get_string().size()};
}

std::int64_t number_of(const json::object& object, std::string_view member) {
    const json::value* value = find(object, member);
    if (value == nullptr) return 0;
    json::error_code not_a_number;
    const auto number = value->to_number<std::int64_t>(not_a_number);
    return not_a_number ? 0 : number;
}

bool is_true(const json::object& object, std::string_view member) {
    const json::value* value = find(object, member);
    return value != nullptr && value->is_bool() && value->get_bool();
}

const json::object* object_of(const json::object& object, std::string_view member) {
    const json::value* value = find(object, member);
    return value != nullptr ? value->if_object() : nullptr;
}

std::string_view ServerAnswer::word(std::string_view member) const {
    return word_of(members, member);
}

std::int64_t ServerAnswer::number(std::string_view member) const {
    return number_of(members, member);
}

std::string Session::path(std::string_view kind, std::string_view name, std::string_view rest) const {
    std::string path = this->path(kind);
    path += '/';
    path += percent_encode(name);
    path += rest;
    return path;
}

std::string Session::path(std::string_view call) const {
    std::string path = "/v1/";
    if (name_space) path += "namespaces/" + percent_encode(*name_space) + "/";
    return path += call;
}

std::string Session::lease_path(std::string_view lease, std::string_view rest) {
    return "/v1/leases/" + percent_encode(lease) + std::string(rest);
}

namespace {

constexpr std::size_t kAnswerDepthMax = 64;  // a message's content in it may have 31 levels

// A parsed tree does not preserve the form of numbers, so the members of a message that hold any JSON are kept as text.
constexpr std::string_view kKeptAsText[] = {"json", "result", "progress", "checkpoint"};

void keep_content(json::object& object, std::string_view text) {
    for (const auto& [name, value] : member_texts(text)) {
        json::value* const found = object.if_contains({name.data(), name.size()});
        if (found == nullptr) continue;
        if (std::find(std::begin(kKeptAsText), std::end(kKeptAsText), name) != std::end(kKeptAsText)) {
            *found = json::string(value.data(), value.size());
        }
        if (name == "settings" && found->is_object()) keep_content(found->get_object(), value);
        if (name != "messages" || !found->is_array()) continue;
        const std::vector<std::string_view> messages = element_texts(value);
        json::array& trees = found->get_array();
        for (std::size_t i = 0; i < std::min(messages.size(), trees.size()); ++i) {
            if (trees[i].is_object()) keep_content(trees[i].get_object(), messages[i]);
        }
    }
}

}  // namespace

ServerAnswer Session::ask(std::string_view method, const std::string& path, const json::object& body,
                          std::chrono::milliseconds patience) {
    return ask_with_text(method, path, body.empty() ? std::string() : plain_json(body), patience);
}

ServerAnswer Session::ask_with_text(std::string_view method, const std::string& path, std::string_view body,
                                    std::chrono::milliseconds patience) {
    return with_members(send(method, path, "application/json", body, patience));
}

ServerAnswer Session::get(const std::string& path) {
    return with_members(send("GET", path, "", "", std::chrono::seconds(30), true));
}

ServerAnswer Session::with_members(ServerAnswer answer) const {
    if (!answer) return answer;
    json::error_code broken;
    json::parse_options options;
    options.max_depth = kAnswerDepthMax;
    json::value value = json::parse(answer.text, broken, {}, options);
    if (broken || !value.is_object()) return not_a_server();
    answer.members = std::move(value.get_object());
    keep_content(answer.members, answer.text);
    return answer;
}

ServerAnswer Session::call(std::string_view method, const std::string& path, std::string_view body) {
    constexpr std::chrono::minutes kPatience{61};  // a lease may wait for an hour
    return send(method, path, "application/json", body, kPatience);
}

ServerAnswer Session::look_up_lines(const std::string& path, std::string_view lines,
                                    std::chrono::milliseconds patience) {
    return send("POST", path, "application/x-ndjson", lines, patience);
}

int Session::check_health() {
    const ServerAnswer answer = send("GET", "/healthz", "", "", std::chrono::seconds(5));
    if (!answer) return answer.exit_code;
    return answer.text == "ok\n" ? kExitDone : not_a_server().exit_code;
}

ServerAnswer Session::send(std::string_view method, const std::string& path, std::string_view type,
                           std::string_view body, std::chrono::milliseconds patience, bool may_be_absent) {
    if (ServerAnswer ready = connect(); !ready) return ready;
    std::vector<HttpHeader> headers;
    if (!body.empty()) headers.push_back({"Content-Type", std::string(type)});
    if (!traceparent_.empty()) headers.push_back({"traceparent", traceparent_});
    Result<HttpAnswer> answered = client_->request(method, path, headers, body, patience);
    if (!answered) return unreachable(answered.error());
    ServerAnswer answer;
    if (answered->status == 404 && may_be_absent) {
        answer.exit_code = kExitRefused;
    } else if (answered->status >= 400) {
        answer = refused(*answered);
    } else if (answered->status >= 300) {
        answer = not_a_server();
    } else {
        answer.text = std::move(answered->body);
    }
    answer.status = answered->status;
    return answer;
}

ServerAnswer Session::connect() {
    ServerAnswer answer;
    if (client_) return answer;
    Result<HttpClientOptions> options = server.client_options();
    if (options) {
        client_ = std::make_unique<HttpClient>(*std::move(options));
    } else {
        answer.exit_code = complain(options.error(), kExitUsage);
    }
    return answer;
}

ServerAnswer Session::unreachable(const Error& error) const {
    ServerAnswer answer;
    const bool usage = error.code == "bad_address"_code || error.code == "bad_certificate_file"_code ||
                       error.code == "exposed_token"_code;
    answer.exit_code = complain(error, usage ? kExitUsage : kExitUnreachable);
    return answer;
}

ServerAnswer Session::follow_stats(const std::function<void(json::object)>& take,
                                   const std::function<bool()>& goes_on) {
    if (ServerAnswer ready = connect(); !ready) return ready;
    std::string received;  // since the last complete event
    const auto on_bytes = [&](std::string_view bytes) {
        received += bytes;
        for (std::size_t end = 0; (end = received.find("\n\n")) != std::string::npos; received.erase(0, end + 2)) {
            constexpr std::string_view kData = "\ndata: ";
            const std::string_view event = std::string_view(received).substr(0, end);
            const std::size_t data = event.find(kData);
            if (!event.starts_with("event: stats\n") || data == std::string_view::npos) continue;
            json::error_code broken;
            const std::string_view document = event.substr(data + kData.size());
            json::value value = json::parse(json::string_view(document.data(), document.size()), broken);
            if (!broken && value.is_object()) take(std::move(value.get_object()));
        }
    };
    const Result<HttpAnswer> answered = client_->stream("/v1/events?only=stats", on_bytes, goes_on);
    if (!answered) return unreachable(answered.error());
    return answered->status >= 400 ? refused(*answered) : ServerAnswer();
}

ServerAnswer Session::not_a_server() const {
    ServerAnswer answer;
    const Error error{"bad_answer"_code,
                      "The address " + server.url + " does not belong to a Duewheel server: check it."};
    answer.exit_code = complain(error, kExitUnreachable);
    return answer;
}

// The detail of the problem document says what to do.
ServerAnswer Session::refused(const HttpAnswer& refusal) {
    ServerAnswer answer;
    json::error_code broken;
    json::value value = json::parse(refusal.body, broken);
    const bool is_problem = !broken && value.is_object() && !word_of(value.get_object(), "code").empty();
    if (!is_problem) {
        const Error error{"bad_answer"_code, "The address " + server.url +
                                                 " does not belong to a Duewheel server (status " +
                                                 std::to_string(refusal.status) + "): check it."};
        answer.exit_code = complain(error, kExitUnreachable);
        return answer;
    }
    json::object& problem = value.get_object();
    if (problem.contains("outcome")) {
        answer.exit_code = kExitRefused;
        answer.members = std::move(problem);
        answer.text = refusal.body;
        return answer;
    }
    answer.exit_code = complain(refusal_of(problem), kExitRefused);
    return answer;
}

int Session::show(const ServerAnswer& answer, const std::function<void()>& people, int exit_code) const {
    if (json) {
        std::printf("%s\n", printable_json(answer.text).c_str());
    } else {
        people();
    }
    return exit_code;
}

int Session::complain(const Refusal& refusal, int exit_code) const {
    const std::string message = printable(refusal.detail);
    const std::string code = printable(refusal.code);
    const std::string field = refusal.field.empty() ? "" : ", " + printable(refusal.field);
    std::fprintf(stderr, "duewheel: %s (%s%s)\n", message.c_str(), code.c_str(), field.c_str());
    return exit_code;
}

}  // namespace duewheel
