#include "beanstalk/beanstalk_session.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "beanstalk/beanstalk_job.h"
#include "beanstalk/beanstalk_yaml.h"

namespace duewheel {
namespace {

constexpr std::string_view kNotFound = "NOT_FOUND\r\n";
constexpr std::size_t kPipelineMax = 1'024;
// What a client has pipelined is worked on in turns with all others.
constexpr std::size_t kAnsweredPerTurn = 8;
constexpr std::uint32_t kPageMax = 1'000;

bool may_overlap(BeanstalkVerb verb) {
    switch (verb) {
        case BeanstalkVerb::put:
        case BeanstalkVerb::remove:
        case BeanstalkVerb::release:
        case BeanstalkVerb::bury:
        case BeanstalkVerb::kick_job:
        case BeanstalkVerb::reserve_job:
            return true;
        default:
            return false;
    }
}

// Input that cannot be accepted is BAD_FORMAT already in the parser. What the engine refuses has reached a limit, and
// beanstalkd's only reply to that is OUT_OF_MEMORY: "the client should try again later".
constexpr std::string_view kRefused = "OUT_OF_MEMORY\r\n";

}  // namespace

BeanstalkSession::BeanstalkSession(BeanstalkService& service, std::uint64_t number, StreamClient& client)
    : service_(service), number_(number), client_(client), parser_(service.options_.job_bytes_max) {
    BeanstalkTube& tube = service_.tubes_.at("default");
    ++tube.using_it;
    ++tube.watching;
}

BeanstalkSession::~BeanstalkSession() {
    withdraw_reserve();
    service_.producers_ -= is_producer_ ? 1 : 0;
    service_.workers_ -= is_worker_ ? 1 : 0;
    service_.unfinished_bytes_ -= held_bytes_;
    service_.closed(*this);
    std::vector<MessageId> ids;
    for (const auto& [id, job] : jobs_) {
        if (!job.is_ending) ids.push_back(id);
    }
    std::sort(ids.begin(), ids.end());
    for (const MessageId id : ids) service_.submit_unattended(ReleaseCommand{jobs_.at(id).lease});
    for (const auto& [id, job] : jobs_) service_.reserved_.erase(id);
    const auto leave = [&](const std::string& name, std::uint64_t BeanstalkTube::*count) {
        --(service_.tubes_.at(name).*count);
        service_.tubes_.drop_if_unneeded(name, now_ms());
    };
    leave(used_, &BeanstalkTube::using_it);
    for (const std::string& name : watched_) leave(name, &BeanstalkTube::watching);
}

// ---- input

std::size_t BeanstalkSession::consume(std::string_view bytes) {
    const std::size_t size = bytes.size();
    const SlotNumber turn_ends = first_slot_ + kAnsweredPerTurn;
    while (!has_quit_ && first_slot_ < turn_ends) {
        if (next_) {
            if (!may_begin(*next_)) break;
            run(*std::exchange(next_, std::nullopt));
            continue;
        }
        if (bytes.empty() || slots_.size() >= kPipelineMax) break;
        std::optional<BeanstalkParser::Parsed> parsed = parser_.read(bytes);
        if (!parsed) break;
        job_until_ms_ = BeanstalkService::kNever;
        if (const auto* other = std::get_if<OtherProtocol>(&*parsed)) {
            ++service_.counters_.other_protocol;
            has_quit_ = true;
            reply(begin_reply(), other->reply);
        } else if (const auto* refusal = std::get_if<std::string_view>(&*parsed)) {
            reply(begin_reply(), *refusal);
        } else {
            next_ = std::get<BeanstalkCommand>(*std::move(parsed));
        }
    }
    account_held_bytes();
    if (parser_.in_job() && job_until_ms_ == BeanstalkService::kNever) {
        job_until_ms_ = now_ms() + service_.options_.job_deadline_ms;
    }
    flush();
    service_.schedule(*this);
    return has_quit_ ? size : size - bytes.size();
}

void BeanstalkSession::account_held_bytes() {
    std::size_t& all = service_.unfinished_bytes_;
    const bool has_grown = parser_.held_bytes() > held_bytes_;
    all = all - held_bytes_ + parser_.held_bytes();
    held_bytes_ = parser_.held_bytes();
    if (!has_grown || all <= service_.options_.unfinished_bytes_max) return;
    parser_.drop_job();
    all = all - held_bytes_ + parser_.held_bytes();
    held_bytes_ = parser_.held_bytes();
}

void BeanstalkSession::become(bool& role, std::uint64_t& count) {
    if (!std::exchange(role, true)) ++count;
}

bool BeanstalkSession::may_begin(const BeanstalkCommand& command) const {
    if (slots_.empty()) return true;
    return !runs_alone_ && may_overlap(command.verb) && !changing_.contains(command.id);
}

void BeanstalkSession::run(BeanstalkCommand command) {
    ++service_.counters_.commands[static_cast<std::size_t>(command.verb)];
    runs_alone_ = !may_overlap(command.verb);
    if (command.verb == BeanstalkVerb::quit) {
        has_quit_ = true;
        return client_.finish();
    }
    const SlotNumber slot = begin_reply(runs_alone_ ? 0 : command.id);
    switch (command.verb) {
        case BeanstalkVerb::put:
            return put(slot, std::move(command));
        case BeanstalkVerb::peek:
            return peek(slot, command.id);
        case BeanstalkVerb::peek_ready:
            return peek_ready(slot);
        case BeanstalkVerb::peek_delayed:
            return peek_state(slot, StateSet{State::scheduled, State::retrying});
        case BeanstalkVerb::peek_buried:
            return peek_state(slot, StateSet{State::held});
        case BeanstalkVerb::reserve:
            return reserve(slot, std::nullopt);
        case BeanstalkVerb::reserve_with_timeout:
            return reserve(slot, command.timeout_s < 0 ? std::nullopt : std::optional(command.timeout_s));
        case BeanstalkVerb::reserve_job:
            return reserve_job(slot, command.id);
        case BeanstalkVerb::remove:
            return remove(slot, command.id);
        case BeanstalkVerb::release:
            return release(slot, command);
        case BeanstalkVerb::bury:
            return bury(slot, command);
        case BeanstalkVerb::kick:
            return kick(slot, command.number);
        case BeanstalkVerb::kick_job:
            return kick_job(slot, command.id);
        case BeanstalkVerb::touch:
            return touch(slot, command.id);
        case BeanstalkVerb::use:
            return use(slot, command.tube);
        case BeanstalkVerb::watch:
            return watch(slot, command.tube);
        case BeanstalkVerb::ignore:
            return ignore(slot, command.tube);
        case BeanstalkVerb::list_tubes:
            return list_tubes(slot);
        case BeanstalkVerb::list_tube_used:
            return reply(slot, "USING " + used_ + "\r\n");
        case BeanstalkVerb::list_tubes_watched: {
            BeanstalkYaml yaml;
            for (const std::string& name : watched_) yaml.add_item(name);
            return reply_document(slot, yaml.text());
        }
        case BeanstalkVerb::stats:
            return stats(slot);
        case BeanstalkVerb::stats_job:
            return stats_job(slot, command.id);
        case BeanstalkVerb::stats_tube:
            return stats_tube(slot, command.tube);
        case BeanstalkVerb::pause_tube:
            return pause(slot, command);
        case BeanstalkVerb::quit:
            break;
    }
}

// ---- replies, in the order of the commands

BeanstalkSession::SlotNumber BeanstalkSession::begin_reply(MessageId changes) {
    slots_.emplace_back().changes = changes;
    if (changes != 0) changing_.insert(changes);
    return first_slot_ + slots_.size() - 1;
}

void BeanstalkSession::reply(SlotNumber slot, std::string_view text) {
    Slot& of = slots_[static_cast<std::size_t>(slot - first_slot_)];
    of.reply = text;
    of.is_complete = true;
    changing_.erase(of.changes);
    if (slot == first_slot_) flush();
}

void BeanstalkSession::reply_document(SlotNumber slot, const std::string& document) {
    reply(slot, "OK " + std::to_string(document.size()) + "\r\n" + document + "\r\n");
}

void BeanstalkSession::refuse(SlotNumber slot) {
    reply(slot, kRefused);
}

void BeanstalkSession::flush() {
    bool any = false;
    for (; !slots_.empty() && slots_.front().is_complete; any = true) {
        client_.write(slots_.front().reply);
        slots_.pop_front();
        ++first_slot_;
    }
    if (any && has_quit_ && slots_.empty()) return client_.finish();
    if (any) client_.resume();
}

// ---- jobs

void BeanstalkSession::put(SlotNumber slot, BeanstalkCommand command) {
    become(is_producer_, service_.producers_);
    if (service_.is_draining_) return reply(slot, "DRAINING\r\n");
    PutCommand put;
    put.queue = used_;
    put.when.delay_ms = std::int64_t{command.delay_s} * 1'000;
    put.priority = priority_of_job(command.priority);
    put.headers = headers_of_job(std::max<std::uint32_t>(command.ttr_s, 1));
    put.body = std::move(command.body);
    service_.submit(*this, std::move(put), [this, slot, tube = used_](Reply result) {
        if (std::holds_alternative<Error>(result)) return refuse(slot);
        ++service_.counters_.jobs;
        if (BeanstalkTube* of = service_.tubes_.find(tube)) ++of->jobs;
        reply(slot, "INSERTED " + std::to_string(std::get<PutAnswer>(result).id) + "\r\n");
    });
}

void BeanstalkSession::remove(SlotNumber slot, MessageId id) {
    const auto job = jobs_.find(id);
    if (job == jobs_.end()) return find_to_cancel(slot, id);
    if (BeanstalkTube* tube = service_.tubes_.find(job->second.tube)) ++tube->deletes;
    end_lease(slot, id, AckCommand{job->second.lease}, "DELETED\r\n");
}

// A job that this session has not reserved. It is looked up first, because a cancel of a cancelled message succeeds.
void BeanstalkSession::find_to_cancel(SlotNumber slot, MessageId id) {
    GetCommand get;
    get.id = id;
    service_.submit(*this, std::move(get), [this, slot, id](Reply result) {
        const auto* message = std::get_if<MessageAnswer>(&result);
        if (message == nullptr || !message->has_content) return reply(slot, kNotFound);
        cancel(slot, id);
    });
}

void BeanstalkSession::cancel(SlotNumber slot, MessageId id) {
    CancelCommand command;
    command.id = id;
    service_.submit(*this, std::move(command), [this, slot, id](Reply result) {
        const auto* change = std::get_if<ChangeAnswer>(&result);
        if (change != nullptr && change->outcome == ChangeOutcome::cancelled) return reply(slot, "DELETED\r\n");
        if (change == nullptr || change->outcome != ChangeOutcome::dead) return reply(slot, kNotFound);
        DiscardCommand discard;
        discard.id = id;
        service_.submit(*this, std::move(discard), [this, slot](Reply discarded) {
            const auto* ended = std::get_if<ChangeAnswer>(&discarded);
            const bool is_gone = ended != nullptr && ended->outcome == ChangeOutcome::cancelled;
            reply(slot, is_gone ? "DELETED\r\n" : kNotFound);
        });
    });
}

void BeanstalkSession::release(SlotNumber slot, const BeanstalkCommand& command) {
    const auto job = jobs_.find(command.id);
    if (job == jobs_.end()) return reply(slot, kNotFound);
    end_lease(slot, command.id,
              ReleaseCommand{.lease = job->second.lease,
                             .delay_ms = std::int64_t{command.delay_s} * 1'000,
                             .priority = priority_of_job(command.priority)},
              "RELEASED\r\n");
}

void BeanstalkSession::bury(SlotNumber slot, const BeanstalkCommand& command) {
    const auto job = jobs_.find(command.id);
    if (job == jobs_.end()) return reply(slot, kNotFound);
    end_lease(slot, command.id,
              HoldLeaseCommand{.lease = job->second.lease, .priority = priority_of_job(command.priority)},
              "BURIED\r\n");
}

void BeanstalkSession::end_lease(SlotNumber slot, MessageId id, Command command, std::string_view done) {
    unlist_times(id);
    jobs_.at(id).is_ending = true;
    service_.submit(*this, std::move(command), [this, slot, id, done](Reply result) {
        if (std::holds_alternative<Error>(result)) {
            jobs_.at(id).is_ending = false;
            list_times(id);
            return refuse(slot);
        }
        drop_job(id);
        const LeaseOutcome outcome = std::get<LeaseEndAnswer>(result).outcome;
        const bool had_ended =
            outcome == LeaseOutcome::expired || outcome == LeaseOutcome::purged || outcome == LeaseOutcome::cancelled;
        reply(slot, had_ended ? kNotFound : done);
    });
}

void BeanstalkSession::touch(SlotNumber slot, MessageId id) {
    const auto found = jobs_.find(id);
    if (found == jobs_.end()) return reply(slot, kNotFound);
    Job& job = found->second;
    unlist_times(id);
    job.until_ms = now_ms() + job.ttr_ms;
    list_times(id);
    extend_leases(now_ms());
    reply(slot, "TOUCHED\r\n");
}

// ---- tubes

void BeanstalkSession::use(SlotNumber slot, const std::string& tube) {
    if (tube != used_) {
        ++service_.tubes_.at(tube).using_it;
        --service_.tubes_.at(used_).using_it;
        service_.tubes_.drop_if_unneeded(used_, now_ms());
        used_ = tube;
    }
    reply(slot, "USING " + used_ + "\r\n");
}

void BeanstalkSession::watch(SlotNumber slot, const std::string& tube) {
    if (std::find(watched_.begin(), watched_.end(), tube) == watched_.end()) {
        watched_.push_back(tube);
        ++service_.tubes_.at(tube).watching;
    }
    reply(slot, "WATCHING " + std::to_string(watched_.size()) + "\r\n");
}

void BeanstalkSession::ignore(SlotNumber slot, const std::string& tube) {
    const auto found = std::find(watched_.begin(), watched_.end(), tube);
    if (found != watched_.end() && watched_.size() == 1) return reply(slot, "NOT_IGNORED\r\n");
    if (found != watched_.end()) {
        std::swap(*found, watched_.back());  // the order of beanstalkd
        watched_.pop_back();
        --service_.tubes_.at(tube).watching;
        service_.tubes_.drop_if_unneeded(tube, now_ms());
    }
    reply(slot, "WATCHING " + std::to_string(watched_.size()) + "\r\n");
}

// ---- kick

void BeanstalkSession::kick(SlotNumber slot, std::uint32_t bound) {
    if (!service_.port_.can_record()) return refuse(slot);
    list_to_kick({.slot = slot, .tube = used_, .left = bound});
}

// Buried jobs; or if there are none, dead letters; or if there are none, delayed jobs.
void BeanstalkSession::list_to_kick(Kick kick) {
    if (kick.left == 0) return finish_kick(kick);
    ListCommand list;
    list.queue = kick.tube;
    list.states = kick.of_delayed ? StateSet{State::scheduled, State::retrying} : StateSet{State::held};
    list.limit = std::min(kick.left, kPageMax);
    service_.submit(*this, std::move(list), [this, kick = std::move(kick)](Reply result) {
        const auto* page = std::get_if<ListAnswer>(&result);
        if (page != nullptr && !page->listed.empty()) return kick_listed(kick, *page);
        if (page == nullptr || kick.kicked > 0 || kick.of_delayed) return finish_kick(kick);
        redrive(kick);
    });
}

void BeanstalkSession::kick_listed(Kick kick, const ListAnswer& page) {
    kick.in_progress = page.listed.size();
    const auto progress = std::make_shared<Kick>(std::move(kick));
    for (const ListedMessage& each : page.listed) {
        Command command = KickCommand{.id = each.row.id};
        if (progress->of_delayed) command = FireCommand{.id = each.row.id};
        service_.submit(*this, std::move(command), [this, progress](Reply result) {
            const auto* change = std::get_if<ChangeAnswer>(&result);
            const ChangeOutcome wanted = progress->of_delayed ? ChangeOutcome::fired : ChangeOutcome::kicked;
            if (change != nullptr && change->outcome == wanted) ++progress->kicked;
            if (--progress->in_progress > 0) return;
            // If none could be kicked, another client did it: the next page would be the same one.
            progress->left = progress->kicked == 0 ? 0 : progress->left - std::min(progress->left, progress->kicked);
            list_to_kick(*progress);
        });
    }
}

void BeanstalkSession::redrive(Kick kick) {
    RedriveCommand command;
    command.queue = kick.tube;
    command.max = kick.left;
    service_.submit(*this, std::move(command), [this, kick = std::move(kick)](Reply result) mutable {
        const auto* redriven = std::get_if<RedriveAnswer>(&result);
        if (redriven != nullptr && redriven->redriven > 0) {
            kick.kicked = static_cast<std::uint32_t>(redriven->redriven);
            return finish_kick(kick);
        }
        kick.of_delayed = true;
        list_to_kick(std::move(kick));
    });
}

void BeanstalkSession::finish_kick(const Kick& kick) {
    reply_recorded(kick.slot, "tube.kick", kick.tube, "KICKED " + std::to_string(kick.kicked) + "\r\n");
}

void BeanstalkSession::reply_recorded(SlotNumber slot, std::string_view verb, const std::string& tube,
                                      std::string text) {
    service_.record(*this, verb, tube, [this, slot, text = std::move(text)](bool is_written) {
        if (!is_written) return refuse(slot);
        reply(slot, text);
    });
}

void BeanstalkSession::kick_job(SlotNumber slot, MessageId id) {
    GetCommand get;
    get.id = id;
    service_.submit(*this, std::move(get), [this, slot, id](Reply result) {
        const auto* message = std::get_if<MessageAnswer>(&result);
        if (message == nullptr) return reply(slot, kNotFound);
        switch (message->row.state.state) {
            case State::held:
            case State::dead:
                return change_for_kick(slot, KickCommand{.id = id});
            case State::scheduled:
            case State::retrying:
                return change_for_kick(slot, FireCommand{.id = id});
            default:
                return reply(slot, kNotFound);
        }
    });
}

void BeanstalkSession::change_for_kick(SlotNumber slot, Command command) {
    service_.submit(*this, std::move(command), [this, slot](Reply result) {
        const auto* change = std::get_if<ChangeAnswer>(&result);
        const bool is_kicked =
            change != nullptr && (change->outcome == ChangeOutcome::kicked || change->outcome == ChangeOutcome::fired);
        reply(slot, is_kicked ? "KICKED\r\n" : kNotFound);
    });
}

// ---- peek

void BeanstalkSession::peek(SlotNumber slot, MessageId id) {
    GetCommand get;
    get.id = id;
    service_.submit(*this, std::move(get), [this, slot](Reply result) {
        const auto* message = std::get_if<MessageAnswer>(&result);
        if (message == nullptr || !message->has_content) return reply(slot, kNotFound);
        reply(slot, "FOUND " + std::to_string(message->row.id) + " " + std::to_string(message->body.size()) + "\r\n" +
                        message->body + "\r\n");
    });
}

void BeanstalkSession::peek_ready(SlotNumber slot) {
    service_.port_.find_first_ready({used_}, service_.while_open<BeanstalkPort::FirstReady>(
                                                 number_, [this, slot](const BeanstalkPort::FirstReady& first) {
                                                     if (first.front()) return peek(slot, first.front()->position.id);
                                                     peek_state(slot, StateSet{State::ready});  // on disk
                                                 }));
}

// The one that was due first.
void BeanstalkSession::peek_state(SlotNumber slot, StateSet states) {
    ListCommand list;
    list.queue = used_;
    list.states = states;
    list.limit = 1;
    service_.submit(*this, std::move(list), [this, slot](Reply result) {
        const auto* page = std::get_if<ListAnswer>(&result);
        if (page == nullptr || page->listed.empty()) return reply(slot, kNotFound);
        peek(slot, page->listed.front().row.id);
    });
}

}  // namespace duewheel
