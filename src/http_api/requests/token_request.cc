#include "http_api/requests/token_request.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "access/access_token_text.h"
#include "base/error_codes.h"
#include "calendar/instant_text.h"
#include "http_api/answers/name_page.h"
#include "http_api/fields/json_request.h"
#include "http_api/fields/name_rule.h"
#include "http_api/fields/request_members.h"

namespace duewheel {
namespace {

using What = CallPath::What;
using Changed = Result<std::optional<AccessToken>>;

constexpr std::string_view kTokenMembers[] = {"scopes",     "namespaces",       "queues",        "expires",
                                              "expires_ms", "expires_in",       "expires_in_ms", "description",
                                              "limits",     "certificate_names"};
constexpr std::string_view kRotateMembers[] = {"keep_old", "keep_old_ms"};
constexpr std::int64_t kKeepOldMaxMs = std::int64_t{90} * 86'400'000;
constexpr std::int64_t kRateMax = 1'000'000'000'000;

Error unknown_token() {
    return {"unknown_token"_code, "there is no access token with this id: check the id, or list the tokens", "id"};
}

Result<std::string> read_token_id(const CallPath& path) {
    if (is_access_token_id(path.name)) return std::string(path.name);
    return Error{"bad_token_id"_code,
                 "a token's id has 1 to " + std::to_string(kAccessTokenIdBytesMax) + " characters of a-z, 0-9 and -",
                 "id"};
}

Result<ScopeSet> read_scopes(const JsonRequest& json) {
    const Result<std::vector<std::string_view>> names = json.text_list("scopes");
    if (!names) return names.error();
    ScopeSet scopes;
    for (const std::string_view name : *names) {
        const auto* found = std::find(std::begin(kScopeNames), std::end(kScopeNames), name);
        if (found == std::end(kScopeNames)) {
            return Error{"bad_scope"_code,
                         "`" + std::string(name.substr(0, 40)) +
                             "` is not a scope: use put, read, consume, cancel, schedule and admin",
                         "scopes"};
        }
        scopes.insert(static_cast<Scope>(found - std::begin(kScopeNames)));
    }
    if (scopes.empty()) {
        return Error{"bad_scope"_code,
                     "a token needs at least one scope: use put, read, consume, cancel, schedule and admin", "scopes"};
    }
    return scopes;
}

Status read_namespaces(const JsonRequest& json, const HttpApiOptions& options, std::vector<std::string>& into) {
    reset_if_removed(json, "namespaces", into);
    if (!json.has("namespaces")) return {};
    const Result<std::vector<std::string_view>> names = json.text_list("namespaces");
    if (!names) return names.error();
    if (names->empty() || names->size() > kTokenNamespacesMax) {
        return Error{"out_of_range"_code,
                     "`namespaces` has 1 to " + std::to_string(kTokenNamespacesMax) +
                         " names: omit it for a token of all namespaces",
                     "namespaces"};
    }
    into.assign(names->begin(), names->end());
    for (const std::string& name : into) {
        if (Status fits = check_name(name, options.queue_name_bytes_max, kNamespaceName); !fits) {
            Error error = std::move(fits).error();
            error.field = "namespaces";
            return error;
        }
    }
    return {};
}

Status read_certificate_names(const JsonRequest& json, std::vector<std::string>& into) {
    reset_if_removed(json, "certificate_names", into);
    if (!json.has("certificate_names")) return {};
    const Result<std::vector<std::string_view>> names = json.text_list("certificate_names");
    if (!names) return names.error();
    if (names->size() > kTokenCertificateNamesMax) {
        return Error{"out_of_range"_code,
                     "`certificate_names` has at most " + std::to_string(kTokenCertificateNamesMax),
                     "certificate_names"};
    }
    for (const std::string_view name : *names) {
        const bool is_plain = !name.empty() && name.size() <= kCertificateNameBytesMax &&
                              std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < 0x7f; });
        if (!is_plain) {
            return Error{"bad_certificate_name"_code,
                         "a certificate's name has 1 to " + std::to_string(kCertificateNameBytesMax) +
                             " visible ASCII characters, as in its subject alternative names",
                         "certificate_names"};
        }
    }
    into.assign(names->begin(), names->end());
    return {};
}

