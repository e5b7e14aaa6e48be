// Keys and values of the index: bytes are refused or have one meaning, and encoded values decode to the same value.
// Keys sort like the values that they encode.
#include <compare>
#include <string>

#include "fuzz/fuzz_target.h"
#include "fuzz/input_script.h"
#include "store/history.h"
#include "store/key_layout.h"

namespace duewheel::index_row_fuzz {
namespace {

std::int64_t draw_instant(InputScript& script) {
    switch (script.below(4)) {
        case 0:
            return script.byte();
        case 1:
            return -std::int64_t{script.byte()};
        case 2:
            return 1'700'000'000'000 + script.byte();
        default:
            return static_cast<std::int64_t>(script.number());
    }
}

MessageState draw_state(InputScript& script) {
    MessageState state;
    state.state = static_cast<State>(1 + script.below(kStateCount));
    state.version = static_cast<std::uint32_t>(script.number());
    state.attempts = script.byte();
    state.due_ms = draw_instant(script);
    state.nominal_due_ms = draw_instant(script);
    state.expires_ms = draw_instant(script);
    state.priority = static_cast<std::int32_t>(script.number());
    state.maybe_delivered = script.chance(2);
    state.name_space = script.text(40);
    state.queue = script.text(40);
    state.order_key = script.text(40);
    state.key = script.text(40);
    state.request_hash = script.number();
    state.first_due_ms = draw_instant(script);
    return state;
}

MessageRow draw_row(InputScript& script) {
    MessageRow row;
    row.id = script.number();
    row.log_position = script.number();
    row.record_bytes = static_cast<std::uint32_t>(script.number());
    row.state = draw_state(script);
    row.ended_ms = draw_instant(script);
    row.lease_attempt = script.byte();
    row.lease_incarnation = script.number();
    return row;
}

void judge_row(const MessageRow& row) {
    const MessageState& state = row.state;
    std::string value;
    encode_row(value, row);
    const Result<MessageRow> decoded = decode_row(value);
    require(decoded.ok() && *decoded == row, "a row is another after writing");

    const DuePosition due{state.due_ms, row.id};
    encode_due_value(value, row);
    const Result<PlacedRow> of_due = decode_due_row(due_key(due), value);
    require(of_due.ok() && of_due->row == row && of_due->at == due, "a due row is another after writing");

    encode_expire_value(value, row);
    const DuePosition expiry{state.expires_ms, row.id};
    const Result<PlacedRow> of_expiry = decode_due_row(expire_key(expiry), value);
    require(of_expiry.ok() && of_expiry->row == row && of_expiry->at == expiry, "an expiry is another after writing");

    encode_queue_value(value, row);
    const Result<PlacedRow> of_queue = decode_queue_row(queue_key(state.name_space, state.queue, due), value);
    require(of_queue.ok() && of_queue->row == row && of_queue->at == due, "a queue row is another after writing");

    encode_order_value(value, row);
    const DuePosition nominal{state.nominal_due_ms, row.id};
    const Result<PlacedRow> of_order =
        decode_order_row(order_row_key(state.name_space, state.queue, state.order_key, nominal), value);
    require(of_order.ok() && of_order->row == row && of_order->at == nominal, "an order row is another after writing");

    encode_id_value(value, row);
    const Result<MessageRow> of_id = decode_id_row(id_key(row.id), value);
    require(of_id.ok() && *of_id == row, "an id row is another after writing");
    const bool outcome = is_ended(state.state) && state.state != State::dead;
    require(ended_ms_of_row(id_key(row.id), value) == (outcome ? row.ended_ms : 0), "a row ends at another time");
}

// As texts sort in keys: by length first.
std::strong_ordering order_of(std::string_view left, std::string_view right) {
    if (left.size() != right.size()) return left.size() <=> right.size();
    return left.compare(right) <=> 0;
}

void judge_order(const MessageRow& one, const MessageRow& other) {
    const DuePosition left{one.state.due_ms, one.id}, right{other.state.due_ms, other.id};
    require((due_key(left) <=> due_key(right)) == (left <=> right), "keys of what is due sort in another order");
    require(due_bound(left) <= due_key(left), "a bound lies above its key");
    const MessageState &a = one.state, &b = other.state;
    auto expected = order_of(a.name_space, b.name_space);
    if (expected == 0) expected = order_of(a.queue, b.queue);
    if (expected == 0) expected = left <=> right;
    require((queue_key(a.name_space, a.queue, left) <=> queue_key(b.name_space, b.queue, right)) == expected,
            "keys of a queue sort in another order");
}

// Bytes from nowhere, in every table: refused, or what is read is what would be written.
void judge_bytes(std::string_view key, std::string_view value) {
    static_cast<void>(ended_ms_of_row(key, value));
    std::string again;
    if (const auto row = decode_due_row(key, value)) {
        require(key == due_key(row->at) || key == expire_key(row->at), "two keys are one place");
    }
    if (const auto row = decode_queue_row(key, value)) {
        require(key == queue_key(row->row.state.name_space, row->row.state.queue, row->at), "two keys are one place");
    }
    if (const auto row = decode_order_row(key, value)) {
        const MessageState& state = row->row.state;
        require(key == order_row_key(state.name_space, state.queue, state.order_key, row->at),
                "two keys are one place");
    }
    if (const auto row = decode_id_row(key, value)) require(key == id_key(row->id), "two keys are one id");
    if (const auto holder = decode_key_value(value)) {
        encode_key_value(again, *holder);
        require(again == value, "two values are one key's holder");
    }
    if (const auto position = decode_position(value)) {
        encode_position(again, *position);
        require(again == value, "two values are one position");
    }
    if (const auto count = decode_needed(value)) {
        encode_needed(again, *count);
        require(again == value, "two values are one count");
    }
    if (const auto at = decode_queue_cursor(value)) {
        encode_queue_cursor(again, *at);
        require(again == value, "two values are one cursor");
    }
    if (const auto names = decode_queue_cursor_key(key)) {
        require(key == queue_cursor_key(names->name_space, names->queue), "two keys are one cursor");
        require(queue_cursor_bound(false) <= key && key < queue_cursor_bound(true), "a cursor lies out of its bounds");
    }
    if (const auto sequence = decode_needed_key(key)) {
        require(key == needed_key(*sequence), "two keys are one count");
        require(needed_bound(false) <= key && key < needed_bound(true), "a count lies out of its bounds");
    }
    if (const auto row = decode_history_row(key, value)) {
        encode_history_value(again, *row);
        // A row of an earlier version has no wait at its end.
        require(again == value || (row->wait_ms == 0 && again.starts_with(value)), "two values are one end");
    }
    if (const auto ledger = EraLedger::decode(value)) {
        ledger->encode(again);
        require(again == value, "two values are one ledger");
    }
}

}  // namespace

void fuzz(std::string_view input) {
    InputScript script(input);
    const std::string_view key = script.text();
    judge_bytes(key, script.rest());
    judge_bytes(script.rest(), key);
    if (const auto row = decode_row(input)) judge_row(*row);
    const MessageRow one = draw_row(script), other = draw_row(script);
    judge_row(one);
    judge_order(one, other);
}

}  // namespace duewheel::index_row_fuzz
