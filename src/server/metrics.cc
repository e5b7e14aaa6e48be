#include "server/metrics.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

#include "server/limit.h"

namespace duewheel {
namespace {

class Page {
  public:
    void counter(std::string_view name, std::string_view help, std::uint64_t value) {
        head(name, help, "counter");
        line(name, "", std::to_string(value));
    }
    void gauge(std::string_view name, std::string_view help, std::uint64_t value) {
        head(name, help, "gauge");
        line(name, "", std::to_string(value));
    }
    // 1 in the line of the state that there is, 0 in all others.
    void clock(const ClockStatus& status) {
        head("duewheel_clock_ahead_seconds", "How far the wall clock is ahead of server time; negative: behind.",
             "gauge");
        const std::string digits = decimal(static_cast<std::uint64_t>(std::abs(status.ahead_ms())), 1000);
        line("duewheel_clock_ahead_seconds", "", (status.ahead_ms() < 0 ? "-" : "") + digits);
        head("duewheel_clock_state", "1 in the line of the state that server time is in.", "gauge");
        for (const ClockState state :
             {ClockState::steady, ClockState::slow, ClockState::quarantine, ClockState::held, ClockState::test}) {
            line("duewheel_clock_state", "{state=\"" + std::string(clock_state_name(state)) + "\"}",
                 state == status.state ? "1" : "0");
        }
        counter("duewheel_clock_jumps_total", "Jumps of server time: believed, accepted, or made by command.",
                status.jumps);
    }
    // The limits in force, and how much of them is used: durations are in seconds.
    void limits(const ServerOptions& options, const LimitLevels& levels) {
        head("duewheel_limit", "The limits in force.", "gauge");
        for (const Limit& limit : duewheel::limits()) {
            const std::int64_t value = limit.read(options);
            const bool time = limit.unit == LimitUnit::milliseconds;
            line("duewheel_limit", "{limit=\"" + std::string(limit.name) + "\"}",
                 time ? decimal(static_cast<std::uint64_t>(value), 1000) : std::to_string(value));
        }
        head("duewheel_limit_use", "What counts against a limit now.", "gauge");
        for (const Limit& limit : duewheel::limits()) {
            if (limit.use == nullptr) continue;
            line("duewheel_limit_use", "{limit=\"" + std::string(limit.name) + "\"}",
                 std::to_string(limit.use(levels)));
        }
    }
    // A gauge with one line for each of these queues.
    void gauge_of_queues(std::string_view name, std::string_view help, const std::vector<Engine::QueueCounters>& queues,
                         std::uint64_t (*value)(const Engine::QueueCounters&)) {
        if (queues.empty()) return;
        head(name, help, "gauge");
        for (const Engine::QueueCounters& queue : queues) {
            line(name, "{namespace=\"" + queue.name.name_space + "\",queue=\"" + queue.name.queue + "\"}",
                 std::to_string(value(queue)));
        }
    }
    // One with a line for each of these namespaces, or for those of them that have this limit.
    void of_namespaces(std::string_view name, std::string_view help, const std::vector<NamespaceAnswer>& namespaces,
                       std::uint64_t (*value)(const NamespaceAnswer&), bool is_limit) {
        bool has_head = false;
        for (const NamespaceAnswer& space : namespaces) {
            if (is_limit && value(space) == 0) continue;
            if (!std::exchange(has_head, true)) head(name, help, "gauge");
            line(name, "{namespace=\"" + space.name_space + "\"}", std::to_string(value(space)));
        }
    }
    // One with a line for each of these schedules.
    void of_schedules(std::string_view name, std::string_view help, std::string_view type,
                      const std::vector<Engine::ScheduleCounters>& schedules,
                      std::uint64_t (*value)(const Engine::ScheduleCounters&)) {
        if (schedules.empty()) return;
        head(name, help, type);
        for (const Engine::ScheduleCounters& schedule : schedules) {
            line(name, "{namespace=\"" + schedule.name_space + "\",schedule=\"" + schedule.name + "\"}",
                 std::to_string(value(schedule)));
        }
    }
    // `per_second`: how many of the histogram's units make a second.
    void seconds(std::string_view name, std::string_view help, const Histogram& histogram, std::uint64_t per_second) {
        head(name, help, "histogram");
        const std::string bucket = std::string(name) + "_bucket";
        // Each power of two less one ends a bucket of the histogram, so that these counts are exact.
        for (std::uint64_t bound = 64; bound <= 64ull << 20; bound *= 4) {
            line(bucket, "{le=\"" + decimal(bound - 1, per_second) + "\"}",
                 std::to_string(histogram.count_up_to(bound - 1)));
        }
        line(bucket, "{le=\"+Inf\"}", std::to_string(histogram.count()));
        line(std::string(name) + "_sum", "", decimal(histogram.sum(), per_second));
        line(std::string(name) + "_count", "", std::to_string(histogram.count()));
    }
    std::string take() { return std::move(text_); }

