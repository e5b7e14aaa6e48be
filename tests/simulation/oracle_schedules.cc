// Schedules: what each reply to a command about a schedule must contain, and what may be refused.
//
// Commands on one name have a known order only if each is answered before the next is sent; if several were in progress
// at the same time (`is_overlapped`), the oracle accepts the reported state and continues from there. States are judged
// in oracle_schedule_states.cc, runs in oracle_runs.cc.
#include <algorithm>

#include "base/error_codes.h"
#include "simulation/oracle.h"

namespace duewheel {
namespace {

using There = ScheduleModel::There;
using Control = ControlScheduleCommand::What;

const ControlScheduleCommand* sent_control(const Command& command, Control what) {
    const auto* told = std::get_if<ControlScheduleCommand>(&command);
    return told != nullptr && told->what == what ? told : nullptr;
}

bool may_let_it_go_on(const Command& command) {
    return std::holds_alternative<PutScheduleCommand>(command) || sent_control(command, Control::resume) != nullptr ||
           sent_control(command, Control::remove) != nullptr;
}

}  // namespace

ScheduleModel* Oracle::schedule_of(const Command& command) {
    const auto find = [this](const std::string& name_space, const std::string& name) {
        ScheduleModel& model = schedules_[{name_space, name}];
        model.name_space = name_space;
        model.name = name;
        return &model;
    };
    if (const auto* put = std::get_if<PutScheduleCommand>(&command)) return find(put->name_space, put->name);
    if (const auto* told = std::get_if<ControlScheduleCommand>(&command)) return find(told->name_space, told->name);
    if (const auto* look = std::get_if<DescribeScheduleCommand>(&command)) return find(look->name_space, look->name);
    if (const auto* look = std::get_if<PreviewScheduleCommand>(&command)) return find(look->name_space, look->name);
    return nullptr;
}

bool Oracle::changes_a_schedule(const Command& command) {
    return std::holds_alternative<PutScheduleCommand>(command) ||
           std::holds_alternative<ControlScheduleCommand>(command);
}

// ---- what is sent, and what is lost

void Oracle::schedule_submitted(const Command& command, ReplyToken token, Request& request) {
    request.schedule_moves = schedule_moves_;
    ScheduleModel* model = schedule_of(command);
    if (model == nullptr) return;
    request.is_overlapped = !model->open.empty();
    request.lives = model->lives.size();
    if (const ScheduleLife* life = model->life(); life != nullptr && !life->told.empty()) {
        request.least_revision = life->told.rbegin()->first;
    }
    if (!changes_a_schedule(command)) return;
    ++schedule_moves_;
    for (auto& [other, open] : requests_) {
        if (schedule_of(open.command) == model) open.is_overlapped = true;
    }
    model->open.insert(token);
    if (may_let_it_go_on(command)) ++model->commands;
    if (sent_control(command, Control::remove) != nullptr) ++model->removes_open;
    if (sent_control(command, Control::fire) != nullptr) ++model->fires;
    const auto* put = std::get_if<PutScheduleCommand>(&command);
    if (put == nullptr) return;
    if (put->rule.content_hash > schedule_puts_.size()) {
        SchedulePut& fresh =
            schedule_puts_.emplace_back(SchedulePut{schedule_puts_.size() + 1, *put, {}, {}, {}, 0, false, false});
        for (std::uint32_t version = 0; version <= zone_version_; ++version) {
            if (std::optional<TimesModel> times = TimesModel::make(put->rule.times, version)) {
                fresh.times.push_back(*std::move(times));
            }
        }
        fresh.leases_lost_before = leases_[put->rule.queue].lost;
        model->puts.push_back(fresh.serial);
    }
    SchedulePut& sent = schedule_puts_[put->rule.content_hash - 1];
    sent.open[token] = sent.tries.size();
    sent.tries.push_back({now_});
}

void Oracle::schedule_closed(const Command& command, ReplyToken token, bool was_refused) {
    if (!changes_a_schedule(command)) return;
    ScheduleModel& model = *schedule_of(command);
    ++schedule_moves_;
    model.open.erase(token);
    if (sent_control(command, Control::remove) != nullptr) --model.removes_open;
    if (sent_control(command, Control::fire) != nullptr && was_refused) ++model.fires_refused;
    const auto* put = std::get_if<PutScheduleCommand>(&command);
    if (put == nullptr) return;
    SchedulePut& sent = schedule_puts_[put->rule.content_hash - 1];
    SchedulePut::Try& one = sent.tries[sent.open.at(token)];
    one.until_ms = now_;
    one.was_refused = was_refused;
    sent.open.erase(token);
}

// What was in progress was executed by now, or never.
void Oracle::schedules_died() {
    for (const auto& [token, request] : requests_) {
        if (!changes_a_schedule(request.command)) continue;
        ScheduleModel& model = *schedule_of(request.command);
        model.change_lost = true;
        if (sent_control(request.command, Control::remove) != nullptr) model.remove_lost = true;
        if (sent_control(request.command, Control::fire) != nullptr)
            model.asked.emplace_back(request.submitted_ms, now_);
        const auto* put = std::get_if<PutScheduleCommand>(&request.command);
        if (put == nullptr) continue;
        model.put_lost = true;
        SchedulePut& sent = schedule_puts_[put->rule.content_hash - 1];
        SchedulePut::Try& one = sent.tries[sent.open.at(token)];
        one.until_ms = now_;
        one.was_lost = true;
        sent.open.erase(token);
    }
    for (auto& [name, model] : schedules_) {
        if (model.open.empty()) continue;
        model.open.clear();
        model.removes_open = 0;
        const bool may_have_changed =
            (model.put_lost && model.there == There::no) || (model.remove_lost && model.there == There::yes);
        if (may_have_changed) model.there = There::maybe;
    }
}

// ---- what is answered

void Oracle::schedule_replied(const Request& request, const ScheduleAnswer& answer) {
    ScheduleModel& model = *schedule_of(request.command);
    if (answer.name != model.name || answer.name_space != model.name_space) {
        return violate("X", "a schedule is answered for another one");
    }
    if (sent_control(request.command, Control::remove) != nullptr) return schedule_removed(request, answer, model);
    if (answer.removed || answer.invalid_zone) return schedule_violates(model, "X", "it says what it is not");
    const bool was_there = model.there == There::yes;
    const bool may_have_been = model.there != There::no;
    const auto* put = std::get_if<PutScheduleCommand>(&request.command);
    std::optional<ScheduleState> before;  // for sure
    if (const ScheduleLife* life = model.life();
        was_there && !request.is_overlapped && !model.change_lost && life != nullptr && life->newest() != nullptr) {
        before = *life->newest();
    }
    if (!may_have_been && !request.is_overlapped && put == nullptr) {
        return schedule_violates(model, "C4", "it is told of after it was removed");
    }
    schedule_told(model, answer.state, request, answer.created);
    if (changes_a_schedule(request.command) || !request.is_overlapped) model.there = There::yes;
    if (violated() || model.is_blurred) return;
    if (put != nullptr) {
        if (!request.is_overlapped && (answer.created ? was_there : !may_have_been)) {
            return schedule_violates(model, "C1", "a put is answered as one of a schedule that was there, or was not");
        }
        return schedule_put_replied(request, answer, before, model);
    }
    if (answer.created) return schedule_violates(model, "X", "it is said to be made by a command that is no put");
    const ScheduleState& state = answer.state;
    if (sent_control(request.command, Control::pause) != nullptr) {
        rare_.met(Rare::schedule_paused);
        if (!state.paused) schedule_violates(model, "X", "a pause is answered by a schedule that goes on");
    } else if (sent_control(request.command, Control::resume) != nullptr) {
        if (state.paused) return schedule_violates(model, "X", "a resume is answered by a schedule that is paused");
        if (!before || !before->paused) return;
        rare_.met(Rare::schedule_resumed);
        if (state.pass_until_ms < request.submitted_ms || state.pass_until_ms > now_) {
            schedule_violates(model, "C6", "what came in a pause is not passed over when it ends");
        }
    } else if (std::holds_alternative<DescribeScheduleCommand>(request.command)) {
        const PutScheduleCommand& of = schedule_puts_[state.rule.content_hash - 1].command;
        const bool is_same = answer.has_content && static_cast<const Content&>(answer) == of;
        if (!is_same) schedule_violates(model, "C1", "it is told of with another content than was put");
    }
}

void Oracle::schedule_put_replied(const Request& request, const ScheduleAnswer& answer,
                                  const std::optional<ScheduleState>& before, ScheduleModel& model) {
    const auto& put = std::get<PutScheduleCommand>(request.command);
    const ScheduleState& state = answer.state;
    SchedulePut& sent = schedule_puts_[put.rule.content_hash - 1];
    if (!(state.rule == put.rule)) return schedule_violates(model, "C1", "a put is answered with another rule");
    if (put.paused && state.paused != *put.paused) return schedule_violates(model, "X", "a put does not pause it");
    if (answer.created) {
        rare_.met(Rare::schedule_put);
        const auto is_there = [](const auto& each) { return each.second.surely() != nullptr; };
        if (std::count_if(schedules_.begin(), schedules_.end(), is_there) >
            static_cast<std::ptrdiff_t>(options_.schedules_max)) {
            schedule_violates(model, "C11", "one more than there may be was taken");
        }
        return;
    }
    sent.was_changed_to = true;
    if (!before) return;
    if (before->rule == put.rule) rare_.met(Rare::schedule_put_again);
    if (!put.paused && state.paused != before->paused) {
        return schedule_violates(model, "X", "a put that does not say so has changed whether it is paused");
    }
    if (before->rule.times == put.rule.times) {
        if (!(before->rule == put.rule)) rare_.met(Rare::schedule_changed_in_place);
        if (state.from_ms != before->from_ms) {
            schedule_violates(model, "C6", "its times begin anew though they are the same");
        }
        return;
    }
    rare_.met(Rare::schedule_times_changed);
    if (state.from_ms < request.submitted_ms || state.from_ms > now_) {
        schedule_violates(model, "C6", "other times begin at another instant than they were put");
    }
}

void Oracle::schedule_removed(const Request& request, const ScheduleAnswer& answer, ScheduleModel& model) {
    if (!answer.removed) return schedule_violates(model, "X", "a removal does not say whether there was one");
    if (!*answer.removed) {
        rare_.met(Rare::schedule_was_not_there);
        return schedule_is_gone(request, model);
    }
    if (model.there == There::no && !request.is_overlapped) {
        return schedule_violates(model, "C4", "it was removed twice");
    }
    rare_.met(Rare::schedule_removed);
    schedule_told(model, answer.state, request, false);
    if (violated()) return;
    model.there = There::no;
    if (ScheduleLife* life = model.life()) {
        life->removed_step = step_;
        life->removed_ms = now_;
    }
}

// It is told that there is none.
void Oracle::schedule_is_gone(const Request& request, ScheduleModel& model) {
    if (request.is_overlapped) return;
    if (model.there == There::yes && !model.is_blurred) {
        return schedule_violates(model, "C1", "there is no such schedule any more, though nobody removed it");
    }
    ScheduleLife* life = model.life();
    if (life != nullptr && life->removed_step == 0) {
        if (!model.remove_lost && !model.is_blurred) return schedule_violates(model, "C1", "it is lost");
        rare_.met(Rare::schedule_removed_without_an_answer);
        life->removed_step = request.step;
        life->removed_ms = latest();
        life->was_lost = true;
    }
    if (model.put_lost) rare_.met(Rare::lost_schedule_put_found_missing);
    model.there = There::no;
    model.put_lost = model.remove_lost = model.change_lost = false;
}

void Oracle::schedules_listed(const Request& request, const ScheduleListAnswer& answer) {
    const auto& list = std::get<ListSchedulesCommand>(request.command);
    if (answer.schedules.size() > list.limit) return violate("C11", "a page of schedules is longer than its limit");
    if (!answer.complete && answer.schedules.size() < list.limit) {
        return violate("X", "a page of schedules ends before its limit, and more are said to come");
    }
    rare_.met(answer.complete ? Rare::schedules_listed : Rare::schedules_listed_in_part);
    const bool is_open =
        std::any_of(schedules_.begin(), schedules_.end(), [](const auto& each) { return !each.second.open.empty(); });
    Request one = request;
    one.is_overlapped = is_open || schedule_moves_ != request.schedule_moves;
    std::string before = list.after;
    std::set<std::string> told;
    for (const ScheduleAnswer& listed : answer.schedules) {
        const auto found = schedules_.find({list.name_space, listed.name});
        if (listed.name <= before || listed.name_space != list.name_space || found == schedules_.end()) {
            return violate("X", "a page of schedules is out of order, or has one that is not of it");
        }
        before = listed.name;
        told.insert(listed.name);
        if (found->second.there == There::no && !one.is_overlapped) {
            return schedule_violates(found->second, "C4", "it is listed after it was removed");
        }
        schedule_told(found->second, listed.state, one, false);
        if (violated()) return;
        if (!one.is_overlapped) found->second.there = There::yes;
    }
    if (one.is_overlapped) return;
    for (const auto& [name, model] : schedules_) {
        const bool is_of_page =
            name.first == list.name_space && name.second > list.after && (answer.complete || name.second <= before);
        if (!is_of_page || model.there != There::yes || told.contains(name.second)) continue;
        return schedule_violates(model, "C1", "it is not in the list");
    }
}

// ---- what is refused

// Whether a put can be refused so: by what it says, and by what is there.
bool Oracle::may_be_refused(const SchedulePut& put, const ScheduleModel& model, const Request& request,
                            ErrorCode code) const {
    const ScheduleRule& rule = put.command.rule;
    if (code == "never_due"_code) return put.times.empty() || !put.times.back().next(now_, now_);
    if (code == "schedule_limit"_code) {
        const auto may_be_there = [](const auto& each) {
            return each.second.there != There::no || !each.second.open.empty() || each.second.is_blurred;
        };
        const auto most = std::count_if(schedules_.begin(), schedules_.end(), may_be_there);
        if (most + 1 >= static_cast<std::ptrdiff_t>(options_.schedules_max)) return true;
        const NamespaceSettings* limits = limits_since(model.name_space, request.step);
        const auto in_space = static_cast<std::uint64_t>(schedules_in(model.name_space).high);
        return limits == nullptr || (limits->schedules_max != 0 && in_space + 1 >= limits->schedules_max);
    }
    if (code != "out_of_range"_code) return false;
    const bool may_be_over = rule.times.times != 0 && (model.there != There::no || request.is_overlapped);
    const bool is_wrong_way_round = rule.times.end_ms != 0 && rule.times.end_ms < rule.times.start_ms;
    return rule.times.times > options_.repeat_times_max || rule.jitter_ms > options_.delay_max_ms ||
           rule.expires_after_ms > options_.delay_max_ms || is_wrong_way_round || may_be_over;
}

void Oracle::schedule_refused(const Request& request, const Error& error) {
    const ErrorCode code = error.code;
    if (const auto* list = std::get_if<ListSchedulesCommand>(&request.command)) {
        const bool is_outside = list->limit < 1 || list->limit > options_.list_limit_max;
        if (code != "out_of_range"_code || !is_outside)
            violate("X", "a list of schedules is refused with " + std::string(name_of(code)));
        return;
    }
    ScheduleModel& model = *schedule_of(request.command);
    if (code == "unknown_schedule"_code && !std::holds_alternative<PutScheduleCommand>(request.command) &&
        sent_control(request.command, Control::remove) == nullptr) {
        rare_.met(Rare::schedule_unknown);
        return schedule_is_gone(request, model);
    }
    if (const auto* preview = std::get_if<PreviewScheduleCommand>(&request.command)) {
        const bool is_outside = preview->count < 1 || preview->count > options_.preview_max;
        if (code == "out_of_range"_code && is_outside) return;
    }
    const bool is_room = code == "queue_full"_code || code == "namespace_full"_code || code == "queue_limit"_code;
    if (sent_control(request.command, Control::fire) != nullptr && is_room) {
        rare_.met(Rare::no_room_for_a_run_by_hand);
        const ScheduleState* state = model.surely();
        if (code == "queue_limit"_code || state == nullptr || request.is_overlapped) return;
        PutCommand like_it;
        like_it.name_space = model.name_space;
        like_it.queue = state->rule.queue;
        if (!may_have_no_room(like_it, request, code)) {
            schedule_violates(model, "C11", "a run by hand is refused although its queue is not full");
        }
        return;
    }
    if (sent_control(request.command, Control::fire) != nullptr && code == "too_many_puts"_code) {
        const NamespaceSettings* limits = limits_since(model.name_space, request.step);
        if (limits != nullptr && limits->put_rate == 0)
            schedule_violates(model, "C12", "a run by hand is refused for the rate of a namespace without one");
        return rare_.met(Rare::no_room_for_a_run_by_hand);
    }
    if (const auto* put = std::get_if<PutScheduleCommand>(&request.command)) {
        const SchedulePut& sent = schedule_puts_[put->rule.content_hash - 1];
        if (may_be_refused(sent, model, request, code)) {
            return rare_.met(code == "schedule_limit"_code ? Rare::too_many_schedules : Rare::schedule_refused);
        }
    }
    schedule_violates(model, "X", "it is refused with " + std::string(name_of(code)) + ": " + error.message);
}

}  // namespace duewheel
