// Inputs: each record before the position became a message exactly once, none after it did, and the position never goes
// back. Responses do not name the messages, so these are like those of puts whose response was lost and that are there.
#include <algorithm>
#include <string>
#include <utility>

#include "base/error_codes.h"
#include "simulation/oracle.h"

namespace duewheel {
namespace {

bool is_perhaps_absent(const MessageModel& about) {
    return about.may_be(World::Phase::absent);
}

}  // namespace

// The message that a command names by its id, its lease or its key.
MessageModel* Oracle::named_by(const Command& command) {
    const auto [name_space, key] = std::visit(
        [](const auto& named) -> std::pair<std::string, MessageKey> {
            if constexpr (requires { named.by_key.queue; }) return {named.name_space, named.by_key};
            return {};
        },
        command);
    if (!key.is_given()) return message_of(id_of(command));
    const auto found = serial_of_key_.find({name_space, key.queue, key.key});
    if (found == serial_of_key_.end()) return nullptr;
    rare_.met(Rare::record_named_by_its_key);
    return message(found->second);
}

// ---- responses

void Oracle::records_submitted(const TakeRecordsCommand& command, Request& request, ReplyToken token) {
    InputModel& input = inputs_[command.input];
    TakeModel take{.position = command.position, .offsets = command.offsets, .next = command.next};
    for (std::size_t i = 0; i < command.puts.size(); ++i) {
        put_tried(command.puts[i], token, i);
        const std::int64_t offset = command.offsets[i];
        const auto known = input.records.find(offset);
        std::uint64_t serial = 0;
        if (known != input.records.end()) {
            serial = known->second;
            if (input.missing.erase(offset) > 0) rare_.met(Rare::record_repeated_after_crash);
            note(*message(serial), "its record again", offset);
        } else {
            serial = put_submitted(command.puts[i], token);
            input.records.emplace(offset, serial);
            ++message(serial)->records;
        }
        take.serials.push_back(serial);
        request.batch.push_back(serial);
        std::vector<ReplyToken>& open = message(serial)->open;
        if (std::find(open.begin(), open.end(), token) == open.end()) open.push_back(token);
    }
    const std::set<std::int64_t> positions = input.possible();
    take.may_come_late = positions.size() > 1 || !positions.contains(command.position);
    for (auto& [other, open] : input.open) open.may_come_late = true;
    input.open.emplace(token, std::move(take));
}

void Oracle::records_replied(ReplyToken token, const Request& request, const Reply& reply) {
    const auto& command = std::get<TakeRecordsCommand>(request.command);
    InputModel& input = inputs_.at(command.input);
    const TakeModel take = std::move(input.open.extract(token).mapped());
    const std::size_t count = command.puts.size();
    const auto* answer = std::get_if<TakeRecordsAnswer>(&reply);
    const std::size_t taken = answer == nullptr ? 0 : answer->taken;
    for (std::size_t i = taken; i < count; ++i) put_told(command.puts[i], token, i, false);
    if (const auto* error = std::get_if<Error>(&reply)) {
        if (error->code == "store_full"_code) rare_.met(Rare::records_refused_for_space);
        if (error->code != "position_moved"_code) return error_replied(request, *error);
        rare_.met(Rare::reader_not_at_its_position);
        if (!take.may_come_late) violate("X", "a reader at the position of its input is refused for its position");
        return;
    }
    if (answer == nullptr) return violate("X", "records got a reply of another kind");
    const std::string name = "input " + command.input;
    if (!input.possible().contains(command.position)) {
        return violate("C9", name + " takes records from position " + at(command.position) + " after it has left it");
    }
    if (taken > count || answer->refused.has_value() != (taken < count)) {
        return violate("X", name + " takes " + at(static_cast<std::int64_t>(taken)) + " of " +
                                at(static_cast<std::int64_t>(count)) + " records, and the answer does not say why");
    }
    const bool has_moved = taken > 0 || count == 0;
    const std::int64_t end = has_moved ? take.end_after(taken) : command.position;
    if (answer->position != end) {
        return violate("C9", name + " is at position " + at(answer->position) + " instead of " + at(end));
    }
    if (end < input.position) violate("C9", name + " went back from " + at(input.position) + " to " + at(end));
    rare_.met(count == 0 ? Rare::records_passed : Rare::records_taken);
    if (answer->refused && taken > 0) rare_.met(Rare::records_taken_in_part);
    if (take.may_come_late && has_moved) rare_.met(Rare::records_taken_of_two_readers);
    for (std::size_t i = 0; i < taken && !violated(); ++i) record_taken(token, request, i);
    if (answer->refused) {
        const Request part{.command = command.puts[taken],
                           .submitted_ms = request.submitted_ms,
                           .serial = request.batch[taken],
                           .step = request.step};
        error_replied(part, *answer->refused);
        input.refused = command.offsets[taken];
        const ErrorCode code = answer->refused->code;
        input.was_refused_for_good =
            code == "delay_too_long"_code || code == "expires_too_soon"_code || code == "key_conflict"_code;
    }
    // What changes nothing is answered at once, perhaps before the command that led to this position.
    if (has_moved) input.move_to(end);
}

// It is there from now on, if it was not there before under its key.
void Oracle::record_taken(ReplyToken token, const Request& request, std::size_t part) {
    MessageModel& about = *message(request.batch[part]);
    const PutCommand& put = std::get<TakeRecordsCommand>(request.command).puts[part];
    note(about, "its record is taken", static_cast<std::int64_t>(token));
    const bool may_be_new = is_perhaps_absent(about);
    const bool is_new = may_be_new && about.worlds().size() == 1;
    if (!may_be_new) rare_.met(Rare::record_of_a_known_key);
    if (is_new || !may_be_new) put_told(put, token, part, is_new);
    if (!may_be_new) return;
    if (about.expires && about.expires->high <= std::max(*put.when.at_ms, request.submitted_ms)) {
        return violate("C3", "a record that expires before it is due was taken", &about);
    }
    Worlds worlds;
    for (const World& world : about.worlds()) {
        add_world(worlds,
                  world.phase == World::Phase::absent ? about.fresh(due_of(put.when, request.submitted_ms)) : world);
    }
    about.set({run_, 0}, std::move(worlds));
    learn_rule(about);
    if (!is_new) return;
    ++totals_.messages;
    check_limit(about, request.step);
    check_namespace_limit(about, request.step);
}

// ---- starts

// The positions of a process after its start. `is_the_server`: clients use this process from now on.
void Oracle::inputs_found(const InputTable::Positions& found, bool is_the_server) {
    for (auto& [name, input] : inputs_) {
        const auto there = found.find(name);
        const std::int64_t position = there == found.end() ? kNoInputPosition : there->second.offset;
        const std::vector<InputModel::Way> ways = input.ways_to(position);
        if (ways.empty()) {
            return violate(position < input.position ? "C1" : "C9", "after a start, input " + name +
                                                                        " is at position " + at(position) +
                                                                        ", and was at " + at(input.position));
        }
        if (!is_the_server) continue;
        if (position != kNoInputPosition) rare_.met(Rare::input_at_start);
        if (!input.open.empty()) {
            rare_.met(position == input.position ? Rare::lost_records_found_missing : Rare::lost_records_found_there);
        }
        for (const auto& [token, take] : input.open) {
            for (std::size_t i = 0; i < take.serials.size(); ++i) {
                record_found(take.serials[i], ways);
                if (take.offsets[i] >= position) input.missing.insert(take.offsets[i]);
            }
        }
        input.open.clear();
        input.position = position;
    }
}

// Handles a command whose response was lost: the position says whether it was taken.
void Oracle::record_found(std::uint64_t serial, const std::vector<InputModel::Way>& ways) {
    MessageModel& about = *message(serial);
    const auto times = std::count_if(ways.begin(), ways.end(), [&](const auto& way) { return way.contains(serial); });
    const bool is_there = times == static_cast<std::ptrdiff_t>(ways.size());
    // Where another record is the same put, that one may have been taken.
    const bool is_missing = times == 0 && about.records == 1;
    if (!is_perhaps_absent(about) || about.is_record_in_doubt) return;
    if (!is_there && !is_missing) {
        about.is_record_in_doubt = times > 0;
        return;
    }
    Worlds worlds = about.worlds();
    std::erase_if(worlds, [&](const World& world) { return (world.phase == World::Phase::absent) == is_there; });
    note(about, is_there ? "its record was taken before the crash" : "its record was not taken before the crash");
    about.set({run_, 0}, std::move(worlds));
}

}  // namespace duewheel
