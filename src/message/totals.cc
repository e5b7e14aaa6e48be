#include "message/totals.h"

#include <algorithm>

#include "base/overloaded.h"
#include "message/records/subject.h"

namespace duewheel {

namespace {

void add(Totals& totals, const MessageRecord& record, std::uint64_t frame_bytes) {
    switch (record.kind) {
        case RecordKind::change:
        case RecordKind::attempt:
            totals.digest += digest_term(record.id, record.state);
            if (record.previous.state == State::dead) {
                totals.live_count += 1;  // redriven: its record was needed all the time
            } else {
                totals.digest -= record.previous.term;
            }
            break;
        case RecordKind::replace:  // of an unfinished message
            totals.digest += digest_term(record.id, record.state) - record.previous.term;
            totals.needed_bytes += frame_bytes - record.record_bytes;
            break;
        case RecordKind::end:
            if (record.previous.state != State::dead) {  // a dead one is not counted, and needs only its whole record
                totals.digest -= record.previous.term;
                totals.live_count -= 1;
            }
            if (record.state.state != State::dead) totals.needed_bytes -= record.record_bytes;
            break;
        case RecordKind::relocate:
            // The message is unchanged; only its whole record is a new one. An outcome needs no whole record.
            if (!is_ended(record.state.state) || record.state.state == State::dead) {
                totals.needed_bytes += frame_bytes - record.record_bytes;
            }
            break;
        default:  // a put or a spawn
            totals.digest += digest_term(record.id, record.state);
            totals.live_count += 1;
            totals.needed_bytes += frame_bytes;
            totals.id_counter = std::max(totals.id_counter, record.id / kShardsMax);
            break;
    }
}

void add_terms(Totals& totals, const SubjectRecord& record) {
    totals.digest += subject_term(record.subject, record.name_space, record.name, record.value);
    if (record.revision_before != 0) totals.digest -= record.term_before;
}

void add(Totals& totals, const ConfRecord& record, std::uint64_t frame_bytes) {
    add_terms(totals, record);
    if (!record.value.empty()) totals.needed_bytes += frame_bytes;
    if (record.revision_before != 0) totals.needed_bytes -= record.record_bytes;
}

void add(Totals& totals, const RuleRecord& record, std::uint64_t frame_bytes) {
    add_terms(totals, record);
    if (record.is_whole()) totals.needed_bytes += frame_bytes;
    if (record.is_whole() || record.value.empty()) totals.needed_bytes -= record.record_bytes;
}

}  // namespace

void add_to_totals(Totals& totals, const Record& record, std::uint64_t frame_bytes) {
    std::visit(Overloaded{[&](const MessageRecord& of) { add(totals, of, frame_bytes); },
                          [&](const ConfRecord& of) { add(totals, of, frame_bytes); },
                          [&](const RuleRecord& of) { add(totals, of, frame_bytes); }, [](const auto&) {}},
               record);
}

}  // namespace duewheel
