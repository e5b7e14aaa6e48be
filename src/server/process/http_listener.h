// The HTTP listener of a server: the socket, the certificate, which follows its files, and what the log says about
// connections and handshakes.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/log.h"
#include "http_api/http_api.h"
#include "net/event_loop.h"
#include "net/http/http_threads.h"
#include "server/limits/server_options.h"
#include "server/process/certificate_watch.h"
#include "server/process/connection_watch.h"
#include "server/process/handshake_log.h"
#include "server/shard/worker.h"

namespace duewheel {

class HttpListener {
  public:
    // All outlive it, and the loop does not run any more when it ends.
    HttpListener(EventLoop& loop, const ServerOptions& options, LogSink& log)
        : loop_(loop), options_(options), log_(log) {}

    // Takes the address, and reads the certificate if there is one. Codes: those of HttpServer::bind() and
    // CertificateWatch::open().
    Status open();
    // Accepts clients, whose requests the API gets; it outlives the loop's last iteration.
    Status accept(HttpApi& api);

    // With the selected port if 0 was given.
    const BoundAddress& bound() const { return bound_; }
    std::string address() const { return bound_.text(); }
    HttpCounters counters() const { return http_->counters(); }
    // Nothing: no TLS.
    std::optional<std::int64_t> certificate_expires_in_ms() const;

    // In each iteration of the loop; returns when to be called again.
    EventLoop::TimePoint run_due();
    // Reads the certificate again. False: there is none.
    bool reload();
    // As HttpServer::drain().
    void drain(std::chrono::milliseconds deadline, std::function<void()> drained) {
        http_->drain(deadline, std::move(drained));
    }

  private:
    Status open_tls();

    EventLoop& loop_;
    const ServerOptions& options_;
    LogSink& log_;
    HttpApi* api_ = nullptr;
    BoundAddress bound_;
    HandshakeLog handshake_log_{log_};
    std::unique_ptr<HttpThreads> http_;
    ConnectionWatch connection_watch_{log_};
    std::unique_ptr<CertificateWatch> certificates_;  // null: no TLS
    std::optional<Worker> certificate_reader_;        // last: it ends before what its jobs use
};

}  // namespace duewheel
