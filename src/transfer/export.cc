#include "transfer/export.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/hex.h"
#include "base/json_writer.h"
#include "http_api/answers/namespace_text.h"
#include "http_api/answers/queue_text.h"
#include "http_api/answers/schedule_text.h"
#include "http_api/answers/watchdog_text.h"
#include "http_api/fields/field_writer.h"
#include "http_api/requests/content_text.h"
#include "message/records/subject.h"
#include "message/schedule_state.h"
#include "message/watchdog_state.h"
#include "resource/group_settings.h"
#include "resource/namespace_settings.h"
#include "resource/queue_settings.h"
#include "transfer/message_line.h"
#include "transfer/stream_digest.h"

namespace duewheel {
namespace {

constexpr std::uint32_t kPageRows = 1000;
// The bytes of the log that are read at a time for lines; a larger message is read separately.
constexpr std::uint64_t kReadBytes = std::uint64_t{4} << 20;
constexpr DueMs kEndOfTime = std::numeric_limits<DueMs>::max();

class Export {
  public:
    Export(const LogView& view, const ExportOptions& options, const LineSink& sink, const ExportProgress& progress)
        : view_(view), options_(options), sink_(sink), progress_(progress) {}

    Result<ExportReport> run() {
        Status done = write_header();
        if (done) done = write_all_settings();
        if (done) done = write_rules();
        if (done) done = write_messages();
        if (done) done = write_end();
        if (!done) return std::move(done).error();
        return std::move(report_);
    }

  private:
    Status send() {
        line_ += '\n';
        digest_.add(line_);
        Status sent = sink_(line_);
        line_.clear();
        return sent;
    }

    Status write_header() {
        ExportHeader& header = report_.header;
        const Totals totals = view_.totals();
        header.instance = hex(view_.identity().instance);
        header.server_time_ms = totals.server_time_ms;
        header.sequence = totals.sequence;
        header.pending = totals.live_count;
        header.with_dead = options_.with_dead;
        write_header_line(line_, header);
        return send();
    }

    Status write_end() {
        report_.end.digest = digest_.text();
        write_end_line(line_, report_.end);
        return send();
    }

    // Namespaces first: their limits apply to the queues.
    Status write_all_settings() {
        const Result<std::vector<Index::Settings>> settings = view_.index().settings();
        if (!settings) return settings.error();
        for (const Subject subject : {Subject::name_space, Subject::queue, Subject::group}) {
            for (const Index::Settings& of : *settings) {
                if (of.subject != subject) continue;
                Status written = subject == Subject::name_space ? write_namespace(of)
                                 : subject == Subject::queue    ? write_queue(of)
                                                                : write_group(of);
                if (!written) return written;
            }
        }
        return {};
    }

    // `member`: of the name.
    static void begin(JsonWriter& json, std::string_view kind, const QueueName& of, std::string_view member = {}) {
        json.open().text("kind", kind);
        if (of.name_space != kDefaultNamespace) json.text("namespace", of.name_space);
        json.text(member.empty() ? kind : member, of.queue);
    }

    Status write_namespace(const Index::Settings& of) {
        const Result<NamespaceSettings> settings = decode_namespace_settings(of.row.value);
        if (!settings) return settings.error();
        JsonWriter json(line_);
        json.open().text("kind", "namespace").text("namespace", of.queue.name_space);
        write_settings(json, *settings);
        json.close();
        ++report_.end.counts.namespaces;
        return send();
    }

    Status write_queue(const Index::Settings& of) {
        Result<QueueSettings> settings = decode_queue_settings(of.row.value);
        if (!settings) return settings.error();
        if (settings->purge_through != 0 || settings->discard_before_ms != 0) {
            under_way_[{of.queue.name_space, of.queue.queue}] = {settings->purge_through, settings->discard_before_ms};
        }
        JsonWriter json(line_);
        begin(json, "queue", of.queue);
        if (settings->webhook && !settings->webhook->secrets.empty() && !options_.with_secrets) {
            json.number("secrets_excluded", settings->webhook->secrets.size());
            settings->webhook->secrets.clear();
            ++report_.secrets_excluded;
        }
        const std::size_t headers =
            settings->webhook ? settings->webhook->headers.size() + settings->webhook->sealed_headers.size() : 0;
        if (headers > 0) {
            json.number("headers_excluded", headers);
            settings->webhook->headers.clear();
            settings->webhook->sealed_headers.clear();
            ++report_.headers_excluded;
        }
        write_settings(json, *settings);
        json.close();
        ++report_.end.counts.queues;
        return send();
    }

