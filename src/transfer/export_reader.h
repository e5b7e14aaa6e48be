// Reads an export, line by line, and judges the whole: whether it begins and ends as one, holds as many lines as it
// says, and not a byte was changed. What is wrong with a line is named with its number and its member, or its column.
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
    // The next line, without its line feed. After an error of a line the next one may be read all the same; but a first
    // line that is no header is the end: `no_export`. Codes: those of the kinds, and unknown_kind.
    Result<ExportLine> read(std::string_view line);

    // After the last line. Codes: `no_export` (there was none), `incomplete_export` (the last line is no end), and
    // `changed_export`.
    Status finish() const;

    const std::optional<ExportHeader>& header() const { return header_; }
    const std::optional<ExportEnd>& end() const { return end_; }
    std::uint64_t line() const { return line_; }  // the number of the newest, from 1

  private:
    Result<ExportLine> read_kind(std::string_view kind, const JsonRequest& json, std::string_view line);

    std::uint64_t line_ = 0;
    std::optional<ExportHeader> header_;
    std::optional<ExportEnd> end_;
    ExportCounts counts_;
    StreamDigest digest_;
    bool is_changed_ = false;  // as the newest end line says of what was before it, or because more follows it
};

}  // namespace duewheel
