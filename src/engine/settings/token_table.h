// The access tokens of a shard by id, and by the certificate names that identify them.
//
// Tokens may be many, and most of them idle: each is kept in its byte form, and those that are looked up also as
// values. What is here is durable and applied; ids that the batch being built or in flight changes are noted beside it.
// Single-threaded; it reads no clock and decides nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "message/access_token.h"
#include "message/certificate_name.h"
#include "message/records/record.h"

namespace duewheel {

// The value of a token's record, and its position in the log.
struct StoredToken {
    std::string id;
    std::string value;
    Sequence log_position = 0;
    std::uint32_t record_bytes = 0;

    AccessToken token() const { return *decode_access_token(id, value); }
};

class TokenTable {
  public:
    // Null where there is none. Valid until the token is changed or removed. O(log n).
    const AccessToken* find(std::string_view id) const {
        const StoredToken* stored = find_stored(id);
        if (stored == nullptr) return nullptr;
        const auto known = looked_up_.find(stored);
        if (known != looked_up_.end()) return &known->second;
        return &looked_up_.emplace(stored, stored->token()).first->second;
    }
    // The token of a certificate with this subject alternative name (certificate_name.h). O(log n).
    const AccessToken* find_by_certificate(std::string_view name) const {
        const auto found = by_certificate_.find(typed_certificate_name(name));
        return found == by_certificate_.end() ? nullptr : find(found->second);
    }
    const StoredToken* find_stored(std::string_view id) const {
        const auto found = by_id_.find(id);
        return found == by_id_.end() ? nullptr : &*found;
    }
    // In the order of ids, the first one after `after`; null where there is none. O(log n).
    const StoredToken* next(std::string_view after) const {
        const auto found = by_id_.upper_bound(after);
        return found == by_id_.end() ? nullptr : &*found;
    }
    std::size_t size() const { return by_id_.size(); }

    // Sets the token or changes it in place. Its value can be decoded.
    void set(StoredToken stored) {
        remove(stored.id);
        const AccessToken token = stored.token();
        for (const std::string& name : token.certificate_names)
            by_certificate_[typed_certificate_name(name)] = token.id;
        if (token.is_full_admin()) admins_.insert(token.id);
        by_id_.insert(std::move(stored));
    }
    void remove(std::string_view id) {
        const auto found = by_id_.find(id);
        if (found == by_id_.end()) return;
        for (const std::string& name : found->token().certificate_names) {
            by_certificate_.erase(typed_certificate_name(name));
        }
        admins_.erase(found->id);
        looked_up_.erase(&*found);
        by_id_.erase(found);
    }

    // Until when another one than `id` may change all tokens; 0: there is none. O(tokens that may).
    std::int64_t admin_until_ms_besides(std::string_view id) const {
        std::int64_t until_ms = 0;
        for (const std::string& other : admins_) {
            if (other != id) until_ms = std::max(until_ms, find(other)->admin_until_ms());
        }
        return until_ms;
    }

    // The values that tokens get by the batch, empty for those that it removes; and how many of them are new.
    std::map<std::string, std::string, std::less<>> in_batch;
    std::size_t new_in_batch = 0;

  private:
    struct ById {
        using is_transparent = void;
        bool operator()(const StoredToken& left, const StoredToken& right) const { return left.id < right.id; }
        bool operator()(const StoredToken& left, std::string_view right) const { return left.id < right; }
        bool operator()(std::string_view left, const StoredToken& right) const { return left < right.id; }
    };

    std::set<StoredToken, ById> by_id_;
    mutable std::unordered_map<const StoredToken*, AccessToken> looked_up_;
    std::map<std::string, std::string, std::less<>> by_certificate_;
    std::set<std::string> admins_;  // that may change all tokens
};

}  // namespace duewheel