    // A backoff alone is not exported: it ends within a day.
    Status write_group(const Index::Settings& of) {
        const Result<GroupSettings> settings = decode_group_settings(of.row.value);
        if (!settings) return settings.error();
        if (settings->is_empty(std::numeric_limits<DueMs>::max())) return {};
        const auto names = split_group_conf_name(of.queue.queue);
        if (!names) return Error{"damaged_record"_code, "the settings of a group have no group"};
        JsonWriter json(line_);
        begin(json, "group", {of.queue.name_space, std::string(names->first)}, "queue");
        json.text("group", names->second);
        write_fields(json, "settings", *settings);
        json.close();
        ++report_.end.counts.groups;
        return send();
    }

    Status write_rules() {
        const Result<std::vector<Index::Settings>> rules = view_.index().rules();
        if (!rules) return rules.error();
        for (const Index::Settings& of : *rules) {
            const Result<std::vector<OwnedRecord>> whole = view_.segments().read_records({&of.row.log_position, 1});
            if (!whole) return whole.error();
            const Result<RuleRecord> record = decode_rule(whole->front().body);
            if (!record) return record.error();
            JsonWriter json(line_);
            begin(json, of.subject == Subject::watchdog ? "watchdog" : "schedule", of.queue);
            Status written = of.subject == Subject::watchdog ? write_watchdog(json, of, record->content)
                                                             : write_schedule(json, of, record->content);
            if (!written) return written;
            if (written = send(); !written) return written;
        }
        return {};
    }

    // The end of the line of a schedule or a watchdog.
    template <class Rule>
    static void write_rule_settings(JsonWriter& json, const Rule& rule, const MessageContent& content) {
        if (!content.traceparent.empty()) json.text("traceparent", content.traceparent);
        json.open("settings");
        write_rule(json, rule);
        write_content_in_line(json, content);
        json.close().close();
    }

    Status write_schedule(JsonWriter& json, const Index::Settings& of, const MessageContent& content) {
        const Result<ScheduleState> state = decode_schedule(of.row.value);
        if (!state) return state.error();
        json.boolean("paused", state->paused).number("created_ms", state->created_ms);
        if (state->next_ms != 0) json.number("next_ms", state->next_ms).number("next_occurrence", state->next_run);
        write_progress(json, *state);
        write_rule_settings(json, state->rule, content);
        ++report_.end.counts.schedules;
        return {};
    }

    Status write_watchdog(JsonWriter& json, const Index::Settings& of, const MessageContent& content) {
        const Result<WatchdogState> state = decode_watchdog(of.row.value);
        if (!state) return state.error();
        json.number("created_ms", state->created_ms);
        if (state->due_ms != 0) json.number("due_ms", state->due_ms);
        json.number("last_fed_ms", state->fed_ms);
        write_progress(json, *state);
        write_rule_settings(json, state->rule, content);
        ++report_.end.counts.watchdogs;
        return {};
    }

    Status write_messages() {
        const Result<std::vector<Index::Counts>> queues = view_.index().queue_counts();
        if (!queues) return queues.error();
        for (const Index::Counts& of : *queues) {
            all_ += of.counts.pending + (options_.with_dead ? of.counts.dead : 0);
        }
        for (const Index::Counts& of : *queues) {
            const auto found = under_way_.find({of.queue.name_space, of.queue.queue});
            ending_ = found == under_way_.end() ? UnderWay{} : found->second;
            bool has_ordered = false;
            Status done = write_unordered(of.queue, has_ordered);
            if (done && has_ordered) done = write_ordered(of.queue);
            if (done && options_.with_dead && of.counts.dead != 0) done = write_dead(of.queue);
            if (!done) return done;
        }
        return {};
    }

