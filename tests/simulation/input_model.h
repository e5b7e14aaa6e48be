// What the oracle knows of an input: its position, and the records that readers have passed to the server.
//
// A command whose response was lost leaves several possible positions. The next start reports the position, and with it
// which of the lost commands were executed, and so which of their records became messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/commands/command.h"

namespace duewheel {

// A command without a response.
struct TakeModel {
    std::int64_t position = kNoInputPosition;
    std::vector<std::int64_t> offsets;   // of its records
    std::vector<std::uint64_t> serials;  // and their messages
    std::int64_t next = 0;
    bool may_come_late = false;  // the position may have been another one since it was sent

    // If a put is refused, those before it are taken: the position after that number of records, at least one if there
    // is one.
    std::int64_t end_after(std::size_t taken) const { return taken < offsets.size() ? offsets[taken] : next; }
    std::size_t taken_least() const { return offsets.empty() ? 0 : 1; }
};

struct InputModel {
    std::int64_t position = kNoInputPosition;  // as the last response or the last start reported it
    std::map<ReplyToken, TakeModel> open;
    std::map<std::int64_t, std::uint64_t> records;  // by offset: the serials of the messages that they are to become
    std::optional<std::int64_t> refused;            // offset of the record whose put was refused last
    bool was_refused_for_good = false;
    std::set<std::int64_t> missing;  // offsets of records that were lost with a response, and were not taken

    // The serials of the records that were taken, for each way in which open commands may have led to the position.
    using Way = std::set<std::uint64_t>;
    std::vector<Way> ways_to(std::int64_t to) const {
        std::vector<Way> ways;
        std::set<ReplyToken> used;
        walk(position, to, used, {}, ways);
        return ways;
    }
    // Every position that open commands may have led to.
    std::set<std::int64_t> possible() const {
        std::set<std::int64_t> all{position};
        for (bool is_new = true; is_new;) {
            is_new = false;
            for (const auto& [token, take] : open) {
                if (!all.contains(take.position)) continue;
                for (std::size_t taken = take.taken_least(); taken <= take.offsets.size(); ++taken) {
                    is_new |= all.insert(take.end_after(taken)).second;
                }
            }
        }
        return all;
    }
    void move_to(std::int64_t to) {
        for (auto& [token, take] : open) take.may_come_late = true;
        position = to;
    }

  private:
    void walk(std::int64_t at, std::int64_t to, std::set<ReplyToken>& used, const Way& taken,
              std::vector<Way>& ways) const {
        if (at == to) ways.push_back(taken);
        for (const auto& [token, take] : open) {
            if (take.position != at || !used.insert(token).second) continue;
            Way more = taken;
            for (std::size_t i = 0; i <= take.offsets.size(); ++i) {
                if (i > 0) more.insert(take.serials[i - 1]);
                if (i >= take.taken_least()) walk(take.end_after(i), to, used, more, ways);
            }
            used.erase(token);
        }
    }
};

}  // namespace duewheel
