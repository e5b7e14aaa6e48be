// Due work whose content is in the log: recurring messages, prepared messages, schedules and watchdogs.
//
// Each passes through three stages, in order:
//
//     add()  ──► due ── prepare() ──► in preparation ── start_reading(), take_records() ──► ready ──► take_ready()
//
// The records of several are read at once, before a batch is built; what the record cache has is not read. The next
// ones are prepared when the previous ones are done, so that their contents in memory are bounded. What is due is known
// by an id only: whether it still has to happen is checked again at each stage, by the owner.
//
// Worked example: watchdogs 1, 2 and 3 are due, and two are read at once. 1 and 2 are prepared; the cache has the
// record of 1, and that of 2 is looked up. Until it is there neither is ready. Then both are taken for a batch, and 3
// is prepared.
//
// Single-threaded, no I/O, no clock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error_codes.h"
#include "base/status.h"
#include "engine/messages/record_cache.h"
#include "store/store.h"

namespace duewheel {

struct NothingElse {};

// `Extra`: what else is known of work in preparation.
template <class Id, class Extra = NothingElse>
class DueQueue {
  public:
    struct Item {
        Id id = 0;
        Sequence log_position = 0;
        std::string record_body;  // of its whole record; empty: being read
        Extra extra;
    };

    // ---- due

    void add(Id id) { due_.push_back(id); }
    std::size_t due_count() const { return due_.size(); }
    bool has_due() const { return !due_.empty(); }
    Id first_due() const { return due_.front(); }
    void pop_due() { due_.pop_front(); }

    // ---- in preparation

    // Whether the next ones may be prepared.
    bool has_to_read() const { return !due_.empty() && prepared_.empty() && lookups_ == 0; }
    // Whether a record of this size can be read together with those that were prepared before. The first one can.
    bool fits(std::size_t record_bytes, std::size_t bytes_max) const {
        return bytes_ == 0 || bytes_ + record_bytes <= bytes_max;
    }
    Item& prepare(Id id, Sequence log_position, std::size_t record_bytes, const RecordCache& cache) {
        bytes_ += record_bytes;
        Item& item = prepared_.emplace_back(Item{.id = id, .log_position = log_position});
        if (const std::string* body = cache.find(log_position)) {
            item.record_body = *body;
        } else {
            to_read_.push_back(log_position);
        }
        return item;
    }
    // The lookup that the prepared ones need; nothing if the cache had all of them.
    std::optional<ReadRecords> start_reading() {
        bytes_ = 0;
        if (to_read_.empty()) return std::nullopt;
        ++lookups_;
        std::sort(to_read_.begin(), to_read_.end());
        return ReadRecords{std::exchange(to_read_, {})};
    }
    // Its result. `kind`, such as "due watchdog", is part of the error, which is fatal: a record is not in the log.
    // `on_read` is called with each item that has its record now.
    template <class OnRead>
    Status take_records(const std::vector<RecordBytes>& records, std::string_view kind, OnRead&& on_read) {
        --lookups_;
        for (Item& item : prepared_) {
            if (!item.record_body.empty()) continue;
            const RecordBytes* read = find_record(records, item.log_position);
            if (read == nullptr) {
                return Error{"damaged_log"_code, "record " + std::to_string(item.log_position) + " of a " +
                                                     std::string(kind) + " is not in the log: run `duewheel check`"};
            }
            item.record_body = read->body;
            on_read(item);
        }
        return {};
    }
    Status take_records(const std::vector<RecordBytes>& records, std::string_view kind) {
        return take_records(records, kind, [](const Item&) {});
    }
    // Another lookup that the prepared ones wait for.
    void start_lookup() { ++lookups_; }
    void finish_lookup() { --lookups_; }
    std::size_t prepared_count() const { return prepared_.size(); }
    Item& prepared(std::size_t number) { return prepared_.at(number); }

    // ---- ready

    bool has_ready() const { return !prepared_.empty() && lookups_ == 0; }
    const Item& first_ready() const { return prepared_.front(); }
    Item take_ready() {
        Item item = std::move(prepared_.front());
        prepared_.pop_front();
        return item;
    }
    // It cannot be written yet: after the others.
    void put_back(Item item) { prepared_.push_back(std::move(item)); }

    // Nothing is due.
    bool is_idle() const { return due_.empty() && prepared_.empty(); }

  private:
    std::deque<Id> due_;
    std::deque<Item> prepared_;
    std::vector<Sequence> to_read_;
    std::size_t bytes_ = 0;    // of those prepared since the last lookup
    std::size_t lookups_ = 0;  // open
};

}  // namespace duewheel
