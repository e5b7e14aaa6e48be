#include "simulation/workload.h"

#include <algorithm>
#include <utility>

namespace duewheel {
namespace {

constexpr std::size_t kSentMax = 8;
constexpr std::size_t kLeasesMax = 200;
constexpr std::uint32_t kLeaseBatchMax = 1000;

std::uint64_t serial_of(const Oracle& oracle, MessageId id) {
    for (const MessageModel& message : oracle.messages()) {
        if (message.id == id) return message.serial;
    }
    return 0;
}

}  // namespace

Workload::QueueOf Workload::queue_name(const SimOptions& options, std::uint32_t number) {
    return {options.name_spaces[number % 3 == 2], "q" + std::to_string(number)};
}

void Workload::act() {
    if (dead_to_kick_ != 0 && random_.chance(150'000)) return kick_into_full();
    const bool narrows = options_.has(Op::limit) && dead_to_kick_ == 0 && random_.chance(100'000);
    if (narrows && narrow_around_dead()) return;
    std::uint64_t sum = 0;
    for (const std::uint32_t weight : options_.op_weights) sum += weight;
    std::uint64_t drawn = random_.below(sum);
    for (std::size_t op = 0; op < kOpCount; ++op) {
        if (drawn < options_.op_weights[op]) return act(static_cast<Op>(op));
        drawn -= options_.op_weights[op];
    }
}

void Workload::act(Op op) {
    switch (op) {
        case Op::put:
            if (options_.keyed_per_million > 0 && random_.chance(250'000)) return put_again();
            return put();
        case Op::lease:
        case Op::lease_wait:
            return lease(op == Op::lease_wait);
        case Op::get:
        case Op::cancel:
        case Op::reschedule:
        case Op::fire:
        case Op::hold:
        case Op::kick: {
            const MessageModel* message = op == Op::kick ? pick_aside_or_dead() : pick_message();
            if (message == nullptr) return;
            const std::string& name_space = message->put.name_space;
            if (op == Op::get) return send(GetCommand{name_space, message->id});
            if (op == Op::cancel) return send(draw_cancel(*message));
            if (op == Op::fire) return send(FireCommand{name_space, message->id});
            if (op == Op::hold) return send(HoldCommand{name_space, message->id});
            if (op == Op::kick) return send(KickCommand{name_space, message->id});
            return send(RescheduleCommand{name_space, message->id, draw_when()});
        }
        case Op::ack:
        case Op::fail:
        case Op::extend:
        case Op::release:
        case Op::hold_lease:
            return end_lease(op);
        case Op::redrive: {
            const QueueOf queue = queue_name(options_, static_cast<std::uint32_t>(random_.below(options_.queues)));
            RedriveCommand redrive{queue.name_space, queue.queue, std::nullopt};
            if (random_.chance(300'000)) redrive.max = 1 + random_.below(options_.engine.redrive_max);
            return send(std::move(redrive));
        }
        case Op::repeat:
            if (sent_.empty()) return;
            return repeat(sent_[random_.below(sent_.size())]);
        case Op::forge:
            return forge();
        case Op::forget: {
            const std::vector<ReplyToken> open = oracle_.open_leases();
            if (!open.empty()) surroundings_.forget(open[random_.below(open.size())]);
            return;
        }
        case Op::burst:
            return burst();
        case Op::collide:
            return collide();
        case Op::list:
            return list();
        case Op::queue:
            return configure();
        case Op::put_batch:
            return put_batch();
        case Op::end_batch:
            return end_batch();
        case Op::discard:
            return discard();
        case Op::loop:
            return loop();
        case Op::schedule:
            return schedule();
        case Op::transact:
            return transact();
        case Op::watchdog:
            return watchdog();
        case Op::limit:
            return limit();
        case Op::group:
            return group();
        case Op::hook:
            return hook();
        case Op::view:
            return surroundings_.view_log();
        case Op::backup:
            return surroundings_.back_up();
        case Op::forecast:
            return forecast();
        case Op::token:
            return change_token();
        case Op::input:
            return input();
        case Op::topic:
            return topic();
        case Op::take: {
            const MessageModel* message = random_.chance(500'000) ? pick_aside_or_dead() : pick_message();
            if (message == nullptr) return;
            LeaseMessageCommand lease{message->put.name_space, message->id};
            const bool as_the_queue_says = options_.queues_have_rules && random_.chance(300'000);
            if (!as_the_queue_says) lease.lease_ms = draw_lease_time();
            return send(std::move(lease));
        }
        case Op::expire: {
            const LeaseToken* lease = pick_lease();
            if (lease == nullptr) return;
            const std::uint64_t serial = serial_of(oracle_, lease->id);
            const SeenDelivery* delivery = oracle_.messages()[serial - 1].delivery_of(*lease);
            return surroundings_.wait_until(delivery->until.high + random_.between(-1, 1));
        }
    }
}

void Workload::send(Command command) {
    if (sent_.size() < kSentMax) {
        sent_.push_back(command);
    } else {
        sent_[random_.below(kSentMax)] = command;
    }
    surroundings_.submit(std::move(command));
}

// ---- puts

DueMs Workload::draw_delay() {
    const DueMs scale = options_.due_scale_ms;
    switch (random_.below(8)) {
        case 0:
        case 1:
            return 0;
        case 2:
            return random_.between(0, 3);
        case 3:
            return scale >> random_.below(12);
        default:
            return random_.between(0, scale);
    }
}

// Before or after now.
DueMs Workload::draw_instant() {
    const DueMs later = surroundings_.clock() + draw_delay();
    return later - draw_delay();
}

When Workload::draw_when() {
    When when;
    const Oracle::Messages& messages = oracle_.messages();
    switch (random_.below(10)) {
        case 0:  // in the past
            when.at_ms = surroundings_.clock() - random_.between(0, options_.due_scale_ms);
            break;
        case 1:  // the same as another
            if (const MessageModel* other = messages.empty() ? nullptr : &messages[random_.below(messages.size())];
                other != nullptr && other->certain() != nullptr && other->certain()->is_live()) {
                when.at_ms = other->certain()->due.low;
            }
            break;
        case 2:
            when.at_ms = surroundings_.clock() + draw_delay();
            break;
        case 3:
            when.delay_ms =
                random_.chance(30'000) ? options_.engine.delay_max_ms + random_.between(0, 1) : draw_delay();
            break;
        default:
            when.delay_ms = draw_delay();
            break;
    }
    return when;
}

std::int64_t Workload::draw_lease_time() {
    return std::max<std::int64_t>(1000, random_.between(1, options_.lease_scale_ms));
}

RetryChoice Workload::draw_retry() {
    RetryChoice choice;
    if (random_.chance(800'000)) choice.attempts = 1 + static_cast<std::int64_t>(random_.below(3));
    if (random_.chance(300'000)) choice.first_ms = random_.between(0, 50);
    if (random_.chance(300'000)) choice.factor_permille = random_.between(1000, 3000);
    if (random_.chance(300'000)) choice.max_ms = random_.between(50, 5000);
    if (random_.chance(300'000)) choice.jitter_permille = random_.between(0, 1000);
    return choice;
}

// After the due time, and now and then not.
When Workload::draw_expiry(const When& due) {
    const DueMs delay = due.at_ms ? std::max<DueMs>(*due.at_ms - surroundings_.clock(), 0) : due.delay_ms;
    const DueMs after = random_.chance(950'000) ? delay + 1 + draw_delay() : draw_delay();
    When expires;
    if (random_.chance(500'000)) {
        expires.delay_ms = after;
    } else {
        expires.at_ms = surroundings_.clock() + after;
    }
    return expires;
}

void Workload::put() {
    const std::uint64_t count = 1 + random_.below(options_.put_burst_max);
    for (std::uint64_t i = 0; i < count; ++i) {
        const QueueOf queue = queue_name(options_, static_cast<std::uint32_t>(random_.below(options_.queues)));
        surroundings_.submit(draw_put(queue, oracle_.messages().size() + 1));
    }
}

// `serial`: what the oracle will number it.
PutCommand Workload::draw_put(const QueueOf& queue, std::uint64_t serial) {
    PutCommand command;
    command.name_space = queue.name_space;
    command.queue = queue.queue;
    command.when = draw_when();
    if (options_.order_keys > 0 && random_.chance(600'000)) {
        command.order_key = "k" + std::to_string(random_.below(options_.order_keys));
    }
    if (random_.chance(options_.expiring_per_million)) command.expires = draw_expiry(command.when);
    command.priority = random_.chance(800'000) ? 0 : static_cast<std::int32_t>(random_.between(-2, 2));
    if (options_.keyed_per_million > 0 && random_.chance(options_.keyed_per_million)) {
        command.key = "key " + std::to_string(serial);
        command.request_hash = serial;
        if (!command.when.at_ms) command.when.at_ms = surroundings_.clock() + command.when.delay_ms;
        command.when.delay_ms = 0;
        if (command.expires && !command.expires->at_ms) command.expires.reset();
        // Only who has a key of its own can ask which one it is, if nothing was answered.
        command.is_held = options_.has(Op::hold) && !options_.reuses_keys && random_.chance(80'000);
    }
    if (options_.has(Op::loop) && random_.chance(100'000)) make_recurring(command);
    if (options_.has(Op::transact) && !command.repeat && random_.chance(100'000)) make_prepared(command);
    if (options_.has(Op::group)) command.group = draw_group();
    const std::uint64_t bytes = random_.below(options_.body_bytes_max + 1) >> random_.below(4);
    command.body = Oracle::body_of(serial, static_cast<std::uint32_t>(bytes));
    if (random_.chance(200'000)) command.retry = draw_retry();
    if (random_.chance(100'000)) command.content_type = "text/plain";
    if (random_.chance(100'000)) command.headers = R"({"k":"v"})";
    if (random_.chance(50'000)) command.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    return command;
}

// Puts of one request; among those with keys some that were sent before, and some that stand in it twice.
void Workload::put_batch() {
    const std::uint64_t count = 2 + random_.below(options_.batch_max);
    std::uint64_t serial = oracle_.messages().size();
    const bool to_one_queue = random_.chance(800'000);
    QueueOf queue = queue_name(options_, static_cast<std::uint32_t>(random_.below(options_.queues)));
    PutBatchCommand batch;
    while (batch.puts.size() < count) {
        if (options_.keyed_per_million > 0 && random_.chance(200'000)) {
            const bool twice = !batch.puts.empty() && random_.chance(300'000) && !batch.puts.back().key.empty();
            std::optional<PutCommand> again = twice ? std::optional(batch.puts.back()) : draw_put_again(false);
            if (again) {
                batch.puts.push_back(*std::move(again));
                continue;
            }
        }
        if (!to_one_queue) queue = queue_name(options_, static_cast<std::uint32_t>(random_.below(options_.queues)));
        batch.puts.push_back(draw_put(queue, ++serial));
    }
    surroundings_.submit(std::move(batch));
}

// ---- what is known

const MessageModel* Workload::pick_message() {
    const Oracle::Messages& messages = oracle_.messages();
    if (messages.empty()) return nullptr;
    const std::uint64_t drawn = random_.below(10);
    std::uint64_t serial = 1 + random_.below(messages.size());
    if (drawn < 4) serial = messages.size() - random_.below(std::min<std::uint64_t>(messages.size(), 6));
    if (drawn >= 4 && drawn < 7 && favourite_ != 0) serial = favourite_;
    if (random_.chance(150'000)) favourite_ = serial;
    const MessageModel& message = messages[serial - 1];
    return message.id == 0 ? nullptr : &message;
}

// One that somebody may have to bring back, if there is one among the last.
const MessageModel* Workload::pick_aside_or_dead() {
    const Oracle::Messages& messages = oracle_.messages();
    if (random_.chance(200'000)) return pick_message();
    for (std::size_t back = 1; back <= std::min<std::size_t>(messages.size(), 40); ++back) {
        const MessageModel& message = messages[messages.size() - back];
        const bool fits = message.may_be(World::Phase::held) || message.may_be(World::Phase::dead);
        if (fits && message.id != 0 && random_.chance(700'000)) return &message;
    }
    return pick_message();
}

void Workload::take_leases(const LeaseAnswer& answer) {
    for (const Delivered& delivery : answer.messages) leases_.push_back(delivery.lease);
    if (leases_.size() > kLeasesMax) leases_.erase(leases_.begin(), leases_.begin() + kLeasesMax / 4);
}

const LeaseToken* Workload::pick_lease() {
    if (leases_.empty()) return nullptr;
    const std::uint64_t newest = std::min<std::uint64_t>(leases_.size(), 4);
    return random_.chance(700'000) ? &leases_[leases_.size() - 1 - random_.below(newest)]
                                   : &leases_[random_.below(leases_.size())];
}

void Workload::lease(bool waits) {
    const QueueOf queue = queue_name(options_, static_cast<std::uint32_t>(random_.below(options_.queues)));
    LeaseCommand command;
    command.name_space = queue.name_space;
    command.queue = queue.queue;
    command.max = static_cast<std::uint32_t>(random_.chance(500'000) ? 1 : 1 + random_.below(12));
    if (options_.batch_max > 2 && random_.chance(100'000)) command.max = kLeaseBatchMax;
    const bool as_the_queue_says = options_.queues_have_rules && random_.chance(300'000);
    if (!as_the_queue_says) command.lease_ms = draw_lease_time();
    if (waits) command.wait_ms = random_.chance(500'000) ? random_.between(1, 50) : random_.between(1, 60'000);
    surroundings_.submit(std::move(command));
}

// ---- queues

void Workload::configure() {
    using What = ConfigureQueueCommand::What;
    const QueueOf queue = queue_name(options_, static_cast<std::uint32_t>(random_.below(options_.queues)));
    ConfigureQueueCommand command{queue.name_space, queue.queue, What::resume, {}, {}};
    // A queue that is paused is mostly resumed, so that the rest of the run has messages to deliver.
    const bool resumes = oracle_.seems_paused(queue.name_space, queue.queue) && random_.chance(500'000);
    switch (resumes ? 0 : random_.below(12)) {
        case 0:
            break;
        case 1:
        case 2:
        case 3:
            command.what = What::pause;
            break;
        case 4:
        case 5:
            command.what = What::set;
            command.settings.paused = random_.chance(200'000);
            if (random_.chance(500'000)) command.settings.pending_max = 1 + random_.below(30);
            if (options_.queues_have_rules) {
                if (random_.chance(600'000)) command.settings.retry = draw_retry();
                if (random_.chance(400'000)) command.settings.lease_ms = draw_lease_time();
            }
            break;
        case 6:
        case 7:
            command.what = What::purge;
            break;
        case 8:
            command.what = What::remove;
            break;
        default:
            if (options_.lists_queues && random_.chance(500'000)) return list_queues();
            return surroundings_.submit(DescribeQueueCommand{queue.name_space, queue.queue});
    }
    surroundings_.submit(std::move(command));
    if (random_.chance(200'000)) lease(false);
}

// One that is dead, or all of a queue, or those of it that died before some time.
void Workload::discard() {
    const MessageModel* message = pick_aside_or_dead();
    if (message != nullptr && random_.chance(500'000)) {
        return send(DiscardCommand{message->put.name_space, message->id});
    }
    QueueOf queue = queue_name(options_, static_cast<std::uint32_t>(random_.below(options_.queues)));
    if (message != nullptr && message->may_be(World::Phase::dead))
        queue = {message->put.name_space, message->put.queue};
    ConfigureQueueCommand command{queue.name_space, queue.queue, ConfigureQueueCommand::What::discard, {}, {}};
    if (random_.chance(300'000)) {
        command.before_ms = surroundings_.clock() - draw_delay();
        *command.before_ms += random_.between(-1, 1);
    }
    send(std::move(command));
    // Somebody may want one of them back that is going.
    if (message == nullptr || !random_.chance(500'000)) return;
    if (random_.chance(300'000)) return send(RedriveCommand{queue.name_space, queue.queue, std::nullopt});
    send(KickCommand{message->put.name_space, message->id});
}

// ---- changes

CancelCommand Workload::draw_cancel(const MessageModel& message) {
    return {.name_space = message.put.name_space, .id = message.id, .running = random_.chance(400'000)};
}

Command Workload::draw_change(const MessageModel& message) {
    const std::string& name_space = message.put.name_space;
    switch (random_.below(options_.has(Op::discard) ? 8 : 7)) {
        case 0:
        case 1:
            return draw_cancel(message);
        case 2:
            return FireCommand{name_space, message.id};
        case 3:
            return HoldCommand{name_space, message.id};
        case 4:
            return KickCommand{name_space, message.id};
        case 7:
            return DiscardCommand{name_space, message.id};
        default:
            return RescheduleCommand{name_space, message.id, draw_when()};
    }
}

std::optional<std::int64_t> Workload::draw_extension() {
    return random_.chance(200'000) ? std::nullopt : std::optional(draw_lease_time());
}

std::optional<std::int32_t> Workload::draw_new_priority() {
    if (!options_.has(Op::take) || !random_.chance(500'000)) return std::nullopt;
    return static_cast<std::int32_t>(random_.between(-2, 2));
}

Command Workload::draw_lease_end(const LeaseToken& lease) {
    switch (random_.below(7)) {
        case 6:
            return HoldLeaseCommand{lease, draw_new_priority()};
        case 0:
            return FailCommand{lease, "because", random_.chance(500'000) ? std::optional(draw_delay()) : std::nullopt};
        case 1:
            return ReleaseCommand{lease, random_.chance(500'000) ? 0 : draw_delay(), draw_new_priority()};
        case 2:
            return ExtendCommand{lease, draw_extension()};
        default:
            return AckCommand{lease};
    }
}

void Workload::end_lease(Op op) {
    const LeaseToken* picked = pick_lease();
    if (picked == nullptr) return;
    const LeaseToken lease = *picked;
    if (op == Op::extend) {
        return send(ExtendCommand{lease, draw_extension()});
    }
    if (random_.chance(800'000)) std::erase(leases_, lease);
    if (op == Op::ack && !random_.chance(options_.failing_per_million)) return send(AckCommand{lease});
    if (op == Op::hold_lease) return send(HoldLeaseCommand{lease, draw_new_priority()});
    if (op == Op::release) {
        return send(ReleaseCommand{lease, random_.chance(500'000) ? 0 : draw_delay(), draw_new_priority()});
    }
    send(FailCommand{lease, std::string(random_.below(40), 'r'),
                     random_.chance(500'000) ? std::optional(draw_delay()) : std::nullopt});
}

// What one request asks of several leases: the engine is told of each by itself, one right after the other.
void Workload::end_batch() {
    const std::uint64_t count = std::min<std::uint64_t>(leases_.size(), 2 + random_.below(2 * options_.batch_max));
    if (count < 2) return;
    const std::vector<LeaseToken> taken(leases_.end() - static_cast<std::ptrdiff_t>(count), leases_.end());
    const std::uint64_t kind = random_.chance(options_.failing_per_million) ? 1 : random_.below(8);
    const DueMs rest = draw_delay();
    if (kind != 0 && random_.chance(800'000)) leases_.resize(leases_.size() - count);
    for (const LeaseToken& lease : taken) {
        switch (kind) {
            case 0:
                surroundings_.submit(ExtendCommand{lease, draw_extension()});
                break;
            case 1:
                surroundings_.submit(FailCommand{lease, "all of them", std::nullopt});
                break;
            case 2:
                surroundings_.submit(FailCommand{lease, "all of them", rest});
                break;
            case 3:
                surroundings_.submit(ReleaseCommand{lease, rest});
                break;
            default:
                surroundings_.submit(AckCommand{lease});
                break;
        }
    }
}

void Workload::forge() {
    if (random_.chance(400'000)) {
        const MessageModel* message = pick_message();
        if (message == nullptr) return;
        const MessageId wrong[] = {0, message->id + 1, message->id + (kShardsMax << 30), message->id};
        const MessageId id = wrong[random_.below(4)];
        const std::string name_space = id == message->id ? "nobody" : message->put.name_space;
        if (random_.chance(500'000)) return surroundings_.submit(CancelCommand{name_space, id});
        return surroundings_.submit(GetCommand{name_space, id});
    }
    const LeaseToken* lease = pick_lease();
    if (lease == nullptr) return;
    LeaseToken forged = *lease;
    switch (random_.below(4)) {
        case 0:
            forged.code ^= std::uint64_t{1} << random_.below(64);
            break;
        case 1:
            forged.attempt += 1;
            break;
        case 2:
            forged.incarnation += 1;
            break;
        default:
            forged.id += kShardsMax;
            break;
    }
    surroundings_.submit(draw_lease_end(forged));
}

void Workload::burst() {
    const MessageModel* message = pick_message();
    if (message == nullptr) return;
    const LeaseToken* held = nullptr;
    if (!message->deliveries.empty()) held = &message->deliveries.back().token;
    const std::uint64_t count = 2 + random_.below(3);
    std::vector<Command> commands;
    for (std::uint64_t i = 0; i < count; ++i) {
        commands.push_back(held != nullptr && random_.chance(600'000) ? draw_lease_end(*held) : draw_change(*message));
    }
    for (Command& command : commands) surroundings_.submit(std::move(command));
}

void Workload::collide() {
    if (random_.chance(400'000)) {
        const LeaseToken* picked = pick_lease();
        if (picked == nullptr) return;
        const LeaseToken lease = *picked;
        const MessageModel& message = oracle_.messages()[serial_of(oracle_, lease.id) - 1];
        for (const SeenDelivery& delivery : message.deliveries) {
            if (delivery.token != lease) continue;
            surroundings_.wait_until(delivery.until.high + random_.between(-1, 1));
            break;
        }
        return surroundings_.submit(draw_lease_end(lease));
    }
    const MessageModel* message = pick_message();
    if (message == nullptr || message->certain() == nullptr || !message->certain()->is_live()) return;
    const Command command = draw_change(*message);
    const bool at_its_expiry = message->expires && random_.chance(500'000);
    const DueMs due = at_its_expiry ? message->expires->low : oracle_.next_due(*message).value_or(0);
    const bool first = random_.chance(500'000);
    if (first) surroundings_.submit(command);
    surroundings_.wait_until(due + random_.between(-1, 1));
    if (!first) surroundings_.submit(command);
}

}  // namespace duewheel
