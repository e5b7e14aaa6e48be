// Requests over HTTP, of all calls of one client, on one thread: it sends them, waits for the responses, and runs
// timers.
//
// Connections are kept between requests, and do not go through the proxy of the environment. Certificates are always
// verified. A response is whole, or an error.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace duewheel::client {

using SteadyInstant = std::chrono::steady_clock::time_point;

struct HttpRequest {
    std::string method;
    std::string url;
    std::string body{};
    std::string media_type{};  // of the body; empty: no body
    std::string token{};
    std::chrono::milliseconds timeout{};
};

struct HttpResponse {
    int status = 0;  // 0: none came; `failure` says why
    std::string media_type{};
    std::string location{};
    std::chrono::seconds retry_after{};
    std::string body{};
    std::string failure{};
    bool bad_certificate = false;
};

class Transport {
  public:
    // `ca` is the certificate, as PEM, of the authority that signs the server's certificate; empty: those that the
    // system trusts.
    explicit Transport(std::string ca);
    // Ends all exchanges with a failure, and runs all timers. Not to be called on the thread of the network.
    ~Transport();
    Transport(const Transport&) = delete;

    // Runs a function on the thread of the network, soon. On any thread.
    void post(std::function<void()> function);

    // The others are called on the thread of the network only.
    // Runs a function then.
    void at(SteadyInstant due, std::function<void()> function);
    // Sends a request. `done` gets the response. The number is for abandon().
    std::uint64_t send(HttpRequest request, std::function<void(HttpResponse)> done);
    // Closes the connection of a request, and forgets it. Nothing happens if it has ended.
    void abandon(std::uint64_t number);
    // Whether it is being destroyed: nothing is worth another attempt.
    bool closing() const { return closing_; }

  private:
    struct Exchange;

    void run();
    void run_posted();
    void run_due(SteadyInstant now);
    void end_all();
    void read_ended();

    const std::string ca_;
    void* const multi_;
    std::map<std::uint64_t, std::unique_ptr<Exchange>> exchanges_;  // those on their way, by number
    std::vector<void*> idle_;                                       // handles for the next exchanges
    std::multimap<SteadyInstant, std::function<void()>> timers_;
    std::uint64_t last_number_ = 0;
    bool closing_ = false;
    std::mutex mutex_;
    std::vector<std::function<void()>> posted_;  // guarded by mutex_
    bool stopping_ = false;                      // guarded by mutex_
    std::thread thread_;
};

}  // namespace duewheel::client
