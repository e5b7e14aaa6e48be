#include <cassert>
#include <utility>

#include "net/http/http_connection.h"
#include "net/http/http_server.h"

namespace duewheel {

HttpReply::HttpReply(std::shared_ptr<HttpConnection> connection, std::uint64_t sequence)
    : connection_(std::move(connection)), sequence_(sequence) {}

HttpReply::~HttpReply() {
    drop();
}

HttpReply& HttpReply::operator=(HttpReply&& other) noexcept {
    if (this != &other) {
        drop();
        connection_ = std::move(other.connection_);
        sequence_ = other.sequence_;
    }
    return *this;
}

void HttpReply::drop() {
    if (const auto connection = std::exchange(connection_, nullptr)) connection->drop_answer(sequence_);
}

void HttpReply::answer(const HttpResponse& response) {
    assert(connection_);
    if (const auto connection = std::exchange(connection_, nullptr)) connection->answer(sequence_, response);
}

HttpStream HttpReply::stream(const HttpResponse& response) {
    assert(connection_);
    connection_->begin_stream(sequence_, response);
    return HttpStream(std::exchange(connection_, nullptr), sequence_);
}

void HttpReply::trust() {
    connection_->trust();
}

bool HttpReply::client_gone() const {
    assert(connection_);
    return connection_->client_gone();
}

void HttpReply::on_client_gone(std::function<void()> callback) {
    assert(connection_);
    connection_->set_gone_callback(sequence_, std::move(callback));
}

HttpStream::HttpStream(std::shared_ptr<HttpConnection> connection, std::uint64_t sequence)
    : connection_(std::move(connection)), sequence_(sequence) {}

HttpStream::~HttpStream() {
    if (connection_) connection_->close(false);
}

HttpStream& HttpStream::operator=(HttpStream&& other) noexcept {
    if (this != &other) {
        if (connection_) connection_->close(false);
        connection_ = std::move(other.connection_);
        sequence_ = other.sequence_;
    }
    return *this;
}

bool HttpStream::write(std::string_view bytes) {
    return connection_ != nullptr && connection_->write_stream(sequence_, bytes);
}

void HttpStream::finish() {
    if (const auto connection = std::exchange(connection_, nullptr)) connection->finish_stream(sequence_);
}

bool HttpStream::is_over() const {
    return connection_ == nullptr || connection_->client_gone();
}

}  // namespace duewheel
