// Crashes, stops and restarts of the process.
#include <cstdio>
#include <utility>

#include "base/error_codes.h"
#include "simulation/simulation.h"

namespace duewheel {

void Simulation::count_death() {
    const EngineCounters now = shard_->engine().counters();
    rare_.met(Rare::answer_out_of_date, now.stale_answers);
    rare_.met(Rare::command_deferred, now.deferred);
    rare_.met(Rare::evicted_behind_its_cursor, now.evicted);
    rare_.met(Rare::loaded_from_the_index, now.loaded);
    rare_.met(Rare::lease_lost, now.leases_expired);
    rare_.met(Rare::purged, now.purged);
    rare_.met(Rare::discarded, now.discarded);
    rare_.met(Rare::expired_without_a_command, now.expired);
    const bool cut = cut_off_;
    switch (shard_->step()) {
        case SimShard::Step::commit:
            rare_.met(Rare::died_in_a_commit);
            if (!cut) {
                const Error& error = *shard_->fatal_error();
                const bool is_of_the_topic = error.code == "log_unavailable"_code || error.code == "log_fenced"_code;
                rare_.met(is_of_the_topic                                   ? Rare::log_unavailable
                          : error.message.find("sync") != std::string::npos ? Rare::sync_failed
                                                                            : Rare::write_failed);
            }
            break;
        case SimShard::Step::read:
            if (!cut) rare_.met(Rare::read_failed);
            break;
        case SimShard::Step::seal:
            rare_.met(Rare::died_in_sealing);
            break;
        case SimShard::Step::maintain_spare_segments:
            rare_.met(Rare::died_in_filling_a_spare);
            break;
        case SimShard::Step::clean:
            rare_.met(Rare::died_in_cleaning);
            break;
        default:
            break;
    }
    if (shard_->commit_is_durable()) rare_.met(Rare::died_after_commit_before_answer);
    if (shard_->occurrences_under_way() > 0) rare_.met(Rare::died_with_occurrences_in_flight);
    if (shard_->runs_under_way() > 0) rare_.met(Rare::died_with_runs_in_flight);
}

void Simulation::process_ends() {
    take_process().reset();
}

// What delivers to targets ends, whatever becomes of the shard.
std::unique_ptr<SimShard> Simulation::take_process() {
    if (!shard_) return nullptr;
    if (has_hooks()) webhooks_.process_died();
    if (has_topics()) topics_.process_died();
    if (nodes_) nodes_->count_owner();
    clock_.process_ends(shard_->engine().totals().server_time_ms);
    return std::move(shard_);
}

void Simulation::die(bool power_cut) {
    say(power_cut ? "power cut" : "killed", static_cast<std::int64_t>(shard_->step()));
    if (verbose_ && shard_->fatal_error()) std::fprintf(stderr, "    %s\n", shard_->fatal_error()->message.c_str());
    rare_.met(power_cut ? Rare::power_cut : Rare::killed);
    count_death();
    commit_in_doubt_ =
        shard_->commit_under_way() && !shard_->commit_is_durable() ? shard_->engine().totals().commit + 1 : 0;
    const bool off_already = cut_off_ && cut_power_;
    if (power_cut && !off_already) disk().power_off(disk_random_);
    process_ends();
    if (power_cut && !off_already) disk().power_on();
    oracle_.died(step_);
    calm();
    if (power_cut) clock_.machine_starts();
    start_later();
}

// Without a second node: at once.
void Simulation::start_later() {
    if (nodes_) steps_until_start_ = nodes_->random().below(6);
    if (steps_until_start_ == 0) come_back();
}

// A graceful stop: waiting requests end, what arrived is answered, and the log gets the current time. What does not
// come to an end by itself has until a deadline.
void Simulation::stop() {
    constexpr int kStepsUntilDeadline = 2'000;
    say("told to stop");
    oracle_.stops();
    shard_->engine().stop_waiting();
    std::optional<DueMs> told;
    for (int steps = 0; steps < kStepsUntilDeadline; ++steps) {
        turn();
        if (wrong() || cut_off_ || shard_->fatal_error()) return;  // it dies of that
        if (shard_->engine().is_idle() && shard_->engine().is_serving()) {
            if (told) break;
            mark_clock(clock_.last_mark_wanted());
            if (cut_off_ || shard_->fatal_error()) return;
            told = clock_.now();
            oracle_.time_told(*told);
            shard_->engine().set_time(*told);
            const bool can_be_saved = shard_->engine().counters().space < LogSpace::cleaning;
            if (shard_->engine().save_time()) continue;
            rare_.met(can_be_saved ? Rare::stopped_with_time_saved_already : Rare::stopped_on_a_full_disk);
            if (!can_be_saved) told.reset();
            break;
        }
        shard_->run_step(random_);
        if (random_.chance(200'000)) clock_.go_on_by(1);
    }
    const bool has_drained = told && shard_->engine().is_idle();
    rare_.met(has_drained ? Rare::stopped : Rare::stopped_at_the_deadline);
    if (has_drained && shard_->save_end()) rare_.met(Rare::end_saved_at_a_stop);
    if (cut_off_ || shard_->fatal_error()) return;
    const bool has_written = has_drained && shard_->engine().counters().space < LogSpace::reserve;
    // The next stop is within the grace of the leases that outlive this one.
    const bool keeps_leases = has_written && oracle_.leases_written(*told);
    if (keeps_leases && random_.chance(700'000)) stops_again_at_ = step_ + 1 + random_.below(20);
    if (has_drained) clock_.process_stops(*told);
    if (nodes_ && has_drained && nodes_->journal().release()) rare_.met(Rare::owner_released_its_log);
    process_ends();
    oracle_.died(step_);
    calm();
    start_later();
}

void Simulation::come_back() {
    steps_until_start_ = 0;
    if (random_.chance(500'000)) capacity_ = SimDisk::kDefaultCapacityBytes;  // or it starts on a full disk
    disk().set_capacity(capacity_);
    if (has(Fault::clock_back) && random_.chance(200'000)) clock_.set_wall_back_by(random_.between(0, 5000));
    if (random_.chance(300'000)) clock_.be_down_for(random_.between(0, options_.due_scale_ms));
    clock_.disturb_while_down();
    if (has(Fault::index_lost) && random_.chance(200'000) && rows().row_count() > 0) {
        rare_.met(Rare::index_lost);
        static_cast<void>(rows().discard());
    }
    if (options_.has(Op::schedule) && options_.zones_change && random_.chance(500'000)) ++zone_version_;
    storm_until_step_ = options_.storms ? step_ + 40 : 0;
    if (nodes_ && !paused_ && has(Fault::takeover) && nodes_->random().chance(400'000)) change_nodes();
    start();
}

void Simulation::start() {
    // Recovery may be cut off too; sooner or later it is left in peace.
    for (int tries = 0; tries < 4; ++tries) {
        if (tries < 3 && random_.chance(150'000)) {
            if (has(Fault::cut_in_call)) arm(true, 1 + random_.below(40));
            if (has(Fault::kill_in_call) && random_.chance(500'000)) arm(false, 1 + random_.below(40));
        }
        if (try_to_start(tries == 3)) return;
        if (wrong()) return;
    }
}

bool Simulation::try_to_start(bool must) {
    Result<ReplicateLog> replicate = nodes_ ? nodes_->take_over(storage_) : ReplicateLog();
    if (nodes_) use_storage();
    if (storage_.is_new) clock_.lose_mark();
    Result<std::unique_ptr<SimShard>> opened =
        replicate ? SimShard::open(options_, zone_version_, disk(), rows(), retention_, log_, rare_, hash_, *replicate)
                  : replicate.error();
    const bool disturbed = cut_off_;
    calls_left_ = 0;
    if (opened && !disturbed) {
        shard_ = *std::move(opened);
        storage_.is_new = false;
        if (has_hooks()) webhooks_.start(shard_->engine());
        if (has_topics()) topics_.start(shard_->engine());
        ++restarts_;
        count_start();
        return true;
    }
    if (opened) opened = Error{"io_error"_code, "cut off"};
    calm();
    if (disk_is_small() &&
        opened.error().code == "no_space"_code) {  // no spare to be given up: the operator makes room
        rare_.met(Rare::start_refused_when_full);
        capacity_ = SimDisk::kDefaultCapacityBytes;
        disk().set_capacity(capacity_);
        return try_to_start(must);
    }
    if (!disturbed || must) {
        oracle_.violate("C10", "a start that nothing disturbs fails: " + opened.error().message);
        return false;
    }
    rare_.met(Rare::died_in_recovery);
    return false;
}

void Simulation::count_start() {
    const Totals& totals = shard_->engine().totals();
    hash_.add(totals.commit);
    hash_.add(totals.digest);
    if (log_.take_cut() && commit_in_doubt_ == 0) {
        oracle_.violate("C10", "something was cut off the log although nothing was being written");
    }
    if (commit_in_doubt_ != 0) {
        rare_.met(totals.commit >= commit_in_doubt_ ? Rare::last_commit_kept : Rare::last_commit_lost);
        commit_in_doubt_ = 0;
    }
    if (shard_->is_full()) rare_.met(Rare::started_while_full);
    if (shard_->engine().counters().unsealed_segments > 0) rare_.met(Rare::unsealed_segments_at_start);
    if (shard_->parts().journal().room().closed) rare_.met(Rare::started_on_a_closed_segment);
    clock_.start(totals.server_time_ms, shard_->parts().clock_mark());
    say("started, unfinished:", static_cast<std::int64_t>(totals.live_count));
    oracle_.started(totals.server_time_ms, totals.live_count, step_);
    if (!wrong()) oracle_.tokens_found(shard_->engine().tokens(), true);
    if (!wrong()) oracle_.inputs_found(shard_->engine().inputs(), true);
    if (!wrong()) oracle_.check_live_count(totals.live_count, "after a restart, by the positions of inputs");
    if (!wrong() && oracle_.zone_version() != zone_version_) {
        oracle_.zones_changed(zone_version_, shard_->engine().schedules_by_name(SIZE_MAX));
    }
    if (shard_->parts().recovery().loaded_leases > 0) rare_.met(Rare::lease_kept_in_the_index);
    if (!wrong()) turn();
    if (!wrong() && !shard_->fatal_error()) oracle_.leases_found(shard_->engine().counters().leased);
}

}  // namespace duewheel
