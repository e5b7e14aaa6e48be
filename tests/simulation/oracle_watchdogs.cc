// Watchdogs: an answered feed counts, whatever crashes; a message states when its watchdog was last fed and when it was
// due, and both must be true; each silence creates one message, and all of them are delivered.
//
// A client knows that a feed was decided between its request and its response. So for a message that was due at D, and
// whose watchdog was last fed at F, three things are known: at F a feed is possible; between F and D there was
// certainly none; and D follows from F by a rule that was put.
#include <algorithm>
#include <cstdlib>

#include "base/error_codes.h"
#include "simulation/oracle.h"

namespace duewheel {
namespace {

bool changes_one(const Command& command) {
    return std::holds_alternative<PutWatchdogCommand>(command) ||
           std::holds_alternative<FeedWatchdogCommand>(command) ||
           std::holds_alternative<RemoveWatchdogCommand>(command);
}

// When it fires, by the documentation of its rule.
DueMs fires_at(const WatchdogRule& rule, DueMs first_fed, DueMs fed) {
    const DueMs due = fed + rule.timeout_ms;
    return rule.max_ms == 0 ? due : std::min(due, first_fed + rule.max_ms);
}

}  // namespace

bool Oracle::is_of_watchdogs(const Command& command) {
    return changes_one(command) || std::holds_alternative<DescribeWatchdogCommand>(command) ||
           std::holds_alternative<ListWatchdogsCommand>(command);
}

WatchdogModel* Oracle::watchdog_of(const Command& command) {
    const auto find = [this](const auto& named) {
        WatchdogModel& model = watchdogs_[{named.name_space, named.name}];
        model.name_space = named.name_space;
        model.name = named.name;
        return &model;
    };
    if (const auto* put = std::get_if<PutWatchdogCommand>(&command)) return find(*put);
    if (const auto* fed = std::get_if<FeedWatchdogCommand>(&command)) return find(*fed);
    if (const auto* removed = std::get_if<RemoveWatchdogCommand>(&command)) return find(*removed);
    if (const auto* look = std::get_if<DescribeWatchdogCommand>(&command)) return find(*look);
    return nullptr;
}

void Oracle::watchdog_violates(const WatchdogModel& model, std::string_view clause, const std::string& what) {
    violate(clause, "watchdog " + model.name_space + "/" + model.name + ": " + what);
}

// ---- what is sent, and what is lost

void Oracle::watchdog_submitted(const Command& command, ReplyToken token) {
    WatchdogModel* model = watchdog_of(command);
    if (model == nullptr) return;
    WatchdogModel::Open sent;
    sent.from_ms = now_;
    sent.puts = std::holds_alternative<PutWatchdogCommand>(command);
    sent.removes = std::holds_alternative<RemoveWatchdogCommand>(command);
    sent.may_feed = sent.puts || std::holds_alternative<FeedWatchdogCommand>(command);
    sent.surely_fed_ms = model->surely_fed_ms;
    sent.silent_until_ms = model->silent_until_ms;
    sent.was_there = model->is_there;
    sent.was_gone = model->is_gone;
    sent.told_before = model->times_told;
    for (auto& [other, open] : model->open) {
        sent.is_overlapped |= open.puts || open.removes;
        if (sent.puts || sent.removes) open.is_overlapped = true;
    }
    if (sent.removes) {
        ++model->removes;
        model->is_there = false;
        model->surely_fed_ms = model->silent_until_ms = 0;
    }
    if (sent.puts) {
        model->is_gone = false;
        model->silent_until_ms = 0;
        const auto& put = std::get<PutWatchdogCommand>(command);
        if (put.rule.content_hash > watchdog_puts_.size()) {
            watchdog_puts_.push_back({put.rule.content_hash, put, leases_[put.rule.queue].lost});
            model->puts.push_back(put.rule.content_hash);
        }
    }
    sent.removes_before = model->removes;
    model->open.emplace(token, sent);
}

// What was in progress was executed by now, or never.
void Oracle::watchdogs_died() {
    for (auto& [name, model] : watchdogs_) {
        for (const auto& [token, open] : model.open) {
            if (open.may_feed) model.feeds.push_back({open.from_ms, now_, false});
            if (open.puts) model.changes.push_back({open.from_ms, now_, false});
            if (!open.puts && !open.removes) continue;
            model.is_there = false;
            model.told.reset();
            if (open.removes) model.is_blurred = true;
            rare_.met(Rare::watchdog_told_nothing);
        }
        model.open.clear();
    }
}

void Oracle::watchdogs_started() {
    const bool is_behind = std::any_of(watchdogs_.begin(), watchdogs_.end(), [this](const auto& each) {
        const WatchdogState* state = each.second.surely();
        return state != nullptr && state->due_ms != 0 && state->due_ms <= now_;
    });
    if (is_behind) rare_.met(Rare::watchdog_due_at_start);
}

// ---- what is answered

void Oracle::watchdog_replied(ReplyToken token, const Request& request, const Reply& reply) {
    WatchdogModel* model = watchdog_of(request.command);
    if (model == nullptr) {
        if (const auto* list = std::get_if<WatchdogListAnswer>(&reply)) return watchdogs_listed(request, *list);
        if (std::holds_alternative<Error>(reply)) return;  // judged apart
        return violate("X", "a list of watchdogs is answered as something else");
    }
    const WatchdogModel::Open sent = model->open.at(token);
    model->open.erase(token);
    if (const auto* error = std::get_if<Error>(&reply)) return watchdog_refused(*model, sent, request, *error);
    if (const auto* fed = std::get_if<FedAnswer>(&reply);
        fed != nullptr && std::holds_alternative<FeedWatchdogCommand>(request.command)) {
        return watchdog_fed(*model, sent, *fed);
    }
    const auto* answer = std::get_if<WatchdogAnswer>(&reply);
    if (answer == nullptr || answer->name != model->name || answer->name_space != model->name_space) {
        return watchdog_violates(*model, "X", "a command about it got a reply of another kind, or of another one");
    }
    if (sent.removes) return watchdog_removed(*model, sent, *answer);
    if (answer->removed) return watchdog_violates(*model, "X", "it says what it is not");
    if (sent.puts) watchdog_put(*model, sent, std::get<PutWatchdogCommand>(request.command), *answer);
    if (!violated()) watchdog_told(*model, sent, answer->state);
}

void Oracle::watchdog_is_there(WatchdogModel& model, const WatchdogModel::Open& sent) {
    if (sent.was_gone && model.is_gone) return watchdog_violates(model, "C4", "it is answered after it was removed");
    if (sent.removes_before != model.removes || sent.is_overlapped) return;
    model.is_there = true;
    model.is_gone = false;
}

// It was fed between then and now.
void Oracle::watchdog_was_fed(WatchdogModel& model, const WatchdogModel::Open& sent, DueMs due_ms, bool is_late) {
    model.feeds.push_back({sent.from_ms, now_, true});
    const bool is_of_this_life = sent.removes_before == model.removes && !sent.is_overlapped;
    if (is_late && is_of_this_life && now_ < sent.silent_until_ms) {
        return watchdog_violates(model, "C2",
                                 "a feed is told that it comes too late, before " + at(sent.silent_until_ms) +
                                     ", until when the one before lasts");
    }
    if (is_late) rare_.met(Rare::watchdog_fed_late);
    if (!is_of_this_life) return;
    model.surely_fed_ms = std::max(model.surely_fed_ms, sent.from_ms);
    model.silent_until_ms = std::max(model.silent_until_ms, due_ms);
    if (model.told) model.told->due_ms = std::max(model.told->due_ms, due_ms);
}

void Oracle::watchdog_fed(WatchdogModel& model, const WatchdogModel::Open& sent, const FedAnswer& answer) {
    rare_.met(Rare::watchdog_fed);
    watchdog_is_there(model, sent);
    const bool is_due_by_a_rule = std::any_of(model.puts.begin(), model.puts.end(), [&](std::uint64_t serial) {
        const WatchdogRule& rule = watchdog_puts_[serial - 1].command.rule;
        if (rule.max_ms != 0) {  // counted from a feed that may have been the first
            return answer.due_ms > sent.from_ms && answer.due_ms <= now_ + rule.timeout_ms;
        }
        return sent.from_ms + rule.timeout_ms <= answer.due_ms && answer.due_ms <= now_ + rule.timeout_ms;
    });
    if (!is_due_by_a_rule) {
        return watchdog_violates(model, "C6",
                                 "fed between " + at(sent.from_ms) + " and " + at(now_) +
                                     ", it says that it fires at " + at(answer.due_ms) + ", as no rule of it says");
    }
    if (!violated()) watchdog_was_fed(model, sent, answer.due_ms, answer.late);
}

void Oracle::watchdog_put(WatchdogModel& model, const WatchdogModel::Open& sent, const PutWatchdogCommand& command,
                          const WatchdogAnswer& answer) {
    model.changes.push_back({sent.from_ms, now_, true});
    const bool is_alone = sent.removes_before == model.removes && !sent.is_overlapped;
    if (is_alone && answer.created && sent.was_there) {
        return watchdog_violates(model, "C1", "a put made it, though it was there");
    }
    if (is_alone && !answer.created && sent.was_gone) {
        return watchdog_violates(model, "C4", "a put found it there, though it was removed");
    }
    if (answer.created) rare_.met(Rare::watchdog_put);
    if (!answer.created && answer.state.revision == 1) rare_.met(Rare::watchdog_put_again);
    if (!answer.created && answer.state.revision > 1) rare_.met(Rare::watchdog_changed_in_place);
    if (answer.created && model.told) {
        // The one before is gone; nobody told how often that had fired.
        if (!sent.was_gone || sent.is_overlapped) model.is_blurred = true;
        model.told.reset();
    }
    if (answer.late.has_value() != (command.feeds && !answer.created)) {
        return watchdog_violates(model, "X", "a put does not say whether it fed it");
    }
    if (is_alone) {
        model.is_there = true;
        model.is_gone = false;
    }
    if (answer.created || command.feeds) {
        if (!answer.created) rare_.met(Rare::watchdog_fed_by_a_put);
        watchdog_was_fed(model, sent, answer.state.due_ms, answer.late.value_or(false));
    }
}

void Oracle::watchdog_removed(WatchdogModel& model, const WatchdogModel::Open& sent, const WatchdogAnswer& answer) {
    if (!answer.removed) return watchdog_violates(model, "X", "a removal does not say whether there was one");
    if (!*answer.removed && sent.was_there && !sent.is_overlapped && sent.removes_before == model.removes) {
        return watchdog_violates(model, "C1", "a removal did not find it");
    }
    rare_.met(*answer.removed ? Rare::watchdog_removed : Rare::watchdog_was_not_there);
    if (*answer.removed) model.fired_before += answer.state.fired;
    model.told.reset();
    const bool may_be_back = sent.is_overlapped || std::any_of(model.open.begin(), model.open.end(),
                                                               [](const auto& each) { return each.second.puts; });
    if (may_be_back) model.is_blurred = true;
    model.is_gone = !may_be_back;
}

// What somebody is told of it must go with all that was told before, and with what was fed.
void Oracle::watchdog_told(WatchdogModel& model, const WatchdogModel::Open& sent, const WatchdogState& state) {
    watchdog_is_there(model, sent);
    if (violated()) return;
    const bool was_put = std::any_of(model.puts.begin(), model.puts.end(), [&](std::uint64_t serial) {
        return watchdog_puts_[serial - 1].command.rule == state.rule;
    });
    if (!was_put) return watchdog_violates(model, "C1", "it has a rule that nobody put");
    const bool is_of_this_life = sent.removes_before == model.removes && !sent.is_overlapped;
    if (is_of_this_life && state.fed_ms < sent.surely_fed_ms) {
        return watchdog_violates(model, "C1",
                                 "it says that it was last fed at " + at(state.fed_ms) + ", and a feed of " +
                                     at(sent.surely_fed_ms) + " or later was answered");
    }
    if (!was_fed_at(model, sent, state.fed_ms)) {
        return watchdog_violates(model, "C6", "it says that it was fed at " + at(state.fed_ms) + ", when nobody did");
    }
    if (state.first_fed_ms > state.fed_ms || state.fed_ms > now_) {
        return watchdog_violates(model, "X", "its feeds come in another order than time");
    }
    if (state.first_fed_ms != 0 && model.puts.size() == 1 &&
        state.due_ms != fires_at(state.rule, state.first_fed_ms, state.fed_ms)) {
        return watchdog_violates(model, "C6",
                                 "fed at " + at(state.first_fed_ms) + " and last at " + at(state.fed_ms) +
                                     " it says that it fires at " + at(state.due_ms));
    }
    if (state.first_fed_ms == 0 && state.fired + state.merged == 0) {
        return watchdog_violates(model, "C6", "it has not fired, and was not fed");
    }
    if (state.owed_ms != 0) rare_.met(Rare::watchdog_owes);
    if (state.merged != 0) rare_.met(Rare::watchdog_merged);
    const bool is_told_in_order = model.told && sent.told_before == model.times_told && is_of_this_life;
    if (is_told_in_order) {
        const WatchdogState& before = *model.told;
        const bool goes_back = state.revision < before.revision || state.feeds < before.feeds ||
                               state.fired < before.fired || state.merged < before.merged ||
                               state.created_ms != before.created_ms;
        if (goes_back) {
            const auto words = [](const WatchdogState& of) {
                return "revision " + std::to_string(of.revision) + " of " + at(of.created_ms) + ", fed " +
                       std::to_string(of.feeds) + " times, fired " + std::to_string(of.fired) + ", merged " +
                       std::to_string(of.merged);
            };
            return watchdog_violates(model, "C1", "after " + words(before) + ", it is told to be " + words(state));
        }
    }
    if (!is_of_this_life) return;  // it may be one that has been removed since
    ++model.times_told;
    if (!model.told || state.revision >= model.told->revision) model.told = state;
}

bool Oracle::was_fed_at(const WatchdogModel& model, const WatchdogModel::Open& also, DueMs fed_ms) const {
    const auto holds = [fed_ms](const DecidedWithin& feed) { return feed.holds(fed_ms); };
    if (also.may_feed && also.from_ms <= fed_ms && fed_ms <= now_) return true;
    if (std::any_of(model.feeds.begin(), model.feeds.end(), holds)) return true;
    return std::any_of(model.open.begin(), model.open.end(), [&](const auto& each) {
        return each.second.may_feed && each.second.from_ms <= fed_ms && fed_ms <= now_;
    });
}

void Oracle::watchdogs_listed(const Request& request, const WatchdogListAnswer& answer) {
    const auto& list = std::get<ListWatchdogsCommand>(request.command);
    rare_.met(Rare::watchdogs_listed);
    if (answer.watchdogs.size() > list.limit) return violate("C11", "a list of watchdogs is longer than its limit");
    std::string after = list.after;
    for (const WatchdogAnswer& each : answer.watchdogs) {
        const auto found = watchdogs_.find({list.name_space, each.name});
        if (each.name_space != list.name_space || each.name <= after || found == watchdogs_.end()) {
            return violate("C12", "a list names a watchdog of another place, or out of order");
        }
        after = each.name;
    }
}

void Oracle::watchdog_refused(WatchdogModel& model, const WatchdogModel::Open& sent, const Request& request,
                              const Error& error) {
    const ErrorCode code = error.code;
    if (code == "too_busy"_code || code == "store_full"_code) return;  // judged apart
    if (code == "unknown_watchdog"_code && !sent.puts && !sent.removes) {
        rare_.met(Rare::watchdog_unknown);
        const bool is_of_this_life = sent.removes_before == model.removes && !sent.is_overlapped;
        if (sent.was_there && is_of_this_life) watchdog_violates(model, "C1", "it is not known any more");
        return;
    }
    const auto* put = std::get_if<PutWatchdogCommand>(&request.command);
    if (put != nullptr && code == "watchdog_limit"_code) {
        rare_.met(Rare::too_many_watchdogs);
        if (sent.was_there && !sent.is_overlapped) {
            watchdog_violates(model, "C11", "a change of it is refused because there are too many");
        }
        return;
    }
    if (put != nullptr && code == "out_of_range"_code) {
        const WatchdogRule& rule = put->rule;
        const bool is_wrong = rule.timeout_ms < 1 || rule.timeout_ms > kWatchdogMaxMs || rule.repeat_every_ms < 0 ||
                              (rule.max_ms != 0 && rule.max_ms < rule.timeout_ms) ||
                              rule.expires_after_ms > options_.delay_max_ms || !rule.retry.is_empty();
        if (!is_wrong) return watchdog_violates(model, "X", "a put is refused in which nothing is wrong");
        return rare_.met(Rare::watchdog_refused);
    }
    watchdog_violates(model, "X", "a command is refused with " + std::string(name_of(code)));
}

// ---- messages that are met

MessageModel Oracle::message_by(const WatchdogPut& put, DueMs due_ms) const {
    const PutWatchdogCommand& command = put.command;
    MessageModel about;
    about.watchdog_put = put.serial;
    about.put.name_space = command.name_space;
    about.put.queue = command.rule.queue;
    about.put.when = {due_ms, 0};
    copy_content(command, about.put);
    about.put.order_key = command.rule.order_key;
    about.put.priority = command.rule.priority;
    about.put.retry = command.rule.retry;
    if (command.rule.expires_after_ms != 0) {
        const DueMs expires = due_ms + command.rule.expires_after_ms;
        about.put.expires = When{expires, 0};
        about.expires = DueRange{expires, expires};
    }
    about.answered = true;
    about.answered_step = step_;
    about.first_put_ms = now_;
    about.leases_lost_before = put.leases_lost_before;
    return about;
}

MessageModel* Oracle::find_firing(const LeaseCommand& command, const Delivered& delivery) {
    MessageModel* known = message_of(delivery.id);
    const auto found = watchdogs_.find({command.name_space, delivery.watchdog});
    const std::uint64_t serial = std::strtoull(delivery.body.c_str(), nullptr, 10);
    const bool was_put = found != watchdogs_.end() && serial != 0 && serial <= watchdog_puts_.size();
    if (!was_put || delivery.parent != 0 || !delivery.schedule.empty()) {
        violate("C1", "a message was delivered of a watchdog that nobody put", known);
        return nullptr;
    }
    const WatchdogPut& put = watchdog_puts_[serial - 1];
    const PutWatchdogCommand& sent = put.command;
    if (sent.name_space != command.name_space || sent.name != delivery.watchdog ||
        static_cast<const Content&>(sent) != delivery) {
        violate("C1", "a message was delivered with another content than its watchdog has", known);
        return nullptr;
    }
    if (known == nullptr) return firing_met(found->second, put, delivery);
    if (known->watchdog_put == serial && known->occurrence == delivery.occurrence) return known;
    violate("C6", "a message of a watchdog is delivered again as another one", known);
    return nullptr;
}

// For the first time.
MessageModel* Oracle::firing_met(WatchdogModel& model, const WatchdogPut& put, const Delivered& delivery) {
    const DueMs due = delivery.due_ms;
    const World fresh{World::Phase::live, {due, due}, {due, due}, {}};
    MessageModel& about = messages_.emplace_back(message_by(put, due));
    about.serial = messages_.size();
    about.forgiven_high = run_;  // earlier runs may have delivered it, and each restart forgives an attempt
    about.occurrence = delivery.occurrence;
    about.was_told(delivery.delivered_ms, step_);
    about.set({0, 0}, {fresh});
    learn_rule(about);
    note(about, "a firing is met: number, last fed", static_cast<std::int64_t>(delivery.occurrence), delivery.fed_ms);
    id_learned(about, delivery.id);
    rare_.met(Rare::firing_met);
    asked_before_it_was_met(about, fresh);
    model.met.insert(delivery.id);
    check_firing(model, about, delivery);
    return violated() ? nullptr : &about;
}

void Oracle::check_firing(WatchdogModel& model, const MessageModel& about, const Delivered& delivery) {
    const DueMs fed = delivery.fed_ms;
    const DueMs due = delivery.due_ms;
    const std::string when = "last fed at " + at(fed) + " and due at " + at(due);
    if (!was_fed_at(model, {}, fed)) return violate("C6", when + ", when nobody fed its watchdog", &about);
    for (const DecidedWithin& feed : model.feeds) {
        if (!feed.is_sure || feed.from_ms <= fed || feed.until_ms >= due) continue;
        return violate(
            "C1",
            when + ", though a feed that was sent at " + at(feed.from_ms) + " was answered at " + at(feed.until_ms),
            &about);
    }
    if (!is_due_by_a_rule(model, fed, due)) return violate("C6", when + ", as no rule of its watchdog says", &about);
    const auto [place, is_new] = model.firings.emplace(std::pair(fed, due), delivery.id);
    if (!is_new) {
        violate("C6", when + ", as message " + std::to_string(place->second) + " of this watchdog is", &about);
    }
}

// Whether the times of `again` lead to `due_ms`. Of several rules the first firing may be of another one.
bool Oracle::may_be_once_more(const WatchdogModel& model, const WatchdogRule& rule, DueMs fed_ms, DueMs due_ms) const {
    if (model.puts.size() > 1) return due_ms >= fed_ms + rule.repeat_every_ms;
    const DueMs beyond = due_ms - fed_ms - rule.timeout_ms;
    if (beyond > 0 && beyond % rule.repeat_every_ms == 0) return true;
    if (rule.max_ms == 0) return false;
    for (DueMs first = due_ms - rule.repeat_every_ms; first > fed_ms; first -= rule.repeat_every_ms) {
        if (first < fed_ms + rule.timeout_ms && was_fed_at(model, {}, first - rule.max_ms)) return true;
    }
    return false;
}

bool Oracle::is_due_by_a_rule(const WatchdogModel& model, DueMs fed_ms, DueMs due_ms) {
    for (const std::uint64_t serial : model.puts) {
        const WatchdogRule& rule = watchdog_puts_[serial - 1].command.rule;
        if (due_ms == fed_ms + rule.timeout_ms) return true;
        if (rule.max_ms != 0 && due_ms < fed_ms + rule.timeout_ms && was_fed_at(model, {}, due_ms - rule.max_ms)) {
            rare_.met(Rare::firing_by_its_bound);
            return true;
        }
        if (rule.repeat_every_ms != 0 && may_be_once_more(model, rule, fed_ms, due_ms)) {
            rare_.met(Rare::firing_once_more);
            return true;
        }
    }
    // Another rule than before may make it due at once.
    const bool may_be_changed = std::any_of(model.changes.begin(), model.changes.end(),
                                            [due_ms](const DecidedWithin& change) { return change.holds(due_ms); }) ||
                                std::any_of(model.open.begin(), model.open.end(), [due_ms](const auto& each) {
                                    return each.second.puts && each.second.from_ms <= due_ms;
                                });
    return may_be_changed && model.puts.size() > 1;
}

void Oracle::check_firing_made(const MessageModel& about, const MessageAnswer& answer) {
    const PutWatchdogCommand& put = watchdog_puts_[about.watchdog_put - 1].command;
    if (answer.watchdog != put.name) return violate("C6", "get answers that another watchdog has made it", &about);
    const DueMs due = about.epochs.front().worlds.front().nominal.low;
    if (answer.put_ms < due) violate("C2", "a watchdog fired at " + at(answer.put_ms) + ", before " + at(due), &about);
}

// ---- what may be there that nobody has met

// Each may have fired at any time.
std::uint64_t Oracle::firings_not_met(const QueueKey* queue) const {
    const bool may_be = std::any_of(watchdog_puts_.begin(), watchdog_puts_.end(), [queue](const WatchdogPut& put) {
        return queue == nullptr || (put.command.name_space == queue->first && put.command.rule.queue == queue->second);
    });
    return may_be ? kMany : 0;
}

void Oracle::watchdog_dues_ahead(std::vector<DueMs>& dues) const {
    for (const auto& [name, model] : watchdogs_) {
        const WatchdogState* state = model.surely();
        if (state != nullptr && state->due_ms > now_) dues.push_back(state->due_ms);
    }
}

bool Oracle::watchdogs_go_on() const {
    return std::any_of(watchdogs_.begin(), watchdogs_.end(), [](const auto& each) {
        const WatchdogState* state = each.second.surely();
        return state != nullptr && !state->is_asleep();
    });
}

// ---- the end

bool Oracle::firing_may_have_vanished(const WatchdogModel& model) const {
    return std::any_of(model.puts.begin(), model.puts.end(), [&](std::uint64_t serial) {
        const WatchdogPut& put = watchdog_puts_[serial - 1];
        if (put.command.rule.expires_after_ms != 0) return true;
        const auto queue = queues_.find({put.command.name_space, put.command.rule.queue});
        if (queue != queues_.end() && (queue->second.was_purged || queue->second.discarded_until > 0)) return true;
        MessageModel about = message_by(put, 0);
        about.attempts_least = UINT32_MAX;
        for (const RetryRule& rule : rules_of(about, 0)) {
            about.attempts_least = std::min(about.attempts_least, rule.attempts);
        }
        return unseen(about) >= about.attempts_least;
    });
}

// Consumers have drained all queues, and each watchdog was looked at.
void Oracle::check_watchdogs() {
    for (const auto& [name, model] : watchdogs_) {
        if (violated()) return;
        const WatchdogState* state = model.surely();
        if (state != nullptr && (state->owed_ms != 0 || (state->due_ms != 0 && state->due_ms <= now_))) {
            return watchdog_violates(model, "C3", "all is quiet, and it was due at " + at(state->due_ms));
        }
        const bool is_known = !model.is_blurred && model.open.empty() && (model.is_gone || state != nullptr);
        if (!is_known) continue;
        const std::uint64_t fired = model.fired_before + (model.is_gone || state == nullptr ? 0 : state->fired);
        if (model.met.size() > fired) {
            return watchdog_violates(model, "C6",
                                     "it has fired " + std::to_string(fired) + " times, and " +
                                         std::to_string(model.met.size()) + " messages have come");
        }
        if (model.met.size() == fired) continue;
        if (!firing_may_have_vanished(model)) {
            return watchdog_violates(model, "C3",
                                     "it has fired " + std::to_string(fired) + " times, and only " +
                                         std::to_string(model.met.size()) + " messages have come");
        }
        rare_.met(Rare::firing_ended_unmet);
    }
}

}  // namespace duewheel