    // Everything that `scan` of the index finds for a queue, page by page.
    template <class Scan, class Write>
    Status write_stretches(const QueueName& queue, Scan scan, Write write) {
        DuePosition from;
        for (bool complete = false; !complete;) {
            Result<Stretch> page = (view_.index().*scan)(queue.name_space, queue.queue, from, kEndOfTime, kPageRows);
            if (!page) return std::move(page).error();
            complete = page->complete;
            from = page->next;
            if (Status written = write(page->rows); !written) return written;
        }
        return {};
    }

    Status write_unordered(const QueueName& queue, bool& has_ordered) {
        return write_stretches(queue, &Index::scan_queue, [&](std::vector<MessageRow>& rows) {
            const auto ordered = [](const MessageRow& row) { return !row.state.order_key.empty(); };
            has_ordered |= std::erase_if(rows, ordered) != 0;
            return write_page(rows);
        });
    }

    Status write_ordered(const QueueName& queue) {
        std::string after;
        for (bool complete = false; !complete;) {
            Result<std::vector<MessageRow>> rows =
                view_.index().scan_orders(queue.name_space, queue.queue, kPageRows, after);
            if (!rows) return std::move(rows).error();
            complete = rows->size() < kPageRows;
            if (Status written = write_page(*rows); !written) return written;
        }
        return {};
    }

    Status write_dead(const QueueName& queue) {
        return write_stretches(queue, &Index::scan_dead,
                               [this](std::vector<MessageRow>& rows) { return write_page(rows); });
    }

    // Messages that a purge, a discard or a requested cancel is about to end do not count any more.
    bool is_ending(const MessageRow& row) const {
        if (row.state.work->cancel_requested) return true;
        if (row.state.state == State::dead) return row.ended_ms < ending_.discard_before_ms;
        return row.id <= ending_.purge_through;
    }

    Status write_page(std::vector<MessageRow>& rows) {
        report_.end.purged += std::erase_if(rows, [this](const MessageRow& row) { return is_ending(row); });
        for (std::size_t first = 0; first < rows.size();) {
            std::size_t last = first;
            for (std::uint64_t bytes = 0; last < rows.size() && (last == first || bytes < kReadBytes); ++last) {
                bytes += rows[last].record_bytes;
            }
            if (Status written = write_rows({rows.data() + first, last - first}); !written) return written;
            first = last;
        }
        if (progress_ && all_ != 0) progress_(std::min(written_ + report_.end.purged, all_), all_);
        return {};
    }

    Status write_rows(std::span<const MessageRow> rows) {
        std::vector<Sequence> log_positions;
        log_positions.reserve(rows.size());
        for (const MessageRow& row : rows) log_positions.push_back(row.log_position);
        std::sort(log_positions.begin(), log_positions.end());
        const Result<std::vector<OwnedRecord>> records = view_.segments().read_records(log_positions);
        if (!records) return records.error();
        for (const MessageRow& row : rows) {
            const auto at =
                std::lower_bound(log_positions.begin(), log_positions.end(), row.log_position) - log_positions.begin();
            const OwnedRecord& whole = (*records)[static_cast<std::size_t>(at)];
            const Result<MessageRecord> record = decode_message(whole.kind, whole.body);
            if (!record) return record.error();
            write_message_line(line_, line_of(row, record->content, report_.header.server_time_ms));
            ++(row.state.state == State::dead ? report_.end.counts.dead : report_.end.counts.messages);
            ++written_;
            if (Status sent = send(); !sent) return sent;
        }
        return {};
    }

    // A purge ends messages up to this id, a discard those that died before this instant.
    struct UnderWay {
        MessageId purge_through = 0;
        DueMs discard_before_ms = 0;
    };

    const LogView& view_;
    const ExportOptions options_;
    const LineSink& sink_;
    const ExportProgress& progress_;
    ExportReport report_;
    StreamDigest digest_;
    std::string line_;
    std::map<std::pair<std::string, std::string>, UnderWay> under_way_;
    UnderWay ending_;  // of the queue that is being written
    std::uint64_t all_ = 0;
    std::uint64_t written_ = 0;
};

}  // namespace

Result<ExportReport> write_export(const LogView& view, const ExportOptions& options, const LineSink& sink,
                                  const ExportProgress& progress) {
    return Export(view, options, sink, progress).run();
}

}  // namespace duewheel
