// duewheel export: everything pending of a data directory as lines of JSON.
#include "transfer/export.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <fcntl.h>
#include <unistd.h>

#include "arguments.h"
#include "base/file.h"
#include "calendar/instant_text.h"
#include "plain_text.h"
#include "progress.h"
#include "stop_signal.h"
#include "store/rocks_rows.h"
#include "verbs.h"

namespace duewheel {
namespace {

struct ExportArguments {
    std::string directory;
    std::string file;
    std::string scratch;
    ExportOptions options;
};

// The lines, in a file that gets its name when it is whole, or on standard output.
class Output {
  public:
    explicit Output(const std::string& file)
        : name_(file == "-" ? "standard output" : file), partial_(file == "-" ? "" : file + ".partial") {
        file_.reset(file == "-" ? stdout : std::fopen(partial_.c_str(), "wb"));
    }
    ~Output() {
        if (!partial_.empty()) ::unlink(partial_.c_str());
    }

    Status write(std::string_view line) {
        if (file_ && std::fwrite(line.data(), 1, line.size(), file_.get()) == line.size()) return {};
        return failed();
    }
    // Durable on return, where it is a file.
    Status close() {
        if (!file_ || std::fflush(file_.get()) != 0) return failed();
        if (partial_.empty()) return {};
        if (::fsync(::fileno(file_.get())) != 0 || std::rename(partial_.c_str(), name_.c_str()) != 0) return failed();
        partial_.clear();
        return {};
    }

  private:
    Error failed() const {
        return {errno == ENOSPC ? "no_space" : "io_error", "Cannot write " + name_ + ": " + std::strerror(errno) + "."};
    }

    struct Closes {
        void operator()(std::FILE* file) const {
            if (file != stdout) std::fclose(file);
        }
    };
    const std::string name_;
    std::string partial_;  // removed, unless the whole was renamed
    std::unique_ptr<std::FILE, Closes> file_;
};

// Where the index is built meanwhile: beside the file, or where programs keep such things.
std::string scratch_of(const ExportArguments& arguments) {
    if (!arguments.scratch.empty()) return arguments.scratch + "/duewheel-export";
    if (arguments.file != "-") return arguments.file + ".scratch";
    const char* temporary = std::getenv("TMPDIR");
    const std::string in = temporary != nullptr && *temporary != '\0' ? temporary : "/tmp";
    return in + "/duewheel-export-" + std::to_string(::getpid());
}

class Scratch {
  public:
    explicit Scratch(std::string directory)
        : rows_(posix_file_system(), std::move(directory), [](std::string_view, std::string_view) { return false; }) {}
    ~Scratch() { static_cast<void>(rows_.discard()); }

    RowStorage& rows() { return rows_; }

  private:
    RocksRowStorage rows_;
};

Error stopped() {
    return {"stopped", "It was told to stop, and left nothing behind."};
}

Result<ExportReport> run(const ExportArguments& arguments, Output& output) {
    Scratch scratch(scratch_of(arguments));
    Result<std::unique_ptr<LogView>> view = [&] {
        Progress progress("read");
        return LogView::open(posix_file_system(), arguments.directory, scratch.rows(),
                             [&](std::uint64_t done, std::uint64_t all) -> Status {
                                 progress.show(done, all);
                                 if (is_to_stop()) return stopped();
                                 return {};
                             });
    }();
    if (!view) return std::move(view).error();
    Progress progress("exported");
    Result<ExportReport> report = write_export(
        **view, arguments.options,
        [&](std::string_view line) -> Status {
            if (is_to_stop()) return stopped();
            return output.write(line);
        },
        [&](std::uint64_t done, std::uint64_t all) { progress.show(done, all); });
    if (!report) return report;
    if (Status closed = output.close(); !closed) return std::move(closed).error();
    return report;
}

boost::json::object json_of(const ExportReport& report) {
    const ExportCounts& counts = report.end.counts;
    return {{"messages", counts.messages},
            {"dead", counts.dead},
            {"purged", report.end.purged},
            {"namespaces", counts.namespaces},
            {"queues", counts.queues},
            {"schedules", counts.schedules},
            {"watchdogs", counts.watchdogs},
            {"sequence", report.header.sequence},
            {"server_time_ms", report.header.server_time_ms}};
}

void print(std::FILE* to, const Session& session, const ExportReport& report) {
    if (session.json) {
        std::fprintf(to, "%s\n", boost::json::serialize(json_of(report)).c_str());
        return;
    }
    const ExportCounts& counts = report.end.counts;
    Rows rows = {{"messages", std::to_string(counts.messages)}};
    if (report.header.with_dead) rows.push_back({"dead", std::to_string(counts.dead)});
    if (report.end.purged != 0) rows.push_back({"purged", std::to_string(report.end.purged) + ", left out"});
    rows.push_back({"namespaces", std::to_string(counts.namespaces)});
    rows.push_back({"queues", std::to_string(counts.queues) + " with settings"});
    rows.push_back({"schedules", std::to_string(counts.schedules)});
    rows.push_back({"watchdogs", std::to_string(counts.watchdogs)});
    rows.push_back({"server time", format_instant(report.header.server_time_ms)});
    std::fprintf(to, "%sthe export is whole\n", fields(rows).c_str());
}

int export_all(Session& session, const ExportArguments& arguments) {
    note_stop_signals();
    Output output(arguments.file);
    const Result<ExportReport> report = run(arguments, output);
    if (!report) return session.complain(report.error(), kExitRefused);
    // Standard output has the lines, where no file was named.
    print(arguments.file == "-" ? stderr : stdout, session, *report);
    if (report->secrets_left_out != 0) {
        std::fprintf(stderr,
                     "duewheel: The secrets of %llu webhooks are not named in it: with --with-secrets they are.\n",
                     static_cast<unsigned long long>(report->secrets_left_out));
    }
    return kExitDone;
}

}  // namespace

void add_export(CLI::App& program, Session& session) {
    Verb<ExportArguments> verb(program, session, "export",
                               "Write everything pending of a data directory as lines of JSON, also while a server "
                               "runs on it",
                               "duewheel export ./duewheel-data ./pending.ndjson", export_all);
    ExportArguments& options = *verb.options;
    verb.app->add_option("DIR", options.directory, "What the server was started with as --data, or a backup")
        ->required();
    verb.app->add_option("FILE", options.file, "Where to; - is standard output")->required();
    verb.app->add_flag("--dead", options.options.with_dead, "With dead messages too");
    verb.app->add_flag("--with-secrets", options.options.with_secrets,
                       "With the names of the secrets that webhooks are signed with");
    verb.app
        ->add_option("--scratch", options.scratch,
                     "An existing directory for an index that is built meanwhile, and removed; else beside FILE")
        ->type_name("DIR");
}

}  // namespace duewheel
