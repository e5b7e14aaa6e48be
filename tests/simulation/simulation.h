// One simulated life of a shard: clients, clock, disk, and the process with its crashes and restarts, in one thread,
// determined by one seed. At the end faults stop, consumers drain the queues, and every message must be accounted for.
//
// A shard with a replicated log has a second node (simulation_takeovers.cc), which takes over. To the oracle that is a
// crash and a restart.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/log.h"
#include "shared/random.h"
#include "simulation/event_hash.h"
#include "simulation/oracle.h"
#include "simulation/rare_states.h"
#include "simulation/sim_clock.h"
#include "simulation/sim_log_topic.h"
#include "simulation/sim_nodes.h"
#include "simulation/sim_options.h"
#include "simulation/sim_shard.h"
#include "simulation/sim_topics.h"
#include "simulation/sim_webhooks.h"
#include "simulation/workload.h"

namespace duewheel {

struct SimResult {
    std::optional<Violation> violation;
    std::string history;  // of the message concerned
    std::uint64_t step = 0;
    std::uint64_t hash = 0;
    std::uint64_t events = 0;
    std::uint64_t restarts = 0;
    std::int64_t simulated_ms = 0;
    OracleTotals totals;
    RareStates rare;
};

class Simulation final : private Surroundings {
  public:
    // `verbose`: tells what it does on standard error.
    // `topic`: of the replicated log, if it has one; outlives it.
    explicit Simulation(const SimOptions& options, bool verbose = false, SimLogTopic* topic = nullptr);
    ~Simulation() override;

    // All of it; or one step after the other.
    SimResult run();
    void begin();
    bool has_steps_left() const { return step_ <= options_.steps && !wrong(); }
    void step();
    void end();
    SimResult result() const;

    Oracle& oracle() { return oracle_; }
    // Its last owner has ended, and the next one has not started.
    bool is_without_owner() const { return shard_ == nullptr; }

  private:
    // A log for an operator whom nobody reads, unless somebody does.
    class OperatorLog final : public LogSink {
      public:
        OperatorLog(RareStates& rare, bool verbose) : rare_(rare), verbose_(verbose) {}
        // Whether an end of the log was cut off since the last call.
        bool take_cut() { return std::exchange(cut_, false); }
        void write(LogLevel level, std::string_view event, std::string_view message,
                   std::span<const LogField> fields) override;

      private:
        RareStates& rare_;
        const bool verbose_;
        bool cut_ = false;
    };

    // Surroundings
    void submit(Command command) override;
    void forget(ReplyToken token) override;
    void view_log() override;
    void back_up() override;
    DueMs clock() const override { return clock_.now(); }
    std::uint32_t zone_version() const override { return zone_version_; }
    void wait_until(DueMs then) override;

    bool may_read_the_log() const;
    std::function<void()> others_go_on();
    void look_at_view();
    void look_at_restored(SimDisk& disk);
    void look_at_handed_out(const Delivered& delivered);
    void check_ids_of_restored();

    void act();
    void tick();
    void turn();
    void mark_clock(const std::optional<ClockMark>& mark);
    DueMs next_wakeup() const;
    void process_ends();
    void hear(const ReplyEffect& effect);
    void disturb();
    void watch_disk();
    void before_disk_call(DiskOperation operation, std::string_view path);
    void arm(bool cuts_power, std::uint64_t calls);
    void shrink_disk();
    void give_space_back();
    void go_on_while_full();
    void calm();

    // Deaths and restarts.
    std::unique_ptr<SimShard> take_process();
    void die(bool power_cut);
    void start_later();
    void stop();
    void come_back();
    void start();
    bool try_to_start(bool calm);
    void count_death();
    void count_start();

    // The nodes of a replicated log.
    void act_on_log();
    void follow_log();
    void send_beat();
    void use_storage();
    void change_nodes();
    void pause_owner();
    void wake_paused_owner();
    void judge_paused_owner(SimShard& old);
    void check_delivered_by_paused(const Delivered& delivered);
    void lose_topic();
    void end_takeovers();
    void compare_standby();
    void check_placement(const Command& command, ReplyToken token);

    // The end.
    void finish();
    void settle();
    void settle_without_cleaning();
    void rebuild_and_compare();
    void end_limits();
    void end_groups();
    void ask_for_tokens();
    void end_tokens();
    void tell_queues(ConfigureQueueCommand::What what);
    void end_purges();
    bool log_is_short() const;
    void check_log_length();
    void end_loops(bool endless_only);
    void end_halves();
    void look_at_halves();
    void ask_for_schedules();
    void end_schedules(bool all);
    void drain();
    void drain_round(std::uint64_t& progress);
    std::size_t asked_at_once() const;
    void bring_back();
    void ask_for_all();
    void check_emptiness();
    void damage();

    SimDisk& disk() { return *storage_.disk; }
    MemoryRowStorage& rows() { return *storage_.rows; }
    bool wrong() const { return oracle_.violated(); }
    bool has(Fault fault) const { return options_.has(fault); }
    bool has_hooks() const { return options_.has(Op::hook); }
    bool has_topics() const { return options_.has(Op::topic); }
    bool has_target(const QueueSettings& settings) const {
        return (has_hooks() && settings.webhook) || (has_topics() && settings.kafka);
    }
    // The next wakeup of what delivers to targets.
    DueMs next_target_wakeup() const;
    bool disk_is_small() const { return capacity_ != SimDisk::kDefaultCapacityBytes; }
    void say(const char* what, std::int64_t value = 0) const;

    const SimOptions options_;
    const bool verbose_;
    RareStates rare_;
    EventHash hash_;
    Random random_;       // of the course of things
    Random disk_random_;  // of what a power cut leaves
    Random limits_random_;
    SimStorage storage_;  // of the owner
    Retention retention_;
    OperatorLog log_;
    Oracle oracle_;
    Workload workload_;
    SimWebhooks webhooks_;
    SimTopics topics_;
    SimLogTopic* const topic_;          // null: the log has no copies
    std::optional<SimNodes> nodes_;     // none: likewise, or any more
    std::unique_ptr<SimShard> shard_;   // null: until the next owner starts
    std::unique_ptr<SimShard> paused_;  // an owner that was replaced while it was paused
    ReplicatedJournal* paused_journal_ = nullptr;
    std::map<MessageId, std::uint32_t> delivered_by_paused_;  // the attempt
    std::uint64_t steps_until_start_ = 0;

    SimClock clock_;
    std::uint32_t zone_version_ = 0;
    std::uint64_t step_ = 0;
    std::uint64_t submitted_ = 0;  // commands of clients
    std::uint64_t restarts_ = 0;
    std::uint64_t calls_left_ = 0;  // of the disk, until the process is cut off
    bool cut_power_ = false;
    bool only_syncs_ = false;             // are counted
    std::uint64_t storm_until_step_ = 0;  // deaths come more often
    std::uint64_t stops_again_at_ = 0;    // a step; 0: none
    bool cut_off_ = false;
    bool names_in_doubt_ = false;  // a failed sync of a directory: no file system goes on from there
    std::uint64_t capacity_ = SimDisk::kDefaultCapacityBytes;
    std::uint64_t commit_in_doubt_ = 0;
    std::uint64_t leased_now_ = 0;  // deliveries of the drain
    std::vector<LeaseToken> drained_;
    bool draining_ = false;
    std::set<MessageId> ids_of_restored_;  // given out by servers that were started on backups
    EngineCounters counted_;               // of this run, as far as counted
    bool was_held_back_ = false;
};

}  // namespace duewheel
