// A connection that speaks HTTP, and what all of a server share. Private to http_server.
//
// A connection is in one of these states, each with its own deadline:
//
//            first byte            head complete          last byte
//   idle ───────────────► head ─────────────────► body ─────────────► (handler called) ─► idle
//   any ── refusal, or the last answer is written ──► lingering ── client closed, or time is up ──► closed
//
// `slots_` holds one entry for every request that is not answered in full yet, in order. The front one writes straight
// into `output_`; those behind it wait in their slot. With TLS, `output_` is encrypted piece by piece as it is sent.
// Reading pauses while too many slots or too much output wait, while a request is held back because of those before it
// (HttpGrouping), and until the next iteration of the loop after many requests in this one: clients take turns. A
// client that leaves during such a pause is noticed after it.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/connections.h"
#include "net/http/http_date.h"
#include "net/http/http_limits.h"
#include "net/http/http_message.h"
#include "net/http/http_reply_target.h"
#include "net/http/http_server.h"
#include "net/http/http_shares.h"
#include "net/http/request_parser.h"
#include "net/tls_context.h"

namespace duewheel {

struct HttpConnections : Connections {
    HttpConnections(EventLoop& loop, const HttpLimits& of)
        : Connections(loop, {of.connections_max, of.sweep, kKeptBytesMax}, counters), limits(of) {}

    static constexpr std::size_t kKeptBytesMax = 16 * 1024;

    const HttpLimits limits;
    HttpHandler handler;
    HttpErrorFormatter format_error;
    HttpRouter router;
    HttpLateGatekeeper gatekeeper;  // empty: every request is admitted
    std::function<void(int, ErrorCode)> on_refusal = [](int, ErrorCode) {};
    std::function<InstantMs()> now_ms;  // empty: answers have no Date
    HttpDate date;
    // Null: new connections are plain. Shared with the thread that created it.
    std::shared_ptr<const TlsContext> tls;
    std::function<void(const TlsFailure&)> on_handshake_failure;
    HttpCounters counters;
    HttpShares addresses, holders;
    std::uint64_t sweep = 0;                           // the time, in sweeps
    bool draining = false;                             // nothing more is read
    std::size_t lingering = 0;                         // connections whose last answer is sent
    bool handler_called = false;                       // since the last round
    std::uint64_t turn = 0;                            // the number of this iteration
    std::vector<std::shared_ptr<Connection>> yielded;  // go on in the next iteration
    // Connections with TLS decrypt into this, one after the other.
    std::array<char, 64 * 1024> decrypted;

    // Stands until the next call.
    std::string_view date_now() { return now_ms ? date.at(now_ms()) : std::string_view(); }
};

class HttpConnection final : public Connection, public HttpReplyTarget {
  public:
    // `address`: whose share it counts to; empty: no share.
    HttpConnection(HttpConnections& all, StreamSocket socket, HttpPeer peer, const std::string& address);

    // Sends what gathered and reads on where that was paused.
    void flush() override;
    void check_deadlines();
    // Closes now unless a complete request waits for its answer; then after the last answer.
    void drain();
    // Bytes of answers that the client has not taken.
    std::size_t pending_output() const { return unsent_bytes() + waiting_bytes_; }
    // Its client is not trusted, and waits for nothing.
    bool may_be_evicted() const override {
        return !is_trusted_ && slots_.empty() && !yielded_ && phase_ != Phase::body && all_sent();
    }
    // `tell_owners`: run the on_client_gone callbacks.
    void close(bool tell_owners) override;

    void answer(std::uint64_t sequence, HttpResponse&& response) override;
    void drop_answer(std::uint64_t sequence) override;
    void trust() override { is_trusted_ = true; }
    bool client_gone() const override { return input_ended_ || closed_; }
    void set_gone_callback(std::uint64_t sequence, std::function<void()> callback) override;
    void begin_stream(std::uint64_t sequence, HttpResponse&& response) override;
    bool write_stream(std::uint64_t sequence, std::string_view bytes) override;
    void finish_stream(std::uint64_t sequence) override;
    void cut_stream() override { close(false); }
    // write_stream() without its limit.
    void append_to_stream(std::uint64_t sequence, std::string_view bytes);

  private:
    enum class Phase { idle, head, body };

