// One client's connection: its socket, plain or with TLS, what it sends and what is to be sent to it. What the bytes
// mean is up to the protocol, a class derived from this. Private to the servers of this module: it needs Asio.
//
// Bytes are read as they come while the protocol wants more (read_on()), into buffers that all connections share. What
// was appended to `output_` is sent when the iteration of the loop ends (want_flush()), encrypted piece by piece with
// TLS; what the kernel does not take then waits until it does.
//
// A connection is shared: by its server, by the system's operation on its socket, and by those who owe it a reply.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/error.hpp>

#include "net/listener.h"
#include "net/tls_session.h"

namespace duewheel {

class Connections;

inline bool would_block(const boost::system::error_code& error) {
    return error == boost::asio::error::would_block || error == boost::asio::error::try_again;
}

class Connection : public std::enable_shared_from_this<Connection> {
  public:
    Connection(Connections& server, StreamSocket socket);
    virtual ~Connection() = default;
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    // Its first call.
    virtual void start() { read_on(); }
    // At the end of an iteration, after want_flush().
    virtual void flush() = 0;
    // Now, without a word to the client. `tell_owners`: those who owe it a reply learn that it is gone.
    virtual void close(bool tell_owners) = 0;
    // Whether it may be closed to make room for others.
    virtual bool may_be_evicted() const = 0;

    // Calls flush() at the end of this iteration.
    void want_flush();
    // Those with the smallest are evicted first.
    std::uint64_t idle_mark() const { return idle_mark_; }

  protected:
    // What the client sent; it stays valid during the call.
    virtual void receive(std::string_view bytes) = 0;
    // The client closed the connection, or only its sending side, which cannot be distinguished. `input_ended_` is set.
    virtual void on_input_end() = 0;

    // Reads the next bytes, unless that is in progress.
    void read_on();
    void end_input();
    // Sends as much as the kernel takes; when it takes more, flush() is called. Returns how many bytes were sent.
    // Closes the connection if it is broken.
    std::size_t send_output();
    // Tells the client of a TLS connection that nothing more follows, as far as the kernel accepts it now.
    void say_end();
    void shut_down_output();
    // Clears a buffer, which keeps its memory only if that is little: ten thousand connections have three each.
    void empty(std::string& buffer) const;
    // The client waits for nothing from now on.
    void mark_idle();
    bool all_sent() const { return sent_ == output_.size() && (!tls_ || tls_->unsent().empty()); }
    std::size_t unsent_bytes() const { return output_.size() - sent_ + (tls_ ? tls_->unsent().size() : 0); }
    // The last part of close(): from now on nothing of this is called by its server or the system.
    void leave();

    std::optional<StreamSocket> socket_;  // none once closed
    std::unique_ptr<TlsSession> tls_;     // null: plain, or no byte arrived yet
    std::string input_;                   // read, not used yet
    std::string output_;
    bool output_blocked_ = false;  // the kernel took less than there was, and has not caught up
    bool is_reading_ = false;
    bool input_ended_ = false;
    bool closed_ = false;

  private:
    friend class Connections;

    void on_read(const boost::system::error_code& error, std::size_t size);
    std::string_view next_output();
    void wait_writable();

    Connections& server_;  // not to be used once closed: it may be gone
    std::array<char, 1024> first_bytes_;
    std::size_t sent_ = 0;   // of output_
    std::size_t index_ = 0;  // in the list of Connections
    std::uint64_t idle_mark_;
    bool is_sending_ = false;  // waits until the kernel takes more
    bool wants_flush_ = false;
};

}  // namespace duewheel
