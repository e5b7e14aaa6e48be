#include "transfer/export_frame.h"

#include <algorithm>

#include "base/error_codes.h"
#include "base/json_writer.h"
#include "calendar/instant_text.h"
#include "http_api/fields/request_members.h"

namespace duewheel {
namespace {

constexpr std::size_t kInstanceDigits = 32;
constexpr std::size_t kDigestDigits = 16;

// The members of the last line that count lines, in their order.
constexpr std::pair<std::string_view, std::uint64_t ExportCounts::*> kCounts[] = {
    {"namespaces", &ExportCounts::namespaces},
    {"queues", &ExportCounts::queues},
    {"groups", &ExportCounts::groups},
    {"schedules", &ExportCounts::schedules},
    {"watchdogs", &ExportCounts::watchdogs},
    {"messages", &ExportCounts::messages},
    {"dead", &ExportCounts::dead}};

Status read_count(const JsonRequest& json, std::string_view member, std::uint64_t& into) {
    const Result<std::optional<std::int64_t>> read = json.integer(member);
    if (!read) return read.error();
    if (!*read) {
        return Error{"missing_member"_code, "`" + std::string(member) + "` is missing in this line",
                     std::string(member)};
    }
    if (**read < 0) {
        return Error{"out_of_range"_code, "`" + std::string(member) + "` must be a count, 0 or more",
                     std::string(member)};
    }
    into = static_cast<std::uint64_t>(**read);
    return {};
}

Status read_digits(const JsonRequest& json, std::string_view member, std::size_t count, std::string& into) {
    if (Status read = assign(json.text(member), into); !read) return read;
    const bool fits = into.size() == count && std::all_of(into.begin(), into.end(), [](char c) {
                          return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
                      });
    if (fits) return {};
    return Error{"out_of_range"_code,
                 "`" + std::string(member) + "` is " + std::to_string(count) + " hexadecimal digits",
                 std::string(member)};
}

}  // namespace

void write_header_line(std::string& out, const ExportHeader& header) {
    JsonWriter json(out);
    json.open().text("kind", "export").number("format", header.format).text("instance", header.instance);
    json.text("server_time", format_instant(header.server_time_ms)).number("server_time_ms", header.server_time_ms);
    json.number("sequence", header.sequence).number("pending", header.pending).boolean("dead", header.with_dead);
    json.close();
}

void write_end_line(std::string& out, const ExportEnd& end) {
    JsonWriter json(out);
    json.open().text("kind", "end");
    for (const auto& [name, count] : kCounts) json.number(name, end.counts.*count);
    json.number("purged", end.purged).text("xxh3", end.digest).close();
}

Result<ExportHeader> read_header_line(const JsonRequest& json) {
    ExportHeader header;
    header.format = 0;
    std::uint64_t format = 0;
    Status read = read_count(json, "format", format);
    if (read && format != kExportFormat) {
        read = Error{"newer_format"_code,
                     "this export has format " + std::to_string(format) + ", but this program reads format " +
                         std::to_string(kExportFormat) + ": use the version that wrote it, or a later one",
                     "format"};
    }
    header.format = static_cast<std::int64_t>(format);
    if (read) {
        read =
            json.only({"kind", "format", "instance", "server_time", "server_time_ms", "sequence", "pending", "dead"});
    }
    if (read) read = read_digits(json, "instance", kInstanceDigits, header.instance);
    if (read) read = assign(json.epoch_ms("server_time_ms"), header.server_time_ms);
    if (read) read = read_count(json, "sequence", header.sequence);
    if (read) read = read_count(json, "pending", header.pending);
    if (read) read = assign(json.boolean("dead"), header.with_dead);
    if (!read) return std::move(read).error();
    return header;
}

Result<ExportEnd> read_end_line(const JsonRequest& json) {
    ExportEnd end;
    Status read = json.only(
        {"kind", "namespaces", "queues", "groups", "schedules", "watchdogs", "messages", "dead", "purged", "xxh3"});
    for (const auto& [name, count] : kCounts) {
        // Exports of earlier versions have no groups.
        if (read && (name != "groups" || json.has(name))) read = read_count(json, name, end.counts.*count);
    }
    if (read) read = read_count(json, "purged", end.purged);
    if (read) read = read_digits(json, "xxh3", kDigestDigits, end.digest);
    if (!read) return std::move(read).error();
    return end;
}

}  // namespace duewheel
