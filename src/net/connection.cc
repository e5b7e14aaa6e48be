#include "net/connection.h"

#include <algorithm>
#include <utility>

#include <boost/asio/buffer.hpp>

#include "net/connections.h"

namespace duewheel {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::size_t kEncryptedAtOnceBytes = 64 * 1024;

}  // namespace

Connection::Connection(Connections& server, StreamSocket socket)
    : socket_(std::move(socket)), server_(server), idle_mark_(server.idle_marks_++) {}

// Reading into a small buffer of its own, not only waiting: the reactor then tries a read, which fails at once when
// there is nothing, instead of arming its interest in the kernel again, which costs several times as much. Larger
// input continues in the buffer that all connections share.
void Connection::read_on() {
    if (closed_ || is_reading_ || input_ended_) return;
    is_reading_ = true;
    socket_->async_read_some(asio::buffer(first_bytes_),
                             [self = shared_from_this()](const error_code& error, std::size_t size) {
                                 self->is_reading_ = false;
                                 if (!self->closed_) self->on_read(error, size);
                             });
}

void Connection::on_read(const error_code& error, std::size_t size) {
    if (error == asio::error::eof) return end_input();
    if (error) return close(true);
    std::string_view bytes(first_bytes_.data(), size);
    if (size == first_bytes_.size()) {
        auto& all = server_.read_buffer_;
        std::copy(bytes.begin(), bytes.end(), all.begin());
        error_code later;  // an end or an error is returned again by the next read
        size += socket_->read_some(asio::buffer(all) + size, later);
        bytes = {all.data(), size};
    }
    server_.counters_.bytes_in += size;
    receive(bytes);
}

void Connection::end_input() {
    input_ended_ = true;
    on_input_end();
}

void Connection::want_flush() {
    if (closed_ || std::exchange(wants_flush_, true)) return;
    server_.to_flush_.push_back(shared_from_this());
}

std::size_t Connection::send_output() {
    std::size_t sent = 0;
    if (is_sending_) return sent;
    while (!all_sent()) {
        const std::string_view bytes = next_output();
        error_code error = asio::error::fault;  // it could not be encrypted
        const std::size_t size = bytes.empty() ? 0 : socket_->write_some(asio::buffer(bytes), error);
        if (would_block(error)) {
            wait_writable();
            return sent;
        }
        if (error) {
            close(true);
            return sent;
        }
        sent += size;
        server_.counters_.bytes_out += size;
        if (tls_) {
            tls_->sent(size);
        } else {
            sent_ += size;
        }
    }
    empty(output_);
    sent_ = 0;
    output_blocked_ = false;
    return sent;
}

// Empty: it cannot be encrypted any more.
std::string_view Connection::next_output() {
    const std::string_view plain = std::string_view(output_).substr(sent_);
    if (!tls_) return plain;
    if (tls_->unsent().empty()) {
        const std::string_view part = plain.substr(0, kEncryptedAtOnceBytes);
        if (!tls_->write(part)) return {};
        sent_ += part.size();
    }
    return tls_->unsent();
}

void Connection::wait_writable() {
    if (sent_ > output_.size() / 2) {
        output_.erase(0, sent_);
        sent_ = 0;
    }
    output_blocked_ = is_sending_ = true;
    socket_->async_wait(StreamSocket::wait_write, [self = shared_from_this()](const error_code&) {
        self->is_sending_ = false;
        self->want_flush();
    });
}

void Connection::say_end() {
    if (!tls_) return;
    tls_->end();
    error_code ignored;
    if (!tls_->unsent().empty()) socket_->write_some(asio::buffer(tls_->unsent()), ignored);
}

void Connection::shut_down_output() {
    error_code ignored;
    socket_->shutdown(StreamSocket::shutdown_send, ignored);
}

void Connection::empty(std::string& buffer) const {
    buffer.clear();
    if (buffer.capacity() > server_.limits_.kept_bytes_max) buffer.shrink_to_fit();
}

void Connection::mark_idle() {
    idle_mark_ = server_.idle_marks_++;
}

void Connection::leave() {
    closed_ = true;
    socket_.reset();
    server_.remove(*this);
}

}  // namespace duewheel
