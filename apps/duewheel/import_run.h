// Carries the lines of an export into a server, one after the other: settings by PUTs, messages by batches of puts.
// What cannot be carried is counted, and each line that is refused is told of.
//
// Limits of queues and namespaces hold for puts, and not for what has come in otherwise or before they were set: what
// an export holds may be more than they allow. So they are set when all messages are there.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "import_server.h"
#include "transfer/export_reader.h"
#include "transfer/put_of_line.h"

namespace duewheel {

struct ImportOptions {
    bool replaces = false;      // settings, schedules and watchdogs that are there and are others
    bool dead_as_held = false;  // else dead messages are left out
};

struct ImportCounts {
    std::uint64_t put = 0;      // messages that are there now
    std::uint64_t before = 0;   // that were there from an earlier import
    std::uint64_t held = 0;     // of both: set aside
    std::uint64_t set = 0;      // settings, schedules and watchdogs
    std::uint64_t same = 0;     // that were there, and the same
    std::uint64_t refused = 0;  // lines, each told of
    std::uint64_t fed = 0;      // watchdogs that were set, and so fed
    std::uint64_t overdue = 0;  // messages that watchdogs owed, and runs that waited: not made
    // Left out:
    std::uint64_t expired = 0;  // messages whose expiry has passed
    std::uint64_t checks = 0;   // of halves, which are asked for anew
    std::uint64_t dead = 0;
    std::uint64_t ended = 0;   // schedules without another time
    std::uint64_t unread = 0;  // lines that are none
    Losses losses;
};

class ImportRun {
  public:
    // Gets what is to be told of a line, as it happens.
    using Report = std::function<void(std::uint64_t line, const Refusal& refusal)>;

    // Without a server nothing is asked, and all is counted as if it had been taken.
    ImportRun(ImportServer* server, const ImportOptions& options, Report report)
        : server_(server), options_(options), report_(std::move(report)) {}

    // False: it cannot go on; `ended()` says why. Lines come in their order.
    bool take(std::uint64_t number, const ExportLine& line);
    // After the last line, also where it could not go on. False as above.
    bool finish();

    const ImportCounts& counts() const { return counts_; }
    // Names the log that the export is of.
    const std::string& instance() const { return instance_; }
    // Why it could not go on, and the first line that was not carried.
    const Refusal& ended() const { return ended_; }
    std::uint64_t ended_at() const { return ended_at_; }
    // Queues and namespaces that are without their limits, because it could not go on.
    std::vector<std::string> unlimited() const;
    // Queues that were set and paused, because their webhooks were signed and the export does not say with what.
    const std::vector<std::string>& unsigned_queues() const { return unsigned_queues_; }

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
    // The batch as one request; items that are to come again later stay.
    bool send();
    bool take_result(const Item& item, std::string_view result, bool& is_later);
    bool stop(std::uint64_t number, const Refusal& why);
    void refuse(std::uint64_t number, const Refusal& why);

    ImportServer* const server_;
    const ImportOptions options_;
    const Report report_;
    ImportCounts counts_;
    std::string instance_;
    DueMs exported_ms_ = 0;  // server time there
    std::string path_;       // of the queue whose messages are being put
    std::string traceparent_;
    std::vector<Item> batch_;
    std::size_t batch_bytes_ = 0;
    std::vector<std::string> unsigned_queues_;
    struct Limits {
        std::uint64_t line = 0;
        std::string path;
        std::string body;  // of the PUT that sets them
        std::string shown;
    };
    std::vector<Limits> limits_;  // that are to be set at the end
    Refusal ended_;
    std::uint64_t ended_at_ = 0;
    Refusal later_;  // what the newest part that said so had to say
};

}  // namespace duewheel
