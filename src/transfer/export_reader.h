// Reads an export line by line and verifies it as a whole: that it has a valid start and end, the stated number of
// lines, and no changed byte. Errors of a line have its number and its member, or its column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "base/status.h"
#include "transfer/export_frame.h"
#include "transfer/message_line.h"
#include "transfer/settings_line.h"
#include "transfer/stream_digest.h"

namespace duewheel {

using ExportLine = std::variant<ExportHeader, SettingsLine, MessageLine, ExportEnd>;

class ExportReader {
  public:
    // The next line, without its line feed. After an error of a line, the next one may be read anyway; but a first line
    // that is not a header ends the reading: `no_export`. Codes: those of the kinds, and unknown_kind.
    Result<ExportLine> read(std::string_view line);

    // After the last line. Codes: `no_export` (there was none), `incomplete_export` (the last line is not an end), and
    // `changed_export`.
    Status finish() const;

    const std::optional<ExportHeader>& header() const { return header_; }
    const std::optional<ExportEnd>& end() const { return end_; }
    std::uint64_t line() const { return line_; }  // the number of the newest line, from 1

  private:
    Result<ExportLine> read_kind(std::string_view kind, const JsonRequest& json, std::string_view line);

    std::uint64_t line_ = 0;
    std::optional<ExportHeader> header_;
    std::optional<ExportEnd> end_;
    ExportCounts counts_;
    StreamDigest digest_;
    bool is_changed_ = false;  // does not match the newest end line, or more follows it
};

}  // namespace duewheel
