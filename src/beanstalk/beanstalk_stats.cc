// Listings of tubes, and the statistics of the server, a tube and a job, as YAML (beanstalk_session.h).
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <utility>

#include "beanstalk/beanstalk_job.h"
#include "beanstalk/beanstalk_session.h"
#include "beanstalk/beanstalk_yaml.h"

namespace duewheel {
namespace {

constexpr std::uint32_t kTubesPerPage = 1'000;

std::string_view verb_key(BeanstalkVerb verb) {
    switch (verb) {
        case BeanstalkVerb::put:
            return "cmd-put";
        case BeanstalkVerb::peek:
            return "cmd-peek";
        case BeanstalkVerb::peek_ready:
            return "cmd-peek-ready";
        case BeanstalkVerb::peek_delayed:
            return "cmd-peek-delayed";
        case BeanstalkVerb::peek_buried:
            return "cmd-peek-buried";
        case BeanstalkVerb::reserve:
            return "cmd-reserve";
        case BeanstalkVerb::reserve_with_timeout:
            return "cmd-reserve-with-timeout";
        case BeanstalkVerb::remove:
            return "cmd-delete";
        case BeanstalkVerb::release:
            return "cmd-release";
        case BeanstalkVerb::use:
            return "cmd-use";
        case BeanstalkVerb::watch:
            return "cmd-watch";
        case BeanstalkVerb::ignore:
            return "cmd-ignore";
        case BeanstalkVerb::bury:
            return "cmd-bury";
        case BeanstalkVerb::kick:
            return "cmd-kick";
        case BeanstalkVerb::touch:
            return "cmd-touch";
        case BeanstalkVerb::stats:
            return "cmd-stats";
        case BeanstalkVerb::stats_job:
            return "cmd-stats-job";
        case BeanstalkVerb::stats_tube:
            return "cmd-stats-tube";
        case BeanstalkVerb::list_tubes:
            return "cmd-list-tubes";
        case BeanstalkVerb::list_tube_used:
            return "cmd-list-tube-used";
        case BeanstalkVerb::list_tubes_watched:
            return "cmd-list-tubes-watched";
        case BeanstalkVerb::pause_tube:
            return "cmd-pause-tube";
        default:
            return {};  // beanstalkd does not count them
    }
}

// In the order of beanstalkd.
constexpr BeanstalkVerb kCounted[] = {
    BeanstalkVerb::put,
    BeanstalkVerb::peek,
    BeanstalkVerb::peek_ready,
    BeanstalkVerb::peek_delayed,
    BeanstalkVerb::peek_buried,
    BeanstalkVerb::reserve,
    BeanstalkVerb::reserve_with_timeout,
    BeanstalkVerb::remove,
    BeanstalkVerb::release,
    BeanstalkVerb::use,
    BeanstalkVerb::watch,
    BeanstalkVerb::ignore,
    BeanstalkVerb::bury,
    BeanstalkVerb::kick,
    BeanstalkVerb::touch,
    BeanstalkVerb::stats,
    BeanstalkVerb::stats_job,
    BeanstalkVerb::stats_tube,
    BeanstalkVerb::list_tubes,
    BeanstalkVerb::list_tube_used,
    BeanstalkVerb::list_tubes_watched,
    BeanstalkVerb::pause_tube,
};

std::string seconds_of(std::int64_t us) {
    char text[32];
    const int size = std::snprintf(text, sizeof text, "%" PRId64 ".%06" PRId64, us / 1'000'000, us % 1'000'000);
    return {text, static_cast<std::size_t>(size)};
}

std::string_view job_state(State state) {
    switch (state) {
        case State::ready:
            return "ready";
        case State::leased:
            return "reserved";
        case State::held:
        case State::dead:
            return "buried";
        default:
            return "delayed";
    }
}

std::uint64_t whole_seconds(std::int64_t ms) {
    return ms > 0 ? static_cast<std::uint64_t>(ms / 1'000) : 0;
}

bool has_jobs(const QueueAnswer& queue) {
    return !queue.counts.empty();
}

}  // namespace

void BeanstalkSession::stats(SlotNumber slot) {
    service_.port_.read_totals(service_.while_open<BeanstalkTotals>(
        number_, [this, slot](const BeanstalkTotals& totals) { reply_document(slot, describe_server(totals)); }));
}

std::string BeanstalkSession::describe_server(const BeanstalkTotals& totals) const {
    const EngineCounters& engine = totals.engine;
    const QueueSums& sums = totals.queues;
    const BeanstalkCounters& counters = service_.counters_;
    const std::uint64_t elsewhere = engine.ready + engine.leased + sums.held + sums.prepared;
    BeanstalkYaml yaml;
    yaml.add("current-jobs-urgent", 0);
    yaml.add("current-jobs-ready", engine.ready);
    yaml.add("current-jobs-reserved", engine.leased);
    yaml.add("current-jobs-delayed", engine.pending - std::min(engine.pending, elsewhere));
    yaml.add("current-jobs-buried", sums.held + sums.dead);
    for (const BeanstalkVerb verb : kCounted) {
        yaml.add(verb_key(verb), counters.commands[static_cast<std::size_t>(verb)]);
    }
    yaml.add("job-timeouts", counters.timeouts);
    yaml.add("total-jobs", counters.jobs);
    yaml.add("max-job-size", service_.options_.job_bytes_max);
    yaml.add("current-tubes", std::max<std::uint64_t>(engine.queues, service_.tubes_.all().size()));
    yaml.add("current-connections", service_.sessions_.size());
    yaml.add("current-producers", service_.producers_);
    yaml.add("current-workers", service_.workers_);
    yaml.add("current-waiting", service_.reserving_);
    yaml.add("total-connections", counters.connections);
    const BeanstalkProcess process = service_.options_.process();
    yaml.add("pid", process.pid);
    yaml.add("version", service_.options_.version);
    yaml.add_plain("rusage-utime", seconds_of(process.user_us));
    yaml.add_plain("rusage-stime", seconds_of(process.system_us));
    yaml.add("uptime", whole_seconds(now_ms() - service_.started_ms_));
    yaml.add("binlog-oldest-index", 0);
    yaml.add("binlog-current-index", 0);
    yaml.add("binlog-records-migrated", engine.relocated);
    yaml.add("binlog-records-written", engine.records);
    yaml.add("binlog-max-size", 0);
    yaml.add_plain("draining", service_.is_draining_ ? "true" : "false");
    yaml.add("id", service_.options_.instance);
    yaml.add("hostname", service_.options_.hostname);
    yaml.add("os", service_.options_.os);
    yaml.add("platform", service_.options_.platform);
    return yaml.text();
}

void BeanstalkSession::stats_job(SlotNumber slot, MessageId id) {
    GetCommand get;
    get.id = id;
    service_.submit(*this, std::move(get), [this, slot](Reply result) {
        const auto* message = std::get_if<MessageAnswer>(&result);
        if (message == nullptr || !message->has_content) return reply(slot, "NOT_FOUND\r\n");
        const MessageState& state = message->row.state;
        const std::int64_t server_ms = service_.port_.server_ms();
        std::int64_t left_ms = 0;
        if (state.state == State::leased) {
            left_ms = service_.reserved_.contains(message->row.id) ? service_.time_left_ms(message->row.id)
                                                                   : message->lease_until_ms - server_ms;
        } else if (job_state(state.state) == "delayed") {
            left_ms = state.due_ms - server_ms;
        }
        BeanstalkYaml yaml;
        yaml.add("id", message->row.id);
        yaml.add("tube", state.queue);
        yaml.add("state", job_state(state.state));
        yaml.add("pri", job_priority(state.priority));
        yaml.add("age", whole_seconds(server_ms - message->put_ms));
        // Rounded: server time may have moved between the put and its due time.
        yaml.add("delay", whole_seconds(std::max<std::int64_t>(state.nominal_due_ms - message->put_ms, 0) + 500));
        yaml.add("ttr", ttr_of_headers(message->headers));
        yaml.add("time-left", whole_seconds(left_ms));
        yaml.add("file", 0);
        yaml.add("reserves", state.attempts);
        yaml.add("timeouts", 0);
        yaml.add("releases", 0);
        yaml.add("buries", 0);
        yaml.add("kicks", 0);
        reply_document(slot, yaml.text());
    });
}

void BeanstalkSession::stats_tube(SlotNumber slot, const std::string& tube) {
    DescribeQueueCommand describe;
    describe.queue = tube;
    service_.submit(*this, std::move(describe), [this, slot, tube](Reply result) {
        const auto* queue = std::get_if<QueueAnswer>(&result);
        const bool is_known = service_.tubes_.find(tube) != nullptr || (queue != nullptr && has_jobs(*queue));
        if (!is_known) return reply(slot, "NOT_FOUND\r\n");
        describe_tube(slot, tube, queue == nullptr ? QueueAnswer{} : *queue);
    });
}

void BeanstalkSession::describe_tube(SlotNumber slot, const std::string& tube, const QueueAnswer& queue) {
    const BeanstalkTube* found = service_.tubes_.find(tube);
    const BeanstalkTube of = found == nullptr ? BeanstalkTube{} : *found;
    const std::uint64_t elsewhere = queue.ready + queue.leased + queue.counts.held;
    // The service itself keeps "default".
    const std::uint64_t kept = tube == "default" ? 1 : 0;
    const auto delayed = queue.counts.pending - std::min(queue.counts.pending, elsewhere);
    BeanstalkYaml yaml;
    yaml.add("name", tube);
    yaml.add("current-jobs-urgent", 0);
    yaml.add("current-jobs-ready", queue.ready);
    yaml.add("current-jobs-reserved", queue.leased);
    yaml.add("current-jobs-delayed", delayed);
    yaml.add("current-jobs-buried", queue.counts.held + queue.counts.dead);
    yaml.add("total-jobs", std::max(of.jobs, queue.counts.pending + queue.counts.dead));
    yaml.add("current-using", of.using_it - kept);
    yaml.add("current-watching", of.watching);
    yaml.add("current-waiting", of.waiting);
    yaml.add("cmd-delete", of.deletes);
    yaml.add("cmd-pause-tube", of.pauses);
    yaml.add("pause", of.is_paused(now_ms()) ? of.pause_s : 0);
    yaml.add("pause-time-left", of.is_paused(now_ms()) ? whole_seconds(of.paused_until_ms - now_ms()) : 0);
    reply_document(slot, yaml.text());
}

void BeanstalkSession::when_known(const std::string& tube, std::function<void(bool)> then) {
    if (service_.tubes_.find(tube) != nullptr) return then(true);
    DescribeQueueCommand describe;
    describe.queue = tube;
    service_.submit(*this, std::move(describe), [then = std::move(then)](Reply result) {
        const auto* queue = std::get_if<QueueAnswer>(&result);
        then(queue != nullptr && has_jobs(*queue));
    });
}

void BeanstalkSession::list_tubes(SlotNumber slot) {
    Tubes tubes{.slot = slot, .names = {}};
    for (const auto& [name, tube] : service_.tubes_.all()) tubes.names.insert(name);
    list_more_tubes(std::move(tubes), "");
}

void BeanstalkSession::list_more_tubes(Tubes tubes, const std::string& after) {
    ListQueuesCommand list;
    list.after = after;
    list.limit = kTubesPerPage;
    service_.submit(*this, std::move(list), [this, tubes = std::move(tubes)](Reply result) mutable {
        const auto* page = std::get_if<QueueListAnswer>(&result);
        if (page == nullptr) return refuse(tubes.slot);
        for (const QueueAnswer& queue : page->queues) {
            if (has_jobs(queue)) tubes.names.insert(queue.queue);
        }
        if (!page->complete) return list_more_tubes(std::move(tubes), page->queues.back().queue);
        BeanstalkYaml yaml;
        for (const std::string& name : tubes.names) yaml.add_item(name);
        reply_document(tubes.slot, yaml.text());
    });
}

}  // namespace duewheel
