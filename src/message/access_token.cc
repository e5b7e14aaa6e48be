#include "message/access_token.h"

#include <cstring>
#include <utility>

#include "base/error_codes.h"
#include "message/records/fields.h"

namespace duewheel {
namespace {

std::string_view bytes_of(const SecretHash& hash) {
    return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}

void hash_field(FieldWriter& to, std::uint32_t tag, const SecretHash& hash) {
    to.text(tag, bytes_of(hash));
}
void hash_field(FieldsReader& from, std::uint32_t tag, SecretHash& into) {
    std::string_view bytes;
    if (!from.text(tag, bytes)) return;
    if (bytes.size() != into.size()) return from.refuse();
    std::memcpy(into.data(), bytes.data(), into.size());
}

// Fields of a token with these scopes and limits. Field numbers are in the log: never change or re-use one.
template <class Visitor, class Token, class Limits>
void token_fields(Visitor& visit, Token& token, auto& scopes, Limits& limits) {
    constexpr char kBetweenNames = '\0';  // names contain no such byte
    visit.number(1, token.revision);
    visit.number(2, scopes);
    visit.texts(3, limits.namespaces, kBetweenNames);
    visit.text(4, limits.queue_prefix);
    visit.text(5, token.description);
    visit.signed_number(6, token.created_ms);
    visit.signed_number(7, token.expires_ms);
    hash_field(visit, 8, token.secret);
    if (Visitor::kReads || token.old_until_ms != 0) hash_field(visit, 9, token.old_secret);
    visit.signed_number(10, token.old_until_ms);
    visit.number(11, token.requests_per_second);
    visit.number(12, token.bytes_per_second);
    visit.texts(13, token.certificate_names, kBetweenNames);
}

}  // namespace

std::string encode_access_token(const AccessToken& token) {
    std::string out;
    if (token.revision == 0) return out;
    const AccessLimits none;
    FieldWriter to(out);
    const auto scopes = token.scopes.bits();
    token_fields(to, token, scopes, token.limits ? *token.limits : none);
    return out;
}

Result<AccessToken> decode_access_token(std::string_view id, std::string_view bytes) {
    AccessToken token;
    token.id = id;
    AccessLimits limits;
    std::uint8_t scopes = 0;
    FieldsReader from(bytes);
    token_fields(from, token, scopes, limits);
    if (Status known = from.end("an access token holds"); !known) return std::move(known).error();
    if (from.damaged() || (token.revision == 0) != bytes.empty()) {
        return Error{"damaged_record"_code, "an access token cannot be read"};
    }
    if (scopes >> kScopeCount != 0) {
        return Error{"newer_format"_code,
                     "an access token has a scope that this version does not know: open the data with the version that "
                     "wrote it"};
    }
    token.scopes = ScopeSet::of_bits(scopes);
    if (limits != AccessLimits{}) token.limits = std::make_shared<const AccessLimits>(std::move(limits));
    return token;
}

Error outside_queues(const AccessLimits& limits, std::string field) {
    return {"forbidden"_code,
            "this token may use only queues whose names begin with `" + limits.queue_prefix +
                "`: name one of these, or use a token for the other queue",
            std::move(field)};
}

Error outside_namespaces(std::string_view name_space) {
    return {"forbidden"_code,
            "this token may not use the namespace `" + std::string(name_space) +
                "`: use one of its own namespaces, or a token for this one",
            "namespace"};
}

bool AccessToken::says_the_same(const AccessToken& other) const {
    AccessToken left = *this;
    AccessToken right = other;
    left.revision = right.revision = 1;
    return id == other.id && encode_access_token(left) == encode_access_token(right);
}

}  // namespace duewheel
