#include "message/records/past_attempts.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text_ends.h"
#include "message/records/fields.h"

namespace duewheel {
namespace {

constexpr std::array<std::string_view, 7> kOutcomeNames = {"done",       "failed",  "released", "held",
                                                           "lease_lost", "expired", "cancelled"};

// The reason of the attempt before is not repeated: a target that is down fails each attempt alike.
template <class Visitor, class Attempt>
void attempt_fields(Visitor& visit, Attempt& attempt, bool& repeats_reason) {
    visit.number(1, attempt.attempt);
    visit.signed_number(2, attempt.started_ms);
    visit.signed_number(3, attempt.ended_ms);
    visit.enumerator(4, attempt.outcome, AttemptOutcome::done, AttemptOutcome::cancelled);
    visit.text(5, attempt.reason);
    visit.text(6, attempt.worker);
    visit.boolean(7, repeats_reason);
    visit.number(8, attempt.incarnation);
}

constexpr std::size_t kAttemptsBytesMax = kPastAttemptsMax * (kPastAttemptBytesMax + kWorkerNameBytesMax);
static_assert(kCheckpointBytesMax + kProgressBytesMax + kAttemptsBytesMax + kWorkerNameBytesMax + 64 <= kWorkBytesMax);

}  // namespace

std::string_view attempt_outcome_name(AttemptOutcome outcome) {
    return kOutcomeNames[static_cast<std::size_t>(outcome) - 1];
}

std::optional<AttemptOutcome> parse_attempt_outcome(std::string_view name) {
    const auto* const found = std::find(kOutcomeNames.begin(), kOutcomeNames.end(), name);
    if (found == kOutcomeNames.end()) return std::nullopt;
    return static_cast<AttemptOutcome>(found - kOutcomeNames.begin() + 1);
}

std::optional<std::vector<PastAttempt>> decode_past_attempts(std::string_view bytes) {
    std::vector<PastAttempt> attempts;
    while (!bytes.empty()) {
        const std::optional<std::uint64_t> length = take_varint(bytes);
        if (!length || *length > bytes.size()) return std::nullopt;
        FieldsReader from(bytes.substr(0, *length));
        bytes.remove_prefix(*length);
        PastAttempt attempt;
        bool repeats_reason = false;
        attempt_fields(from, attempt, repeats_reason);
        if (from.damaged() || !from.end("an attempt holds")) return std::nullopt;
        if (repeats_reason) {
            if (attempts.empty() || attempts.back().reason.empty() || !attempt.reason.empty()) return std::nullopt;
            attempt.reason = attempts.back().reason;
        }
        attempts.push_back(std::move(attempt));
    }
    if (attempts.size() > kPastAttemptsMax) return std::nullopt;
    return attempts;
}

std::string encode_past_attempts(const std::vector<PastAttempt>& attempts) {
    std::string bytes;
    std::string before;
    for (std::size_t i = attempts.size() - std::min(attempts.size(), kPastAttemptsMax); i < attempts.size(); ++i) {
        PastAttempt attempt = attempts[i];
        attempt.reason = both_ends(attempt.reason, kAttemptReasonBytesMax);
        bool repeats_reason = !attempt.reason.empty() && attempt.reason == before;
        before = attempt.reason;
        if (repeats_reason) attempt.reason.clear();
        if (i + 1 < attempts.size()) attempt.incarnation = 0;
        std::string text;
        FieldWriter to(text);
        attempt_fields(to, std::as_const(attempt), repeats_reason);
        append_varint(bytes, text.size());
        bytes += text;
    }
    return bytes;
}

void append_past_attempt(std::string& bytes, PastAttempt attempt) {
    std::vector<PastAttempt> attempts = decode_past_attempts(bytes).value_or(std::vector<PastAttempt>());
    attempts.push_back(std::move(attempt));
    bytes = encode_past_attempts(attempts);
}

std::vector<PastAttempt> timeline_of(const MessageRow& row, std::uint32_t leased) {
    const WorkState& work = *row.state.work;
    std::vector<PastAttempt> attempts = decode_past_attempts(work.past_attempts).value_or(std::vector<PastAttempt>());
    const RecordedLease& lease = work.lease;
    if (lease.began_ms != 0 && leased != row.state.attempts) {
        attempts.push_back({row.state.attempts,
                            lease.began_ms,
                            std::max(lease.until_ms, lease.began_ms),
                            AttemptOutcome::lease_lost,
                            {},
                            lease.worker,
                            0});
    }
    if (attempts.size() > kPastAttemptsMax) attempts.erase(attempts.begin(), attempts.end() - kPastAttemptsMax);
    return attempts;
}

}  // namespace duewheel
