// Writes everything pending of a log as lines of JSON: what `duewheel export` does. docs/export_format.md has the
// format.
//
// First come the settings of namespaces and queues, then schedules and watchdogs, then the messages, queue by queue.
// Within a queue messages stand by their due times; those with an order key come behind the others, one order key after
// the other, in the order in which they are handed out: so that who imports them line by line keeps that order.
//
// In memory are one page of messages, and the names and settings of queues.
#pragma once

#include <functional>
#include <string_view>

#include "base/status.h"
#include "store/log_view.h"
#include "transfer/export_frame.h"

namespace duewheel {

struct ExportOptions {
    bool with_dead = false;
    // The names of the secrets that webhooks are signed with. The secrets themselves are in no data directory.
    bool with_secrets = false;
};

struct ExportReport {
    ExportHeader header;
    ExportEnd end;
    std::uint64_t secrets_excluded = 0;  // webhooks whose secrets are not named
    std::uint64_t headers_excluded = 0;  // webhooks with headers, whose values are in no export
};

// Gets one line after the other, each with its line feed. An error ends the export.
using LineSink = std::function<Status(std::string_view line)>;

// Told now and then how many messages of all are written.
using ExportProgress = std::function<void(std::uint64_t done, std::uint64_t all)>;

// Codes: the sink's, `damaged_log`, `newer_format`, `io_error`. O(n) in the messages,
// with a read of the log for each page of them, as a rule near the page before.
Result<ExportReport> write_export(const LogView& view, const ExportOptions& options, const LineSink& sink,
                                  const ExportProgress& progress = {});

}  // namespace duewheel
