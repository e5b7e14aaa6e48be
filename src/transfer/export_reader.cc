#include "transfer/export_reader.h"

#include <string>
#include <utility>

#include "base/error_codes.h"

namespace duewheel {
namespace {

using Kind = SettingsLine::Kind;

std::uint64_t& count_of(ExportCounts& counts, Kind kind) {
    switch (kind) {
        case Kind::name_space:
            return counts.namespaces;
        case Kind::queue:
            return counts.queues;
        case Kind::group:
            return counts.groups;
        case Kind::schedule:
            return counts.schedules;
        case Kind::watchdog:
            break;
    }
    return counts.watchdogs;
}

Error no_export(std::string_view why) {
    return {"no_export"_code,
            "this is not an export: " + std::string(why) +
                ". Create one with `duewheel export`, or put single messages with `duewheel put --ndjson`"};
}

}  // namespace

Result<ExportLine> ExportReader::read(std::string_view line) {
    ++line_;
    if (end_) is_changed_ = true;
    const Result<JsonRequest> json = JsonRequest::parse(line, line_);
    Result<std::optional<std::string_view>> kind = std::optional<std::string_view>();
    if (json) kind = json->text("kind");
    const bool has_kind = json.ok() && kind.ok() && kind->has_value();
    if (line_ == 1 && (!has_kind || **kind != "export")) {
        return no_export("its first line does not contain `\"kind\":\"export\"`");
    }
    const bool is_end = has_kind && **kind == "end";
    if (!is_end) {
        digest_.add(line);
        digest_.add("\n");
    }
    if (!json) return json.error();
    if (!kind) return kind.error();
    if (!*kind) return Error{"missing_member"_code, "`kind` is missing", "kind"};
    return read_kind(**kind, *json, line);
}

Result<ExportLine> ExportReader::read_kind(std::string_view kind, const JsonRequest& json, std::string_view line) {
    if (kind == "message") {
        Result<MessageLine> message = read_message_line(json);
        if (!message) return std::move(message).error();
        ++(message->state == State::dead ? counts_.dead : counts_.messages);
        return ExportLine(*std::move(message));
    }
    for (const Kind each : {Kind::name_space, Kind::queue, Kind::group, Kind::schedule, Kind::watchdog}) {
        if (kind != kind_name(each)) continue;
        ++count_of(counts_, each);
        Result<SettingsLine> settings = read_settings_line(each, json, line);
        if (!settings) return std::move(settings).error();
        return ExportLine(*std::move(settings));
    }
    if (kind == "export") {
        if (line_ != 1) {
            return Error{"unknown_kind"_code, "a second export begins here: import each from its own file", "kind"};
        }
        Result<ExportHeader> header = read_header_line(json);
        if (!header) return std::move(header).error();
        header_ = *header;
        return ExportLine(*std::move(header));
    }
    if (kind == "end") {
        Result<ExportEnd> end = read_end_line(json);
        if (!end) return std::move(end).error();
        is_changed_ |= end->digest != digest_.text() || end->counts != counts_;
        end_ = *end;
        return ExportLine(*std::move(end));
    }
    return Error{"unknown_kind"_code,
                 "`kind` must be one of export, namespace, queue, group, schedule, watchdog, message, end", "kind"};
}

Status ExportReader::finish() const {
    if (line_ == 0) return no_export("it is empty");
    if (!end_) {
        return Error{"incomplete_export"_code,
                     "the export has no end: it stops after line " + std::to_string(line_) +
                         ". Copy the whole file, or import the readable part with --incomplete"};
    }
    if (!is_changed_) return {};
    return Error{"changed_export"_code,
                 "the export was changed after it was written: its last line does not match the other lines. Copy the "
                 "file again or, if it was changed on purpose, import it with --incomplete"};
}

}  // namespace duewheel
