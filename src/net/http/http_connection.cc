#include "net/http/http_connection.h"

#include <algorithm>
#include <utility>

#include "base/error_codes.h"

namespace duewheel {
namespace {

constexpr int kRequestsPerTurn = 64;

}  // namespace

HttpConnection::HttpConnection(HttpConnections& all, StreamSocket socket, HttpPeer peer, const std::string& address)
    : Connection(all, std::move(socket)),
      all_(&all),
      parser_(all.limits, std::move(peer)),
      awaits_tls_(all.tls != nullptr),
      by_address_(address.empty() ? nullptr : &all.addresses.enter(address)),
      reading_since_(all.sweep) {}

void HttpConnection::receive(std::string_view bytes) {
    if (!lingering_ && !no_more_requests_ && !all_->draining) take_bytes(bytes);
    read_more();
}

// After all that has arrived was parsed, unless nothing of it is parsed any more. TLS may have announced the end
// before.
void HttpConnection::read_more() {
    if (closed_ || !(lingering_ || no_more_requests_ || may_parse())) return;
    if (tls_ && tls_->state() == TlsSession::State::ended && !input_ended_) return end_input();
    read_on();
}

// Responses are still sent.
void HttpConnection::on_input_end() {
    if (lingering_ || streaming_ || (slots_.empty() && all_sent())) return close(true);
    no_more_requests_ = true;
    if (!slots_.empty()) ++all_->counters.clients_gone;
    const auto self = shared_from_this();
    tell_gone();
    want_flush();
}

void HttpConnection::take_input(std::string_view bytes) {
    if (input_.empty()) {
        const std::size_t parsed = parse(bytes);
        if (closed_) return;
        input_.assign(bytes.substr(parsed));
    } else {
        input_.append(bytes);
        const std::size_t parsed = parse(input_);
        if (closed_) return;
        input_.erase(0, parsed);
    }
    if (input_.empty() || no_more_requests_) empty(input_);
    account_held_bytes();
}

std::size_t HttpConnection::parse(std::string_view bytes) {
    std::size_t parsed = 0;
    while (parsed < bytes.size() && may_parse()) {
        if (phase_ == Phase::idle) note_phase(false);
        std::size_t consumed = 0;
        const RequestParser::State state = parser_.read(bytes.substr(parsed), consumed);
        parsed += consumed;
        switch (state) {
            case RequestParser::State::complete:
                if (must_hold(parser_.request())) {
                    held_in_parser_ = parser_.in_body();
                    if (held_in_parser_) return parsed;
                    // It refers to `bytes`, which will be freed: it is read again from its start.
                    parser_.reset();
                    note_phase(true);
                    return parsed - consumed;
                }
                dispatch();
                if (closed_) return parsed;
                break;
            case RequestParser::State::body_expected:
                continue_due_ = true;
                [[fallthrough]];
            case RequestParser::State::need_more:
                if (parser_.in_body() && !admit_head()) return no_more_requests_ ? bytes.size() : parsed;
                // After an empty line nothing is left: no request has started.
                note_phase(parsed == bytes.size() && !parser_.in_body());
                return parsed;
            case RequestParser::State::refused:
                refuse(parser_.refusal());
                return bytes.size();
        }
    }
    return parsed;
}

bool HttpConnection::must_hold(const HttpRequest& request) {
    parser_.set_route(all_->router(request));
    const HttpGroup group = request.route.group;
    const bool too_many_reads = group == kReadsGroup && slots_.size() >= all_->limits.reads_max;
    holding_ = !slots_.empty() && (group == kAlone || group != group_ || too_many_reads);
    if (!holding_) group_ = group;
    return holding_;
}

// The decision may come at once, or later, when this continues.
void HttpConnection::ask_gatekeeper() {
    parser_.set_route(all_->router(parser_.request()));
    awaits_admission_ = true;
    all_->gatekeeper(parser_.request(), [weak = std::weak_ptr(self())](HttpAdmission admission) {
        const auto connection = weak.lock();
        if (!connection || connection->closed_) return;
        connection->admission_ = std::move(admission);
        connection->awaits_admission_ = false;
        connection->want_flush();
    });
}

// Before the memory of the server is used for a body, and before a client is asked to send it.
bool HttpConnection::admit_head() {
    if (!head_admitted_ && all_->gatekeeper) {
        if (!admission_) ask_gatekeeper();
        if (!admission_) {
            note_phase(false);
            return false;
        }
        const HttpAdmission admission = *std::exchange(admission_, std::nullopt);
        if (!admission.is_admitted) {
            note_phase(false);
            // A request in progress may still change what is decided.
            holding_ = head_held_ = !slots_.empty();
            if (!head_held_) {
                parser_.withhold_body();
                dispatch();
            }
            return false;
        }
        set_holder(admission.holder);
    }
    head_admitted_ = true;
    if (std::exchange(continue_due_, false)) send_continue();
    return true;
}

void HttpConnection::dispatch() {
    ++all_->counters.requests;
    all_->handler_called = true;
    const HttpRequest& request = parser_.request();
    HttpFraming framing;
    framing.head_request = request.method == "HEAD";
    framing.close = !request.keep_alive;
    framing.old_keep_alive = request.keep_alive && request.minor_version == 0;
    framing.until_close = request.minor_version == 0;  // matters to a stream only
    if (framing.close) no_more_requests_ = true;
    if (std::exchange(turn_, all_->turn) != all_->turn) requests_in_turn_ = 0;
    if (++requests_in_turn_ == kRequestsPerTurn) {
        yielded_ = true;
        all_->yielded.push_back(shared_from_this());
    }
    const std::uint64_t sequence = open_slot(framing);
    head_admitted_ = continue_due_ = false;
    all_->handler(request, HttpReply(self(), sequence));
    if (closed_) return;
    parser_.reset();
    note_phase(true);
}

void HttpConnection::refuse(const HttpRefusal& refusal) {
    HttpCounters& counters = all_->counters;
    if (refusal.status == 413 || refusal.status == 414 || refusal.status == 431) {
        ++counters.refused_too_large;
    } else if (refusal.status == 503) {
        ++counters.refused_overload;
    } else if (refusal.status != 408) {
        ++counters.refused_malformed;
    }
    no_more_requests_ = true;
    phase_ = Phase::idle;
    parser_.reset();
    HttpFraming framing;
    framing.close = true;
    all_->on_refusal(refusal.status, refusal.code);
    answer(open_slot(framing), all_->format_error(refusal.status, refusal.code, refusal.message));
}

bool HttpConnection::may_parse() const {
    return !closed_ && !no_more_requests_ && !yielded_ && !awaits_admission_ && !(holding_ && !slots_.empty()) &&
           slots_.size() < all_->limits.pipeline_max && pending_output() < all_->limits.output_bytes_max;
}

void HttpConnection::resume_reading() {
    if (turn_ != all_->turn) yielded_ = false;
    if (is_reading_ || !may_parse()) return;
    // A pause of this server does not count against the client.
    reading_since_ = all_->sweep;
    holding_ = false;
    if (std::exchange(held_in_parser_, false)) {
        group_ = parser_.request().route.group;
        dispatch();
        if (!closed_) take_input({});
    } else if (std::exchange(head_held_, false) || admission_) {
        admit_head();
        if (closed_ || head_held_ || awaits_admission_) return;
        count_held_bytes(0);  // they are counted again, against the share of the holder
        take_input({});
    } else if (!input_.empty()) {
        take_input({});
    }
    read_more();
}

void HttpConnection::note_phase(bool between_requests) {
    const Phase now = between_requests ? Phase::idle : parser_.in_body() ? Phase::body : Phase::head;
    if (now != phase_) reading_since_ = all_->sweep;
    phase_ = now;
}

void HttpConnection::account_held_bytes() {
    const std::size_t held = input_.size() + (phase_ == Phase::idle ? 0 : parser_.held_bytes());
    const bool grew = held > held_bytes_;
    count_held_bytes(held);
    if (held == 0) set_holder({});
    if (grew && exceeds_share() && !no_more_requests_) {
        refuse({503, "overloaded"_code,
                "The server holds too many unfinished requests, of this client or of all; try again later."});
    }
}

void HttpConnection::count_held_bytes(std::size_t held) {
    all_->counters.unfinished_bytes += held - held_bytes_;
    if (by_address_ != nullptr) by_address_->second.unfinished_bytes += held - held_bytes_;
    if (by_holder_ != nullptr) by_holder_->second.unfinished_bytes += held - held_bytes_;
    held_bytes_ = held;
}

bool HttpConnection::exceeds_share() const {
    const HttpLimits& limits = all_->limits;
    const std::size_t share =
        std::max(limits.unfinished_bytes_max / 2, limits.body_bytes_max + limits.header_bytes_max);
    return all_->counters.unfinished_bytes > limits.unfinished_bytes_max ||
           (by_address_ != nullptr && by_address_->second.unfinished_bytes > share) ||
           (by_holder_ != nullptr && by_holder_->second.unfinished_bytes > share);
}

// Sets the holder of the request that is being read.
void HttpConnection::set_holder(const std::string& holder) {
    if (by_holder_ == nullptr ? holder.empty() : by_holder_->first == holder) return;
    const std::size_t held = held_bytes_;
    count_held_bytes(0);
    if (by_holder_ != nullptr) all_->holders.leave(*std::exchange(by_holder_, nullptr));
    if (!holder.empty()) by_holder_ = &all_->holders.enter(holder);
    count_held_bytes(held);
}

// What is in `input_` without a slot is a part of a request, because all of it was parsed, or its turn comes.
void HttpConnection::drain() {
    if (closed_ || lingering_ || yielded_) return;
    const bool owes_nothing = slots_.empty() && all_sent();
    const bool is_stuck_stream = streamed_ && output_blocked_;
    if (owes_nothing || is_stuck_stream) close(false);
}

void HttpConnection::close(bool tell_owners) {
    if (closed_) return;
    const auto self = shared_from_this();
    HttpConnections& all = *all_;
    if (tls_ && in_handshake() && !all.draining) count_handshake(TlsOutcome::disconnected);
    if (all_sent()) say_end();
    if (tell_owners && !input_ended_ && !streaming_ && !slots_.empty()) ++all.counters.clients_gone;
    end_stream();
    count_held_bytes(0);
    set_holder({});
    if (by_address_ != nullptr) all.addresses.leave(*by_address_);
    all.counters.unsent_bytes -= unsent_bytes_;
    all.lingering -= lingering_ ? 1 : 0;
    all_ = nullptr;
    leave();
    if (tell_owners) tell_gone();
    slots_.clear();
}

bool HttpConnection::expired(std::uint64_t since, std::chrono::milliseconds deadline) const {
    // One more, because the first of the sweeps counted may have followed at once.
    const auto sweeps =
        static_cast<std::uint64_t>((deadline + all_->limits.sweep - std::chrono::milliseconds(1)) / all_->limits.sweep);
    return all_->sweep - since > sweeps;
}

void HttpConnection::check_deadlines() {
    if (lingering_) {
        if (expired(lingering_since_, all_->limits.linger)) close(true);
    } else if (in_handshake()) {
        if (expired(reading_since_, all_->limits.handshake_deadline)) end_slow_handshake();
    } else if (output_blocked_) {
        if (!expired(writing_since_, all_->limits.write_deadline)) return;
        ++all_->counters.timeouts_write;
        close(true);
    } else if (!no_more_requests_ && may_parse()) {
        check_reading_deadline();
    }
}

void HttpConnection::check_reading_deadline() {
    HttpCounters& counters = all_->counters;
    const HttpLimits& limits = all_->limits;
    if (phase_ == Phase::head && expired(reading_since_, limits.header_deadline)) {
        ++counters.timeouts_header;
        refuse({408, "request_timeout"_code, "The request's header took too long to arrive."});
    } else if (phase_ == Phase::body && expired(reading_since_, limits.body_deadline)) {
        ++counters.timeouts_body;
        refuse({408, "request_timeout"_code, "The request's body took too long to arrive."});
    } else if (phase_ == Phase::idle && slots_.empty() && all_sent()) {
        if (!expired(reading_since_, fresh_ ? limits.header_deadline : limits.idle_timeout)) return;
        ++(fresh_ ? counters.timeouts_header : counters.timeouts_idle);
        close(false);
    }
}

}  // namespace duewheel
