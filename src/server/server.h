// The whole daemon: opens a data directory, recovers it, listens, runs until it is stopped, and drains.
//
// A stop (SIGTERM, SIGINT) loses no reply: nothing new is accepted, waiting consumers get an empty response, every
// received request is answered, the current time is written to the log, and only then the process ends. kill -9 at any
// moment also loses nothing that was answered; it may only lose the time since the last commit, if the wall clock is
// set back before the next start.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/log.h"
#include "base/status.h"
#include "server/limits/server_options.h"
#include "server/node/standby.h"

namespace duewheel {

class Server {
  public:
    // Takes its address, recovers, and accepts clients. Codes: those of ShardParts::open(), HttpServer::listen()
    // and check_options(). `takeover`: the log is replicated, and this node owns it.
    static Result<std::unique_ptr<Server>> open(const ServerOptions& options, LogSink& log,
                                                std::optional<Takeover> takeover = {});
    ~Server();

    // "127.0.0.1:7420", with the selected port if 0 was given.
    std::string http_address() const;
    // The address for the beanstalkd protocol; empty: there is none.
    std::string beanstalk_address() const;

    // All are called by the thread of run(): `ready` once, when requests are served; `stopping` once, when the signal
    // came; and `alive` every `alive_interval` while the loop of that thread makes progress. An interval of 0: never.
    struct Reports {
        std::function<void()> ready;
        std::function<void()> stopping;
        std::function<void()> alive;
        std::chrono::nanoseconds alive_interval{0};
    };

    // Runs until a signal stops it.
    void run(Reports reports);

  private:
    Server();

    struct Progress;
    struct Stop;
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace duewheel
