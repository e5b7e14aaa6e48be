// A server of byte streams on one thread's EventLoop, over TCP or a Unix socket, for protocols other than HTTP.
//
// Bytes of a client go to its session, which may take a part of them and the rest later: meanwhile nothing more is
// read, so a client that sends faster than it is served waits in the kernel. The same holds while much is unsent: a
// client that does not read is not served. What is written within an iteration of the loop is sent in one call, and
// for a fraction of a millisecond also what further iterations write while the session takes more of its bytes. Bytes
// are offered to a session once or twice in an iteration: sessions that take a bounded part of them take turns.
//
// Use it on the loop's thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "base/status.h"
#include "net/event_loop.h"

namespace duewheel {

// The client of a session. Valid as long as the session.
class StreamClient {
  public:
    // Sends `bytes` at the end of this iteration of the loop, or with those of the next ones.
    virtual void write(std::string_view bytes) = 0;
    // The session takes bytes again, at the end of this iteration.
    virtual void resume() = 0;
    // Closes the connection after what was written, and destroys the session, at the end of this iteration or later.
    virtual void finish() = 0;
    // Its address without the port, or the user of a Unix socket as the kernel knows it, such as "uid:1000".
    virtual const std::string& peer() const = 0;

  protected:
    ~StreamClient() = default;
};

class StreamSession {
  public:
    virtual ~StreamSession() = default;
    // Takes bytes from their front; returns how many. What is left is offered again, with more behind it, after
    // resume(); so are no bytes, if none are left.
    virtual std::size_t consume(std::string_view bytes) = 0;
    // The client has stopped sending. Returns whether replies to it are in progress, for which the connection stays
    // open until resume() is called and this is false.
    virtual bool owes_replies() const = 0;
};

struct StreamConnections;

struct StreamLimits {
    // When reached, connections that have never sent a byte are closed, the oldest first; without any, further clients
    // wait in the kernel's queue.
    std::size_t connections_max = 10'000;
    std::size_t unsent_bytes_max = 256 * 1024;  // of one connection; when reached, it is not served
};

class StreamServer {
  public:
    using Opener = std::function<std::unique_ptr<StreamSession>(StreamClient&)>;

    // `loop` outlives it. It must not be destroyed from within a session.
    StreamServer(EventLoop& loop, const StreamLimits& limits, Opener open);
    // Closes all connections, and destroys their sessions.
    ~StreamServer();
    StreamServer(const StreamServer&) = delete;
    StreamServer& operator=(const StreamServer&) = delete;

    // Accepts on "127.0.0.1:11300", "[::1]:11300" or "unix:/path/of/socket"; port 0 picks a free one. Returns the
    // address. A socket file that no process listens on is replaced. To connect to it, a process must be of the user of
    // this process or, if there is one, of `socket_group`. Errors: bad_address, port_in_use, forbidden, io_error,
    // forbidden_group.
    Result<std::string> listen(std::string_view address, std::optional<gid_t> socket_group = {});
    void stop_accepting();
    std::size_t connections() const;

  private:
    std::unique_ptr<StreamConnections> parts_;
};

}  // namespace duewheel
