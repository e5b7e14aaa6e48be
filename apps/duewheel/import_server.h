// The server that an import goes to: asks, and comes again where it is told to, or where the server is away for a
// while. Whatever it asks may be asked twice.
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

// What became of something that was asked for.
struct Refusal {
    std::string code;  // empty: it was done
    std::string detail;
    std::string field;
};

// As the members of a problem say it.
Refusal refusal_of(const boost::json::object& problem);

// By a signal.
Refusal told_to_stop();

// What answers is none.
Refusal no_duewheel();

struct ImportAnswer {
    int status = 0;  // of HTTP; 0: there is none
    std::string body;
    Refusal refusal;

    bool ok() const { return refusal.code.empty(); }
};

class ImportServer {
  public:
    using Milliseconds = std::chrono::milliseconds;

    // `patience`: how long it tries again without getting anywhere.
    ImportServer(HttpClientOptions server, Milliseconds patience) : client_(std::move(server)), patience_(patience) {}

    // Waits where the answer says "later" (429, 503, 507), and where a server that answered before is away. Codes
    // beside the server's: `unreachable`, `bad_address`, `bad_answer`; `stopped`, by a signal.
    ImportAnswer ask(std::string_view method, const std::string& path, std::string_view type = {},
                     std::string_view body = {}, std::string_view traceparent = {});

    // A part of the newest answer said "later": waits for a moment, unless patience has ended.
    bool may_wait();
    // Something got on.
    void note_progress() { waited_ = Milliseconds{0}; }

  private:
    // Whether it is worth to try again.
    bool wait(Milliseconds time);

    HttpClient client_;
    const Milliseconds patience_;
    Milliseconds waited_{0};     // since something got on
    bool has_answered_ = false;  // who was never there is not waited for
};

inline bool says_later(std::int64_t status) {
    return status == 429 || status == 503 || status == 507;
}

}  // namespace duewheel
