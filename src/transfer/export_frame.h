// The first and the last line of an export: its origin, and the data that shows that it is complete.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "http_api/fields/json_request.h"
#include "message/message.h"

namespace duewheel {

// A reader refuses another format, whose lines it cannot interpret.
inline constexpr std::int64_t kExportFormat = 1;

struct ExportHeader {
    std::int64_t format = kExportFormat;
    std::string instance;      // identifies the log: 32 hexadecimal digits
    DueMs server_time_ms = 0;  // of the newest commit in it
    std::uint64_t sequence = 0;
    std::uint64_t pending = 0;  // unfinished messages
    bool with_dead = false;

    bool operator==(const ExportHeader&) const = default;
};

struct ExportCounts {
    std::uint64_t namespaces = 0;  // lines of each kind
    std::uint64_t queues = 0;
    std::uint64_t groups = 0;
    std::uint64_t schedules = 0;
    std::uint64_t watchdogs = 0;
    std::uint64_t messages = 0;  // dead letters are counted separately
    std::uint64_t dead = 0;

    std::uint64_t lines() const { return namespaces + queues + groups + schedules + watchdogs + messages + dead; }
    bool operator==(const ExportCounts&) const = default;
};

struct ExportEnd {
    ExportCounts counts;
    std::uint64_t purged = 0;  // messages that a purge, a discard or a cancel was about to end, without a line
    std::string digest;        // of all bytes before this line

    bool operator==(const ExportEnd&) const = default;
};

// Append the object, without a line feed.
void write_header_line(std::string& out, const ExportHeader& header);
void write_end_line(std::string& out, const ExportEnd& end);

// Codes: those of JsonRequest, missing_member, newer_format, out_of_range.
Result<ExportHeader> read_header_line(const JsonRequest& json);
Result<ExportEnd> read_end_line(const JsonRequest& json);

}  // namespace duewheel
