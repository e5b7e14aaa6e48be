#include "engine/settings/groups.h"

#include <algorithm>
#include <memory>
#include <tuple>

#include "base/error_codes.h"
#include "engine/commands/command_traits.h"
#include "engine/commands/refusals.h"
#include "message/records/subject.h"

namespace duewheel {
namespace {

// The groups with settings of their own, on one shard.
constexpr std::size_t kGroupSettingsMax = 1'000'000;

}  // namespace

void Groups::install(const GroupConfStart& start) {
    const auto names = split_group_conf_name(start.name);
    if (!names) return fail({"damaged_log"_code, "the settings of a group have no group: run `duewheel check`"});
    const QueueNumber number = recent_.queues().number(start.name_space, names->first);
    static_cast<void>(queues_.at(number));  // it exists from now on
    turns_.set_conf(number, names->second,
                    std::make_unique<GroupConf>(GroupConf{start.settings, start.log_position, start.record_bytes}));
    ++with_settings_;
}

Verdict Groups::decide(PendingCommand& pending, const ChangeGroupCommand& command) {
    Name name{command.name_space, group_conf_name(command.queue, command.group)};
    if (in_batch_.contains(name)) return Verdict::deferred;
    QueueNumber number = recent_.queues().find(command.name_space, command.queue);
    const GroupConf* conf = number == kNoQueue ? nullptr : turns_.conf(number, command.group);
    GroupSettings next;
    if (conf != nullptr) next = conf->settings;
    if (Status changed = command.change(next, now_); !changed) return replied(pending, std::move(changed).error());
    const Status legal = check_ranges(fields_of<GroupSettings>(), &next,
                                      [this](std::string_view) { return std::uint64_t{options_.leased_max}; });
    if (!legal) return replied(pending, legal.error());
    if (Status fits = check_burst(next.rate, "rate"); !fits) return replied(pending, std::move(fits).error());
    const bool is_removed = next.is_empty(now_);
    const bool is_same = conf != nullptr ? !is_removed && next == conf->settings : is_removed;
    if (is_same) {
        if (number != kNoQueue) return replied(pending, turns_.describe(number, command.group));
        GroupAnswer nothing;
        std::tie(nothing.name_space, nothing.queue, nothing.group) =
            std::tie(command.name_space, command.queue, command.group);
        return replied(pending, std::move(nothing));
    }
    if (conf == nullptr && with_settings_ + new_in_batch_ >= kGroupSettingsMax) {
        return replied(pending, Error{"group_limit"_code,
                                      "there are " + std::to_string(kGroupSettingsMax) +
                                          " groups with settings of their own already: remove settings that are not "
                                          "needed, or set `groups` of the queue, which is for all of its groups",
                                      "group"});
    }
    if (refuse_for_space(pending, is_removed ? Adds::end : Adds::change)) return Verdict::settled;
    if (number == kNoQueue) {
        if (Status free = queues_.check_new_queue(command.name_space, command.queue); !free) {
            return replied(pending, std::move(free).error());
        }
        number = recent_.queues().number(command.name_space, command.queue);
    }
    next.revision = is_removed ? 0 : next.revision + 1;
    add(name, number, command.group, next, pending.token, GroupAnswer{});
    return Verdict::settled;
}

Verdict Groups::decide(PendingCommand& pending, const RelocateSettingsCommand& command) {
    const Name name{command.name_space, command.queue};
    if (in_batch_.contains(name)) return Verdict::deferred;
    const auto names = split_group_conf_name(command.queue);
    const QueueNumber number = names ? recent_.queues().find(command.name_space, names->first) : kNoQueue;
    const GroupConf* conf = number == kNoQueue ? nullptr : turns_.conf(number, names->second);
    if (conf == nullptr || conf->log_position != command.log_position) return replied(pending, RelocateAnswer{});
    const GroupSettings kept = conf->settings.is_empty(now_) ? GroupSettings{} : conf->settings;
    add(name, number, names->second, kept, pending.token, RelocateAnswer{true, batch().next_sequence()});
    return Verdict::settled;
}

void Groups::add(const Name& name, QueueNumber number, std::string_view group, const GroupSettings& settings,
                 ReplyToken token, Reply with) {
    std::optional<StoredConf> before;
    if (const GroupConf* conf = turns_.conf(number, group)) {
        before = {conf->log_position, conf->record_bytes, conf->settings.revision,
                  encode_group_settings(conf->settings)};
    } else {
        ++new_in_batch_;
    }
    queues_.at(number).put_on_its_way = true;  // its name stays
    in_batch_.emplace(name, settings);
    add_conf(Subject::group, name.first, name.second, encode_group_settings(settings), before, token, std::move(with));
}

void Groups::apply(Operation& operation, const ConfRecord& record) {
    const auto next = in_batch_.extract({record.name_space, operation.name});
    const auto names = *split_group_conf_name(operation.name);
    const QueueNumber number = recent_.queues().find(record.name_space, names.first);
    Queue& at = queues_.at(number);
    at.put_on_its_way = false;
    at.only_waited_for = false;
    at.last_segment = segment_.number();
    const bool had_settings = turns_.conf(number, names.second) != nullptr;
    const bool has_settings = next.mapped().revision != 0;
    with_settings_ += (has_settings ? 1 : 0) - (had_settings ? 1 : 0);
    if (!had_settings) --new_in_batch_;
    turns_.set_conf(
        number, names.second,
        has_settings ? std::make_unique<GroupConf>(GroupConf{next.mapped(), operation.sequence, operation.frame_bytes})
                     : nullptr);
    if (std::holds_alternative<GroupAnswer>(operation.reply)) operation.reply = turns_.describe(number, names.second);
}

std::size_t Groups::next_bytes() const {
    return has_work() ? kRecordOverheadMax + kGroupBytesMax : 0;
}

// Half of a batch at most, so that a million backoffs that end at one instant leave room for commands.
void Groups::add_to_batch() {
    std::deque<GroupNumber>& ended = turns_.ended_backoffs();
    const std::size_t share = std::max<std::size_t>(options_.batch_operations_max / 2, 1);
    for (; !ended.empty() && batch().count() < share; ended.pop_front()) {
        if (!has_room(next_bytes())) return;
        const Group* group = turns_.find(ended.front());
        if (group == nullptr || !group->conf || !group->conf->settings.is_empty(now_)) continue;
        const GroupName& at = recent_.groups()[ended.front()];
        const QueueName& queue = recent_.queues().name(at.queue);
        const Name name{queue.name_space, group_conf_name(queue.queue, at.group)};
        if (!in_batch_.contains(name)) add(name, at.queue, at.group, GroupSettings{}, 0, Error{});
    }
}

}  // namespace duewheel
