#include "net/http/far_request.h"

#include <functional>
#include <utility>

namespace duewheel {

HttpRequestCopy::HttpRequestCopy(const HttpRequest& request) : request_(request) {
    std::size_t size = request.method.size() + request.target.size() + request.body.size();
    for (const HttpField& field : request.fields) size += field.name.size() + field.value.size();
    texts_.reserve(size);  // views into it stay valid
    const auto copy = [this](std::string_view& text) {
        const std::size_t begin = texts_.size();
        texts_.append(text);
        text = std::string_view(texts_).substr(begin, text.size());
    };
    copy(request_.target);
    const std::string_view from = request.target;
    // A view into the target, or a text that lives as long as the program (HttpRoute).
    const auto move = [this, from](std::string_view& part) {
        const bool is_in_target = !std::less<>()(part.data(), from.data()) &&
                                  !std::less<>()(from.data() + from.size(), part.data() + part.size());
        if (!is_in_target) return;
        part = request_.target.substr(static_cast<std::size_t>(part.data() - from.data()), part.size());
    };
    move(request_.path);
    move(request_.query);
    for (std::string_view& segment : request_.segments) move(segment);
    move(request_.route.outer_name);
    move(request_.route.name);
    move(request_.route.inner_name);
    copy(request_.method);
    for (HttpField& field : request_.fields) {
        copy(field.name);
        copy(field.value);
    }
    copy(request_.body);
}

void HttpRequestCopy::clear() {
    request_ = {};
    texts_ = {};
}

FarRequest::FarRequest(const HttpRequest& request, HttpReply reply, std::size_t stream_bytes_max,
                       std::shared_ptr<Replies> replies)
    : stream_bytes_max_(stream_bytes_max),
      replies_(std::move(replies)),
      connection_(std::static_pointer_cast<HttpConnection>(std::exchange(reply.target_, nullptr))),
      sequence_(reply.sequence_),
      copy_(request) {}

// A connection that has sent its last response keeps the callbacks of later requests, whose responses it discards.
void FarRequest::watch(std::function<void(std::shared_ptr<FarRequest>)> on_gone) {
    connection_->set_gone_callback(sequence_, [weak = weak_from_this(), on_gone = std::move(on_gone)] {
        const auto self = weak.lock();
        if (!self) return;
        self->is_gone_.store(true, std::memory_order_relaxed);
        on_gone(self);
    });
}

void FarRequest::carry_out(FarReply&& reply) {
    using Kind = FarReply::Kind;
    if (is_trusted_) connection_->trust();
    switch (reply.kind) {
        case Kind::answer:
            connection_->answer(sequence_, std::move(response_));
            break;
        case Kind::drop:
            connection_->drop_answer(sequence_);
            break;
        case Kind::begin_stream:
            return connection_->begin_stream(sequence_, std::move(response_));
        case Kind::write:
            connection_->append_to_stream(sequence_, reply.bytes);
            return unsent_bytes_.store(connection_->pending_output(), std::memory_order_relaxed);
        case Kind::finish_stream:
            connection_->finish_stream(sequence_);
            break;
        case Kind::cut_stream:
            connection_->cut_stream();
            break;
    }
    connection_ = nullptr;
}

void FarRequest::send(FarReply::Kind kind, std::string bytes) {
    replies_->send({shared_from_this(), kind, std::move(bytes)});
}

void FarRequest::tell_gone() {
    if (const auto callback = std::exchange(gone_callback_, nullptr)) callback();
}

void FarRequest::set_gone_callback(std::uint64_t, std::function<void()> callback) {
    if (!client_gone()) gone_callback_ = std::move(callback);
}

void FarRequest::answer(std::uint64_t, HttpResponse&& response) {
    gone_callback_ = nullptr;
    response_ = std::move(response);
    send(FarReply::Kind::answer);
}

void FarRequest::begin_stream(std::uint64_t, HttpResponse&& response) {
    response_ = std::move(response);
    send(FarReply::Kind::begin_stream);
}

// A client that reads slowly is noticed one batch late. The empty piece makes the connection's thread look again.
bool FarRequest::write_stream(std::uint64_t, std::string_view bytes) {
    if (client_gone()) return false;
    const bool has_room = unsent_bytes_.load(std::memory_order_relaxed) < stream_bytes_max_;
    if (has_room) unsent_bytes_.fetch_add(bytes.size(), std::memory_order_relaxed);
    send(FarReply::Kind::write, std::string(has_room ? bytes : std::string_view()));
    return has_room;
}

}  // namespace duewheel