Status read_rate(const JsonRequest& limits, std::string_view member, std::uint64_t& into) {
    reset_if_removed(limits, member, into);
    std::optional<std::int64_t> given;
    if (Status read = assign(limits.integer(member), given); !read) return read;
    if (!given) return {};
    if (*given < 1 || *given > kRateMax) {
        const std::string field = "limits." + std::string(member);
        return Error{"out_of_range"_code,
                     "`" + field + "` is from 1 to " + std::to_string(kRateMax) + ": omit it to set none", field};
    }
    into = static_cast<std::uint64_t>(*given);
    return {};
}

Status read_rates(const JsonRequest& json, AccessToken& token) {
    reset_if_removed(json, "limits", token.requests_per_second);
    reset_if_removed(json, "limits", token.bytes_per_second);
    const Result<std::optional<JsonRequest>> limits = json.object("limits");
    if (!limits) return limits.error();
    if (!*limits) return {};
    Status read = (*limits)->only({"requests_per_second", "bytes_per_second"});
    if (read) read = read_rate(**limits, "requests_per_second", token.requests_per_second);
    if (read) read = read_rate(**limits, "bytes_per_second", token.bytes_per_second);
    return read;
}

// Reads into a token that contains the values that a patch keeps. `now_ms`: the start of `expires_in`.
Status read_expiry(const JsonRequest& json, std::int64_t now_ms, std::int64_t& into_ms) {
    if (json.has_time("expires") && json.has_time("expires_in")) {
        return Error{"conflicting_members"_code, "give `expires` or `expires_in`, not both", "expires"};
    }
    reset_if_time_removed(json, "expires", into_ms);
    const Result<std::optional<std::int64_t>> at = json.instant_ms("expires");
    if (!at) return at.error();
    const Result<std::optional<std::int64_t>> after = json.duration_ms("expires_in");
    if (!after) return after.error();
    if (!*at && !*after) return {};
    if (*after && **after > kLastInstant - now_ms) {
        return Error{"out_of_range"_code,
                     "`expires_in` must end before the year 10000; omit it for a token that stays valid", "expires_in"};
    }
    into_ms = *at ? **at : now_ms + **after;
    if (into_ms <= now_ms) {
        const char* const field = *at ? "expires" : "expires_in";
        return Error{"out_of_range"_code,
                     "the token would have expired already: give a later `" + std::string(field) + "`", field};
    }
    return {};
}

Status read_token_members(const JsonRequest& json, const HttpApiOptions& options, std::int64_t now_ms,
                          AccessToken& token) {
    if (json.removes("scopes") || (!json.has("scopes") && token.scopes.empty())) {
        return Error{"missing_member"_code, "`scopes` is required, such as [\"put\"]", "scopes"};
    }
    if (json.has("scopes")) {
        const Result<ScopeSet> scopes = read_scopes(json);
        if (!scopes) return scopes.error();
        token.scopes = *scopes;
    }
    AccessLimits limits = token.limits ? *token.limits : AccessLimits{};
    Status read = read_namespaces(json, options, limits.namespaces);
    reset_if_removed(json, "queues", limits.queue_prefix);
    if (read) read = assign(json.text("queues"), limits.queue_prefix);
    if (read && json.has("queues")) {
        read = check_name(limits.queue_prefix, options.queue_name_bytes_max, kQueueName);
        if (!read) {
            return Error{
                "bad_queue_name"_code,
                "`queues` is a prefix of queue names: " + read.error().message + "; omit it for a token of all queues",
                "queues"};
        }
    }
    if (read) read = read_expiry(json, now_ms, token.expires_ms);
    reset_if_removed(json, "description", token.description);
    if (read) read = assign(json.text("description"), token.description);
    if (read && token.description.size() > kTokenDescriptionBytesMax) {
        read =
            Error{"out_of_range"_code,
                  "`description` has at most " + std::to_string(kTokenDescriptionBytesMax) + " bytes", "description"};
    }
    if (read) read = read_rates(json, token);
    if (read) read = read_certificate_names(json, token.certificate_names);
    if (!read) return read;
    token.limits = limits == AccessLimits{} ? nullptr : std::make_shared<const AccessLimits>(std::move(limits));
    return {};
}

// The command with a new secret and its hash, if it needs them.
Result<TokenCall> with_secret(std::string id, const HttpApiOptions& options,
                              std::function<Changed(const AccessToken*, DueMs, const SecretHash&)> change) {
    Result<Secret> secret = make_token_secret();
    if (!secret) return std::move(secret).error();
    ChangeTokenCommand command;
    command.id = std::move(id);
    command.keeps_admin = options.auth_required;
    command.change = [change = std::move(change), hash = hash_of_secret(*secret)](
                         const AccessToken* current, DueMs now_ms) { return change(current, now_ms, hash); };
    return TokenCall{std::move(command), *std::move(secret)};
}

