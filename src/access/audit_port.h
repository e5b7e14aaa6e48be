// The interface through which requests reach the audit log. On the loop's thread only.
#pragma once

#include <functional>

#include "access/audit_entry.h"

namespace duewheel {

class AuditPort {
  public:
    virtual ~AuditPort() = default;

    // Whether a line can be written now. If not, administrative requests are refused before they are carried out.
    virtual bool is_available() const = 0;

    // The line of what was carried out: an administrative request, or the begin or end of a session. `done`, if it is
    // not empty, is called once, from the loop and not from within this call: true when the line is in the log, false
    // if it could not be written; it is then written later.
    virtual void record(AuditEntry entry, std::function<void(bool)> done) = 0;

    // What any client can cause: a request that was refused. It gets a line unless there are too many of them
    // (refusal_limit.h).
    virtual void record_limited(AuditEntry entry) = 0;
};

}  // namespace duewheel
