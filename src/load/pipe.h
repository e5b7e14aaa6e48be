// Connections of a load generator: each can have many requests in flight, and their responses come in order.
//
// For measuring servers, so it uses as little processor time as possible: one thread, epoll, no parsing except to find
// the end of a response. It accepts HTTP/1.1 responses with a length, and the one-line responses of beanstalkd.
// It never retries: any failure ends the run, because a figure of a failed run means nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace duewheel {

enum class PipeProtocol : std::uint8_t { http, beanstalkd };

struct PipeAnswer {
    int status = 0;         // of HTTP
    std::string_view body;  // of HTTP, or the line; valid only during the callback
    bool ok() const { return status / 100 == 2; }
};

class Pipe {
  public:
    using Then = std::function<void(const PipeAnswer&)>;

    Pipe(int descriptor, PipeProtocol protocol) : descriptor_(descriptor), protocol_(protocol) {}
    ~Pipe();
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;

    // Queues a request; `then` is called with its response in a later iteration of the set.
    void send(std::string_view request, Then then);
    std::size_t outstanding() const { return waiting_.size(); }

  private:
    friend class PipeSet;
    Status flush();
    Status read();
    // The length of the first whole response in `text`, 0 if it is incomplete.
    Result<std::size_t> first_answer(std::string_view text, PipeAnswer& answer) const;

    int descriptor_;
    PipeProtocol protocol_;
    std::string out_;
    std::size_t sent_ = 0;  // of out_
    std::string in_;
    std::deque<Then> waiting_;
};

// A server's address and the connections to it.
class PipeSet {
  public:
    // `server` is http://HOST:PORT or beanstalk://HOST:PORT. Errors: bad_address, unreachable.
    static Result<std::unique_ptr<PipeSet>> open(std::string_view server, std::size_t connections);
    ~PipeSet();
    PipeSet(const PipeSet&) = delete;
    PipeSet& operator=(const PipeSet&) = delete;

    PipeProtocol protocol() const { return protocol_; }
    // For the Host field.
    const std::string& authority() const { return authority_; }
    std::size_t size() const { return pipes_.size(); }
    Pipe& operator[](std::size_t at) { return *pipes_[at]; }

    // Sends what is queued, waits up to this long for responses, and calls back for each. Errors: unreachable (a
    // connection broke), bad_answer.
    Status turn(int wait_ms);

  private:
    PipeSet() = default;

    PipeProtocol protocol_ = PipeProtocol::http;
    std::string authority_;
    int epoll_ = -1;
    std::vector<std::unique_ptr<Pipe>> pipes_;
};

}  // namespace duewheel
