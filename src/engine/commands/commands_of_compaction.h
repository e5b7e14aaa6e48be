// Commands of compaction: they write what is still needed of an old segment again, so that it can be deleted.
#pragma once

#include <cstdint>
#include <string>

#include "message/message.h"
#include "message/records/record.h"
#include "message/records/subject.h"
#include "resource/queue_settings.h"

namespace duewheel {

// Compaction: writes a message again, whole, if its newest whole record is still at `row.log_position`.
struct RelocateCommand {
    MessageRow row;                // as in the index
    std::uint64_t generation = 0;  // noted before the lookup (store/store.h)
    RecordKind record_kind = RecordKind::put;
    std::string record_body;  // of the record at that position
};

// Compaction: writes the ends of these messages again (message/records/outcome_rows.h). They never change.
struct RelocateOutcomesCommand {
    std::string rows;
    std::uint64_t count = 0;
    std::uint64_t segment = 0;  // of their old segment
    Sequence up_to = 0;         // all outcomes kept before this position have been relocated, including these
};

// Compaction: writes the settings of a queue or a namespace, a token, or the position of an input, again, if their
// newest record is still at `log_position`.
struct RelocateSettingsCommand {
    std::string name_space;
    std::string queue;
    Sequence log_position = 0;
    Subject subject = Subject::queue;  // of the record
};

// Compaction: writes a schedule or a watchdog again, whole, if its newest whole record is still at `log_position`.
struct RelocateRuleCommand {
    Subject subject = Subject::none;  // of its records
    std::string name_space;
    std::string name;
    Sequence log_position = 0;
    std::string record_body;
};

// Compaction: states that nothing below `up_to` is needed any more.
struct RelocationDoneCommand {
    Sequence up_to = 0;
};

struct RelocateAnswer {
    bool relocated = false;  // something that the index counts as needed is elsewhere now; outcomes do not count
    Sequence sequence = 0;   // of the record; 0: none, because something newer has replaced it
};

}  // namespace duewheel
