#include "message/records/outcome_rows.h"

#include <cassert>
#include <utility>

#include "base/error_codes.h"
#include "message/state.h"

namespace duewheel {
namespace {

constexpr std::size_t kLengthBytes = 4;

Error damaged(std::string_view what) {
    return {"damaged_record"_code, "a record of outcomes holds " + std::string(what)};
}

}  // namespace

DueMs ended_at(const MessageRecord& record) {
    if (!is_ended(record.state.state)) return 0;
    return record.kind == RecordKind::relocate ? record.ended_ms : record.time_ms;
}

void append_outcome(std::string& rows, const MessageRecord& ended) {
    assert(is_ended(ended.state.state) && ended.state.state != State::dead);
    MessageRow row;
    row.id = ended.id;
    row.state = ended.state;
    row.ended_ms = ended_at(ended);
    row.lease_attempt = ended.lease_attempt;
    row.lease_incarnation = ended.lease_incarnation;
    const std::size_t start = rows.size();
    rows.append(kLengthBytes, '\0');
    encode_row(rows, row);
    const std::size_t length = rows.size() - start - kLengthBytes;
    for (std::size_t i = 0; i < kLengthBytes; ++i) rows[start + i] = static_cast<char>(length >> (8 * i) & 0xff);
}

Status for_each_outcome(std::string_view rows, const std::function<Status(const MessageRecord&)>& visit) {
    while (!rows.empty()) {
        if (rows.size() < kLengthBytes) return damaged("a row without its length");
        std::size_t length = 0;
        for (std::size_t i = 0; i < kLengthBytes; ++i) {
            length |= std::size_t{static_cast<unsigned char>(rows[i])} << (8 * i);
        }
        rows.remove_prefix(kLengthBytes);
        if (rows.size() < length) return damaged("a row that is cut short");
        Result<MessageRow> row = decode_row(rows.substr(0, length));
        rows.remove_prefix(length);
        if (!row) return std::move(row).error();
        const bool is_outcome = is_ended(row->state.state) && row->state.state != State::dead;
        if (!is_outcome || row->id == 0 || row->id > kMessageIdMax || row->state.queue.empty() || row->ended_ms == 0) {
            return damaged("a row that is no outcome");
        }
        MessageRecord record;
        record.kind = RecordKind::relocate;
        record.id = row->id;
        record.state = std::move(row->state);
        copy_end(*row, record);
        if (Status visited = visit(record); !visited) return visited;
    }
    return {};
}

}  // namespace duewheel
