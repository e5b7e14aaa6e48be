// Writes all pending content of a log as JSON lines: `duewheel export`. docs/export_format.md has the
// format.
//
// First the settings of namespaces and queues, then schedules and watchdogs, then the messages, queue by queue. Within
// a queue, messages are ordered by due time; those with an order key follow the others, one order key after the other,
// in delivery order, so that an import line by line keeps that order.
//
// Memory: one page of messages, and the names and settings of queues.
#pragma once

#include <functional>
#include <string_view>

#include "base/status.h"
#include "store/log_view.h"
#include "transfer/export_frame.h"

namespace duewheel {

struct ExportOptions {
    bool with_dead = false;
    // The names of the secrets that sign webhooks. The secrets themselves are in no data directory.
    bool with_secrets = false;
};

struct ExportReport {
    ExportHeader header;
    ExportEnd end;
    std::uint64_t secrets_excluded = 0;  // webhooks whose secrets are not included
    std::uint64_t headers_excluded = 0;  // webhooks with headers, whose values are in no export
};

// Receives the lines in order, each with its line feed. An error ends the export.
using LineSink = std::function<Status(std::string_view line)>;

// Called from time to time with the number of messages written and in total.
using ExportProgress = std::function<void(std::uint64_t done, std::uint64_t all)>;

// Codes: the sink's, `damaged_log`, `newer_format`, `io_error`. O(n) in the messages, with a read of the log for each
// page of them, usually near the previous page.
Result<ExportReport> write_export(const LogView& view, const ExportOptions& options, const LineSink& sink,
                                  const ExportProgress& progress = {});

}  // namespace duewheel
