// A forecast in progress: the counts so far, and the progress (forecasts.h). Counts wrap until finish(), so that
// changes can be added to them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>

#include "engine/commands/command.h"
#include "store/store.h"

namespace duewheel {

struct Forecast {
    Forecast(ReplyToken who, const ForecastCommand& command, DueMs now_ms)
        : token(who), name_space(command.name_space), from_ms(now_ms + 1) {
        answer.queue = command.queue;
        answer.now_ms = now_ms;
        answer.step_ms = command.step_ms;
        const DueMs first_ms = now_ms / command.step_ms * command.step_ms;
        const std::size_t rows = rows_of(command);
        for (std::size_t i = 0; i < rows; ++i) {
            answer.minutes.push_back({.start_ms = first_ms + static_cast<DueMs>(i) * command.step_ms});
        }
        until_ms = complete_to_ms = first_ms + static_cast<DueMs>(rows) * command.step_ms;
        counts_from_ms = (from_ms + kMinuteMs - 1) / kMinuteMs * kMinuteMs;
        has_counted_minutes = counts_from_ms >= until_ms;
    }

    static constexpr DueMs kMinuteMs = 60'000;

    static std::size_t rows_of(const ForecastCommand& command) {
        return static_cast<std::size_t>((command.minutes * kMinuteMs + command.step_ms - 1) / command.step_ms);
    }

    bool covers(DueMs due_ms) const { return due_ms >= from_ms && due_ms < until_ms; }
    // Whether a message counts one by one.
    bool is_in_rest(DueMs due_ms) const { return due_ms >= from_ms && due_ms < counts_from_ms; }
    // The minute of an instant that it covers.
    ForecastMinute& minute(DueMs due_ms) {
        return answer.minutes[static_cast<std::size_t>((due_ms - answer.minutes.front().start_ms) / answer.step_ms)];
    }
    // As many messages of a whole minute, or changes of that number.
    void add(DueMs minute_ms, DueCounts counts) {
        ForecastMinute& of = minute(minute_ms);
        const auto widened = [&](FallsDue what) {
            return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(counts.of(what))});
        };
        of.scheduled += widened(FallsDue::scheduled);
        of.retrying += widened(FallsDue::retrying);
        of.recurring += widened(FallsDue::loop);
    }
    // Not everything due at or after this instant was counted.
    void is_complete_to(DueMs at_ms) { complete_to_ms = std::min(complete_to_ms, at_ms); }

    // Starts again, with the counts of whole minutes.
    void count_minutes_anew(std::uint64_t rows_max) {
        for (ForecastMinute& each : answer.minutes) each = {.start_ms = each.start_ms};
        next_minute_ms = counts_from_ms;
        rows_left = rows_max;
        ++tries;
    }
    // The same, with the messages of the rest of the current minute.
    void count_messages_anew(Generation as_of, std::uint64_t rows_max) {
        rest = {};
        generation = as_of;
        walked_to = 0;
        has_counted_unsealed = false;
        next_row = {from_ms, 0};
        rows_left = rows_max;
        relocated.clear();
        ++tries;
    }

    ForecastAnswer finish() {
        add(answer.minutes.front().start_ms, rest);
        for (ForecastMinute& each : answer.minutes) {
            each.at_least = each.start_ms + answer.step_ms > complete_to_ms;
            // A message left a minute whose count was not read.
            for (std::uint64_t* count : {&each.scheduled, &each.retrying, &each.recurring}) {
                if (static_cast<std::int64_t>(*count) < 0) *count = 0;
            }
        }
        return std::move(answer);
    }

    ReplyToken token = 0;
    std::string name_space;
    DueMs from_ms = 0;  // earlier messages have become due
    DueMs until_ms = 0;
    DueMs counts_from_ms = 0;  // the end of the current minute
    DueMs complete_to_ms = 0;
    ForecastAnswer answer;

    int tries = 0;  // to count the minutes; then to count the messages
    std::uint64_t rows_left = 0;
    std::uint32_t asked_for = 0;  // rows, by the open lookup; 0: none

    // Whole minutes: the counts of the index, then the changes of what is newer.
    DueMs next_minute_ms = 0;
    std::uint64_t segment = 0;  // the counts so far are as of its end
    bool has_counted_minutes = false;
    std::unordered_set<MessageId> changed;  // since then; they do not count any more

    // Messages of the rest of the current minute: those whose newest record is not in the index, then the rows of the
    // index.
    DueCounts rest;
    bool of_index_alone = false;
    Generation generation = 0;  // unsealed, as of this table
    EntryNumber walked_to = 0;
    bool has_counted_unsealed = false;
    DuePosition next_row;
    bool has_counted_messages = false;
    std::unordered_set<MessageId> relocated;  // behind the first scan; they count by their rows

    // Schedules, by name, each with its times in sequence.
    std::string schedule;               // the last one that was started
    std::optional<DueMs> nominal_ms;    // of its next run to be counted; none: it is done
    std::uint64_t run = 0;              // the number of that run
    std::uint32_t times_of_it = 0;      // considered
    std::uint64_t times_looked_at = 0;  // of all
};

}  // namespace duewheel
