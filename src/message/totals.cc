#include "message/totals.h"

#include <algorithm>

#include "message/records/subject.h"
#include "message/schedule_state.h"

namespace duewheel {

void add_to_totals(Totals& totals, const Record& record, std::uint64_t frame_bytes) {
    switch (record.kind) {
        case RecordKind::put:
        case RecordKind::spawn:
            totals.digest += digest_term(record.id, record.state);
            totals.live_count += 1;
            totals.needed_bytes += frame_bytes;
            totals.id_counter = std::max(totals.id_counter, record.id / kShardsMax);
            break;
        case RecordKind::change:
        case RecordKind::attempt:
            totals.digest += digest_term(record.id, record.state);
            if (record.previous.state == State::dead) {
                totals.live_count += 1;  // redriven: its record was needed all the time
            } else {
                totals.digest -= record.previous.term;
            }
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
        case RecordKind::conf:
            totals.digest += subject_term(record.subject, record.state.name_space, record.name, record.value);
            if (!record.value.empty()) totals.needed_bytes += frame_bytes;
            if (record.previous.version != 0) {
                totals.digest -= record.previous.term;
                totals.needed_bytes -= record.record_bytes;
            }
            break;
        case RecordKind::rule:
            totals.digest += subject_term(record.subject, record.state.name_space, record.name, record.value);
            if (record.previous.version != 0) totals.digest -= record.previous.term;
            if (is_whole_rule(record)) totals.needed_bytes += frame_bytes;
            if (is_whole_rule(record) || record.value.empty()) totals.needed_bytes -= record.record_bytes;
            break;
        case RecordKind::cursor:
        case RecordKind::relocation_done:
        case RecordKind::epoch:
        case RecordKind::outcomes:
            break;
    }
}

}  // namespace duewheel
