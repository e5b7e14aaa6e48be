// duewheel import: imports an export into a running server. The file is read twice: it is checked completely first, so
// that a damaged file changes nothing.
#include <cstdio>
#include <optional>
#include <string>

#include "arguments.h"
#include "base/error_codes.h"
#include "calendar/duration.h"
#include "content.h"
#include "import_run.h"
#include "plain_text.h"
#include "terminal.h"
#include "verbs.h"

namespace duewheel {
namespace {

constexpr std::uint64_t kLinesTold = 20;

struct ImportArguments {
    std::string file;
    bool dry_run = false;
    bool incomplete = false;
    bool same_server = false;
    std::string patience = "30s";
    ImportOptions options;
};

void tell(std::uint64_t line, std::string_view message, std::string_view code, std::string_view field) {
    const std::string where = field.empty() ? "" : ", " + printable(field);
    Progress::make_way();
    std::fprintf(stderr, "duewheel: line %llu: %s (%s%s)\n", static_cast<unsigned long long>(line),
                 printable(message).c_str(), printable(code).c_str(), where.c_str());
}

// Reports the first invalid lines.
class Telling {
  public:
    void operator()(std::uint64_t line, std::string_view message, std::string_view code, std::string_view field) {
        if (++count_ <= kLinesTold) tell(line, message, code, field);
    }
    ~Telling() {
        if (count_ <= kLinesTold) return;
        std::fprintf(stderr, "duewheel: ... and %llu more lines.\n",
                     static_cast<unsigned long long>(count_ - kLinesTold));
    }

