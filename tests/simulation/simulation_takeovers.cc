// The nodes of a shard with a replicated log: the standby node follows it and takes it over; an owner that was paused
// goes on after that; the topic loses records; and the placement of requests.
#include <algorithm>

#include "base/error_codes.h"
#include "simulation/sim_placement.h"
#include "simulation/simulation.h"

namespace duewheel {
namespace {

constexpr int kStepsOfReplaced = 5'000;
// Tokens of the clients that still send to an owner that was replaced; the oracle does not know them.
constexpr ReplyToken kPutToReplaced = ReplyToken{1} << 40;
constexpr ReplyToken kFirstLeaseOfReplaced = kPutToReplaced + 1;

}  // namespace

void Simulation::act_on_log() {
    if (shard_->fatal_error() || cut_off_) return;
    Random& random = nodes_->random();
    switch (random.below(30)) {
        case 0:
        case 1:
        case 2:
        case 3:
            return follow_log();
        case 4:
            return send_beat();
        case 5:
            return nodes_->trim(shard_->parts().journal(), disk());
        case 6:
            if (has(Fault::takeover) && random.chance(150'000)) die(false);
            return;
        case 7:
            if (has(Fault::owner_paused) && !paused_ && random.chance(250'000)) pause_owner();
            return;
        case 8:
            if (paused_) wake_paused_owner();
            return;
        case 9:
            if (has(Fault::topic_lost) && random.chance(100'000)) lose_topic();
            return;
        default:
            return;
    }
}

void Simulation::follow_log() {
    if (paused_) return;  // on that machine
    if (const Status done = nodes_->follow(); !done) {
        oracle_.violate("C10", "a standby node stops: " + done.error().message);
    }
}

void Simulation::send_beat() {
    const Status sent = nodes_->journal().beat();
    if (sent || cut_off_) return;
    // A claim of its own that was given up may have arrived late.
    if (sent.error().code != "log_unavailable"_code && sent.error().code != "log_fenced"_code) {
        return oracle_.violate("C10", "an owner stops at a sign of life: " + sent.error().message);
    }
    rare_.met(Rare::log_unavailable);
    die(false);
}

// Sets up the owner's storage for what it does next.
void Simulation::use_storage() {
    watch_disk();
    rows().set_free_space([this] { return capacity_ - std::min(capacity_, disk().used_bytes()); });
}

// The node on the other machine is the next owner.
void Simulation::change_nodes() {
    capacity_ = SimDisk::kDefaultCapacityBytes;
    disk().set_capacity(capacity_);
    disk().set_hook({});
    rows().set_free_space([] { return SimDisk::kDefaultCapacityBytes; });
    nodes_->exchange(storage_);
    use_storage();
    clock_.change_machine();
    say("the other node takes over");
}

// For its clients it is gone; a commit that it has begun may be in the topic or not.
void Simulation::pause_owner() {
    say("paused");
    rare_.met(Rare::takeover_beside_a_live_owner);
    count_death();
    commit_in_doubt_ =
        shard_->commit_under_way() && !shard_->commit_is_durable() ? shard_->engine().totals().commit + 1 : 0;
    paused_journal_ = &nodes_->journal();
    paused_ = take_process();
    oracle_.died(step_);
    calm();
    change_nodes();
    start();
}

// It goes on where it was, with what its clients asked before and ask now. It must end before it acknowledges anything
// more, and may deliver only what its successor delivers as possibly delivered before.
void Simulation::wake_paused_owner() {
    say("the paused owner wakes up");
    const std::unique_ptr<SimShard> old = std::move(paused_);
    for (std::uint32_t i = 0; i < options_.queues; ++i) {
        const Workload::QueueOf queue = Workload::queue_name(options_, i);
        old->submit(LeaseCommand{queue.name_space, queue.queue, 10, options_.lease_scale_ms, 0},
                    kFirstLeaseOfReplaced + i);
    }
    const Workload::QueueOf first = Workload::queue_name(options_, 0);
    old->submit(PutCommand{.name_space = first.name_space, .queue = first.queue}, kPutToReplaced);
    judge_paused_owner(*old);
    if (wrong()) return;
    const Status beat = paused_journal_->beat();
    if (beat || (beat.error().code != "log_fenced"_code && beat.error().code != "log_unavailable"_code)) {
        return oracle_.violate("C10", "an owner that was replaced goes on: " + (beat ? "" : beat.error().message));
    }
    if (beat.error().code == "log_fenced"_code) rare_.met(Rare::paused_owner_was_fenced);
}

void Simulation::judge_paused_owner(SimShard& old) {
    for (int left = kStepsOfReplaced; left > 0 && !old.fatal_error(); --left) {
        old.turn(std::max(clock_.now(), old.engine().now()));
        for (const ReplyEffect& effect : old.take_replies()) {
            const bool is_acknowledged =
                effect.token == kPutToReplaced && std::holds_alternative<PutAnswer>(effect.reply);
            if (is_acknowledged) return oracle_.violate("C1", "an owner that was replaced acknowledges a put");
            const auto* lease = std::get_if<LeaseAnswer>(&effect.reply);
            if (lease == nullptr || effect.token < kFirstLeaseOfReplaced) continue;
            for (const Delivered& delivered : lease->messages) {
                rare_.met(Rare::paused_owner_delivered);
                delivered_by_paused_[delivered.id] = delivered.attempt;
            }
        }
        if (!old.run_step(nodes_->random())) return;
    }
}

void Simulation::check_delivered_by_paused(const Delivered& delivered) {
    const auto found = delivered_by_paused_.find(delivered.id);
    if (found == delivered_by_paused_.end() || found->second != delivered.attempt) return;
    rare_.met(Rare::delivered_again_by_its_successor);
    if (delivered.maybe_delivered) return;
    oracle_.violate_delivery("C5", delivered.id, "delivered as if it were new, but its replaced owner delivered it");
}

// The owner must notice that at its next record, and stop: a standby node would lack what was acknowledged. Its own log
// has everything, and an operator starts it without the topic.
void Simulation::lose_topic() {
    if (paused_) wake_paused_owner();
    if (wrong() || shard_->commit_under_way()) return;
    const bool was_calm = topic_->set_calm(true);
    Status sent = nodes_->journal().beat();  // copies that are on their way arrive with it
    const bool is_lost = sent && topic_->lose_end(options_.shard, nodes_->random());
    if (is_lost) sent = nodes_->journal().beat();
    topic_->set_calm(was_calm);
    if (!is_lost) return;
    if (sent || sent.error().code != "log_went_back"_code) {
        return oracle_.violate("C10", "an owner goes on with a topic that has lost acknowledged records");
    }
    rare_.met(Rare::topic_lost_its_end);
    say("the topic lost records");
    count_death();
    process_ends();
    oracle_.died(step_);
    calm();
    nodes_.reset();
    come_back();
}

// So that the rest of the run is judged by the log of the other node, too.
void Simulation::end_takeovers() {
    if (paused_) wake_paused_owner();
    if (wrong() || !has(Fault::takeover) || !nodes_->random().chance(600'000)) return;
    commit_in_doubt_ =
        shard_->commit_under_way() && !shard_->commit_is_durable() ? shard_->engine().totals().commit + 1 : 0;
    count_death();
    process_ends();
    oracle_.died(step_);
    calm();
    change_nodes();
    start();
}

void Simulation::compare_standby() {
    if (const Status same = nodes_->compare(shard_->parts().journal().totals()); !same) {
        oracle_.violate("C3", "the standby node has another log: " + same.error().message);
    }
}

// Clients know only some of the nodes. The one that accepts a request must be of the shard that the documentation says.
void Simulation::check_placement(const Command& command, ReplyToken token) {
    const std::optional<std::uint32_t> accepted_by = shard_of_command(command, options_.shards);
    const std::optional<std::uint32_t> belongs_to = documented_shard(command, options_.shards);
    if (accepted_by && token % options_.shards != *accepted_by) rare_.met(Rare::request_redirected);
    if (accepted_by == belongs_to) return;
    const auto name = [](std::optional<std::uint32_t> shard) { return shard ? std::to_string(*shard) : "any"; };
    oracle_.violate("C12", "a node of shard " + name(accepted_by) + " accepts a request for shard " + name(belongs_to));
}

}  // namespace duewheel
