#include "access/decision.h"

#include <string>

#include "base/error_codes.h"

namespace duewheel {
namespace {

Error forbidden(std::string text) {
    return {"forbidden"_code, std::move(text)};
}

std::string quoted(std::string_view text) {
    return "`" + std::string(text) + "`";
}

}  // namespace

bool administers_server(const Principal& principal) {
    return decide(principal, {.reach = Reach::server, .scope = Scope::admin}, {}, {}).ok();
}

Status decide(const Principal& principal, Need need, std::string_view name_space, std::string_view queue) {
    if (need.reach == Reach::no_token) return {};
    if (need.reach == Reach::undecided) return forbidden("no token allows this call");
    if (principal.token == nullptr || need.reach == Reach::any_token) return {};
    const AccessToken& token = *principal.token;
    if (!token.scopes.contains(need.scope)) {
        const std::string scope = quoted(kScopeNames[static_cast<std::size_t>(need.scope)]);
        return forbidden("the token " + quoted(token.id) + " lacks the scope " + scope +
                         ", which this call needs: add it to the token, or use another one");
    }
    if (token.limits == nullptr) return {};
    const AccessLimits& limits = *token.limits;
    const bool names_namespace = need.reach != Reach::list && need.reach != Reach::server;
    if (names_namespace && !limits.admits_namespace(name_space)) return outside_namespaces(name_space);
    switch (need.reach) {
        case Reach::name_space:
            return {};
        case Reach::queue:
            return limits.admits_queue(queue) ? Status() : outside_queues(limits, "queue");
        case Reach::whole_namespace:
        case Reach::list:
            if (limits.queue_prefix.empty()) return {};
            return forbidden("this call concerns all queues of a namespace, and the token " + quoted(token.id) +
                             " may use only those whose names begin with " + quoted(limits.queue_prefix) +
                             ": use a token without `queues`");
        default:
            return forbidden("this call concerns the whole server, and the token " + quoted(token.id) +
                             " is limited to some namespaces or queues: use a token without `namespaces` and `queues`");
    }
}

}  // namespace duewheel