Result<TokenCall> read_put_token(const HttpRequest& request, std::string id, const HttpApiOptions& options) {
    const Result<JsonRequest> json = read_members(request, kTokenMembers);
    if (!json) return json.error();
    AccessToken token;
    if (Status read = read_token_members(*json, options, options.server_ms(), token); !read) {
        return std::move(read).error();
    }
    return with_secret(std::move(id), options,
                       [token](const AccessToken* current, DueMs now_ms, const SecretHash& hash) -> Changed {
                           AccessToken next = token;
                           next.created_ms = current != nullptr ? current->created_ms : now_ms;
                           next.secret = current != nullptr ? current->secret : hash;
                           if (current != nullptr) {
                               next.old_secret = current->old_secret;
                               next.old_until_ms = current->old_until_ms;
                           }
                           return std::optional(std::move(next));
                       });
}

Result<TokenCall> read_patch_token(const HttpRequest& request, std::string id, const HttpApiOptions& options) {
    const Result<std::shared_ptr<const MergePatch>> patch = read_patch(request, kTokenMembers);
    if (!patch) return patch.error();
    ChangeTokenCommand command;
    command.id = std::move(id);
    command.keeps_admin = options.auth_required;
    command.change = [patch = *patch, &options](const AccessToken* current, DueMs now_ms) -> Changed {
        if (current == nullptr) return unknown_token();
        AccessToken next = *current;
        if (Status read = read_token_members(patch->json, options, now_ms, next); !read) return std::move(read).error();
        return std::optional(std::move(next));
    };
    return TokenCall{std::move(command), {}};
}

Result<TokenCall> read_rotate(const HttpRequest& request, std::string id, const HttpApiOptions& options) {
    const Result<JsonRequest> json = read_members(request, kRotateMembers);
    if (!json) return json.error();
    std::int64_t keep_ms = 0;
    if (Status read = assign(json->duration_ms("keep_old"), keep_ms); !read) return std::move(read).error();
    if (keep_ms > kKeepOldMaxMs) {
        return Error{"out_of_range"_code, "`keep_old` is how long the old secret stays valid: up to 90 days",
                     "keep_old"};
    }
    return with_secret(std::move(id), options,
                       [keep_ms](const AccessToken* current, DueMs now_ms, const SecretHash& hash) -> Changed {
                           if (current == nullptr) return unknown_token();
                           AccessToken next = *current;
                           next.old_secret = keep_ms != 0 ? current->secret : SecretHash{};
                           next.old_until_ms = keep_ms != 0 ? now_ms + keep_ms : 0;
                           next.secret = hash;
                           return std::optional(std::move(next));
                       });
}

Result<TokenCall> read_token_list(const HttpRequest& request) {
    Result<Command> list = read_name_list<ListTokensCommand>(request, NameList::tokens, "the list of tokens");
    if (!list) return std::move(list).error();
    return TokenCall{*std::move(list), {}};
}

}  // namespace

bool is_token_call(What what) {
    return what == What::token || what == What::rotate_token || what == What::tokens;
}

Result<TokenCall> read_token_call(const HttpRequest& request, const CallPath& path, const HttpApiOptions& options) {
    if (path.what == What::tokens) return read_token_list(request);
    if (!request.query.empty()) {
        return Error{"unknown_parameter"_code, "this call takes no parameters after a question mark: send a JSON body"};
    }
    Result<std::string> id = read_token_id(path);
    if (!id) return std::move(id).error();
    if (path.what == What::rotate_token) return read_rotate(request, *std::move(id), options);
    if (request.method == "PUT") return read_put_token(request, *std::move(id), options);
    if (request.method == "PATCH") return read_patch_token(request, *std::move(id), options);
    if (const Result<JsonRequest> none = read_members(request, {}); !none) return none.error();
    if (request.method != "DELETE") return TokenCall{DescribeTokenCommand{*std::move(id)}, {}};
    ChangeTokenCommand remove;
    remove.id = *std::move(id);
    remove.keeps_admin = options.auth_required;
    remove.change = [](const AccessToken*, DueMs) -> Changed { return std::optional<AccessToken>(); };
    return TokenCall{std::move(remove), {}};
}

}  // namespace duewheel
