// Sends the requests of an import, and retries if the server asks for it or is unreachable for a while. Each request
// may be sent twice.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <boost/json.hpp>

#include "base/status.h"
#include "net/http_client.h"

namespace duewheel {

// The result of a request.
struct Refusal {
    std::string code;  // empty: success
    std::string detail;
    std::string field;
};

// From the members of a problem document.
Refusal refusal_of(const boost::json::object& problem);

// Stopped by a signal.
Refusal told_to_stop();

// The response is not one of a Duewheel server.
Refusal no_duewheel();

struct ImportAnswer {
    int status = 0;  // of HTTP; 0: no response
    std::string body;
    Refusal refusal;

    bool ok() const { return refusal.code.empty(); }
};

class ImportServer {
  public:
    using Milliseconds = std::chrono::milliseconds;

    // `patience`: how long it retries without progress.
    ImportServer(HttpClientOptions server, Milliseconds patience) : client_(std::move(server)), patience_(patience) {}

    // Waits and retries if the response says "later" (429, 503, 507), or if a server that responded before is
    // unreachable. Codes in addition to the server's: `unreachable`, `bad_address`, `bad_answer`; `stopped`, by a
    // signal.
    ImportAnswer ask(std::string_view method, const std::string& path, std::string_view type = {},
                     std::string_view body = {}, std::string_view traceparent = {});

    // A part of the newest response said "later": waits for a moment, unless patience has ended.
    bool may_wait();
    // Reports progress.
    void note_progress() { waited_ = Milliseconds{0}; }

  private:
    // Whether to try again.
    bool wait(Milliseconds time);

    HttpClient client_;
    const Milliseconds patience_;
    Milliseconds waited_{0};     // since the last progress
    bool has_answered_ = false;  // it does not wait for a server that never responded
};

inline bool says_later(std::int64_t status) {
    return status == 429 || status == 503 || status == 507;
}

}  // namespace duewheel
