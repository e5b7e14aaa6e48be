#include <cassert>
#include <utility>

#include "net/http/http_reply_target.h"
#include "net/http/http_server.h"

namespace duewheel {

HttpReply::HttpReply(std::shared_ptr<HttpReplyTarget> target, std::uint64_t sequence)
    : target_(std::move(target)), sequence_(sequence) {}

HttpReply::~HttpReply() {
    drop();
}

HttpReply& HttpReply::operator=(HttpReply&& other) noexcept {
    if (this != &other) {
        drop();
        target_ = std::move(other.target_);
        sequence_ = other.sequence_;
    }
    return *this;
}

void HttpReply::drop() {
    if (const auto target = std::exchange(target_, nullptr)) target->drop_answer(sequence_);
}

void HttpReply::answer(HttpResponse response) {
    assert(target_);
    if (const auto target = std::exchange(target_, nullptr)) target->answer(sequence_, std::move(response));
}

HttpStream HttpReply::stream(HttpResponse response) {
    assert(target_);
    target_->begin_stream(sequence_, std::move(response));
    return HttpStream(std::exchange(target_, nullptr), sequence_);
}

void HttpReply::trust() {
    target_->trust();
}

bool HttpReply::client_gone() const {
    assert(target_);
    return target_->client_gone();
}

void HttpReply::on_client_gone(std::function<void()> callback) {
    assert(target_);
    target_->set_gone_callback(sequence_, std::move(callback));
}

HttpStream::HttpStream(std::shared_ptr<HttpReplyTarget> target, std::uint64_t sequence)
    : target_(std::move(target)), sequence_(sequence) {}

HttpStream::~HttpStream() {
    if (target_) target_->cut_stream();
}

HttpStream& HttpStream::operator=(HttpStream&& other) noexcept {
    if (this != &other) {
        if (target_) target_->cut_stream();
        target_ = std::move(other.target_);
        sequence_ = other.sequence_;
    }
    return *this;
}

bool HttpStream::write(std::string_view bytes) {
    return target_ != nullptr && target_->write_stream(sequence_, bytes);
}

void HttpStream::finish() {
    if (const auto target = std::exchange(target_, nullptr)) target->finish_stream(sequence_);
}

bool HttpStream::is_over() const {
    return target_ == nullptr || target_->client_gone();
}

}  // namespace duewheel
