#include "simulation/message_model.h"

#include <algorithm>

namespace duewheel {

bool MessageModel::may_be_unfinished() const {
    return std::any_of(worlds().begin(), worlds().end(), [](const World& world) { return world.is_unfinished(); });
}

bool MessageModel::is_surely_unfinished() const {
    return std::all_of(worlds().begin(), worlds().end(), [](const World& world) { return world.is_unfinished(); });
}

bool MessageModel::may_be(World::Phase phase) const {
    return std::any_of(worlds().begin(), worlds().end(), [phase](const World& world) { return world.phase == phase; });
}

bool MessageModel::shares_order_key(const MessageModel& other) const {
    return !put.order_key.empty() && put.order_key == other.put.order_key && put.queue == other.put.queue &&
           put.name_space == other.put.name_space && serial != other.serial && !is_recurring() && !other.is_recurring();
}

void MessageModel::set(LifePoint from, Worlds next) {
    if (!epochs.empty()) from = std::max(from, epochs.back().from);
    epochs.push_back({from, {}});
    replace(std::move(next));
}

void MessageModel::replace(Worlds next) {
    epochs.back().worlds = std::move(next);
    const bool is_live =
        std::any_of(worlds().begin(), worlds().end(), [](const World& world) { return world.is_live(); });
    if (may_have_made_all && is_live) {
        const DueMs from = loop->start.low + loop->offset_ms(*loop->last(loop->start.high));
        add_world(epochs.back().worlds, World{World::Phase::done, {}, {}, {from, 0}});
    }
    const Worlds before = worlds();
    for (const World& world : before) {
        if (half && half->may_be_over && world.is_prepared()) add_world(epochs.back().worlds, half->defaulted(world));
        if (purge == Purge::no || !world.is_unfinished()) continue;
        World purged = purged_world(purged_ms);
        purged.was_prepared = world.is_prepared();
        add_world(epochs.back().worlds, purged);
    }
}

World PreparedModel::defaulted(const World& half) const {
    constexpr DueMs kSomeTime = INT64_MAX;
    if (rule.otherwise_commit) return MessageModel::committed(half, {default_ms(), kSomeTime});
    return MessageModel::ended_half(World::Phase::cancelled, {default_ms(), 0});
}

std::uint32_t MessageModel::seen_before(LifePoint point) const {
    std::uint32_t seen = 0;
    for (const SeenDelivery& delivery : deliveries) {
        if (LifePoint{delivery.run, delivery.attempt} < point) ++seen;
    }
    return seen;
}

void WrittenText::sent(std::string text, ReplyToken token, std::uint64_t step) {
    writes_.push_back({std::move(text), token, step, kOpen});
}

void WrittenText::accepted(ReplyToken token, std::uint64_t step, DueMs now_ms) {
    const auto write =
        std::find_if(writes_.begin(), writes_.end(), [token](const Write& each) { return each.token == token; });
    write->closed = step;
    const auto is_overwritten = [sent = write->sent](const Write& each) { return each.closed < sent; };
    for (const Write& each : writes_) {
        if (is_overwritten(each)) overwritten_.emplace_back(each.text, now_ms);
    }
    std::erase_if(writes_, is_overwritten);
}

void WrittenText::refused(ReplyToken token) {
    std::erase_if(writes_, [token](const Write& each) { return each.token == token; });
}

void WrittenText::died(std::uint64_t step) {
    for (Write& write : writes_) write.closed = std::min(write.closed, step);
    overwritten_.clear();
}

bool WrittenText::may_be(std::string_view text, DueMs as_of) const {
    return std::any_of(writes_.begin(), writes_.end(), [text](const Write& each) { return each.text == text; }) ||
           std::any_of(overwritten_.begin(), overwritten_.end(),
                       [&](const auto& each) { return each.first == text && each.second >= as_of; });
}

bool MessageModel::may_have_content(const Content& content, DueMs as_of) const {
    Content like_it = put;
    const bool is_own = content.body == like_it.body && body.may_be({}, as_of);
    if (!is_own && !body.may_be(content.body, as_of)) return false;
    like_it.body = content.body;
    return like_it == content;
}

SeenDelivery* MessageModel::delivery_of(const LeaseToken& token) {
    for (SeenDelivery& delivery : deliveries) {
        if (delivery.token == token) return &delivery;
    }
    return nullptr;
}

const SeenDelivery* MessageModel::delivery_of(const LeaseToken& token) const {
    for (const SeenDelivery& delivery : deliveries) {
        if (delivery.token == token) return &delivery;
    }
    return nullptr;
}

void add_world(Worlds& worlds, const World& world) {
    if (std::find(worlds.begin(), worlds.end(), world) == worlds.end()) worlds.push_back(world);
}

void merge_alike(Worlds& worlds) {
    const auto hull = [](DueRange& range, const DueRange& other) {
        range = {std::min(range.low, other.low), std::max(range.high, other.high)};
    };
    Worlds merged;
    for (const World& world : worlds) {
        const auto alike = std::find_if(merged.begin(), merged.end(), [&](World other) {
            other.due = world.due;
            other.nominal = world.nominal;
            other.ended = world.ended;
            return other == world;
        });
        if (alike == merged.end()) {
            merged.push_back(world);
            continue;
        }
        hull(alike->due, world.due);
        hull(alike->nominal, world.nominal);
        hull(alike->ended, world.ended);
    }
    worlds = std::move(merged);
}

std::string describe(const Worlds& worlds) {
    constexpr std::string_view kPhases[] = {"absent",    "live", "held",    "dead",
                                            "cancelled", "done", "expired", "prepared"};
    std::string text;
    for (const World& world : worlds) {
        if (!text.empty()) text += " or ";
        text += kPhases[static_cast<std::size_t>(world.phase)];
        if (!world.is_unfinished()) continue;
        text += " due " + std::to_string(world.due.low);
        if (world.due.low != world.due.high) text += ".." + std::to_string(world.due.high);
    }
    return text.empty() ? "nothing" : text;
}

}  // namespace duewheel
