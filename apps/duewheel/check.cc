// duewheel check: verifies a data directory while no server uses it.
#include <array>
#include <cstdio>

#include "arguments.h"
#include "base/secure_random.h"
#include "base/system_clock.h"
#include "directory_owner.h"
#include "plain_json.h"
#include "plain_text.h"
#include "store/data_check.h"
#include "store/log_end.h"
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
    std::fprintf(stderr, *accepted
                             ? "duewheel: the log continues without its lost end, like a restored backup: what the "
                               "lost records changed comes again as it was before, earlier leases are void, and "
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

}  // namespace

void add_check(CLI::App& program, Session& session) {
    Verb<CheckArguments> verb(program, session, "check",
                              "Verify every byte of a data directory that no server uses; exits 1 if it is damaged",
                              "duewheel check ./duewheel-data", check);
    verb.app->add_option("DIR", verb.options->directory, "The data directory of the server (its --data)")->required();
    verb.app->add_flag("--accept-lost-end", verb.options->accept_lost_end,
                       "If the end of the log is missing, go on without it: earlier leases become void, and messages "
                       "may be delivered again");
}

}  // namespace duewheel
