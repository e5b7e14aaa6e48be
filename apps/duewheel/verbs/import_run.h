// Imports the lines of an export into a server, in order: settings with PUTs, messages with batch puts. It counts the
// lines that cannot be imported, and reports each line that the server refuses.
//
// Limits of queues and namespaces apply to puts, and not to messages that were created otherwise or before the limits
// were set, so an export may contain more messages than they allow. Therefore limits are set after all messages have
// been put.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json.hpp>

#include "base/status.h"
#include "net/http/http_client.h"
#include "refusal.h"
#include "transfer/export_reader.h"
#include "transfer/put_of_line.h"

namespace duewheel {

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

// Sends the requests of an import, and retries if the server asks for it or is unreachable for a while. Each request
// may be sent twice.
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

struct ImportOptions {
    bool replaces = false;      // existing settings, schedules and watchdogs that differ
    bool dead_as_held = false;  // otherwise dead letters are skipped
};

struct ImportCounts {
    std::uint64_t put = 0;      // messages put by this import
    std::uint64_t before = 0;   // put by an earlier import
    std::uint64_t held = 0;     // of both: held
    std::uint64_t set = 0;      // settings, schedules and watchdogs
    std::uint64_t same = 0;     // that existed with the same value
    std::uint64_t refused = 0;  // lines, each of them reported
    std::uint64_t fed = 0;      // watchdogs that were set, and therefore fed
    std::uint64_t overdue = 0;  // overdue messages of watchdogs, and waiting runs: not created
    // Skipped:
    std::uint64_t expired = 0;  // messages whose expiry has passed
    std::uint64_t checks = 0;   // check messages of prepared messages, whose checks start again
    std::uint64_t dead = 0;
    std::uint64_t ended = 0;   // schedules without remaining times
    std::uint64_t unread = 0;  // lines that could not be read
    Losses losses;
};

class ImportRun {
  public:
    // Receives each report about a line as it occurs.
    using Report = std::function<void(std::uint64_t line, const Refusal& refusal)>;

    // Without a server no request is sent, and every line is counted as accepted.
    ImportRun(ImportServer* server, const ImportOptions& options, Report report)
        : server_(server), options_(options), report_(std::move(report)) {}

    // False: the import cannot continue; `ended()` has the reason. Lines must be passed in order.
    bool submit(std::uint64_t number, const ExportLine& line);
    // Call it after the last line, also if the import could not continue. False as above.
    bool finish();

    const ImportCounts& counts() const { return counts_; }
    // Identifies the log that was exported.
    const std::string& instance() const { return instance_; }
    // Why the import could not continue, and the first line that was not imported.
    const Refusal& ended() const { return ended_; }
    std::uint64_t ended_at() const { return ended_at_; }
    // Queues and namespaces whose limits were not set, because the import could not continue.
    std::vector<std::string> unlimited() const;
    // Queues that were set and paused, because their webhooks were signed and the export does not contain the secrets.
    const std::vector<std::string>& unsigned_queues() const { return unsigned_queues_; }
    // Queues with `limits.per_second` in the export, which was ignored.
    const std::vector<std::string>& unspread_queues() const { return unspread_queues_; }

  private:
    struct Item {
        std::uint64_t line = 0;
        std::string put;
        bool is_held = false;
        bool has_own_key = false;
        Losses losses{};
    };

    bool set(std::uint64_t number, const SettingsLine& line);
    bool set_limits();
    bool put(std::uint64_t number, const MessageLine& line);
    bool begin_queue(const MessageLine& line);
    bool flush();
    // Sends the batch as one request; items to be retried later stay in it.
    bool send();
    bool take_result(const Item& item, std::string_view result, bool& is_later);
    bool stop(std::uint64_t number, const Refusal& why);
    void refuse(std::uint64_t number, const Refusal& why);

    ImportServer* const server_;
    const ImportOptions options_;
    const Report report_;
    ImportCounts counts_;
    std::string instance_;
    DueMs exported_ms_ = 0;  // server time of the export
    std::string path_;       // of the queue whose messages are being put
    std::string traceparent_;
    std::vector<Item> batch_;
    std::size_t batch_bytes_ = 0;
    std::vector<std::string> unsigned_queues_;
    std::vector<std::string> unspread_queues_;
    struct Limits {
        std::uint64_t line = 0;
        std::string path;
        std::string body;  // of the PUT that sets them
        std::string shown;
    };
    std::vector<Limits> limits_;  // to be set at the end
    Refusal ended_;
    std::uint64_t ended_at_ = 0;
    Refusal later_;  // of the newest part that must be retried later
};

}  // namespace duewheel
