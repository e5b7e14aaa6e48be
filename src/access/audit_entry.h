// One line of the audit log: an administrative request or a refused one, and its outcome.
//
//     {"seq":7,"time":"2027-01-01T06:00:00.000Z","verb":"queue.set","actor":"deploy","address":"10.0.0.7",
//      "namespace":"default","object":"mail","outcome":"ok","previous":"5f1c...","hash":"90ab..."}
//
// On disk it is one line. `hash` is the SHA-256 of the line up to `,"hash"`, and `previous` is the hash of the line
// before, so a line cannot be changed, inserted or removed without breaking the chain behind it. A line has exactly one
// encoding: members are in the order of the table in audit_entry.cc, and empty ones are absent. A line with another
// encoding is damaged.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "shared/instant.h"

namespace duewheel {

// Verbs of the log itself.
inline constexpr std::string_view kAuditFileVerb = "audit.file";         // the first line of each file
inline constexpr std::string_view kAuditRepairVerb = "audit.repair";     // replaces a line that a crash left incomplete
inline constexpr std::string_view kAccessRefusedVerb = "access.refuse";  // a refused request that is not administrative

struct AuditEntry {
    InstantMs time_ms = 0;   // server time
    std::string verb;        // "queue.set"
    std::string actor;       // the id of the access token, the name in a client certificate, kAnonymous or kOffline
    std::string address;     // of the client, without the port
    std::string call;        // of kAccessRefusedVerb: "POST /v1/queues/mail/messages"
    std::string name_space;  // empty: the verb does not apply to a namespace
    std::string object;      // name of the queue, schedule, watchdog or token, id of the message; empty: none
    std::string outcome;     // "ok", or the error code
    std::string traceparent;
    std::uint64_t suppressed = 0;  // refusals like this one without a line since the previous line (refusal_limit.h)

    // Members of kAuditFileVerb: the number of the file, and which files rotation has removed. The oldest file that is
    // left begins after line `removed_seq`, which has the hash `removed_hash`.
    std::uint64_t file = 0;
    std::uint64_t removed_files_through = 0;
    std::uint64_t removed_seq = 0;
    std::string removed_hash;

    // Members of kAuditRepairVerb: the incomplete line, or its beginning.
    std::uint64_t torn_bytes = 0;
    std::string torn;

    bool operator==(const AuditEntry&) const = default;
};

inline constexpr std::string_view kAnonymous = "anonymous";
inline constexpr std::string_view kOffline = "offline";  // the command line, while no server runs
inline constexpr std::string_view kOutcomeOk = "ok";

// The end of a chain. An empty log has a hash of zeros.
struct AuditChain {
    std::uint64_t seq = 0;
    std::string hash = std::string(64, '0');

    bool operator==(const AuditChain&) const = default;
};

// A decoded line.
struct AuditLine {
    AuditEntry entry;
    AuditChain at;  // its own number and hash
    std::string previous;
};

// The next line of the chain, with its line feed; moves `chain` on. Texts may contain any bytes: invalid UTF-8 is
// replaced, and long texts are truncated.
std::string encode_audit_line(AuditEntry entry, AuditChain& chain);

// `line` without its line feed. Code `damaged_audit_line`, whose message says why.
Result<AuditLine> decode_audit_line(std::string_view line);

}  // namespace duewheel
