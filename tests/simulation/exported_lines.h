// The lines of an export, parsed for the oracle.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "message/message.h"
#include "transfer/export_frame.h"
#include "transfer/message_line.h"
#include "transfer/settings_line.h"

namespace duewheel {

// What stands in a view of the log of a message; nothing where it has ended.
using FindRow = std::function<std::optional<MessageRow>(MessageId)>;

struct ExportedLines {
    ExportHeader header;
    std::vector<SettingsLine> settings;
    std::vector<MessageLine> messages;
    std::uint64_t purged = 0;  // messages without a line, because something is about to end them
};

}  // namespace duewheel
