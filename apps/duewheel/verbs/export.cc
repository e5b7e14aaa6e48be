// duewheel export: writes everything pending in a data directory as lines of JSON.
#include "transfer/export.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>

#include <sys/stat.h>
#include <unistd.h>

#include "arguments.h"
#include "base/error_codes.h"
#include "base/file.h"
#include "calendar/instant_text.h"
#include "data_directory.h"
#include "plain_text.h"
#include "store/rocks_rows.h"
#include "terminal.h"
#include "transfer/salvage.h"
#include "verbs.h"

namespace duewheel {
namespace {

struct ExportArguments {
    std::string directory;
    std::string file;
    std::string scratch;
    bool skip_damaged = false;
    ExportOptions options;
};

Error io_error(const std::string& name) {
    return {errno == ENOSPC ? "no_space"_code : "io_error"_code,
            "Cannot write " + name + ": " + std::strerror(errno) + "."};
}

// `path` and six characters that make it unique.
std::string pattern_of(const std::string& path) {
    return path + "-XXXXXX";
}

// Standard output, a pipe or a device: written directly.
bool names_stream(const std::string& file) {
    struct stat there {};
    return file == "-" || (::stat(file.c_str(), &there) == 0 && !S_ISREG(there.st_mode));
}

// The file that this name refers to, after following links.
std::string led_to(std::filesystem::path file) {
    constexpr int kLinksMost = 40;
    std::error_code broken;
    for (int links = 0; links < kLinksMost && std::filesystem::is_symlink(file, broken); ++links) {
        const std::filesystem::path next = std::filesystem::read_symlink(file, broken);
        if (broken) break;
        file = file.parent_path() / next;  // an absolute `next` replaces the whole path
    }
    return file.string();
}

// The output: standard output; a pipe or device of this name; or a temporary file beside the file, which is renamed to
// it when it is complete. If the name is a link, the target of the link is replaced.
class Output {
  public:
    explicit Output(const std::string& file)
        : name_(file == "-" ? "standard output" : file), is_stream_(names_stream(file)) {
        if (is_stream_) {
            file_.reset(file == "-" ? stdout : std::fopen(file.c_str(), "wb"));
        } else {
            name_ = led_to(file);
            partial_ = pattern_of(name_ + ".partial");
            const int made = ::mkstemp(partial_.data());
            if (made >= 0) file_.reset(::fdopen(made, "wb"));
            if (made < 0) partial_.clear();
        }
        if (!file_) failed_ = io_error(name_);
    }
    ~Output() {
        if (!partial_.empty()) ::unlink(partial_.c_str());
    }

    bool is_stream() const { return is_stream_; }
    // Whether it can be written to.
    const Status& opened() const { return failed_; }
    Status write(std::string_view line) {
        if (std::fwrite(line.data(), 1, line.size(), file_.get()) == line.size()) return {};
        return io_error(name_);
    }
    // Durable on return if it is a file.
    Status close() {
        if (std::fflush(file_.get()) != 0) return io_error(name_);
        if (partial_.empty()) return {};
        if (::fsync(::fileno(file_.get())) != 0 || std::rename(partial_.c_str(), name_.c_str()) != 0) {
            return io_error(name_);
        }
        partial_.clear();
        const std::size_t slash = name_.rfind('/');
        return posix_file_system().sync_directory(slash == std::string::npos ? "." : name_.substr(0, slash + 1));
    }

  private:
    struct Closes {
        void operator()(std::FILE* file) const {
            if (file != stdout) std::fclose(file);
        }
    };
    std::string name_;
    const bool is_stream_;
    Status failed_;
    std::string partial_;  // removed unless it was renamed
    std::unique_ptr<std::FILE, Closes> file_;
};

// Where the temporary index is built: beside the file, or in the directory for temporary files.
std::string scratch_of(const ExportArguments& arguments) {
    if (!arguments.scratch.empty()) return arguments.scratch + "/duewheel-export";
    if (!names_stream(arguments.file)) return arguments.file + ".scratch";
    const char* temporary = std::getenv("TMPDIR");
    const std::string in = temporary != nullptr && *temporary != '\0' ? temporary : "/tmp";
    return in + "/duewheel-export";
}

// A temporary directory, which the destructor removes.
class Scratch {
  public:
    static Result<std::unique_ptr<Scratch>> make(const std::string& beside) {
        std::string directory = pattern_of(beside);
        if (::mkdtemp(directory.data()) == nullptr) return io_error(directory);
        return std::unique_ptr<Scratch>(new Scratch(directory));
    }
    ~Scratch() {
        static_cast<void>(rows_.discard());
        static_cast<void>(posix_file_system().remove_tree(salvaged()));
        ::rmdir(directory_.c_str());
    }

