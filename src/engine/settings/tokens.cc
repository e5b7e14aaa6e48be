#include "engine/settings/tokens.h"

#include <utility>

#include "base/error_codes.h"
#include "engine/commands/refusals.h"
#include "message/records/subject.h"
#include "resource/queue_settings.h"

namespace duewheel {
namespace {

constexpr std::size_t kTokensMax = 100'000;

Error unknown_token() {
    return {"unknown_token"_code, "there is no access token with this id: check the id, or list the tokens", "id"};
}

}  // namespace

Verdict Tokens::decide(PendingCommand& pending, const ChangeTokenCommand& command) {
    // A change that is compared with other tokens waits until their changes are durable.
    if (table_.in_batch.contains(command.id)) return Verdict::deferred;
    const AccessToken* current = table_.find(command.id);
    Result<std::optional<AccessToken>> changed = command.change(current, now_);
    if (!changed) return replied(pending, std::move(changed).error());
    std::optional<AccessToken> next = *std::move(changed);
    if (!next && current == nullptr) {
        TokenAnswer answer;
        answer.token.id = command.id;
        answer.removed = false;
        return replied(pending, std::move(answer));
    }
    // The time until which tokens can be administered must not become shorter.
    const std::int64_t before_ms = current != nullptr ? current->admin_until_ms() : 0;
    const std::int64_t after_ms = next ? next->admin_until_ms() : 0;
    if (command.keeps_admin && before_ms > now_ && after_ms < before_ms) {
        if (!table_.in_batch.empty()) return Verdict::deferred;
        if (table_.admin_until_ms_besides(command.id) < before_ms) {
            return replied(
                pending, Error{"last_admin"_code,
                               "no other token that can change all tokens lasts as long as this one: first create one "
                               "with scope admin, without namespaces and queues, that expires no earlier",
                               "id"});
        }
    }
    if (!next) {
        if (refuse_for_space(pending, Adds::end)) return Verdict::settled;
        TokenAnswer answer;
        answer.token = *current;
        answer.removed = true;
        add(command.id, "", pending.token, std::move(answer));
        return Verdict::settled;
    }
    next->id = command.id;
    if (current != nullptr && current->says_the_same(*next)) return replied(pending, TokenAnswer{*current});
    if (current == nullptr && table_.size() + table_.new_in_batch >= kTokensMax) {
        return replied(pending, Error{"token_limit"_code,
                                      "there are " + std::to_string(kTokensMax) +
                                          " access tokens already: remove one that is not needed",
                                      "id"});
    }
    if (!next->certificate_names.empty() && !table_.in_batch.empty()) return Verdict::deferred;
    for (const std::string& name : next->certificate_names) {
        const AccessToken* other = table_.find_by_certificate(name);
        if (other == nullptr || other->id == command.id) continue;
        return replied(pending, Error{"certificate_name_taken"_code,
                                      "certificates with the name `" + name +
                                          "` belong to another token: remove the name there first",
                                      "certificate_names"});
    }
    if (refuse_for_space(pending, Adds::change)) return Verdict::settled;
    next->revision = current != nullptr ? current->revision + 1 : 1;
    TokenAnswer answer;
    answer.created = current == nullptr;
    add(command.id, encode_access_token(*next), pending.token, std::move(answer));
    return Verdict::settled;
}

Verdict Tokens::decide(PendingCommand& pending, const RelocateSettingsCommand& command) {
    if (table_.in_batch.contains(command.queue)) return Verdict::deferred;
    const StoredToken* stored = table_.find_stored(command.queue);
    if (stored == nullptr || stored->log_position != command.log_position) return replied(pending, RelocateAnswer{});
    add(command.queue, stored->value, pending.token, RelocateAnswer{true, batch().next_sequence()});
    return Verdict::settled;
}

// An empty value removes it.
void Tokens::add(const std::string& id, std::string_view value, ReplyToken token, Reply with) {
    std::optional<StoredConf> before;
    if (const StoredToken* stored = table_.find_stored(id)) {
        before = {stored->log_position, stored->record_bytes, stored->token().revision, stored->value};
    } else {
        ++table_.new_in_batch;
    }
    table_.in_batch.emplace(id, value);
    add_conf(Subject::token, kDefaultNamespace, id, value, before, token, std::move(with));
}

void Tokens::apply(Operation& operation, const ConfRecord&) {
    auto next = table_.in_batch.extract(operation.name);
    if (table_.find_stored(operation.name) == nullptr) --table_.new_in_batch;
    if (next.mapped().empty()) return table_.remove(operation.name);
    table_.set({operation.name, std::move(next.mapped()), operation.sequence, operation.frame_bytes});
    auto* answer = std::get_if<TokenAnswer>(&operation.reply);
    if (answer != nullptr) answer->token = table_.find_stored(operation.name)->token();
}

void Tokens::read(const DescribeTokenCommand& command, ReplyToken token, const SharedLimits&) {
    const AccessToken* found = table_.find(command.id);
    if (found == nullptr) return reply(token, unknown_token());
    reply(token, TokenAnswer{*found});
}

void Tokens::read(const ListTokensCommand& command, ReplyToken token, const SharedLimits&) {
    if (Status fits = check_page(command.limit, options_.list_limit_max); !fits)
        return reply(token, std::move(fits).error());
    TokenListAnswer answer;
    const StoredToken* next = table_.next(command.after);
    for (; next != nullptr && answer.tokens.size() < command.limit; next = table_.next(next->id)) {
        answer.tokens.push_back(TokenAnswer{next->token()});
    }
    answer.complete = next == nullptr;
    reply(token, std::move(answer));
}

}  // namespace duewheel
