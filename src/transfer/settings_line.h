// Settings of a namespace or a queue, a schedule or a watchdog as one line of an export, and the PUT that sets them
// elsewhere.
//
// A PUT says rules and not how far they have come, so that the line's other members are used where they can be: a
// schedule goes on at its next time, with as many times as are left.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "ingress/json_request.h"
#include "message/message.h"

namespace duewheel {

struct SettingsLine {
    enum class Kind : std::uint8_t { name_space, queue, schedule, watchdog };

    Kind kind = Kind::queue;
    std::string name_space{kDefaultNamespace};
    std::string name;  // of a namespace its own
    std::string body;  // of the PUT: one JSON object
    std::string traceparent;
    bool has_ended = false;        // of a schedule: there is no time left, and no server takes it
    bool has_waiting_run = false;  // of a schedule: a run that waited for the one before, which no PUT can say
    bool has_overdue = false;      // of a watchdog: a message that it owes, likewise
    DueMs next_ms = 0;             // of a schedule its next time, of a watchdog when it is due; 0: none
    bool is_paused = false;        // of a schedule
    bool lacks_secrets = false;    // of a queue: its webhook had secrets or headers that the line does not have. Paused

    // "/v1/namespaces/team/queues/mail"
    std::string path() const;
};
std::string_view kind_name(SettingsLine::Kind kind);

// `text`: what `line` was read from. Codes: those of the PUT (ingress), missing_member, unknown_member.
Result<SettingsLine> read_settings_line(SettingsLine::Kind kind, const JsonRequest& line, std::string_view text);

// What a server's answer to a GET of the same path says of it.
enum class Standing : std::uint8_t { absent, same, other };
Standing standing_of(const SettingsLine& line, int status, std::string_view answer);

}  // namespace duewheel