  private:
    std::uint64_t count_ = 0;
};

// Reads all lines; `take` receives each valid line and returns whether to continue. Invalid lines are counted.
template <class Take>
Status read_lines(LineFile& file, ExportReader& reader, Telling* telling, const char* doing, std::uint64_t& unread,
                  Take take) {
    Progress progress(doing);
    const std::uint64_t all = file.bytes();
    for (;;) {
        const Result<std::optional<std::string_view>> line = file.next();
        if (!line) return line.error();
        if (!*line) return {};
        const Result<ExportLine> read = reader.read(**line);
        if (!read && (read.error().code == "no_export"_code || read.error().code == "newer_format"_code))
            return read.error();
        if (!read) {
            ++unread;
            if (telling != nullptr)
                (*telling)(reader.line(), read.error().message, name_of(read.error().code), read.error().field);
        } else if (!take(*read)) {
            return {};
        }
        if (all != 0) progress.show(std::min(file.bytes_read(), all), all);
    }
}

void add_row(Rows& rows, const char* name, std::uint64_t count, std::string_view what = {}) {
    if (count != 0) rows.push_back({name, std::to_string(count) + (what.empty() ? "" : ", " + std::string(what))});
}

boost::json::object json_of(const ImportCounts& counts) {
    boost::json::object losses;
    for (std::size_t i = 0; i < kLossCount; ++i) {
        const std::string_view name = loss_name(static_cast<Loss>(i));
        losses[boost::json::string_view(name.data(), name.size())] = counts.losses.of(static_cast<Loss>(i));
    }
    return {{"put", counts.put},         {"put_before", counts.before},
            {"held", counts.held},       {"set", counts.set},
            {"set_before", counts.same}, {"refused", counts.refused},
            {"unread", counts.unread},   {"expired", counts.expired},
            {"checks", counts.checks},   {"dead", counts.dead},
            {"ended", counts.ended},     {"overdue", counts.overdue},
            {"fed", counts.fed},         {"changed", losses}};
}

void print_summary(const ImportCounts& counts, bool dry_run) {
    Rows rows = {{dry_run ? "would be put" : "messages put", std::to_string(counts.put)}};
    add_row(rows, "put earlier", counts.before, "by an earlier import");
    add_row(rows, "held", counts.held, "of these, held");
    rows.push_back({dry_run ? "would be set" : "settings, schedules, watchdogs", std::to_string(counts.set)});
    add_row(rows, "set earlier", counts.same);
    add_row(rows, "refused", counts.refused, "named above");
    add_row(rows, "unread", counts.unread, "lines that cannot be read, named above");
    std::printf("%s", fields(rows).c_str());
    Rows left_out;
    add_row(left_out, "expired", counts.expired, "their expiry has passed");
    add_row(left_out, "dead", counts.dead, "dead letters; --dead-as-held imports them as held messages");
    add_row(left_out, "checks", counts.checks, "check messages; the producers are checked again");
    add_row(left_out, "ended", counts.ended, "schedules that have ended");
    add_row(left_out, "overdue", counts.overdue,
            "messages of watchdogs and runs of schedules that were not created yet");
    if (!left_out.empty())
        std::printf(
            "excluded:\n"
            "%s",
            fields(left_out).c_str());
    Rows otherwise;
    add_row(otherwise, "watchdogs", counts.fed, "were fed by the import; their timeouts count from now");
    for (std::size_t i = 0; i < kLossCount; ++i) {
        const Loss loss = static_cast<Loss>(i);
        if (counts.losses.of(loss) == 0) continue;
        otherwise.push_back({std::string(loss_name(loss)),
                             std::to_string(counts.losses.of(loss)) + " messages " + std::string(loss_text(loss))});
    }
    if (!otherwise.empty()) std::printf("imported with changes:\n%s", fields(otherwise).c_str());
}

void report(const Session& session, const ImportCounts& counts, bool dry_run) {
    if (!session.json) return print_summary(counts, dry_run);
    std::printf("%s\n", plain_json(json_of(counts)).c_str());
}

int exit_of(const Refusal& refusal) {
    if (refusal.is("bad_address"_code)) return kExitUsage;
    return refusal.is("unreachable"_code) || refusal.is("bad_answer"_code) ? kExitUnreachable : kExitRefused;
}

void print_left_to_do(const ImportRun& run) {
    for (const std::string& name : run.unlimited()) {
        std::fprintf(stderr,
                     "duewheel: The limits of %s are not set yet, because they are set after all messages are "
                     "imported: run the same import again.\n",
                     printable(name).c_str());
    }
    for (const std::string& queue : run.unspread_queues()) {
        std::fprintf(stderr,
                     "duewheel: `limits.per_second` of queue %s was ignored, because this version does not have it: "
                     "set `rate` to limit its deliveries.\n",
                     printable(queue).c_str());
    }
    for (const std::string& queue : run.unsigned_queues()) {
        std::fprintf(stderr,
                     "duewheel: Queue %s posts to a webhook whose secrets or headers are not in the export, so the "
                     "queue is paused. Set them, then run `duewheel queue resume`.\n",
                     printable(queue).c_str());
    }
}

// Checks the whole file before any request is sent.
int check(Session& session, const ImportArguments& arguments, LineFile& file, Telling& telling, ImportRun& dry,
          std::uint64_t& unread) {
    ExportReader reader;
    const Status read = read_lines(file, reader, &telling, "checked", unread,
                                   [&](const ExportLine& line) { return dry.submit(reader.line(), line); });
    if (!read) return session.complain(read.error(), kExitRefused);
    static_cast<void>(dry.finish());
    const Status whole = reader.finish();
    const bool is_none = !whole && whole.error().code == "no_export"_code;
    if (is_none || (!whole && !arguments.incomplete)) return session.complain(whole.error(), kExitRefused);
    if (unread == 0 || arguments.incomplete) return kExitDone;
    const Error bad{"bad_line"_code,
                    "Nothing was sent. Correct the lines named above, or import all others with --incomplete."};
    return session.complain(bad, kExitRefused);
}

// Whether this export may be imported into the server. This is the first request: it does not wait for a server that is
// unreachable now, only for one that becomes unreachable later.
Refusal check_server(ImportServer& server, const ImportArguments& arguments, std::string_view exported) {
    const ImportAnswer there = server.ask("GET", "/v1/stats?queues=0");
    if (!there.ok()) return there.refusal;
    boost::json::error_code broken;
    const boost::json::value stats = boost::json::parse(there.body, broken);
    if (broken || !stats.is_object()) return no_duewheel();
    if (arguments.same_server || word_of(stats.get_object(), "instance") != exported) return {};
    return {"same_server"_code,
            "The export comes from this server, or from a copy of its data. Messages without a key that are still "
            "pending here would be put a second time. Name another --server, or give --same-server to import anyway.",
            ""};
}

int import_into(Session& session, const ImportArguments& arguments, LineFile& file, const ImportRun& dry,
                std::uint64_t unread) {
    note_stop_signals();
    Result<HttpClientOptions> options = session.server.client_options();
    if (!options) return session.complain(options.error(), kExitUsage);
    ImportServer server(*std::move(options), std::chrono::milliseconds(*parse_duration(arguments.patience)));
    if (const Refusal unfit = check_server(server, arguments, dry.instance()); !unfit.code.empty()) {
        return session.complain(unfit, exit_of(unfit));
    }
    ImportCounts counts;
    Refusal ended;
    {
        Telling telling;
        ImportRun run(&server, arguments.options, [&](std::uint64_t line, const Refusal& refusal) {
            telling(line, refusal.detail, refusal.code, refusal.field);
        });
        ExportReader reader;
        std::uint64_t unread_again = 0;
        const Status read = read_lines(file, reader, nullptr, "imported", unread_again,
                                       [&](const ExportLine& line) { return run.submit(reader.line(), line); });
        const bool is_done = run.finish();
        if (!read) return session.complain(read.error(), kExitRefused);
        counts = run.counts();
        counts.unread = unread;
        print_left_to_do(run);
        if (!is_done) {
            ended = run.ended();
            tell(run.ended_at(), ended.detail, ended.code, ended.field);
            std::fprintf(stderr,
                         "duewheel: Stopped before line %llu. The lines before it were imported; running the same "
                         "import again puts nothing twice.\n",
                         static_cast<unsigned long long>(run.ended_at()));
        }
    }
    report(session, counts, false);
    if (!ended.code.empty()) return exit_of(ended);
    return counts.refused == 0 && counts.unread == 0 ? kExitDone : kExitRefused;
}

int import(Session& session, const ImportArguments& arguments) {
    if (session.name_space) {
        return session.complain(
            {"conflicting_options"_code, "The lines of an export name their namespaces: remove --namespace."},
            kExitUsage);
    }
    LineFile file(arguments.file);
    if (arguments.file == "-") {
        if (Status kept = file.keep(); !kept) return session.complain(kept.error(), kExitRefused);
    }
    ImportRun dry(nullptr, arguments.options, [](std::uint64_t, const Refusal&) {});
    std::uint64_t unread = 0;
    {
        Telling telling;
        if (const int code = check(session, arguments, file, telling, dry, unread); code != kExitDone) return code;
    }
    if (!arguments.dry_run) {
        if (Status again = file.rewind(); !again) return session.complain(again.error(), kExitRefused);
        return import_into(session, arguments, file, dry, unread);
    }
    ImportCounts counts = dry.counts();
    counts.unread = unread;
    report(session, counts, true);
    return unread == 0 ? kExitDone : kExitRefused;
}

}  // namespace

void add_import(CLI::App& program, Session& session) {
    Verb<ImportArguments> verb(program, session, "import", "Import an export into a running server; can be repeated",
                               "duewheel export ./duewheel-data ./pending.ndjson\n"
                               "  duewheel import ./pending.ndjson --server http://127.0.0.1:7421",
                               import);
    ImportArguments& options = *verb.options;
    verb.app->add_option("FILE", options.file, "A file written by `duewheel export`; - is standard input")->required();
    verb.app->add_flag("--dry-run", options.dry_run,
                       "Check every line and report what would be imported, without a server");
    verb.app->add_flag("--incomplete", options.incomplete, "Import the readable lines of a truncated or changed file");
    verb.app->add_flag(
        "--same-server", options.same_server,
        "Import into the server that was exported: pending messages without a key are put a second time");
    verb.app->add_flag("--replace", options.options.replaces,
                       "Replace existing settings, schedules and watchdogs of the server");
    verb.app->add_flag("--dead-as-held", options.options.dead_as_held,
                       "Import dead letters as held messages; `kick` returns them to their queue");
    takes_duration(verb.app
                       ->add_option("--patience", options.patience,
                                    "How long to retry while the server is full, busy or unreachable")
                       ->capture_default_str());
}

}  // namespace duewheel
