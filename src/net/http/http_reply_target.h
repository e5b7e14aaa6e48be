// Where the replies to the requests of one connection go: the connection itself, or, for a request that was handed to
// another thread (http_threads.h), a message to the connection's thread. Private to http_server and http_threads.
//
// `sequence` is the number of the request on its connection. Calls after the end of a connection do nothing. Their
// meaning is that of the functions of HttpReply and HttpStream, which make them.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "net/http/http_message.h"

namespace duewheel {

class HttpReplyTarget {
  public:
    virtual void answer(std::uint64_t sequence, HttpResponse&& response) = 0;
    virtual void drop_answer(std::uint64_t sequence) = 0;
    virtual void trust() = 0;
    virtual bool client_gone() const = 0;
    virtual void set_gone_callback(std::uint64_t sequence, std::function<void()> callback) = 0;

    virtual void begin_stream(std::uint64_t sequence, HttpResponse&& response) = 0;
    virtual bool write_stream(std::uint64_t sequence, std::string_view bytes) = 0;
    virtual void finish_stream(std::uint64_t sequence) = 0;
    // Closes the connection in the middle of a stream.
    virtual void cut_stream() = 0;

  protected:
    ~HttpReplyTarget() = default;
};

}  // namespace duewheel
