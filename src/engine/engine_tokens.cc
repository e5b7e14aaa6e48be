// Access tokens: `conf` records like the settings of queues and namespaces. The engine only stores them. The
// permissions of a token are checked before a command gets here (access/), except for the queue of a message, a lease,
// a schedule or a watchdog: only the engine knows it, and compares it with the limits of the command when it is looked
// up.
//
// The engine sees only hashes. The interface that receives a request creates a secret, returns it once, and does not
// keep it.
#include <utility>

#include "engine/engine.h"
#include "engine/refusals.h"
#include "message/queue_settings.h"

namespace duewheel {
namespace {

constexpr std::size_t kTokensMax = 100'000;

Error unknown_token() {
    return {"unknown_token", "there is no access token with this id: check the id, or list the tokens", "id"};
}

}  // namespace

Engine::Verdict Engine::change_token(PendingCommand& pending, const ChangeTokenCommand& command) {
    // A change that is compared with other tokens waits until their changes are durable.
    if (tokens_.in_batch.contains(command.id)) return Verdict::deferred;
    const AccessToken* current = tokens_.find(command.id);
    Result<std::optional<AccessToken>> changed = command.change(current, now_);
    if (!changed) return reply(pending.token, std::move(changed).error()), Verdict::settled;
    std::optional<AccessToken> next = *std::move(changed);
    if (!next && current == nullptr) {
        TokenAnswer answer;
        answer.token.id = command.id;
        answer.removed = false;
        return reply(pending.token, std::move(answer)), Verdict::settled;
    }
    // The time until which tokens can be administered must not become shorter.
    const std::int64_t before_ms = current != nullptr ? current->admin_until_ms() : 0;
    const std::int64_t after_ms = next ? next->admin_until_ms() : 0;
    if (command.keeps_admin && before_ms > now_ && after_ms < before_ms) {
        if (!tokens_.in_batch.empty()) return Verdict::deferred;
        if (tokens_.admin_until_ms_besides(command.id) < before_ms) {
            reply(pending.token,
                  Error{"last_admin",
                        "no other token that can change all tokens lasts as long as this one: first create one "
                        "with scope admin, without namespaces and queues, that expires no earlier",
                        "id"});
            return Verdict::settled;
        }
    }
    if (!next) {
        if (refuse_for_space(pending, Adds::end)) return Verdict::settled;
        TokenAnswer answer;
        answer.token = *current;
        answer.removed = true;
        add_token(command.id, "", pending.token, std::move(answer));
        return Verdict::settled;
    }
    next->id = command.id;
    if (current != nullptr && current->says_the_same(*next)) {
        return reply(pending.token, TokenAnswer{*current}), Verdict::settled;
    }
    if (current == nullptr && tokens_.size() + tokens_.new_in_batch >= kTokensMax) {
        reply(pending.token,
              Error{"token_limit",
                    "there are " + std::to_string(kTokensMax) + " access tokens already: remove one that is not needed",
                    "id"});
        return Verdict::settled;
    }
    if (!next->certificate_names.empty() && !tokens_.in_batch.empty()) return Verdict::deferred;
    for (const std::string& name : next->certificate_names) {
        const AccessToken* other = tokens_.find_by_certificate(name);
        if (other == nullptr || other->id == command.id) continue;
        reply(pending.token,
              Error{"certificate_name_taken",
                    "certificates with the name `" + name + "` belong to another token: remove the name there first",
                    "certificate_names"});
        return Verdict::settled;
    }
    if (refuse_for_space(pending, Adds::change)) return Verdict::settled;
    next->revision = current != nullptr ? current->revision + 1 : 1;
    TokenAnswer answer;
    answer.created = current == nullptr;
    add_token(command.id, encode_access_token(*next), pending.token, std::move(answer));
    return Verdict::settled;
}

Engine::Verdict Engine::relocate_token(PendingCommand& pending, const RelocateSettingsCommand& command) {
    if (tokens_.in_batch.contains(command.queue)) return Verdict::deferred;
    const StoredToken* stored = tokens_.find_stored(command.queue);
    if (stored == nullptr || stored->log_position != command.log_position) {
        return reply(pending.token, RelocateAnswer{}), Verdict::settled;
    }
    add_token(command.queue, stored->value, pending.token, RelocateAnswer{true, batch().next_sequence()});
    return Verdict::settled;
}

// ---- records

// An empty value removes it.
void Engine::add_token(const std::string& id, std::string_view value, ReplyToken token, Reply with) {
    Record record;
    record.kind = RecordKind::conf;
    record.time_ms = now_;
    record.subject = kSubjectToken;
    record.state.name_space = kDefaultNamespace;
    record.name = id;
    record.value = value;
    if (const StoredToken* stored = tokens_.find_stored(id)) {
        record.log_position = stored->log_position;
        record.record_bytes = stored->record_bytes;
        record.previous.version = stored->token().revision;
        record.previous.term = settings_term(kSubjectToken, kDefaultNamespace, id, stored->value);
    } else {
        ++tokens_.new_in_batch;
    }
    tokens_.in_batch.insert(id);
    batch().add(record, kNoEntry, token, std::move(with));
}

void Engine::apply_token(std::string_view record_body, Operation& operation) {
    const Result<Record> record = decode_record(RecordKind::conf, record_body);
    Result<AccessToken> token = record ? decode_access_token(record->name, record->value) : record.error();
    if (!token) {
        effects_.fatal_error = token.error();
        return;
    }
    if (tokens_.find(token->id) == nullptr) --tokens_.new_in_batch;
    tokens_.in_batch.erase(token->id);
    auto* answer = std::get_if<TokenAnswer>(&operation.reply);
    if (token->revision == 0) return tokens_.remove(token->id);
    tokens_.set({token->id, std::string(record->value), operation.sequence, operation.frame_bytes});
    if (answer != nullptr) answer->token = *std::move(token);
}

// ---- queries

void Engine::describe(const DescribeTokenCommand& command, ReplyToken token) {
    const AccessToken* found = tokens_.find(command.id);
    if (found == nullptr) return reply(token, unknown_token());
    reply(token, TokenAnswer{*found});
}

void Engine::list_tokens(const ListTokensCommand& command, ReplyToken token) {
    if (command.limit < 1 || command.limit > options_.list_limit_max) {
        return reply(token, out_of_range("limit", "from 1 to " + std::to_string(options_.list_limit_max)));
    }
    TokenListAnswer answer;
    const StoredToken* next = tokens_.next(command.after);
    for (; next != nullptr && answer.tokens.size() < command.limit; next = tokens_.next(next->id)) {
        answer.tokens.push_back(TokenAnswer{next->token()});
    }
    answer.complete = next == nullptr;
    reply(token, std::move(answer));
}

}  // namespace duewheel