    struct Slot {
        std::string bytes;  // of the answer, while others are before it
        std::function<void()> on_gone;
        HttpFraming framing;
        bool complete = false;
    };

    // Reading.
    void receive(std::string_view bytes) override;
    void on_input_end() override;
    void take_bytes(std::string_view bytes);
    void recognize(char first_byte);
    void decrypt(std::string_view bytes);
    void end_handshake();
    void end_slow_handshake();
    void count_handshake(TlsOutcome outcome, const std::string& reason = {});
    void end_unanswered();
    void take_input(std::string_view bytes);
    std::size_t parse(std::string_view bytes);
    bool must_hold(const HttpRequest& request);
    bool admit_head();
    void ask_gatekeeper();
    std::shared_ptr<HttpConnection> self() { return std::static_pointer_cast<HttpConnection>(shared_from_this()); }
    void dispatch();
    void refuse(const HttpRefusal& refusal);
    void send_continue();
    bool may_parse() const;
    void read_more();
    void resume_reading();
    void note_phase(bool between_requests);
    void account_held_bytes();
    void count_held_bytes(std::size_t held);
    bool exceeds_share() const;
    void set_holder(const std::string& holder);

    // Answering.
    Slot& slot(std::uint64_t sequence) { return slots_[static_cast<std::size_t>(sequence - first_sequence_)]; }
    std::uint64_t open_slot(HttpFraming framing);
    template <class Append>
    void append(std::uint64_t sequence, Append append_to);
    bool out_of_reach() const { return closed_ || last_answer_given_; }
    void complete(std::uint64_t sequence);
    void pop_complete_slots();
    void end_stream();
    bool is_last_answer(std::uint64_t sequence) const;
    void tell_gone();

    // Writing.
    void write_output();
    void end_output();
    bool in_handshake() const { return awaits_tls_ || (tls_ && tls_->state() == TlsSession::State::handshake); }
    bool between_requests() const { return slots_.empty() && phase_ == Phase::idle && input_.empty(); }
    void account_output();

    bool expired(std::uint64_t since, std::chrono::milliseconds deadline) const;
    void check_reading_deadline();

    HttpConnections* all_;  // null once closed
    RequestParser parser_;
    bool awaits_tls_;  // no byte arrived yet, and TLS is expected
    std::deque<Slot> slots_;
    std::uint64_t first_sequence_ = 0;  // of slots_.front()
    std::size_t waiting_bytes_ = 0;     // in slots
    std::size_t held_bytes_ = 0;        // this connection's part of HttpCounters::unfinished_bytes
    std::size_t unsent_bytes_ = 0;      // this connection's part of HttpCounters::unsent_bytes
    std::uint64_t turn_ = 0;            // in which the last request was passed to the handler
    int requests_in_turn_ = 0;
    bool yielded_ = false;      // after that many requests, until a later turn
    HttpGroup group_ = kAlone;  // of what the slots are of
    // The next request waits until no slot is left: in `input_`, or, where it came in pieces, in the parser.
    bool holding_ = false;
    bool held_in_parser_ = false;
    // The head of a request whose body is being read: it was admitted; or it was not, while others were in progress,
    // and is looked at again after them.
    bool head_admitted_ = false;
    bool head_held_ = false;
    bool awaits_admission_ = false;           // the gatekeeper has not decided yet
    std::optional<HttpAdmission> admission_;  // its decision on the head that is being read
    bool continue_due_ = false;               // 100 Continue, after the head is admitted
    HttpShares::Entry* by_address_;           // null: it is in no such share
    HttpShares::Entry* by_holder_ = nullptr;  // likewise
    bool is_trusted_ = false;
    Phase phase_ = Phase::idle;
    bool fresh_ = true;                                                          // no byte of a request arrived yet
    std::uint64_t reading_since_ = 0, writing_since_ = 0, lingering_since_ = 0;  // in sweeps
    std::size_t progress_ = 0;                                                   // bytes sent since writing_since_
    bool no_more_requests_ = false;   // after a refusal, or `Connection: close`
    bool last_answer_given_ = false;  // a later response is discarded
    bool streaming_ = false;          // the response of the last request has no end yet
    bool streamed_ = false;           // it had none at first
    bool lingering_ = false;
};

}  // namespace duewheel
