// Which calls the audit log records, under which stable names, and what of a request goes into its line.
//
// Recorded are the calls that change settings, end or revive the messages of a whole queue, or set the clock: those
// that need the scope `admin` or `schedule` of an access token. The feed of a watchdog is not: it is a heartbeat.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "access/audit_entry.h"
#include "http_api/calls/call_path.h"

namespace duewheel {

struct RequestNote;

struct AuditSubject {
    std::string_view verb;
    std::string name_space;  // empty: it concerns none
    std::string object;
};

// "queue.set". Empty: the call is not recorded unless access is refused.
std::string_view audit_verb(CallPath::What what, std::string_view method);

// Nothing of a call that is not recorded. `method` is allowed.
std::optional<AuditSubject> audit_subject(const CallPath& call, std::string_view method);

// The line of a request that ended with this error code; empty: it was carried out.
AuditEntry audit_entry(const RequestNote& note, ErrorCode code, InstantMs now);

}  // namespace duewheel
