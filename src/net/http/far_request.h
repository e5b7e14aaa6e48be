// A request whose handler runs on another thread than its connection: a copy of the request, and the way back for its
// response. Private to http_threads.
//
//     the connection's thread ── copy ──► the handler's thread: HttpReply ── FarReply ──► the connection's thread
//
// A request has one user at a time: it is created by the connection's thread, then belongs to the handler's, and what
// that sends with a FarReply belongs to the connection's. Only the two counts for both are atomic.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "net/batch_queue.h"
#include "net/http/http_connection.h"
#include "net/http/http_message.h"
#include "net/http/http_reply_target.h"
#include "net/http/http_server.h"

namespace duewheel {

// A request with texts of its own.
class HttpRequestCopy {
  public:
    explicit HttpRequestCopy(const HttpRequest& request);
    HttpRequestCopy(const HttpRequestCopy&) = delete;
    HttpRequestCopy& operator=(const HttpRequestCopy&) = delete;

    const HttpRequest& request() const { return request_; }
    void set_prepared(std::shared_ptr<void> prepared) { request_.prepared = std::move(prepared); }
    // Frees its memory: nothing may refer to it any more.
    void clear();

  private:
    std::string texts_;
    HttpRequest request_;
};

class FarRequest;

// What the handler's thread wants of the connection of a request.
struct FarReply {
    enum class Kind { answer, drop, begin_stream, write, finish_stream, cut_stream };

    std::shared_ptr<FarRequest> request;
    Kind kind{};
    std::string bytes = {};  // to write
};

class FarRequest final : public HttpReplyTarget, public std::enable_shared_from_this<FarRequest> {
  public:
    using Replies = BatchQueue<FarReply>;

    // The connection's thread.
    FarRequest(const HttpRequest& request, HttpReply reply, std::size_t stream_bytes_max,
               std::shared_ptr<Replies> replies);
    // The connection's thread, before the handler's gets it: `on_gone` runs there, at most once, if the client goes
    // away before the response.
    void watch(std::function<void(std::shared_ptr<FarRequest>)> on_gone);
    // The connection's thread: does what the handler's thread wants.
    void carry_out(FarReply&& reply);

    // The handler's thread.
    HttpRequestCopy& copy() { return copy_; }
    void tell_gone();

    void answer(std::uint64_t, HttpResponse&& response) override;
    void drop_answer(std::uint64_t) override { send(FarReply::Kind::drop); }
    void trust() override { is_trusted_ = true; }
    bool client_gone() const override { return is_gone_.load(std::memory_order_relaxed) || replies_->is_closed(); }
    void set_gone_callback(std::uint64_t, std::function<void()> callback) override;
    void begin_stream(std::uint64_t, HttpResponse&& response) override;
    bool write_stream(std::uint64_t, std::string_view bytes) override;
    void finish_stream(std::uint64_t) override { send(FarReply::Kind::finish_stream); }
    void cut_stream() override { send(FarReply::Kind::cut_stream); }

  private:
    void send(FarReply::Kind kind, std::string bytes = {});

    const std::size_t stream_bytes_max_;
    const std::shared_ptr<Replies> replies_;
    // The connection's thread has these; the connection is null after the response.
    std::shared_ptr<HttpConnection> connection_;
    std::uint64_t sequence_ = 0;
    // The handler's thread has these, and after its response the connection's.
    HttpRequestCopy copy_;
    HttpResponse response_;
    bool is_trusted_ = false;
    std::function<void()> gone_callback_;
    // Both have these.
    std::atomic<bool> is_gone_{false};
    std::atomic<std::size_t> unsent_bytes_{0};  // of a stream
};

}  // namespace duewheel