    RowStorage& rows() { return rows_; }
    // For a data directory.
    std::string salvaged() const { return directory_ + "/salvaged"; }

  private:
    explicit Scratch(const std::string& directory)
        : directory_(directory),
          rows_(posix_file_system(), directory + "/index", [](std::string_view, std::string_view) { return false; }) {}

    const std::string directory_;
    RocksRowStorage rows_;
};

Error stopped() {
    return {"stopped"_code, "Stopped by a signal; no file was written."};
}

struct Exported {
    ExportReport report;
    std::optional<SalvageReport> salvaged;  // of a damaged log
};

Result<Exported> run(const ExportArguments& arguments, Output& output) {
    if (!output.opened()) return output.opened().error();
    const Result<std::unique_ptr<Scratch>> scratch = Scratch::make(scratch_of(arguments));
    if (!scratch) return scratch.error();
    Exported exported;
    if (arguments.skip_damaged) {
        Result<SalvageReport> salvaged = salvage(posix_file_system(), arguments.directory, (*scratch)->salvaged());
        if (!salvaged) return std::move(salvaged).error();
        exported.salvaged = *std::move(salvaged);
        if (Status given = give_to_owner(arguments.directory); !given) return std::move(given).error();
    }
    Result<std::unique_ptr<LogView>> view = [&] {
        Progress progress("read");
        return LogView::open(posix_file_system(), arguments.skip_damaged ? (*scratch)->salvaged() : arguments.directory,
                             (*scratch)->rows(), [&](std::uint64_t done, std::uint64_t all) -> Status {
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
    if (!report) return std::move(report).error();
    if (Status closed = output.close(); !closed) return std::move(closed).error();
    exported.report = *std::move(report);
    return exported;
}

// The messages of `lost` whose whole records were in this part.
std::vector<MessageId> ids_in(const Omitted& part, const SalvageReport& salvaged) {
    std::vector<MessageId> ids;
    for (const LostMessage& message : salvaged.lost) {
        if (message.sequence >= part.first && message.sequence <= part.last) ids.push_back(message.id);
    }
    return ids;
}

boost::json::object json_of(const SalvageReport& salvaged) {
    boost::json::array parts;
    for (const Omitted& part : salvaged.omitted) {
        boost::json::array ids;
        for (const MessageId id : ids_in(part, salvaged)) ids.push_back(boost::json::string(std::to_string(id)));
        parts.push_back({{"file", part.file},
                         {"offset", part.offset},
                         {"records", part.records()},
                         {"first_sequence", part.first},
                         {"last_sequence", part.last},
                         {"why", part.why},
                         {"ids", std::move(ids)}});
    }
    boost::json::array rules;
    for (const std::string& rule : salvaged.lost_rules) rules.push_back(boost::json::string(rule));
    return {{"omitted", std::move(parts)},
            {"lost_rules", std::move(rules)},
            {"lost_ids", salvaged.lost.size()},
            {"maybe_stale", salvaged.maybe_stale},
            {"pending_before", salvaged.pending}};
}

boost::json::object json_of(const Exported& exported) {
    const ExportReport& report = exported.report;
    const ExportCounts& counts = report.end.counts;
    boost::json::object object{{"messages", counts.messages},
                               {"dead", counts.dead},
                               {"purged", report.end.purged},
                               {"namespaces", counts.namespaces},
                               {"queues", counts.queues},
                               {"groups", counts.groups},
                               {"schedules", counts.schedules},
                               {"watchdogs", counts.watchdogs},
                               {"sequence", report.header.sequence},
                               {"server_time_ms", report.header.server_time_ms}};
    if (exported.salvaged) object["damage"] = json_of(*exported.salvaged);
    return object;
}

// What was omitted, and what may be stale.
void print(std::FILE* to, const SalvageReport& salvaged) {
    Rows rows = {{"omitted", "offset", "records", "ids", "why"}};
    for (const Omitted& part : salvaged.omitted) {
        std::string ids;
        for (const MessageId id : ids_in(part, salvaged)) ids += (ids.empty() ? "" : ",") + std::to_string(id);
        rows.push_back({part.file, std::to_string(part.offset), std::to_string(part.records()),
                        ids.empty() ? "unknown" : ids, part.why});
    }
    if (salvaged.omitted.empty()) {
        std::fprintf(to, "\nnothing was omitted: the log is whole\n");
        return;
    }
    std::fprintf(to,
                 "\n%s\n"
                 "The log counted %llu pending messages. Of those that were saved, %llu may be stale: they have not "
                 "changed since the damage, and if the record of an ack, a cancel, a move or a delivery was omitted, "
                 "they come again, or as they were before. An id is known only if the message changed later.\n",
                 table(rows).c_str(), static_cast<unsigned long long>(salvaged.pending),
                 static_cast<unsigned long long>(salvaged.maybe_stale));
    for (const std::string& rule : salvaged.lost_rules) std::fprintf(to, "lost: %s\n", printable(rule).c_str());
}

void print(std::FILE* to, const Session& session, const Exported& exported) {
    if (session.json) {
        std::fprintf(to, "%s\n", plain_json(json_of(exported)).c_str());
        return;
    }
    const ExportReport& report = exported.report;
    const ExportCounts& counts = report.end.counts;
    Rows rows = {{"messages", std::to_string(counts.messages)}};
    if (report.header.with_dead) rows.push_back({"dead", std::to_string(counts.dead)});
    if (report.end.purged != 0) rows.push_back({"purged", std::to_string(report.end.purged) + ", excluded"});
    rows.push_back({"namespaces", std::to_string(counts.namespaces)});
    rows.push_back({"queues", std::to_string(counts.queues) + " with settings"});
    if (counts.groups != 0) rows.push_back({"groups", std::to_string(counts.groups) + " with settings"});
    rows.push_back({"schedules", std::to_string(counts.schedules)});
    rows.push_back({"watchdogs", std::to_string(counts.watchdogs)});
    rows.push_back({"server time", format_instant(report.header.server_time_ms)});
    std::fprintf(to, "%s%s\n", fields(rows).c_str(),
                 exported.salvaged ? "the export has what could be read of the log" : "the export is complete");
    if (exported.salvaged) print(to, *exported.salvaged);
}

int export_all(Session& session, const ExportArguments& arguments) {
    note_stop_signals();
    Output output(arguments.file);
    const Result<Exported> exported = run(arguments, output);
    if (!exported) return session.complain(exported.error(), kExitRefused);
    const ExportReport* report = &exported->report;
    // Standard output may already have some lines.
    print(output.is_stream() ? stderr : stdout, session, *exported);
    if (report->secrets_excluded != 0) {
        std::fprintf(
            stderr,
            "duewheel: %llu webhooks are exported without the names of their secrets; --with-secrets includes them.\n",
            static_cast<unsigned long long>(report->secrets_excluded));
    }
    if (report->headers_excluded != 0) {
        std::fprintf(
            stderr,
            "duewheel: %llu webhooks are exported without their headers, because headers can contain secrets.\n",
            static_cast<unsigned long long>(report->headers_excluded));
    }
    return kExitDone;
}

}  // namespace

void add_export(CLI::App& program, Session& session) {
    Verb<ExportArguments> verb(
        program, session, "export",
        "Write all pending messages and all settings of a data directory as JSON lines; a server may run on it",
        "duewheel export ./duewheel-data ./pending.ndjson", export_all);
    ExportArguments& options = *verb.options;
    verb.app->add_option("DIR", options.directory, "The data directory of a server (its --data), or a backup")
        ->required();
    verb.app->add_option("FILE", options.file, "The file to write; - is standard output")->required();
    verb.app->add_flag("--dead", options.options.with_dead, "Include dead letters");
    verb.app->add_flag("--with-secrets", options.options.with_secrets, "Include the names of webhook secrets");
    verb.app->add_flag("--skip-damaged", options.skip_damaged,
                       "Of a damaged log that no server uses: export every message whose records are whole, and list "
                       "what is omitted");
    verb.app
        ->add_option("--scratch", options.scratch, "An existing directory for a temporary index; default: next to FILE")
        ->type_name("DIR");
}

}  // namespace duewheel
