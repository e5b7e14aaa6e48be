// The verbs on data directories: duewheel check reads every byte of one that no server uses, duewheel backup copies
// one, and duewheel restore creates one from a backup.
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>

#include "arguments.h"
#include "base/error_codes.h"
#include "base/secure_random.h"
#include "calendar/instant_text.h"
#include "data_directory.h"
#include "plain_text.h"
#include "shared/system_clock.h"
#include "store/log_end.h"
#include "store/maintenance/backup.h"
#include "store/maintenance/data_check.h"
#include "store/maintenance/directory_marks.h"
#include "terminal.h"
#include "verbs.h"

namespace duewheel {
namespace {

struct CheckArguments {
    std::string directory;
    bool accept_lost_end = false;
};

void print_json(const DataReport& report) {
    boost::json::object object{
        {"segments", report.segments},   {"commits", report.commits},
        {"records", report.records},     {"log_bytes", report.log_bytes},
        {"pending", report.pending},     {"sequence", report.sequence},
        {"has_index", report.has_index}, {"has_recorded_end", report.has_recorded_end},
    };
    if (report.has_index) {
        object["index_sequence"] = report.index_sequence;
        object["index_messages"] = report.index_messages;
        object["index_is_complete"] = report.index_is_complete;
    }
    if (report.torn_end) {
        object["torn_end"] = {
            {"path", report.torn_end->path}, {"offset", report.torn_end->offset}, {"bytes", report.torn_end->bytes}};
    }
    std::printf("%s\n", plain_json(object).c_str());
}

void print_table(const DataReport& report) {
    const auto number = [](std::uint64_t value) { return std::to_string(value); };
    Rows rows = {
        {"segments", number(report.segments)}, {"log bytes", number(report.log_bytes)},
        {"commits", number(report.commits)},   {"records", number(report.records)},
        {"pending", number(report.pending)},   {"sequence", number(report.sequence)},
    };
    if (report.has_index) {
        rows.push_back({"index up to", number(report.index_sequence)});
        rows.push_back({"index messages", report.index_is_complete
                                              ? number(report.index_messages)
                                              : "not compared: the next start completes the index and verifies it"});
    } else {
        rows.push_back({"index", "none: it is built from the log once a segment is full"});
    }
    std::printf("%s", fields(rows).c_str());
    if (report.torn_end) {
        std::printf(
            "\n"
            "%s ends with %llu bytes of an incomplete write from offset %llu; the next start removes them. After a "
            "crash this is normal, but acknowledged records that were lost there cannot be told apart.\n",
            printable(report.torn_end->path).c_str(), static_cast<unsigned long long>(report.torn_end->bytes),
            static_cast<unsigned long long>(report.torn_end->offset));
    }
    if (!report.has_recorded_end && report.segments != 0) {
        std::printf(
            "\n"
            "The last stop was not a clean one, or its version did not record the end of the log: whether the log once "
            "reached further is not known.\n");
    }
    std::printf(
        "\n"
        "the directory is undamaged\n");
}

Status accept_end(const std::string& directory) {
    std::array<std::byte, 16> salt{};
    if (Status drawn = secure_random_bytes(salt); !drawn) return drawn;
    const Result<bool> accepted = accept_lost_end(posix_file_system(), directory, wall_now_ms(), salt);
    if (!accepted) return accepted.error();
    std::fprintf(stderr,
                 *accepted ? "duewheel: the log continues without its lost end, like a restored backup: what the "
                             "lost records changed comes again as it was before, leases of lost records are void, and "
                             "messages that were due before now are marked `maybe_delivered`.\n"
                           : "duewheel: the end of the log is not missing; nothing was changed.\n");
    return {};
}

int check(Session& session, const CheckArguments& arguments) {
    if (arguments.accept_lost_end) {
        if (Status accepted = accept_end(arguments.directory); !accepted) {
            return session.complain(accepted.error(), kExitRefused);
        }
    }
    const Result<DataReport> report = check_data_directory(posix_file_system(), arguments.directory);
    const Status given = give_to_owner(arguments.directory);
    if (!report) return session.complain(report.error(), kExitRefused);
    if (session.json) {
        print_json(*report);
    } else {
        print_table(*report);
    }
    return given ? kExitDone : session.complain(given.error(), kExitRefused);
}

struct CopyArguments {
    std::string from;
    std::string to;
};

void print(const Session& session, const BackupReport& report, const char* what) {
    const DataReport& data = report.data;
    if (session.json) {
        const boost::json::object object{{"segments", data.segments},
                                         {"log_bytes", data.log_bytes},
                                         {"records", data.records},
                                         {"pending", data.pending},
                                         {"sequence", data.sequence},
                                         {"server_time_ms", report.mark.server_time_ms},
                                         {"clock_untrusted", report.clock_untrusted}};
        std::printf("%s\n", plain_json(object).c_str());
        return;
    }
    const Rows rows = {{"segments", std::to_string(data.segments)},
                       {"log bytes", std::to_string(data.log_bytes)},
                       {"records", std::to_string(data.records)},
                       {"pending", std::to_string(data.pending)},
                       {"server time", format_instant(report.mark.server_time_ms)}};
    std::printf("%s\n%s\n", fields(rows).c_str(), what);
}

// Refuses `to` inside `from`: the copy would contain itself.
Status refuse_inside(const std::string& from, const std::string& to) {
    std::error_code unknown;
    const std::filesystem::path outer = std::filesystem::weakly_canonical(from, unknown) / "";
    const std::filesystem::path inner = std::filesystem::weakly_canonical(to, unknown) / "";
    const auto [end, rest] = std::mismatch(outer.begin(), std::prev(outer.end()), inner.begin(), inner.end());
    if (end != std::prev(outer.end())) return {};
    return Error{"inside_itself"_code, to + " lies in " + from + ": name a directory outside of it"};
}

// For the metric of the server. The backup is complete without it, and may be made by a user who can only read `from`.
void mark_as_backed_up(const std::string& from, std::int64_t begun_ms) {
    Status marked = write_mark(posix_file_system(), from, BackedUpMark{begun_ms});
    if (marked) marked = give_to_owner(from);
    if (marked) return;
    std::fprintf(stderr,
                 "duewheel: the metric duewheel_last_backup_timestamp_seconds of the server does not show this backup: "
                 "%s. To correct that, run the command as a user that can write to %s.\n",
                 marked.error().message.c_str(), from.c_str());
}

int back_up(Session& session, const CopyArguments& arguments) {
    if (Status apart = refuse_inside(arguments.from, arguments.to); !apart) {
        return session.complain(apart.error(), kExitUsage);
    }
    const std::int64_t begun_ms = wall_now_ms();
    Result<BackupReport> report = [&] {
        Progress progress("copied");
        return make_backup(posix_file_system(), arguments.from, arguments.to,
                           [&](std::uint64_t done, std::uint64_t all) { progress.show(done, all); });
    }();
    if (!report) return session.complain(report.error(), kExitRefused);
    print(session, *report, "the backup is complete and undamaged");
    mark_as_backed_up(arguments.from, begun_ms);
    return kExitDone;
}

int restore(Session& session, const CopyArguments& arguments) {
    if (Status apart = refuse_inside(arguments.from, arguments.to); !apart) {
        return session.complain(apart.error(), kExitUsage);
    }
    std::array<std::byte, 16> salt{};
    if (Status drawn = secure_random_bytes(salt); !drawn) return session.complain(drawn.error(), kExitRefused);
    Result<BackupReport> report = [&] {
        Progress progress("restored");
        return restore_backup(posix_file_system(), arguments.from, arguments.to, wall_now_ms(), salt,
                              [&](std::uint64_t done, std::uint64_t all) { progress.show(done, all); });
    }();
    if (!report) return session.complain(report.error(), kExitRefused);
    print(session, *report, "a server can be started on the directory");
    std::fprintf(
        stderr,
        "duewheel: the restored data ends at %s: later puts, changes and acks are lost. Messages that were delivered "
        "after that are delivered again; those due before this restore are marked `maybe_delivered`. Leases "
        "that the backup holds continue, later ones are void. Do not run the original server beside it. To inspect the "
        "data without posting to webhooks, start "
        "the "
        "server with --webhooks-post=false.\n",
        format_instant(report->mark.server_time_ms).c_str());
    if (report->clock_untrusted) {
        std::fprintf(
            stderr,
            "duewheel: the original server did not trust its wall clock, so a server on this directory starts at the "
            "time of the backup. `duewheel clock show` shows whether the clock is held, and `duewheel clock accept` "
            "accepts the wall clock.\n");
    }
    return kExitDone;
}

void take_directories(Verb<CopyArguments>& verb, const char* from, const char* from_help, const char* to) {
    verb.app->add_option(from, verb.options->from, from_help)->required();
    verb.app->add_option(to, verb.options->to, "A directory that does not exist yet")->required();
}

void add_check(CLI::App& program, Session& session) {
    Verb<CheckArguments> verb(program, session, "check",
                              "Verify every byte of a data directory that no server uses; exits 1 if it is damaged",
                              "duewheel check ./duewheel-data", check);
    verb.app->add_option("DIR", verb.options->directory, "The data directory of the server (its --data)")->required();
    verb.app->add_flag("--accept-lost-end", verb.options->accept_lost_end,
                       "If the end of the log is missing, go on without it: earlier leases become void, and messages "
                       "may be delivered again");
}

void add_backup(CLI::App& program, Session& session) {
    Verb<CopyArguments> verb(program, session, "backup",
                             "Copy a data directory, also while a server runs on it, and verify every byte of the copy",
                             "duewheel backup ./duewheel-data ./monday", back_up);
    take_directories(verb, "DIR", "The data directory of the server (its --data)", "BACKUP");
}

void add_restore(CLI::App& program, Session& session) {
    Verb<CopyArguments> verb(program, session, "restore",
                             "Create a data directory from a backup; later leases are void, and messages delivered "
                             "after the backup are delivered again",
                             "duewheel backup ./duewheel-data ./tuesday\n  duewheel restore ./tuesday ./restored-data",
                             restore);
    take_directories(verb, "BACKUP", "A backup created by `duewheel backup`", "DIR");
}

}  // namespace

void add_directory_verbs(CLI::App& program, Session& session) {
    add_check(program, session);
    add_backup(program, session);
    add_restore(program, session);
}

}  // namespace duewheel
