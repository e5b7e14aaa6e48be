// The sending side of HttpConnection: the order of responses.
#include <cassert>
#include <utility>
#include <vector>

#include "base/error_codes.h"
#include "net/http/http_connection.h"

namespace duewheel {
namespace {

constexpr std::size_t kWriteProgressBytes = 64 * 1024;  // see HttpLimits::write_deadline

}  // namespace

std::uint64_t HttpConnection::open_slot(HttpFraming framing) {
    slots_.emplace_back().framing = framing;
    return first_sequence_ + slots_.size() - 1;
}

// Runs `append_to` on the output, or on the slot's own bytes while others are before it.
template <class Append>
void HttpConnection::append(std::uint64_t sequence, Append append_to) {
    if (sequence == first_sequence_) return append_to(output_);
    std::string& bytes = slot(sequence).bytes;
    const std::size_t before = bytes.size();
    append_to(bytes);
    waiting_bytes_ += bytes.size() - before;
}

void HttpConnection::send_continue() {
    const std::uint64_t sequence = open_slot({});
    append(sequence, [](std::string& to) { to += "HTTP/1.1 100 Continue\r\n\r\n"; });
    complete(sequence);
}

bool HttpConnection::is_last_answer(std::uint64_t sequence) const {
    const bool newest = sequence == first_sequence_ + slots_.size() - 1;
    return all_->draining && newest && input_.empty() && (phase_ == Phase::idle || no_more_requests_);
}

void HttpConnection::answer(std::uint64_t sequence, HttpResponse&& response) {
    if (out_of_reach()) return;
    Slot& mine = slot(sequence);
    assert(!mine.complete);
    if (is_last_answer(sequence)) mine.framing.close = true;
    HttpFraming framing = mine.framing;
    framing.until_close = false;
    framing.date = all_->date_now();
    framing.over_tls = tls_ != nullptr;
    if (response.write_body) response.body = response.write_body();
    append(sequence, [&](std::string& to) { append_response(to, response, framing); });
    complete(sequence);
}

void HttpConnection::begin_stream(std::uint64_t sequence, HttpResponse&& response) {
    if (out_of_reach()) return;
    Slot& mine = slot(sequence);
    assert(!mine.complete);
    assert(sequence == first_sequence_ + slots_.size() - 1);
    mine.framing.close = true;
    mine.framing.chunked = !mine.framing.until_close;
    no_more_requests_ = true;
    streaming_ = streamed_ = true;
    ++all_->counters.streams_open;
    HttpFraming framing = mine.framing;
    framing.date = all_->date_now();
    framing.over_tls = tls_ != nullptr;
    append(sequence, [&](std::string& to) { append_response(to, response, framing); });
    want_flush();
}

bool HttpConnection::write_stream(std::uint64_t sequence, std::string_view bytes) {
    if (client_gone() || out_of_reach() || pending_output() >= all_->limits.stream_bytes_max) return false;
    append_to_stream(sequence, bytes);
    return true;
}

void HttpConnection::append_to_stream(std::uint64_t sequence, std::string_view bytes) {
    if (client_gone() || out_of_reach() || bytes.empty()) return;
    const bool is_chunked = slot(sequence).framing.chunked;
    append(sequence, [&](std::string& to) {
        if (is_chunked) {
            append_chunk(to, bytes);
        } else {
            to += bytes;
        }
    });
    want_flush();
}

void HttpConnection::finish_stream(std::uint64_t sequence) {
    if (out_of_reach()) return;
    if (slot(sequence).framing.chunked) append(sequence, [](std::string& to) { to += kLastChunk; });
    end_stream();
    complete(sequence);
}

void HttpConnection::end_stream() {
    if (std::exchange(streaming_, false)) --all_->counters.streams_open;
}

void HttpConnection::drop_answer(std::uint64_t sequence) {
    if (out_of_reach()) return;
    // A disconnected client gets no more responses. Nothing may follow this point, or later responses would not match
    // their requests.
    if (input_ended_) {
        slot(sequence).framing.close = true;
        return complete(sequence);
    }
    ++all_->counters.answers_dropped;
    all_->on_refusal(500, "internal"_code);
    answer(sequence, all_->format_error(500, "internal"_code, "The server failed to answer; this is a bug in it."));
    assert(!"a reply was destroyed without an answer");
}

void HttpConnection::set_gone_callback(std::uint64_t sequence, std::function<void()> callback) {
    if (!client_gone() && !last_answer_given_) slot(sequence).on_gone = std::move(callback);
}

void HttpConnection::complete(std::uint64_t sequence) {
    Slot& mine = slot(sequence);
    mine.complete = true;
    mine.on_gone = nullptr;
    if (sequence == first_sequence_) pop_complete_slots();
    want_flush();
}

void HttpConnection::pop_complete_slots() {
    while (!slots_.empty() && slots_.front().complete) {
        last_answer_given_ = slots_.front().framing.close;
        slots_.pop_front();
        ++first_sequence_;
        if (slots_.empty() || last_answer_given_) break;
        // The next response writes into the output from now on; its bytes so far are first.
        output_ += slots_.front().bytes;
        waiting_bytes_ -= slots_.front().bytes.size();
        empty(slots_.front().bytes);
    }
    if (last_answer_given_) no_more_requests_ = true;
    // The time that the answer took is not idleness.
    if (phase_ == Phase::idle && slots_.empty()) reading_since_ = all_->sweep;
    if (slots_.empty()) mark_idle();
}

void HttpConnection::tell_gone() {
    std::vector<std::function<void()>> callbacks;
    for (Slot& pending : slots_) {
        if (pending.on_gone) callbacks.push_back(std::exchange(pending.on_gone, nullptr));
    }
    for (const auto& callback : callbacks) callback();
}

void HttpConnection::flush() {
    if (lingering_) return;
    write_output();
    if (closed_) return;
    account_output();
    if (all_sent()) {
        if (last_answer_given_ || (input_ended_ && slots_.empty())) return end_output();
        if (all_->draining && between_requests()) return end_output();
    }
    resume_reading();
    if (!closed_ && all_->draining) drain();
}

// After each append() comes a flush(), so that nothing is missed here for longer than a round.
void HttpConnection::account_output() {
    all_->counters.unsent_bytes += pending_output() - unsent_bytes_;
    unsent_bytes_ = pending_output();
}

void HttpConnection::write_output() {
    const bool was_blocked = output_blocked_;
    progress_ += send_output();
    if (closed_ || !output_blocked_) return;
    if (!was_blocked || (streaming_ && progress_ > 0) || progress_ >= kWriteProgressBytes) {
        progress_ = 0;
        writing_since_ = all_->sweep;
    }
}

// Closing with unread input in the kernel would reset the connection and could take the last answer with it. So the
// sending side closes first, and input of the client is read and discarded until it closes too.
void HttpConnection::end_output() {
    if (input_ended_) return close(true);
    say_end();
    shut_down_output();
    lingering_ = true;
    ++all_->lingering;
    lingering_since_ = all_->sweep;
    empty(input_);
    account_held_bytes();
    read_on();
}

}  // namespace duewheel
