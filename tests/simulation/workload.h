// The clients: they choose requests at random, know only the messages and leases of their responses, and behave badly
// on purpose: the same message again and again, several commands at once, and requests in the exact millisecond of a
// due time or of the end of a lease.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "shared/random.h"
#include "simulation/oracle.h"
#include "simulation/sim_options.h"

namespace duewheel {

// Occurrences and runs are messages too: each kind must get its share.
inline constexpr std::int64_t kTimesMost = 12;
inline constexpr std::int64_t kTimesOfALongOne = 60;
inline constexpr std::int64_t kDayMs = 86'400'000;

// The destination of requests, and the clock of the clients.
class Surroundings {
  public:
    virtual ~Surroundings() = default;

    virtual void submit(Command command) = 0;
    virtual void forget(ReplyToken token) = 0;
    // Another process reads the log, or makes a backup of it.
    virtual void view_log() = 0;
    virtual void back_up() = 0;
    virtual DueMs clock() const = 0;
    // Version of the server's zone data.
    virtual std::uint32_t zone_version() const = 0;
    // Advances the time to then, if that is later; the server learns it in its next iteration, which may be at once.
    virtual void wait_until(DueMs then) = 0;
};

class Workload {
  public:
    Workload(const SimOptions& options, Oracle& oracle, Surroundings& surroundings, Random random)
        : options_(options), oracle_(oracle), surroundings_(surroundings), random_(random) {}

    // One action of a client; none if it knows no object for it.
    void act();
    // Clients now hold the leases of this reply.
    void take_leases(const LeaseAnswer& answer);
    // The next page of a listing.
    void take_page(const ListAnswer& answer);
    void take_page(const HistoryAnswer& answer);

    struct QueueOf {
        std::string name_space;
        std::string queue;
    };
    // The groups that clients use in every queue.
    static std::vector<std::string> groups();
    static QueueOf queue_name(const SimOptions& options, std::uint32_t number);

  private:
    void act(Op op);
    void put();
    void put_again();
    void say_on_key(PutCommand& command);
    void put_batch();
    PutCommand draw_put(const QueueOf& queue, std::uint64_t serial);
    std::optional<PutCommand> draw_put_again(bool is_unfinished);
    void loop();
    void make_recurring(PutCommand& command);
    RepeatChoice draw_repeat(const When& first);
    void spoil(PutCommand& loop);
    const MessageModel* pick_loop();
    void transact();
    void make_prepared(PutCommand& command);
    void spoil(TransactionRule& rule, PutCommand& command);
    void settle_another();
    void disturb(const MessageModel& half);
    const MessageModel* pick_half();
    void schedule();
    void watchdog();
    PutWatchdogCommand draw_watchdog(const QueueOf& name, const WatchdogModel* known);
    Command draw_watchdog_command(const QueueOf& name, const WatchdogModel& known);
    void repeat(Command command);
    bool has_end_far_ahead(const TimesRule& times) const;
    void put_schedule(const QueueOf& name, const ScheduleModel* known);
    Command draw_schedule_command(const QueueOf& name, const ScheduleModel& known);
    std::optional<PutScheduleCommand> draw_schedule(const QueueOf& name);
    TimesRule draw_times();
    std::optional<ScheduleTimes> times_of(const TimesRule& rule) const;
    void draw_bounds(TimesRule& times, DueMs rest_ms);
    void draw_policies(ScheduleRule& rule);
    void spoil(ScheduleRule& rule);
    When draw_when();
    When draw_expiry(const When& due);
    DueMs draw_delay();
    DueMs draw_instant();
    void lease(bool waits);
    const MessageModel* pick_message();
    const MessageModel* pick_aside_or_dead();
    RetryChoice draw_retry();
    std::int64_t draw_lease_time();
    std::optional<std::int32_t> draw_new_priority();
    std::optional<std::int64_t> draw_extension();  // none: the default of the queue
    const LeaseToken* pick_lease();
    CancelCommand draw_cancel(const MessageModel& message);
    Command draw_change(const MessageModel& message);
    Command draw_lease_end(const LeaseToken& lease);
    void end_lease(Op op);
    void end_batch();
    bool list_dead();
    void discard();
    void forge();
    void configure();
    void burst();
    void collide();
    void list();
    void read_history();
    void list_queues();
    void forecast();
    void limit();
    bool narrow_around_dead();
    void put_beside_dead();
    void kick_into_full();
    void change_token();
    void input();
    TakeRecordsCommand draw_take(const std::string& name, const InputModel& input, std::int64_t position);
    PutCommand draw_record(const QueueOf& queue, std::uint64_t serial);
    const MessageModel* pick_record();
    bool change_record();
    AccessToken draw_token();
    void group();
    void limit_queue(const QueueOf& queue);
    void change_group(const QueueOf& queue);
    std::string draw_group();
    RateRule draw_rate();
    void hook();
    void topic();
    void send(Command command);

    static constexpr std::uint32_t kNone = ~0u;
    std::uint32_t grouped_ = kNone;  // the queue with limits and groups
    const SimOptions& options_;
    Oracle& oracle_;
    Surroundings& surroundings_;
    Random random_;
    std::vector<LeaseToken> leases_;
    std::vector<Command> sent_;  // the last few, to be repeated
    struct Page {
        ListCommand command;
        std::uint32_t asked_in_run = 0;  // 0: not yet
    };
    std::map<std::uint64_t, Page> pages_;  // the next page of each listing in progress
    std::uint64_t listings_ = 0;
    struct HistoryPage {
        HistoryCommand command;
        std::uint32_t asked_in_run = 0;
    };
    std::map<std::uint64_t, HistoryPage> history_pages_;
    std::uint64_t favourite_ = 0;
    std::uint64_t dead_to_kick_ = 0;  // serial of a dead letter whose namespace is full; 0: none
};

}  // namespace duewheel
