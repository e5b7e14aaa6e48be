// Which requests may be refused, and with what.
#include <algorithm>
#include <set>

#include "base/error_codes.h"
#include "engine/commands/command_traits.h"
#include "simulation/oracle.h"

namespace duewheel {

// Whether a put or a move could be refused because the message would expire before it is due.
bool Oracle::is_refused_expiry(const Request& request, const MessageModel* about) const {
    if (about == nullptr || !about->expires) return false;
    const When* when = nullptr;
    if (const auto* put = std::get_if<PutCommand>(&request.command)) when = &put->when;
    if (const auto* moved = std::get_if<RescheduleCommand>(&request.command)) when = &moved->when;
    return when != nullptr && about->expires->low <= std::max(due_of(*when, request.submitted_ms).high, now_);
}

// Whether there was as little space as it takes to refuse this.
void Oracle::refused_for_space(const Request& request) {
    const Command& command = request.command;
    const auto* extend = std::get_if<ExtendCommand>(&command);
    const bool says_something = extend != nullptr && (extend->progress || extend->checkpoint);
    const auto* cancel = std::get_if<CancelCommand>(&command);
    const bool asks_to_stop = cancel != nullptr && cancel->running;
    const bool only_changes =
        says_something || asks_to_stop || is_a_move(command) || std::holds_alternative<RedriveCommand>(command) ||
        std::holds_alternative<FailCommand>(command) || std::holds_alternative<ReleaseCommand>(command) ||
        std::holds_alternative<HoldLeaseCommand>(command);
    const auto* told = std::get_if<ControlScheduleCommand>(&command);
    const bool puts = is_a_put(command) || std::holds_alternative<PutScheduleCommand>(command) ||
                      std::holds_alternative<PutWatchdogCommand>(command) ||
                      (told != nullptr && told->what == ControlScheduleCommand::What::fire);
    const MessageModel* about = message(request.serial);
    const bool is_lease = about != nullptr && std::holds_alternative<LeaseMessageCommand>(command);
    if (is_lease && least_space_ >= LogSpace::cleaning) ++leases_[about->put.queue].lost;  // as below
    if (puts) {
        if (least_space_ != LogSpace::enough) {
            if (some_loop_is_behind(nullptr)) rare_.met(Rare::loop_waited_for_space);
            if (some_schedule_is_behind()) rare_.met(Rare::schedule_waited_for_space);
            return rare_.met(Rare::put_refused_when_full);
        }
    } else if (only_changes) {
        if (least_space_ >= LogSpace::reserve) return rare_.met(Rare::change_refused_in_the_reserve);
    } else if (least_space_ >= LogSpace::cleaning && !std::holds_alternative<GetCommand>(command)) {
        // What it would have got is ready again, and the attempts count.
        if (const auto* lease = std::get_if<LeaseCommand>(&command)) ++leases_[lease->queue].lost;
        return rare_.met(Rare::refused_by_a_log_that_stands_still);
    }
    violate("C11", "refused for want of space, though there is enough for it", message(request.serial));
}

// How much a namespace holds is not known here; that it shares the disk is.
void Oracle::refused_for_its_share_of_the_disk() {
    rare_.met(Rare::share_of_the_disk_refused);
    std::set<std::string> names;
    for (const auto& [name, space] : namespaces_) names.insert(name);
    for (const auto& [queue, model] : queues_) names.insert(queue.first);
    if (names.size() < 2) violate("C11", "refused for its share of the disk, and there is no other namespace");
}

void Oracle::error_replied(const Request& request, const Error& error) {
    MessageModel* about = message(request.serial);
    if (about != nullptr) note(*about, name_of(error.code));
    const ErrorCode code = error.code;
    if (code == "too_busy"_code) return rare_.met(Rare::too_busy);
    if (code == "store_full"_code && error.field == "namespace") return refused_for_its_share_of_the_disk();
    if (code == "store_full"_code) return refused_for_space(request);
    if (code == "in_flight"_code && about != nullptr && replaces(request.command)) return replace_refused(*about);
    if (code == "key_conflict"_code && about != nullptr && std::holds_alternative<PutCommand>(request.command) &&
        std::get<PutCommand>(request.command).on_key == OnKey::once &&
        may_conflict(*about, std::get<PutCommand>(request.command))) {
        return rare_.met(Rare::key_conflict);
    }
    const bool is_of_schedules = changes_a_schedule(request.command) || schedule_of(request.command) != nullptr ||
                                 std::holds_alternative<ListSchedulesCommand>(request.command);
    if (is_of_schedules) return schedule_refused(request, error);
    if (is_of_watchdogs(request.command)) return;  // seen to
    if (const auto* forecast = std::get_if<ForecastCommand>(&request.command);
        forecast != nullptr && code == "out_of_range"_code) {
        if (forecast->minutes >= 1 && forecast->minutes <= options_.forecast_minutes_max)
            violate("X", "a forecast of as many minutes as there may be is refused");
        return rare_.met(Rare::forecast_refused);
    }
    if (code == "waiter_limit"_code) return rare_.met(Rare::too_many_waiters);
    if (code == "unknown_queue"_code) return refused_as_unknown(request);
    if (std::holds_alternative<ConfigureQueueCommand>(request.command) && code != "queue_limit"_code) {
        return settings_refused(request, error);
    }
    const bool is_for_want_of_room = code == "queue_full"_code || code == "namespace_full"_code;
    if (const auto* redrive = std::get_if<RedriveCommand>(&request.command);
        redrive != nullptr && is_for_want_of_room) {
        PutCommand like_it;
        like_it.name_space = redrive->name_space;
        like_it.queue = redrive->queue;
        if (!may_have_no_room(like_it, request, code))
            violate("C11", "a redrive is refused although its queue is not full");
        return;
    }
    if (code == "not_leasable"_code && about != nullptr) {
        if (!may_be_unleasable(*about)) violate("X", "refused with not_leasable: " + error.message, about);
        return rare_.met(Rare::lease_by_id_refused);
    }
    if (code == "made_ready"_code && about != nullptr) return made_ready(request, *about);
    const bool may_return = std::holds_alternative<KickCommand>(request.command) ||
                            std::holds_alternative<LeaseMessageCommand>(request.command);
    if (may_return && is_for_want_of_room && about != nullptr) {
        const bool may_be_dead = may_have_died(*about) || about->may_be(World::Phase::dead) || !about->open.empty();
        if (!may_be_dead) violate("C4", "a kick of what is not dead is refused for want of room", about);
        if (!may_have_no_room(about->put, request, code))
            violate("C11", "a kick is refused although its queue is not full", about);
        return rare_.met(Rare::kick_found_no_room);
    }
    if (const auto* put = std::get_if<PutCommand>(&request.command); put != nullptr && is_for_want_of_room) {
        const QueueKey queue{put->name_space, put->queue};
        if (some_loop_is_behind(&queue)) rare_.met(Rare::loop_waited_for_room);
        if (!may_have_no_room(*put, request, code))
            violate("C11", "a put is refused although its queue is not full", about);
        return;
    }
    if (const auto* put = std::get_if<PutCommand>(&request.command); put != nullptr && code == "too_many_puts"_code) {
        return refused_for_its_rate(*put, request);
    }
    if (code == "queue_limit"_code && error.field == "transaction.check_back.queue") {
        const auto* half = std::get_if<PutCommand>(&request.command);
        const bool asks_elsewhere = half != nullptr && half->transaction && !half->transaction->check_queue.empty() &&
                                    half->transaction->check_queue != half->queue;
        if (!asks_elsewhere) violate("C11", "a put is refused for a check queue that it does not need", about);
        const bool has_limit =
            half != nullptr && (options_.queues_max <= kQueuesAtMost || namespace_of(half->name_space).was_limited);
        if (!has_limit) violate("C11", "a put is refused for a check queue where nothing limits them", about);
        return rare_.met(Rare::half_refused_for_its_check_queue);
    }
    if (code == "queue_limit"_code) return rare_.met(Rare::too_many_queues);
    if (code == "bad_lease_token"_code && !request.known_lease) return rare_.met(Rare::forged_token_refused);
    if (code == "unknown_id"_code || code == "unknown_key"_code) {
        const std::string* name_space = std::visit(
            [](const auto& command) -> const std::string* {
                if constexpr (requires { command.id, command.name_space; }) return &command.name_space;
                return nullptr;
            },
            request.command);
        const bool is_foreign = name_space != nullptr && about != nullptr && *name_space != about->put.name_space;
        if (is_foreign || (about == nullptr && code == "unknown_id"_code)) {
            if (std::holds_alternative<SettleCommand>(request.command)) rare_.met(Rare::settle_of_an_unknown_id);
            return;
        }
    }
    if (code == "unknown_key"_code && about != nullptr && about->records > 0) {
        const Worlds worlds = with_open_commands(*about, 0);
        const bool may_be_unknown = std::any_of(worlds.begin(), worlds.end(),
                                                [](const World& world) { return world.phase == World::Phase::absent; });
        if (may_be_unknown || request.was_absent) return;
    }
    if (code == "not_waiting"_code && about != nullptr) {
        const Worlds worlds = with_open_commands(*about, 0);
        const bool may_be = std::any_of(worlds.begin(), worlds.end(), [](const World& world) {
            return world.phase == World::Phase::held || world.is_prepared();
        });
        if (may_be) return rare_.met(about->half ? Rare::refused_while_prepared : Rare::refused_while_held);
    }
    if (code == "delay_too_long"_code) {
        const When* when = nullptr;
        if (const auto* put = std::get_if<PutCommand>(&request.command)) when = &put->when;
        if (const auto* moved = std::get_if<RescheduleCommand>(&request.command)) when = &moved->when;
        if (when != nullptr && due_of(*when, now_).high > request.submitted_ms + options_.delay_max_ms) {
            return rare_.met(Rare::delay_too_long);
        }
        const auto* put = std::get_if<PutCommand>(&request.command);
        if (put != nullptr && put->expires &&
            due_of(*put->expires, now_).high > request.submitted_ms + options_.delay_max_ms) {
            return;
        }
    }
    if (code == "expires_too_soon"_code && is_refused_expiry(request, about)) return rare_.met(Rare::expires_too_soon);
    if (is_refused_loop(request, about, code)) {
        return rare_.met(code == "repeats"_code ? Rare::loop_cannot_be_moved : Rare::loop_refused);
    }
    if (is_refused_half(request, code)) return rare_.met(Rare::half_refused);
    if (code == "gone"_code && about != nullptr) {
        rare_.met(Rare::answered_gone);
        const Worlds worlds = with_open_commands(*about, 0);
        const bool may_be = std::any_of(worlds.begin(), worlds.end(), [&](const World& world) {
            const DueMs ended = world.is_unfinished() && about->expires ? about->expires->low : world.ended.low;
            if (may_be_let_go(*about, world) && world.ended.low + options_.dead_kept_ms + keep_ms_ < latest()) {
                return true;
            }
            if (may_be_discarded(*about, world) && world.ended.low + keep_ms_ < latest()) return true;
            return (world.is_ended() || (world.is_unfinished() && about->expires)) && ended + keep_ms_ < latest();
        });
        if (may_be) return;
    }
    violate("X", "refused with " + std::string(name_of(code)) + ": " + error.message, about);
}

}  // namespace duewheel
