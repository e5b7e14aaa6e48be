#include "http_api/waiting_requests.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "access/access_token_text.h"
#include "base/error_codes.h"
#include "http_api/answers/token_text.h"
#include "http_api/calls/late_outcome.h"
#include "http_api/requests/batch_request.h"
#include "http_api/requests/lease_end_request.h"
#include "http_api/requests/raw_put.h"

namespace duewheel {
namespace {

// How long a command waits for messages, or for the end of one; nothing if it is none that waits.
std::optional<std::int64_t> wait_of(const Command& command) {
    if (const auto* lease = std::get_if<LeaseCommand>(&command)) return lease->wait_ms;
    const auto* get = std::get_if<GetCommand>(&command);
    return get != nullptr && get->wait_ms > 0 ? std::optional(get->wait_ms) : std::nullopt;
}

}  // namespace

void WaitingRequests::submit(Command&& command, Single request, const SharedLimits& limits) {
    const ReplyToken token = tokens_.next();
    // A client that closed its sending side may still read its response. But it may also have disconnected, and must
    // then neither lease a message nor wait for the end of one.
    if (const std::optional<std::int64_t> wait_ms = wait_of(command)) {
        request.note.wait_ms = *wait_ms;
        request.reply.on_client_gone([this, token] {
            forget(token);
            port_.forget(token);
        });
        if (request.right.until_ms != Principal::kAlways) expiring_.emplace(request.right.until_ms, token);
    } else {
        request.right = {};
    }
    waiting_.emplace(token, Waiting{std::move(request), nullptr, 0});
    port_.submit(std::move(command), token, limits);
}

void WaitingRequests::submit_batch(BatchRequest request, bool of_puts, const SharedLimits& limits, RequestNote note,
                                   HttpReply reply) {
    const std::size_t commands = request.commands();
    auto batch = std::make_shared<Batch>(Batch{std::move(reply), std::move(note), of_puts, {}, {}, commands});
    batch->parts.reserve(request.refused.size());
    for (std::optional<Error>& refused : request.refused) {
        if (!refused) batch->submitted.push_back(batch->parts.size());
        batch->parts.push_back(refused ? PartAnswer(*std::move(refused)) : PartAnswer());
    }
    if (batch->missing == 0)
        return responder_.answer(std::move(batch->reply), batch->note, batch_text(batch->parts, of_puts));
    for (std::size_t i = 0; i < commands; ++i) {
        const ReplyToken token = tokens_.next();
        waiting_.emplace(token, Waiting{std::nullopt, batch, i});
        const bool has_own = !request.leases.empty() && request.leases[i].command != nullptr;
        Command command = has_own            ? std::move(*request.leases[i].command)
                          : i + 1 < commands ? *request.command
                                             : *std::move(request.command);
        if (!request.leases.empty()) set_lease(command, request.leases[i].token);
        port_.submit(std::move(command), token, limits);
    }
}

void WaitingRequests::deliver(ReplyToken token, Reply reply) {
    const auto* lease = std::get_if<LeaseAnswer>(&reply);
    auto found = waiting_.extract(token);
    if (found.empty()) {  // the client left, or lost its right
        if (lease != nullptr) give_back(*lease);
        return;
    }
    Waiting& waiting = found.mapped();
    if (waiting.batch) return deliver_part(*waiting.batch, waiting.part, std::move(reply));
    const AccessRight& right = waiting.single->right;
    expiring_.erase({right.until_ms, token});
    if (!right.token_id.empty()) {
        if (Status may = right.check(port_, sessions_, port_.clock().server_ms); !may) {
            if (lease != nullptr) give_back(*lease);
            return responder_.refuse(std::move(waiting.single->reply), waiting.single->note, may.error());
        }
    }
    deliver_single(*waiting.single, std::move(reply));
}

// Removes it; its client has left.
void WaitingRequests::forget(ReplyToken token) {
    const auto found = waiting_.find(token);
    if (found == waiting_.end()) return;
    expiring_.erase({found->second.single->right.until_ms, token});
    waiting_.erase(found);
}

void WaitingRequests::withdraw(ReplyToken token, const Error& why) {
    Single request = *std::move(waiting_.extract(token).mapped().single);
    expiring_.erase({request.right.until_ms, token});
    port_.forget(token);
    responder_.refuse(std::move(request.reply), request.note, why);
}

void WaitingRequests::end_lapsed(std::string_view token_id) {
    const InstantMs now_ms = port_.clock().server_ms;
    std::vector<std::pair<ReplyToken, Error>> lapsed;
    for (const auto& [token, waiting] : waiting_) {
        if (!waiting.single || waiting.single->right.token_id != token_id) continue;
        if (Status may = waiting.single->right.check(port_, sessions_, now_ms); !may)
            lapsed.emplace_back(token, may.error());
    }
    std::sort(lapsed.begin(), lapsed.end(),  // the order of a hash table must not be visible
              [](const auto& left, const auto& right) { return left.first < right.first; });
    for (const auto& [token, why] : lapsed) withdraw(token, why);
}

std::int64_t WaitingRequests::end_expired() {
    if (expiring_.empty()) return std::numeric_limits<std::int64_t>::max();
    const InstantMs now_ms = port_.clock().server_ms;
    while (!expiring_.empty() && expiring_.begin()->first <= now_ms) {
        const ReplyToken token = expiring_.begin()->second;
        const Status may = waiting_.at(token).single->right.check(port_, sessions_, now_ms);
        withdraw(token, may.error());
    }
    constexpr InstantMs kLongestMs = 3'600'000;
    return (expiring_.empty() ? kLongestMs : std::min(expiring_.begin()->first - now_ms, kLongestMs)) * 1'000'000;
}

void WaitingRequests::give_back(const LeaseAnswer& answer) {
    for (const Delivered& each : answer.messages) port_.submit(ReleaseCommand{each.lease}, tokens_.next(), nullptr);
}

void WaitingRequests::deliver_single(Single& request, Reply reply) {
    if (auto* token = std::get_if<TokenAnswer>(&reply)) return deliver_token(request, std::move(*token));
    if (auto* list = std::get_if<TokenListAnswer>(&reply)) {
        for (TokenAnswer& each : list->tokens) each.last_used_ms = activity_.last_used_ms(each.token.id);
    }
    Error* error = std::get_if<Error>(&reply);
    if (error != nullptr && request.raw_put) error->field = std::string(raw_field_of(error->field));
    if (const std::optional<Error> late = late_refusal(reply, request.wanted)) {
        return responder_.answer(std::move(request.reply), request.note, late_refusal_text(*late, reply), late->code);
    }
    const ErrorCode code = error != nullptr ? error->code : ErrorCode::none;
    responder_.answer(std::move(request.reply), request.note, late_answer_text(std::move(reply)), code);
}

// A response contains a new secret after the creation of a token, and after a rotation.
void WaitingRequests::deliver_token(Single& request, TokenAnswer answer) {
    if (answer.removed) activity_.forget(answer.token.id);
    answer.last_used_ms = activity_.last_used_ms(answer.token.id);
    const bool shows = request.secret && hash_of_secret(*request.secret) == answer.token.secret;
    responder_.answer(std::move(request.reply), request.note, token_text(answer, shows ? &*request.secret : nullptr));
    end_lapsed(answer.token.id);
}

void WaitingRequests::deliver_part(Batch& batch, std::size_t part, Reply reply) {
    if (auto* puts = std::get_if<PutBatchAnswer>(&reply)) {
        for (std::size_t i = 0; i < puts->results.size(); ++i) {
            batch.parts[batch.submitted[i]] =
                std::visit([](auto& result) { return PartAnswer(std::move(result)); }, puts->results[i]);
        }
    } else if (batch.of_puts) {  // refused as a whole
        return responder_.refuse(std::move(batch.reply), batch.note, std::get<Error>(reply));
    } else {
        const std::size_t place = batch.submitted[part];
        if (auto* error = std::get_if<Error>(&reply)) {
            if (error->field == "lease") error->field = "leases[" + std::to_string(place) + "]";
            batch.parts[place] = std::move(*error);
        } else {
            batch.parts[place] = std::get<LeaseEndAnswer>(reply);
        }
    }
    if (--batch.missing == 0)
        responder_.answer(std::move(batch.reply), batch.note, late_batch_text(std::move(batch.parts), batch.of_puts));
}

void WaitingRequests::refuse_old(std::int64_t now_ns) {
    const Error unavailable{
        "log_unavailable"_code,
        "no broker acknowledges commits of the replicated log. Whether this request takes effect shows "
        "when one does: a put with an idempotency key can be repeated safely"};
    const auto has_waited = [now_ns](const RequestNote& note) {
        return note.start_ns + note.wait_ms * 1'000'000 + kLogWaitNs <= now_ns;
    };
    std::vector<ReplyToken> tokens;
    for (const auto& [token, waiting] : waiting_) {
        if (has_waited(waiting.batch ? waiting.batch->note : waiting.single->note)) tokens.push_back(token);
    }
    std::sort(tokens.begin(), tokens.end());  // the order of a hash table must not be visible
    std::set<const Batch*> refused;
    for (const ReplyToken token : tokens) {
        Waiting waiting = std::move(waiting_.extract(token).mapped());
        if (waiting.single) {
            expiring_.erase({waiting.single->right.until_ms, token});
            port_.forget(token);
            responder_.refuse(std::move(waiting.single->reply), waiting.single->note, unavailable);
        } else if (refused.insert(waiting.batch.get()).second) {
            responder_.refuse(std::move(waiting.batch->reply), waiting.batch->note, unavailable);
        }
    }
}

}  // namespace duewheel
