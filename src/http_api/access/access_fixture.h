// For the tests of access: an API that requires tokens, and tokens whose secrets the test knows.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "access/access_token_text.h"
#include "http_api/calls/call_fixture.h"

namespace duewheel {

inline HttpApiOptions with_auth(bool required = true) {
    HttpApiOptions options;
    options.auth_required = required;
    return options;
}

inline std::string known_secret(char c = 'x') {
    return std::string(43, c);
}

inline AccessToken known_token(std::string id, ScopeSet scopes, AccessLimits limits = {}) {
    AccessToken token;
    token.id = std::move(id);
    token.revision = 1;
    token.scopes = scopes;
    token.secret = hash_of_secret(Secret(known_secret()));
    if (limits != AccessLimits{}) token.limits = std::make_shared<const AccessLimits>(std::move(limits));
    return token;
}

inline std::string bearer(const std::string& id, char c = 'x') {
    return "Bearer dw_" + id + "_" + known_secret(c);
}

inline Call with_token(Call call, const std::string& id) {
    call.fields.emplace_back("Authorization", bearer(id));
    return call;
}

}  // namespace duewheel
