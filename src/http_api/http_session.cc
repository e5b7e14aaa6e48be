// HttpApi: the session of the dashboard: a cookie with its id (session_cookie.h), and the token behind it
// (access/dashboard_sessions.h).
#include <array>
#include <string>
#include <utility>

#include "access/access_token_text.h"
#include "base/error_codes.h"
#include "base/json_writer.h"
#include "http_api/access/session_cookie.h"
#include "http_api/answers/token_text.h"
#include "http_api/fields/instant_member.h"
#include "http_api/fields/request_members.h"
#include "http_api/http_api.h"
#include "shared/system_clock.h"

namespace duewheel {
namespace {

constexpr std::array<std::string_view, 1> kSessionMembers = {"token"};

// A pasted token may have a line break at its end.
std::string_view without_space(std::string_view text) {
    constexpr std::string_view kBlank = " \t\r\n";
    const std::size_t first = std::min(text.find_first_not_of(kBlank), text.size());
    text.remove_prefix(first);
    return text.substr(0, text.find_last_not_of(kBlank) + 1);
}

}  // namespace

void HttpApi::answer_session(const HttpRequest& request, RequestNote note, HttpReply reply) {
    if (request.method == "POST") return begin_session(request, std::move(note), std::move(reply));
    const Result<Principal> who = identify(request);
    const AccessToken* token = who ? who->token : nullptr;
    if (token != nullptr) note.token_id = token->id;
    if (request.method != "DELETE") {
        const bool has_failed = !who && who.error().code != "token_required"_code;
        if (has_failed && !may_fail(note, reply)) return;  // this call must not become a way to try out tokens
        return responder_.answer(std::move(reply), note, session_text(token));
    }
    if (const auto session = session_id(request)) {
        if (Status own = check_session_page(request); !own)
            return responder_.refuse(std::move(reply), note, own.error());
        const std::string token_id = sessions_.end(session_key(*session));
        if (!token_id.empty()) waiting_.end_lapsed(token_id);
        if (token != nullptr) record_session(note, "session.end");
    }
    HttpResponse response = session_text(nullptr);
    response.headers.push_back(end_session(request));
    responder_.answer(std::move(reply), note, std::move(response));
}

void HttpApi::begin_session(const HttpRequest& request, RequestNote note, HttpReply reply) {
    const Result<JsonRequest> json = read_members(request, kSessionMembers);
    if (!json) return responder_.refuse(std::move(reply), note, json.error());
    const Result<std::optional<std::string_view>> text = json->text("token");
    if (!text) return responder_.refuse(std::move(reply), note, text.error());
    if (!*text) {
        return responder_.refuse(
            std::move(reply), note,
            {"missing_member"_code, "`token` is missing: give an access token, such as dw_ID_SECRET", "token"});
    }
    const std::string_view token = without_space(**text);
    const std::string authorization = "Bearer " + std::string(token);
    Credentials credentials;
    credentials.authorization = authorization;
    const std::int64_t now_ms = options_.server_ms();
    const Result<Principal> who = authenticate(credentials, port_, true, now_ms);
    if (!who) {
        return refuse_credentials(std::move(reply), note, {who.error().code, who.error().message, "token"});
    }
    if (!is_within_rates(request, *who, note, reply)) return;
    const SecretHash secret = hash_of_secret(parse_access_token(token)->secret);
    const Result<Secret> session = sessions_.begin({who->token->id, secret}, monotonic_now_ns());
    if (!session) return responder_.refuse(std::move(reply), note, session.error());
    waiting_.end_lapsed(who->token->id);  // of a session that this one has displaced
    note.token_id = who->token->id;
    activity_.note_use(note.token_id, now_ms);
    record_session(note, "session.begin");
    HttpResponse response = session_text(who->token);
    response.headers.push_back(duewheel::begin_session(request, session->reveal()));
    responder_.answer(std::move(reply), note, std::move(response));
}

HttpResponse HttpApi::session_text(const AccessToken* token) const {
    HttpResponse response;
    response.content_type = "application/json";
    JsonWriter json(response.body);
    json.open().boolean("tokens_required", options_.auth_required);
    if (token == nullptr) {
        json.json("token", "null").close();
        return response;
    }
    json.open("token").text("id", token->id);
    if (!token->description.empty()) json.text("description", token->description);
    write_rights(json, *token);
    if (token->expires_ms != 0) write_instant(json, "expires", "expires_ms", token->expires_ms);
    json.close().close();
    return response;
}

void HttpApi::record_session(RequestNote note, std::string_view verb) {
    if (options_.audit == nullptr) return;
    note.audit = AuditSubject{.verb = verb, .name_space = {}, .object = {}};
    options_.audit->record(audit_entry(note, {}, options_.server_ms()), nullptr);
}

}  // namespace duewheel