  private:
    void head(std::string_view name, std::string_view help, std::string_view type) {
        text_.append("# HELP ").append(name).append(" ").append(help).append("\n");
        text_.append("# TYPE ").append(name).append(" ").append(type).append("\n");
    }
    void line(std::string_view name, std::string_view labels, std::string_view value) {
        text_.append(name).append(labels).append(" ").append(value).append("\n");
    }
    static std::string decimal(std::uint64_t value, std::uint64_t per_second) {
        std::string digits = std::to_string(value % per_second);
        const std::size_t width = std::to_string(per_second).size() - 1;
        return std::to_string(value / per_second) + "." + std::string(width - digits.size(), '0') + digits;
    }

    std::string text_;
};

void add_engine(Page& page, const EngineCounters& counters) {
    page.counter("duewheel_accepted_total", "Messages accepted.", counters.accepted);
    page.counter("duewheel_fired_total", "Times a message became ready.", counters.fired);
    page.counter("duewheel_delivered_total", "Messages handed out with a lease.", counters.delivered);
    page.counter("duewheel_done_total", "Messages acknowledged.", counters.done);
    page.counter("duewheel_failed_total", "Leases ended as failed.", counters.failed);
    page.counter("duewheel_cancelled_total", "Messages cancelled.", counters.cancelled);
    page.counter("duewheel_spawned_total", "Messages that loops, schedules and watchdogs made.", counters.spawned);
    page.counter("duewheel_schedule_runs_total", "Runs that schedules made by their rules.", counters.schedule_runs);
    page.counter("duewheel_schedule_runs_late_total", "Of these, the ones made up for after they were missed.",
                 counters.schedule_runs_late);
    page.counter("duewheel_schedule_runs_by_hand_total", "Runs of schedules that were fired by hand.",
                 counters.schedule_runs_by_hand);
    page.counter("duewheel_schedule_times_skipped_total", "Nominal times of schedules that made no run.",
                 counters.schedule_times_skipped);
    page.counter("duewheel_schedule_times_merged_total",
                 "Nominal times of schedules that were merged into another run.", counters.schedule_times_merged);
    page.counter("duewheel_watchdog_feeds_total", "Feeds of watchdogs; being set up counts as one.",
                 counters.watchdog_feeds);
    page.counter("duewheel_watchdog_feeds_late_total",
                 "Of these, the ones of watchdogs that were due, or had fired since they were fed.",
                 counters.watchdog_feeds_late);
    page.counter("duewheel_watchdog_firings_total", "Messages that watchdogs made.", counters.watchdog_firings);
    page.gauge("duewheel_watchdogs", "Watchdogs.", counters.watchdogs);
    page.gauge("duewheel_schedules", "Schedules; the first 100 by name have lines below.", counters.schedules);
    page.counter("duewheel_prepared_total", "Messages put in a transaction.", counters.prepared);
    page.counter("duewheel_committed_total", "Messages of transactions committed.", counters.committed);
    page.counter("duewheel_rolled_back_total", "Messages of transactions rolled back.", counters.rolled_back);
    page.counter("duewheel_unanswered_total", "Of these two, the ones settled by default because nobody answered.",
                 counters.unanswered);
    page.counter("duewheel_checks_total", "Check messages put for transactions that were not answered in time.",
                 counters.checks);
    page.counter("duewheel_expired_total", "Messages whose time was over before anybody took them.", counters.expired);
    page.counter("duewheel_rescheduled_total", "Messages moved to another due time.", counters.rescheduled);
    page.counter("duewheel_leases_lost_total", "Leases that ran out.", counters.leases_lost);
    page.counter("duewheel_dead_total", "Times a message died: its attempts were used up.", counters.dead);
    page.counter("duewheel_held_total", "Times a message was set aside.", counters.held);
    page.counter("duewheel_brought_back_total", "Messages kicked or redriven.", counters.brought_back);
    page.counter("duewheel_dead_let_go_total", "Dead messages that were kept long enough.", counters.let_go);
    page.counter("duewheel_dead_discarded_total", "Dead messages that were discarded.", counters.discarded);
    page.gauge("duewheel_pending", "Messages that have not ended.", counters.pending);
    page.gauge("duewheel_ready", "Due messages in memory.", counters.ready);
    page.gauge("duewheel_leased", "Messages with a consumer.", counters.leased);
    page.gauge("duewheel_waiting_consumers", "Consumers that wait for a message.", counters.waiters);
    page.gauge("duewheel_queues", "Queues known.", counters.queues);
    page.gauge("duewheel_order_lines", "Order keys with a message in memory, or one that waits for its turn.",
               counters.order_lines);
    page.counter("duewheel_commits_total", "Commits made durable.", counters.commits);
    page.counter("duewheel_records_total", "Records made durable.", counters.records);
    page.counter("duewheel_commands_deferred_total", "Commands that waited for another one on the same message.",
                 counters.deferred);
    page.gauge("duewheel_commands_waiting", "Commands that wait for a commit.", counters.commands_waiting);
    page.gauge("duewheel_puts_held_back", "1 while puts wait for segments to be sealed or made ready.",
               counters.puts_held_back ? 1 : 0);
    page.gauge("duewheel_store_full", "1 while puts are refused because the disk is nearly full.",
               counters.space != LogSpace::enough ? 1 : 0);
    page.gauge("duewheel_store_reserve",
               "1 while only the reserve of the log is left, and changes that end no message are refused.",
               counters.space >= LogSpace::reserve ? 1 : 0);
    page.counter("duewheel_puts_refused_full_total", "Puts refused because the disk was nearly full.",
                 counters.refused_full);
    page.counter("duewheel_changes_refused_full_total", "Other requests refused because the disk was full.",
                 counters.changes_refused_full);
    page.gauge("duewheel_unsealed_segments", "Full segments that are not in the index yet.",
               counters.unsealed_segments);
    page.gauge("duewheel_entries_in_memory", "Messages that have an entry in memory.", counters.in_memory);
    page.gauge("duewheel_entry_memory_bytes", "Memory of entries, wheel and cached bodies.", counters.memory_bytes);
    page.gauge("duewheel_record_cache_bytes", "Bodies kept in memory for messages that are due soon.",
               counters.cached_bytes);
    page.counter("duewheel_loaded_total", "Messages read from the index into memory.", counters.loaded);
    page.counter("duewheel_evicted_total", "Due messages left on disk because their queue is full in memory.",
                 counters.evicted);
    page.counter("duewheel_questions_total", "Look-ups in the index and the log.", counters.questions);
    page.counter("duewheel_stale_answers_total", "Look-ups that were overtaken by a new table.",
                 counters.stale_answers);
    page.counter("duewheel_listed_total", "Messages in the pages of listings.", counters.listed);
    page.counter("duewheel_carried_total", "Messages written again by cleaning.", counters.carried);
    page.counter("duewheel_purged_total", "Messages ended by a purge of their queue.", counters.purged);
    page.gauge("duewheel_server_time_milliseconds", "Server time, milliseconds since 1970 UTC.",
               static_cast<std::uint64_t>(counters.server_time_ms));
    page.gauge("duewheel_loaded_until_milliseconds", "Everything due before this server time is in memory.",
               static_cast<std::uint64_t>(counters.loaded_until_ms));
}

// Queues have lines of their own, and no more than so many of them, the busiest: whoever
// puts under a fresh name for each request must not make the page grow. Names hold no letter that would need an escape.
constexpr std::size_t kQueuesMax = 100;

void add_queues(Page& page, const Engine& engine) {
    const Engine::QueueSums sums = engine.queue_sums();
    page.gauge("duewheel_dead", "Dead messages that are kept, of all queues.", sums.dead);
    page.gauge("duewheel_held", "Messages that are set aside, of all queues.", sums.held);
    page.gauge("duewheel_prepared", "Messages of open transactions, of all queues.", sums.prepared);
    page.gauge("duewheel_queues_with_settings", "Queues that have settings.", sums.with_settings);
    const std::vector<Engine::QueueCounters> queues = engine.queue_traffic(kQueuesMax).busiest;
    using Counters = Engine::QueueCounters;
    page.gauge_of_queues("duewheel_queue_pending", "Messages of a queue that have not ended.", queues,
                         [](const Counters& queue) { return queue.pending; });
    page.gauge_of_queues("duewheel_queue_ready", "Due messages of a queue in memory.", queues,
                         [](const Counters& queue) { return queue.ready; });
    page.gauge_of_queues("duewheel_queue_leased", "Messages of a queue with a consumer.", queues,
                         [](const Counters& queue) { return queue.leased; });
    page.gauge_of_queues("duewheel_queue_waiting_consumers", "Consumers that wait for a message of a queue.", queues,
                         [](const Counters& queue) { return queue.waiters; });
    page.gauge_of_queues("duewheel_queue_paused", "1 while a queue is paused.", queues,
                         [](const Counters& queue) { return std::uint64_t{queue.paused}; });
}

// As queues, no more than so many.
constexpr std::size_t kNamespacesMax = 100;

void add_namespaces(Page& page, const Engine& engine, const EngineCounters& counters) {
    page.gauge("duewheel_namespaces_with_settings",
               "Namespaces that have settings; the first 100 by name have lines below.", counters.namespaces);
    page.counter("duewheel_namespace_refusals_total", "Requests refused by a limit of their namespace.",
                 counters.quota_refusals);
    const std::vector<NamespaceAnswer> all = engine.namespaces_with_settings(kNamespacesMax);
    page.of_namespaces(
        "duewheel_namespace_pending", "Messages of a namespace that have not ended.", all,
        [](const NamespaceAnswer& space) { return space.pending; }, false);
    page.of_namespaces(
        "duewheel_namespace_pending_limit", "How many of these there may be.", all,
        [](const NamespaceAnswer& space) { return space.settings.pending_max; }, true);
    page.of_namespaces(
        "duewheel_namespace_queues", "Queues of a namespace.", all,
        [](const NamespaceAnswer& space) { return space.queues; }, false);
    page.of_namespaces(
        "duewheel_namespace_queues_limit", "How many of these there may be.", all,
        [](const NamespaceAnswer& space) { return space.settings.queues_max; }, true);
}

// As queues, no more than so many. Their counts are durable: they do not begin anew with a start.
constexpr std::size_t kSchedulesMax = 100;

void add_schedules(Page& page, const Engine& engine) {
    const std::vector<Engine::ScheduleCounters> schedules = engine.schedules_by_name(kSchedulesMax);
    using Counters = Engine::ScheduleCounters;
    page.of_schedules("duewheel_schedule_made_total", "Runs of a schedule by its rule.", "counter", schedules,
                      [](const Counters& schedule) { return schedule.made; });
    page.of_schedules("duewheel_schedule_late_total", "Of these, the ones made up for after they were missed.",
                      "counter", schedules, [](const Counters& schedule) { return schedule.late; });
    page.of_schedules("duewheel_schedule_by_hand_total", "Runs of a schedule that were fired by hand.", "counter",
                      schedules, [](const Counters& schedule) { return schedule.fired; });
    page.of_schedules("duewheel_schedule_skipped_total", "Nominal times of a schedule that made no run.", "counter",
                      schedules, [](const Counters& schedule) { return schedule.skipped; });
    page.of_schedules("duewheel_schedule_merged_total", "Nominal times of a schedule merged into another run.",
                      "counter", schedules, [](const Counters& schedule) { return schedule.merged; });
    page.of_schedules("duewheel_schedule_next_milliseconds",
                      "Next nominal time of a schedule, milliseconds since 1970 UTC; 0: none.", "gauge", schedules,
                      [](const Counters& schedule) { return static_cast<std::uint64_t>(schedule.next_ms); });
    page.of_schedules("duewheel_schedule_paused", "1 while a schedule is paused.", "gauge", schedules,
                      [](const Counters& schedule) { return std::uint64_t{schedule.paused}; });
}

void add_webhooks(Page& page, const WebhookCounters& webhooks) {
    page.gauge("duewheel_webhook_queues", "Queues whose messages are posted.", webhooks.targets);
    page.gauge("duewheel_webhook_targets_resting", "Targets that failed in a row and are tried now and then.",
               webhooks.targets_open);
    page.gauge("duewheel_webhooks_under_way", "Webhooks being posted.", webhooks.under_way);
    page.counter("duewheel_webhooks_posted_total", "Webhooks posted.", webhooks.posted);
    page.counter("duewheel_webhooks_delivered_total", "Webhooks answered with 2xx.", webhooks.delivered);
    page.counter("duewheel_webhooks_refused_total", "Webhooks answered otherwise.", webhooks.refused);
    page.counter("duewheel_webhooks_unanswered_total", "Webhooks whose answer did not come, or not in time.",
                 webhooks.no_answer);
    page.counter("duewheel_webhooks_not_sent_total", "Webhooks whose target was not reached, or is not who it says.",
                 webhooks.not_sent);
    page.counter("duewheel_webhooks_forbidden_total", "Of these, the ones to an address that may not be reached.",
                 webhooks.forbidden);
    page.counter("duewheel_webhooks_given_back_total", "Messages taken to be posted and put back into their queue.",
                 webhooks.given_back);
    page.counter("duewheel_webhooks_ended_late_total",
                 "Answers that came when the lease was over: the message is posted again.", webhooks.ended_late);
    page.counter("duewheel_webhook_rests_total", "Times a target began to rest.", webhooks.breakers_opened);
    page.counter("duewheel_webhook_targets_gone_total", "Queues paused because their target answered 410.",
                 webhooks.targets_gone);
}

void add_http(Page& page, const HttpCounters& http) {
    page.gauge("duewheel_http_connections", "Open HTTP connections.", http.connections_open);
    page.counter("duewheel_http_connections_total", "HTTP connections accepted.", http.connections_accepted);
    page.counter("duewheel_http_requests_total", "HTTP requests handled.", http.requests);
    page.counter("duewheel_http_received_bytes_total", "Bytes received over HTTP.", http.bytes_in);
    page.counter("duewheel_http_sent_bytes_total", "Bytes sent over HTTP.", http.bytes_out);
    page.counter("duewheel_http_refused_malformed_total", "Requests that are not HTTP.", http.refused_malformed);
    page.counter("duewheel_http_refused_too_large_total", "Requests over a size limit.", http.refused_too_large);
    page.counter("duewheel_http_refused_overload_total", "Requests refused under overload.", http.refused_overload);
    page.counter("duewheel_http_timeouts_total", "Connections closed for being slow or idle.",
                 http.timeouts_header + http.timeouts_body + http.timeouts_idle + http.timeouts_write);
    page.counter("duewheel_http_accept_pauses_total", "Times accepting paused at a limit.", http.accept_pauses);
}

}  // namespace

std::string metrics_page(const ServerOptions& options, const Shard& shard, const HttpCounters& http) {
    Page page;
    const EngineCounters counters = shard.counters();
    add_engine(page, counters);
    add_queues(page, shard.parts().engine());
    add_namespaces(page, shard.parts().engine(), counters);
    add_schedules(page, shard.parts().engine());
    page.clock(shard.clock());
    const LocalJournal& journal = shard.parts().journal();
    const Totals totals = shard.parts().engine().totals();
    page.gauge("duewheel_log_sequence", "Sequence of the newest durable record.", totals.sequence);
    page.gauge("duewheel_log_needed_bytes",
               "Bytes of the log that unfinished and dead messages, settings and schedules need.", totals.needed_bytes);
    page.gauge("duewheel_log_outcome_bytes", "Bytes of the log that outcomes need which are still kept, about.",
               shard.parts().index().outcome_bytes());
    page.gauge("duewheel_log_cleaning", "1 while what is needed of old segments is being carried to the log's end.",
               shard.cleaning().is_at_work() ? 1 : 0);
    page.counter("duewheel_log_carried_bytes_total", "Bytes carried to the log's end, about.",
                 shard.cleaning().carried_bytes());
    page.counter("duewheel_log_segments_dropped_total", "Segments that nothing needed any more.",
                 shard.cleaning().segments_dropped());
    page.gauge("duewheel_log_bytes", "Bytes of the log on disk, spare segments included.", journal.bytes_on_disk());
    page.gauge("duewheel_index_bytes", "Bytes of the index on disk.", shard.parts().index().bytes());
    page.gauge("duewheel_disk_free_bytes", "Free space of the data directory's disk when it was last looked at.",
               shard.parts().space().seen().free_bytes);
    page.gauge("duewheel_spare_segments", "Zero-filled segments ready for use.", journal.ready_spares());
    constexpr std::uint64_t kMicros = 1'000'000;
    page.seconds("duewheel_commit_seconds", "From handing a commit out to its being durable.", shard.times().commit_us,
                 kMicros);
    page.seconds("duewheel_lateness_seconds", "From falling due to being handed out.",
                 shard.delivery_lateness().all_us(), kMicros);
    page.seconds("duewheel_read_seconds", "Look-ups in the index and the log.", shard.times().read_us, kMicros);
    page.seconds("duewheel_seal_seconds", "Building the table of a segment.", shard.times().seal_us, kMicros);
    const WebhookCounters webhooks = shard.pusher() != nullptr ? shard.pusher()->counters() : WebhookCounters{};
    add_webhooks(page, webhooks);
    if (shard.pusher() != nullptr) {
        page.seconds("duewheel_webhook_seconds", "From sending a webhook to the end of its answer.",
                     shard.pusher()->post_us(), kMicros);
    }
    add_http(page, http);
    page.limits(options, {counters, http, webhooks});
    return page.take();
}

}  // namespace duewheel
