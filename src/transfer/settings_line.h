// Settings of a namespace, a queue or a group, a schedule or a watchdog as one line of an export, and the PUT that sets
// them on another server.
//
// A PUT contains rules but not their progress, so the other members of the line are used as far as possible: a schedule
// continues at its next time, with the remaining number of times.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "http_api/fields/json_request.h"
#include "message/message.h"

namespace duewheel {

struct SettingsLine {
    enum class Kind : std::uint8_t { name_space, queue, group, schedule, watchdog };

    Kind kind = Kind::queue;
    std::string name_space{kDefaultNamespace};
    std::string name;   // of a namespace its own
    std::string queue;  // of a group
    std::string body;   // of the PUT: one JSON object
    std::string traceparent;
    bool has_ended = false;        // of a schedule: it has ended, and no server accepts it
    bool has_waiting_run = false;  // of a schedule: a run that waits for the previous one, which a PUT cannot express
    bool has_overdue = false;      // of a watchdog: an overdue message, likewise
    DueMs next_ms = 0;             // of a schedule its next time, of a watchdog its due time; 0: none
    bool is_paused = false;        // of a schedule
    bool lacks_rate = false;       // of a queue: `limits.per_second`, which servers had before `rate`, was ignored
    bool lacks_secrets = false;    // of a queue: its webhook had secrets or headers that are not in the line. Paused

    // "/v1/namespaces/team/queues/mail"
    std::string path() const;
};
std::string_view kind_name(SettingsLine::Kind kind);

// `text`: the text of `line`. Codes: those of the PUT (http_api), missing_member, unknown_member.
Result<SettingsLine> read_settings_line(SettingsLine::Kind kind, const JsonRequest& line, std::string_view text);

// The response of a server to a GET of the same path.
enum class Standing : std::uint8_t { absent, same, other };
Standing standing_of(const SettingsLine& line, int status, std::string_view answer);

}  // namespace duewheel
