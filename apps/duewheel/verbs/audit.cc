// duewheel audit: verifies and shows the audit log of a data directory, even while a server writes it.
#include <cstdio>

#include "access/audit_files.h"
#include "arguments.h"
#include "base/error_codes.h"
#include "calendar/instant_text.h"
#include "local_time.h"
#include "plain_text.h"
#include "verbs.h"

namespace duewheel {
namespace {

// A running server may be in the middle of writing a line, or remove a file while it is read. Neither lasts long, so
// reading is repeated.
constexpr int kTriesWhileWritten = 20;

struct DirectoryArguments {
    std::string data = "./duewheel-data";

    std::string audit() const { return audit_directory(data); }
    void add_to(CLI::App& verb) {
        verb.add_option("--data", data, "Data directory of the server")
            ->envname("DUEWHEEL_DATA")
            ->type_name("DIR")
            ->capture_default_str();
    }
};
struct ShowArguments {
    DirectoryArguments directory;
    std::optional<std::string> since;
    std::optional<std::string> verb;
};

Result<AuditReport> verify_while_written(const std::string& directory) {
    for (int left = kTriesWhileWritten;; --left) {
        Result<AuditReport> report = verify_audit(posix_file_system(), directory);
        const bool may_change =
            report ? report->first_break && report->first_break->is_torn_end : report.error().code == "not_found"_code;
        if (!may_change || left == 0) return report;
    }
}

void print_json(const AuditReport& report) {
    boost::json::object object{{"files", report.files},
                               {"lines", report.lines},
                               {"repairs", report.repairs},
                               {"first_seq", report.first_seq},
                               {"last_seq", report.end.seq},
                               {"last_hash", report.end.hash},
                               {"is_whole", !report.first_break},
                               {"whole_from", format_instant(report.first_ms)},
                               {"removed_lines", report.first_seq - 1},
                               {"lost_young_lines", report.lost_young_lines}};
    if (report.first_break) {
        object["break"] = {{"file", report.first_break->file},
                           {"line", report.first_break->line},
                           {"reason", report.first_break->why}};
    }
    std::printf("%s\n", plain_json(object).c_str());
}

// What rotation has removed before the first line that is left.
std::string removed_text(const AuditReport& report) {
    if (report.first_seq <= 1) return "nothing";
    std::string text = std::to_string(report.first_seq - 1) + " older lines";
    if (report.lost_young_lines) text += ", some before they were 90 days old, because the log had its maximum size";
    return text;
}

int verify(Session& session, const DirectoryArguments& arguments) {
    const Result<AuditReport> report = verify_while_written(arguments.audit());
    if (!report) return session.complain(report.error(), kExitRefused);
    if (session.json) {
        print_json(*report);
    } else {
        std::printf("%s",
                    fields({{"files", std::to_string(report->files)},
                            {"lines", std::to_string(report->lines)},
                            {"numbers", std::to_string(report->first_seq) + " to " + std::to_string(report->end.seq)},
                            {"whole from", format_local(report->first_ms)},
                            {"removed", removed_text(*report)},
                            {"repairs", std::to_string(report->repairs)},
                            {"last hash", report->end.hash}})
                        .c_str());
    }
    if (const std::optional<AuditBreak>& at = report->first_break) {
        const std::string line = at->line == 0 ? "" : ", line " + std::to_string(at->line);
        return session.complain({"audit_log_broken"_code, at->file + line + ": " + at->why}, kExitRefused);
    }
    if (!session.json) {
        const std::string from = report->first_seq > 1 ? " from " + format_local(report->first_ms) + " on" : "";
        std::printf("\nthe audit log is intact%s\n", from.c_str());
    }
    return kExitDone;
}

// "2027-01-01 06:00:00 +01:00  queue.set  ok  default/mail  deploy  10.0.0.7"
std::string text_of(const AuditEntry& entry) {
    std::string object = entry.name_space;
    if (!entry.object.empty()) object += (object.empty() ? "" : "/") + entry.object;
    if (!entry.call.empty()) object = entry.call;
    if (entry.verb == kAuditFileVerb) object = audit_file_name(entry.file);
    if (entry.verb == kAuditRepairVerb) object = std::to_string(entry.torn_bytes) + " bytes: " + entry.torn;
    std::string text = format_local(entry.time_ms);
    for (const std::string& part : {entry.verb, entry.outcome, object, entry.actor, entry.address}) {
        text += "  " + (part.empty() ? "-" : printable(part, 200));
    }
    if (entry.suppressed != 0) text += "  and " + std::to_string(entry.suppressed) + " more refusals without a line";
    return text;
}

// Prints the valid lines, and reports the position of others.
int show(Session& session, const ShowArguments& arguments) {
    std::optional<InstantMs> since;
    if (arguments.since) {
        const Result<InstantMs> instant = parse_local_instant(*arguments.since, std::nullopt);
        if (!instant) return session.complain(instant.error(), kExitUsage);
        since = *instant;
    }
    FileSystem& files = posix_file_system();
    const std::string directory = arguments.directory.audit();
    const Result<std::vector<std::uint64_t>> numbers = audit_files(files, directory);
    if (!numbers) return session.complain(numbers.error(), kExitRefused);
    int exit_code = kExitDone;
    for (const std::uint64_t number : *numbers) {
        const Result<std::string> content = read_audit_file(files, directory, number);
        if (!content && content.error().code == "not_found"_code) continue;  // rotation has just removed it
        if (!content) return session.complain(content.error(), kExitRefused);
        for_each_audit_line(*content, [&](std::uint64_t line, std::string_view text, bool is_whole) {
            if (!is_whole) return false;  // the server is writing it
            const Result<AuditLine> read = decode_audit_line(text);
            if (!read) {
                const std::string place = audit_file_name(number) + ", line " + std::to_string(line);
                exit_code =
                    session.complain({"audit_log_broken"_code, place + ": " + read.error().message}, kExitRefused);
                return true;
            }
            if (since && read->entry.time_ms < *since) return true;
            if (arguments.verb && read->entry.verb != *arguments.verb) return true;
            std::printf("%s\n", session.json ? printable_json(text).c_str() : text_of(read->entry).c_str());
            return true;
        });
    }
    return exit_code;
}

}  // namespace

void add_audit(CLI::App& program, Session& session) {
    CLI::App& audit = add_group(program, "audit", "The audit log: administrative requests and refusals of access",
                                "duewheel audit verify --data ./duewheel-data\n"
                                "  duewheel audit show --data ./duewheel-data --verb queue.set");
    Verb<DirectoryArguments> verifying(audit, session, "verify",
                                       "Verify that no line of the audit log was changed, added or removed; exits 1 at "
                                       "the first break",
                                       "duewheel audit verify --data ./duewheel-data", verify);
    verifying.options->add_to(*verifying.app);
    Verb<ShowArguments> showing(audit, session, "show",
                                "Show the audit log, oldest first; --json prints the lines unchanged",
                                "duewheel audit show --data ./duewheel-data", show);
    showing.options->directory.add_to(*showing.app);
    showing.app->add_option("--since", showing.options->since, "Only from this instant on, such as 2027-01-01T06:00")
        ->type_name("INSTANT");
    showing.app->add_option("--verb", showing.options->verb, "Only this verb, such as queue.set")->type_name("VERB");
}

}  // namespace duewheel
