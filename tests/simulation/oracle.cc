// The frame of the oracle: runs, requests, and possible worlds. Replies are judged in
// oracle_replies.cc, deliveries in oracle_deliveries.cc, what is left at the end in oracle_end.cc.
#include "simulation/oracle.h"

#include <algorithm>
#include <type_traits>

#include "base/error_codes.h"
#include "engine/commands/command_traits.h"

namespace duewheel {
namespace {

const LeaseToken* lease_of(const Command& command) {
    return std::visit(
        [](const auto& named) -> const LeaseToken* {
            if constexpr (requires { named.lease.code; }) {
                return &named.lease;
            } else {
                return nullptr;
            }
        },
        command);
}

bool ends_a_lease(const Command& command) {
    return std::holds_alternative<AckCommand>(command) || std::holds_alternative<FailCommand>(command) ||
           std::holds_alternative<ReleaseCommand>(command) || std::holds_alternative<HoldLeaseCommand>(command);
}

bool brings_back(const Command& command) {
    return std::holds_alternative<KickCommand>(command) || std::holds_alternative<RedriveCommand>(command);
}

bool changes_a_message(const Command& command) {
    return ends_a_lease(command) || std::holds_alternative<PutCommand>(command) ||
           std::holds_alternative<CancelCommand>(command) || std::holds_alternative<RescheduleCommand>(command) ||
           std::holds_alternative<FireCommand>(command) || std::holds_alternative<HoldCommand>(command) ||
           std::holds_alternative<KickCommand>(command) || std::holds_alternative<DiscardCommand>(command) ||
           std::holds_alternative<SettleCommand>(command) || std::holds_alternative<LeaseMessageCommand>(command);
}

}  // namespace

// ---- runs

void Oracle::started(DueMs floor_ms, std::uint64_t live_count, std::uint64_t step) {
    step_ = step;
    ++run_;
    is_stopping_ = false;
    if (floor_ms < latest_now_) rare_.met(Rare::clock_went_back_over_a_restart);
    now_ = floor_ms;
    for (auto& [query, listing] : listings_) {
        // Where states were chosen it is a change that a message was due, and that the clock went back before it.
        if (listing.first.states == kUnfinishedStates) continue;
        std::erase_if(listing.standing, [this](const auto& each) {
            const World* world = messages_[each.first - 1].certain();
            return each.second.was_due && (world == nullptr || world->due.low > now_);
        });
    }
    incarnation_of_run_.push_back(0);
    leases_started();
    queues_started();
    groups_started();
    check_live_count(live_count, "after a restart");
    for (const MessageModel& message : messages_) {
        const World* world = message.certain();
        if (world != nullptr && world->is_live() && world->due.high <= now_) rare_.met(Rare::due_at_start);
        if (message.is_recurring() && is_behind(message)) rare_.met(Rare::loop_behind_at_start);
    }
    if (some_schedule_is_behind()) rare_.met(Rare::schedule_behind_at_start);
    watchdogs_started();
}

void Oracle::died(std::uint64_t step) {
    step_ = step;
    latest_now_ = std::max(latest_now_, now_);
    totals_.requests_lost += requests_.size();
    for (MessageModel& message : messages_) {
        message.checkpoint.died(step_);
        message.body.died(step_);
        for (SeenDelivery& delivery : message.deliveries) {
            if (delivery.extends_open == 0) continue;  // otherwise it was executed, or never
            delivery.until.high = std::max(delivery.until.high, now_ + options_.lease_max_ms);
            delivery.extends_open = 0;
        }
        while (message.returns_open > 0) returns_closed(message);
        // Its put was executed by now, or never.
        if (message.expires && !message.put.expires->at_ms && !message.open.empty() && !message.answered) {
            message.expires->high = std::min(message.expires->high, now_ + message.put.expires->delay_ms);
        }
        if (message.is_recurring() && !message.put.when.at_ms && !message.open.empty() && !message.answered) {
            DueRange& start = message.loop->start;
            start.high = std::min(start.high, now_ + std::max<DueMs>(message.put.when.delay_ms, 0));
        }
        if (message.open.empty()) continue;
        message.set({run_ + 1, 0}, with_open_commands(message, 0));
        message.open.clear();
        note(message, "died; now possibly several worlds", static_cast<std::int64_t>(message.worlds().size()));
    }
    for (auto& [token, request] : requests_) {
        if (is_a_put(request.command)) puts_lost(request);
        if (const auto* put = std::get_if<PutCommand>(&request.command))
            put_lost(request.serial, *put, request.submitted_ms);
        if (const auto* batch = std::get_if<PutBatchCommand>(&request.command)) {
            for (std::size_t i = 0; i < request.batch.size(); ++i)
                put_lost(request.batch[i], batch->puts[i], request.submitted_ms);
        }
        MessageModel* about = message(request.serial);
        const auto* cancel = std::get_if<CancelCommand>(&request.command);
        const bool stops = about != nullptr && cancel != nullptr && cancel->running;
        if (stops && !about->is_recurring() && !about->half) may_be_purged(*about, request.submitted_ms);
        if (about != nullptr && about->half && std::holds_alternative<SettleCommand>(request.command)) {
            rare_.met(Rare::settle_lost);
            about->half->settle_lost = true;
        }
        if (ends_a_lease(request.command) && request.known_lease) {
            SeenDelivery* delivery = about->delivery_of(*lease_of(request.command));
            delivery->may_have_ended = true;
            delivery->endings_open = 0;
            about->is_priority_in_doubt |= about->priorities_open > 0;
            about->priorities_open = 0;
        }
    }
    queues_died();
    groups_died();
    namespaces_died();
    tokens_died();
    schedules_died();
    watchdogs_died();
    requests_.clear();
    outside_.clear();
    forgotten_.clear();
    for (auto& [queue, leases] : leases_) {
        leases.lost += leases.open;
        leases.open = 0;
    }
}

// ---- requests

MessageId Oracle::id_of(const Command& command) {
    return std::visit(
        [](const auto& named) -> MessageId {
            if constexpr (requires { named.lease.id; }) {
                return named.lease.id;
            } else if constexpr (requires { MessageId{named.id}; }) {
                return named.id;
            } else {
                return 0;
            }
        },
        command);
}

std::string Oracle::body_of(std::uint64_t serial, std::uint32_t bytes) {
    std::string body = std::to_string(serial) + ":";
    const auto letter = static_cast<char>('a' + serial % 26);
    if (body.size() < bytes) body.append(bytes - body.size(), letter);
    return body;
}

ReplyToken Oracle::submitted(const Command& command, const AccessLimits* limits) {
    const ReplyToken token = next_token_++;
    if (limits != nullptr && outside_submitted(command, *limits, token)) return token;
    Request request{command, now_, 0, 0, false, step_, 0, 0, {}, {}, 0};
    request.is_limited = limits != nullptr;
    if (const auto* put = std::get_if<PutCommand>(&command)) {
        put_tried(*put, token, 0);
        request.serial = put_submitted(*put, token);
        request.epoch = message(request.serial)->epochs.size() - 1;
    } else if (std::holds_alternative<PutBatchCommand>(command)) {
        batch_submitted(request, token);
    } else if (const auto* take = std::get_if<TakeRecordsCommand>(&command)) {
        records_submitted(*take, request, token);
    } else if (const auto* lease = std::get_if<LeaseCommand>(&command)) {
        ++leases_[lease->queue].open;
    } else if (const auto* list = std::get_if<ListCommand>(&command)) {
        listing_submitted(*list);
    } else if (const auto* history = std::get_if<HistoryCommand>(&command)) {
        history_submitted(*history);
    } else if (const auto* configure = std::get_if<ConfigureQueueCommand>(&command)) {
        configure_submitted(*configure, token);
    } else if (const auto* group = std::get_if<ChangeGroupCommand>(&command)) {
        group_submitted(*group);
    } else if (schedule_of(command) != nullptr || std::holds_alternative<ListSchedulesCommand>(command)) {
        schedule_submitted(command, token, request);
    } else if (is_of_watchdogs(command)) {
        watchdog_submitted(command, token);
    } else if (is_of_namespaces(command)) {
        namespace_submitted(command, token);
    } else if (is_of_tokens(command)) {
        token_submitted(command, token);
    } else if (const auto* redrive = std::get_if<RedriveCommand>(&command)) {
        queue_of(redrive->name_space, redrive->queue).redriven_ms = now_;
        for (MessageModel* each : in_queue(*redrive)) {
            each->open.push_back(token);
            ++each->returns_open;
            may_come_back(*each);
            const World* world = each->certain();
            if (world != nullptr && world->phase == World::Phase::dead && each->returns_open == 1) {
                request.dead.push_back(each->serial);
            }
        }
    } else if (std::holds_alternative<ForecastCommand>(command)) {
        request.schedule_moves = schedule_moves_;
    } else if (MessageModel* named = named_by(command)) {
        request.serial = named->serial;
        request.epoch = named->epochs.size() - 1;
        request.forgiven_low = named->forgiven_low;
        request.was_absent = named->may_be(World::Phase::absent);
        if (named->is_recurring()) request.made_least = named->loop->made_least;
        if (const LeaseToken* lease_token = lease_of(command)) {
            if (SeenDelivery* delivery = named->delivery_of(*lease_token)) {
                request.known_lease = true;
                if (ends_a_lease(command)) ++delivery->endings_open, ++delivery->endings_sent;
                if (std::holds_alternative<ReleaseCommand>(command)) ++named->forgiven_high;
                if (const auto priority = priority_of(command)) named->may_get_priority(*priority);
                if (const auto* extend = std::get_if<ExtendCommand>(&command)) {
                    ++delivery->extends_open;
                    if (extend->checkpoint) named->checkpoint.sent(*extend->checkpoint, token, step_);
                }
            }
        }
        if (named->half) {
            const auto& checks = named->half->checks;
            request.made_least =
                std::max<std::uint64_t>(checks.empty() ? 0 : checks.rbegin()->first, named->half->checks_told);
            const bool ends =
                std::holds_alternative<SettleCommand>(command) || std::holds_alternative<CancelCommand>(command);
            if (ends) ++named->half->ends_asked;
        }
        const auto* cancel = std::get_if<CancelCommand>(&command);
        if (cancel != nullptr && cancel->running) ++named->stops_sent;
        if (std::holds_alternative<LeaseMessageCommand>(command)) message_lease_submitted(*named);
        if (std::holds_alternative<KickCommand>(command)) {
            ++named->returns_open;
            may_come_back(*named);
            if (named->is_recurring()) named->loop->held_at = UINT64_MAX;
        }
        note(*named, command_name(command), static_cast<std::int64_t>(token));
        for (const auto& [other, open] : requests_) {
            if (open.serial != named->serial || !changes_a_message(open.command)) continue;
            rare_.met(Rare::two_commands_on_one_message);
            break;
        }
    }
    if (request.serial != 0 && changes_a_message(command)) message(request.serial)->open.push_back(token);
    requests_.emplace(token, std::move(request));
    return token;
}

void Oracle::forgotten(ReplyToken token) {
    const auto found = requests_.find(token);
    if (found == requests_.end()) return;
    const auto* lease = std::get_if<LeaseCommand>(&found->second.command);
    if (lease == nullptr) return;
    --leases_[lease->queue].open;
    ++leases_[lease->queue].lost;
    requests_.erase(found);
    forgotten_.insert(token);
}

void Oracle::withdrawn(ReplyToken token) {
    const auto found = requests_.find(token);
    --leases_[std::get<LeaseCommand>(found->second.command).queue].open;
    requests_.erase(found);
}

std::vector<ReplyToken> Oracle::open_leases() const {
    std::vector<ReplyToken> open;
    for (const auto& [token, request] : requests_) {
        const auto* lease = std::get_if<LeaseCommand>(&request.command);
        if (lease != nullptr && !lease->stays) open.push_back(token);
    }
    return open;
}

MessageModel* Oracle::message_of(MessageId id) {
    const auto found = serial_of_id_.find(id);
    return found == serial_of_id_.end() ? nullptr : message(found->second);
}

// ---- worlds

DueRange Oracle::due_of(const When& when, DueMs submitted_ms) const {
    if (when.at_ms) return {std::max<DueMs>(*when.at_ms, 1), std::max<DueMs>(*when.at_ms, 1)};
    const DueMs delay = std::max<DueMs>(when.delay_ms, 0);
    return {submitted_ms + delay, now_ + delay};
}

void Oracle::carry_out(const Request& request, const MessageModel& of, const World& world, Worlds& into) const {
    const DueRange now{request.submitted_ms, now_};
    World next = world;
    const auto retried = [&](DueMs delay) { next.due = {now.low + delay, now.high + delay}; };
    if (is_a_put(request.command)) {
        const auto* put = std::get_if<PutCommand>(&request.command);
        const bool may_replace = replaces(request.command) && (world.is_live() || world.phase == World::Phase::held);
        if (world.phase == World::Phase::absent) {
            next = of.fresh(
                due_of_put(put == nullptr ? of.put : *put, request.submitted_ms, {request.submitted_ms, now_}));
        } else if (may_replace) {
            next.due = next.nominal = due_of_put(*put, request.submitted_ms, of.carried_out);
            if (put->is_held) next.phase = World::Phase::held;
        } else {
            return;
        }
    } else if (brings_back(request.command)) {
        // Those that died without a word were live for all that anybody knows.
        const bool is_kick = std::holds_alternative<KickCommand>(request.command);
        const bool fits = world.phase == World::Phase::dead || (world.is_live() && may_have_died(of)) ||
                          (is_kick && world.phase == World::Phase::held);
        if (!fits || is_surely_discarded(of, world, request.step)) return;
        next = returned(world, now);
    } else if (std::holds_alternative<LeaseMessageCommand>(request.command)) {
        return carry_out_lease(of, world, now, into);
    } else if (std::holds_alternative<DiscardCommand>(request.command)) {
        if (world.phase != World::Phase::dead && !(world.is_live() && may_have_died(of))) return;
        next = World{World::Phase::cancelled, {}, {}, now};
    } else if (!world.is_unfinished()) {
        return;
    } else if (std::holds_alternative<CancelCommand>(request.command)) {
        next = World{World::Phase::cancelled, {}, {}, now};
        next.was_prepared = world.is_prepared();
    } else if (const auto* settle = std::get_if<SettleCommand>(&request.command)) {
        if (!world.is_prepared()) return;
        next = settle->commits ? MessageModel::committed(world, now)
                               : MessageModel::ended_half(World::Phase::cancelled, now);
    } else if (world.is_prepared()) {
        return;
    } else if (std::holds_alternative<HoldCommand>(request.command)) {
        next.phase = World::Phase::held;
    } else if (!world.is_live() || of.is_recurring()) {
        return;
    } else if (std::holds_alternative<HoldLeaseCommand>(request.command)) {
        if (!request.known_lease) return;
        next.phase = World::Phase::held;
    } else if (const auto* moved = std::get_if<RescheduleCommand>(&request.command)) {
        next.due = next.nominal = due_of(moved->when, request.submitted_ms);
    } else if (std::holds_alternative<FireCommand>(request.command)) {
        if (world.due.high <= now.low) return;
        next.due = now;
        next.nominal = at_latest(world.nominal, now);
    } else if (const auto* ack = std::get_if<AckCommand>(&request.command)) {
        if (!request.known_lease) return;
        next = World{World::Phase::done, {}, {}, now, ack->lease.attempt, ack->lease.incarnation};
    } else if (const auto* fail = std::get_if<FailCommand>(&request.command)) {
        if (!request.known_lease) return;
        World dead = world;
        dead.phase = World::Phase::dead;
        dead.ended = now;
        add_world(into, dead);
        retried(fail->retry_in_ms.value_or(0));
        if (!fail->retry_in_ms) next.due.high += std::max(of.rest_most_ms, fail->backoff_min_ms);
    } else if (const auto* release = std::get_if<ReleaseCommand>(&request.command)) {
        if (!request.known_lease || release->delay_ms <= 0) return;
        retried(release->delay_ms);
    } else {
        return;
    }
    add_world(into, next);
}

Worlds Oracle::with_open_commands(const MessageModel& of, ReplyToken except) const {
    constexpr std::size_t kMost = 64;
    Worlds worlds = of.worlds();
    // A message of which no answer is heard while one process after the other dies has more worlds with each of them;
    // without room for the next command's, what that did was called a violation.
    if (!of.open.empty() && worlds.size() > kMost / 4) merge_alike(worlds);
    // Each may come after each: until nothing new comes up. What is new only moves within a few ranges.
    for (std::size_t at = 0; at < worlds.size() && worlds.size() < kMost; ++at) {
        for (const ReplyToken token : of.open) {
            if (token != except) carry_out(requests_.at(token), of, World(worlds[at]), worlds);
        }
    }
    return worlds;
}

void Oracle::close(ReplyToken token, const Request& request) {
    if (const auto* lease = std::get_if<LeaseCommand>(&request.command)) --leases_[lease->queue].open;
    if (const auto* redrive = std::get_if<RedriveCommand>(&request.command)) {
        for (MessageModel* each : in_queue(*redrive)) {
            if (std::erase(each->open, token) > 0) returns_closed(*each);
        }
    }
    if (const auto* configure = std::get_if<ConfigureQueueCommand>(&request.command))
        configure_closed(*configure, token);
    if (const auto* group = std::get_if<ChangeGroupCommand>(&request.command)) group_closed(*group);
    if (const auto* change = std::get_if<ChangeTokenCommand>(&request.command)) tokens_[change->id].open.erase(token);
    for (const std::uint64_t serial : request.batch) std::erase(message(serial)->open, token);
    if (MessageModel* about = message(request.serial)) {
        std::erase(about->open, token);
        if (std::holds_alternative<KickCommand>(request.command) || replaces(request.command)) returns_closed(*about);
        if (std::holds_alternative<LeaseMessageCommand>(request.command)) message_lease_closed(*about);
        if (request.known_lease) {
            SeenDelivery* delivery = about->delivery_of(*lease_of(request.command));
            if (ends_a_lease(request.command) && delivery->endings_open > 0) --delivery->endings_open;
            if (priority_of(request.command)) --about->priorities_open;
            if (std::holds_alternative<ExtendCommand>(request.command)) --delivery->extends_open;
        }
    }
}

bool Oracle::replied(const ReplyEffect& effect) {
    if (const auto outside = outside_.find(effect.token); outside != outside_.end()) {
        outside_replied(std::exchange(outside->second, {}), effect.reply);
        outside_.erase(outside);
        return false;
    }
    const auto found = requests_.find(effect.token);
    if (found == requests_.end()) {
        if (forgotten_.erase(effect.token) == 0) {
            violate("X", "a reply came to token " + std::to_string(effect.token) + ", which nobody waits for");
        }
        return false;
    }
    ++totals_.replies;
    const Request request = std::move(found->second);
    const ReplyToken token = effect.token;
    requests_.erase(found);
    close(token, request);
    schedule_closed(request.command, token, std::holds_alternative<Error>(effect.reply));
    if (MessageModel* about = message(request.serial)) about->was_told(now_, step_);
    for (const std::uint64_t serial : request.batch) message(serial)->was_told(now_, step_);
    const Reply& reply = effect.reply;
    checkpoint_answered(token, request, reply);
    body_answered(token, request, reply);
    if (is_of_watchdogs(request.command)) watchdog_replied(token, request, reply);
    if (is_of_namespaces(request.command)) return namespace_replied(token, request, reply), true;
    if (is_of_tokens(request.command)) return token_replied(request, reply), true;
    if (std::holds_alternative<TakeRecordsCommand>(request.command))
        return records_replied(token, request, reply), true;
    if (request.is_limited) rare_.met(Rare::answered_within_limits);
    const bool is_change =
        std::holds_alternative<CancelCommand>(request.command) ||
        std::holds_alternative<RescheduleCommand>(request.command) ||
        std::holds_alternative<FireCommand>(request.command) || std::holds_alternative<HoldCommand>(request.command) ||
        std::holds_alternative<KickCommand>(request.command) || std::holds_alternative<DiscardCommand>(request.command);
    const bool is_lease_end = ends_a_lease(request.command) || std::holds_alternative<ExtendCommand>(request.command);
    if (const auto* one = std::get_if<PutCommand>(&request.command)) {
        const auto* answer = std::get_if<PutAnswer>(&reply);
        put_told(*one, token, 0, answer != nullptr && !answer->repeated);
    }
    const auto* error = std::get_if<Error>(&reply);
    if (error != nullptr && is_forgotten_within_limits(request, *error)) {
        if (is_change) return change_replied(token, request, ChangeAnswer{}), true;
        return error_replied(request, {"gone"_code, error->message, error->field}), true;
    }
    if (error != nullptr) {
        if (!settle_refused(token, request, *error)) error_replied(request, *error);
    } else if (const auto* put = std::get_if<PutAnswer>(&reply);
               put != nullptr && std::holds_alternative<PutCommand>(request.command)) {
        put_replied(token, request, *put);
    } else if (const auto* batch = std::get_if<PutBatchAnswer>(&reply); batch != nullptr && !request.batch.empty()) {
        batch_replied(token, request, *batch);
    } else if (const auto* change = std::get_if<ChangeAnswer>(&reply); change != nullptr && is_change) {
        change_replied(token, request, *change);
    } else if (const auto* end = std::get_if<LeaseEndAnswer>(&reply); end != nullptr && is_lease_end) {
        lease_end_replied(token, request, *end);
    } else if (const auto* got = std::get_if<MessageAnswer>(&reply);
               got != nullptr && std::holds_alternative<GetCommand>(request.command)) {
        message_replied(request, *got);
    } else if (const auto* brought = std::get_if<RedriveAnswer>(&reply);
               brought != nullptr && std::holds_alternative<RedriveCommand>(request.command)) {
        redrive_replied(request, *brought);
    } else if (const auto* leased = std::get_if<LeaseAnswer>(&reply);
               leased != nullptr && std::holds_alternative<LeaseCommand>(request.command)) {
        lease_replied(token, request, *leased);
    } else if (leased != nullptr && std::holds_alternative<LeaseMessageCommand>(request.command)) {
        message_leased(token, request, *leased);
    } else if (const auto* page = std::get_if<ListAnswer>(&reply);
               page != nullptr && std::holds_alternative<ListCommand>(request.command)) {
        list_replied(request, *page);
    } else if (const auto* ended = std::get_if<HistoryAnswer>(&reply);
               ended != nullptr && std::holds_alternative<HistoryCommand>(request.command)) {
        history_replied(request, *ended);
    } else if (const auto* queue = std::get_if<QueueAnswer>(&reply);
               queue != nullptr && std::holds_alternative<ConfigureQueueCommand>(request.command)) {
        configure_replied(request, *queue);
    } else if (queue != nullptr && std::holds_alternative<DescribeQueueCommand>(request.command)) {
        const auto& named = std::get<DescribeQueueCommand>(request.command);
        described(named.name_space, named.queue, *queue);
    } else if (const auto* queues = std::get_if<QueueListAnswer>(&reply);
               queues != nullptr && std::holds_alternative<ListQueuesCommand>(request.command)) {
        queues_listed(request, *queues);
    } else if (const auto* group = std::get_if<GroupAnswer>(&reply);
               group != nullptr && std::holds_alternative<ChangeGroupCommand>(request.command)) {
        group_replied(std::get<ChangeGroupCommand>(request.command), *group);
    } else if (group != nullptr && std::holds_alternative<DescribeGroupCommand>(request.command)) {
        group_described(std::get<DescribeGroupCommand>(request.command), request, *group);
    } else if (std::holds_alternative<GroupListAnswer>(reply) &&
               std::holds_alternative<ListGroupsCommand>(request.command)) {
        rare_.met(Rare::groups_listed);
    } else if (const auto* schedule = std::get_if<ScheduleAnswer>(&reply);
               schedule != nullptr && schedule_of(request.command) != nullptr &&
               !std::holds_alternative<PreviewScheduleCommand>(request.command)) {
        schedule_replied(request, *schedule);
    } else if (put != nullptr && std::holds_alternative<ControlScheduleCommand>(request.command)) {
        schedule_fired(request, *put);
    } else if (const auto* schedules = std::get_if<ScheduleListAnswer>(&reply);
               schedules != nullptr && std::holds_alternative<ListSchedulesCommand>(request.command)) {
        schedules_listed(request, *schedules);
    } else if (const auto* settled = std::get_if<SettleAnswer>(&reply);
               settled != nullptr && std::holds_alternative<SettleCommand>(request.command)) {
        settle_replied(token, request, *settled);
    } else if (const auto* preview = std::get_if<PreviewAnswer>(&reply);
               preview != nullptr && std::holds_alternative<PreviewScheduleCommand>(request.command)) {
        schedule_previewed(request, *preview);
    } else if (const auto* forecast = std::get_if<ForecastAnswer>(&reply);
               forecast != nullptr && std::holds_alternative<ForecastCommand>(request.command)) {
        forecast_replied(request, *forecast);
    } else if (is_of_watchdogs(request.command)) {
        return true;  // seen to
    } else {
        violate("X", std::string(command_name(request.command)) + " got a reply of another kind");
    }
    return true;
}

// ---- what must hold of all

bool Oracle::all_ended() const {
    if (schedules_go_on() || watchdogs_go_on()) return false;
    return std::none_of(messages_.begin(), messages_.end(), [this](const MessageModel& message) {
        if (message.may_be(World::Phase::dead) && !may_be_let_go(message) && !may_be_discarded(message)) return true;
        return message.may_be_unfinished() && !is_over(message) && message.purge != MessageModel::Purge::surely;
    });
}

std::vector<const MessageModel*> Oracle::maybe_held() {
    std::vector<const MessageModel*> held;
    for (const MessageModel& message : messages_) {
        const bool can_be_asked_for = message.id != 0 || holder_of(message.put) == &message;
        if (can_be_asked_for && message.may_be(World::Phase::held)) held.push_back(&message);
    }
    return held;
}

// Its time is over, and no lease can keep it.
bool Oracle::is_over(const MessageModel& about) const {
    if (about.half && half_is_over(about)) return true;
    if (!about.has_expired(now_) || unseen(about) > 0 || may_have_died(about)) return false;
    return std::none_of(about.deliveries.begin(), about.deliveries.end(),
                        [this](const SeenDelivery& delivery) { return may_be_held(delivery, now_); });
}

std::vector<DueMs> Oracle::dues_ahead() const {
    std::vector<DueMs> dues;
    for (const MessageModel& message : messages_) {
        if (message.purge == MessageModel::Purge::surely) continue;
        if (message.is_recurring()) {
            const std::optional<DueMs> due = message.may_be(World::Phase::live) ? next_due(message) : std::nullopt;
            if (due && *due > now_) dues.push_back(*due);
            continue;
        }
        for (const World& world : message.worlds()) {
            if (is_over(message)) continue;
            const std::optional<DueMs> asked = world.is_prepared() ? next_due_of_half(message) : std::nullopt;
            if (asked) dues.push_back(*asked);
            if (world.is_live() && world.due.high > now_ && world.due.high != kNeverMs) dues.push_back(world.due.high);
        }
    }
    schedule_dues_ahead(dues);
    watchdog_dues_ahead(dues);
    std::sort(dues.begin(), dues.end());
    dues.erase(std::unique(dues.begin(), dues.end()), dues.end());
    return dues;
}

}  // namespace duewheel
