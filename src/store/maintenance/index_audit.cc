#include "store/maintenance/index_audit.h"

#include <utility>
#include <vector>

#include "journal/segment.h"
#include "store/key_layout.h"

namespace duewheel {
namespace {

constexpr std::size_t kPageRows = 1000;

// A sum of rows that does not depend on their order.
class RowSum {
  public:
    void add(std::string_view key, std::string_view value, std::uint64_t times = 1) {
        row_.assign(key);
        row_.append(value);
        row_.append(std::to_string(key.size()));
        count_ += times;
        sum_ += times * area_hash(row_);
    }
    std::uint64_t count() const { return count_; }
    bool operator==(const RowSum& other) const { return count_ == other.count_ && sum_ == other.sum_; }

  private:
    std::string row_;
    std::uint64_t count_ = 0;
    std::uint64_t sum_ = 0;
};

std::string holder_text(MessageId id, std::uint64_t request_hash) {
    return std::to_string(id) + " " + std::to_string(request_hash);
}

class Audit {
  public:
    explicit Audit(const Index& index) : index_(index), position_(index.position()) {}

    Result<std::optional<std::string>> run() {
        Status walked = walk_ids();
        if (walked) walked = walk_sums(IndexTable::queue, queue_rows_);
        if (walked) walked = walk_sums(IndexTable::order, order_rows_);
        if (walked) walked = walk_sums(IndexTable::group, group_rows_);
        if (walked) walked = walk_sums(IndexTable::dead, dead_rows_);
        if (walked) walked = walk_due();
        if (walked) walked = walk_due_counts();
        if (walked) walked = walk_keys();
        if (!walked) return std::move(walked).error();
        if (const auto cursors = index_.queue_cursors(); !cursors) return cursors.error();
        if (const auto counts = index_.needed_counts(); !counts) return counts.error();
        if (const auto leases = index_.leases(); !leases) return leases.error();
        compare("by queue", queue_rows_, queues_);
        compare("by due", due_rows_, due_);
        compare("by expiry", expire_rows_, expire_);
        compare("by order key", order_rows_, order_);
        compare("by group", group_rows_, groups_);
        compare("by death", dead_rows_, dead_);
        compare("of what becomes due in a minute", due_count_rows_, due_counts_);
        if (past_due_rows_ != past_due_) differ("by past due", past_due_rows_, past_due_);
        compare("by key", key_rows_, keys_);
        return std::move(difference_);
    }

  private:
    // Visits every row of a table; an error of `visit` ends the scan. Page by page, because `visit` also reads rows.
    template <class Visit>
    Status walk(IndexTable table, Visit visit) const {
        std::string from(1, static_cast<char>(table));
        const std::string upper(1, static_cast<char>(static_cast<char>(table) + 1));
        std::vector<std::pair<std::string, std::string>> page;
        do {
            page.clear();
            const Status walked =
                index_.rows().scan(from, upper, kPageRows, [&](std::string_view key, std::string_view value) {
                    page.emplace_back(key, value);
                    return true;
                });
            if (!walked) return walked;
            for (const auto& [key, value] : page) {
                if (Status seen = visit(key, value); !seen) return seen;
            }
            if (!page.empty()) from = page.back().first + '\0';
        } while (page.size() == kPageRows);
        return {};
    }

    // Calculates the expected content of the other tables from the rows by id.
    Status walk_ids() {
        std::string value;
        return walk(IndexTable::id, [&](std::string_view key, std::string_view id_value) -> Status {
            const Result<MessageRow> row = decode_id_row(key, id_value);
            if (!row) return row.error();
            const MessageState& state = row->state;
            if (state.state == State::dead) {
                encode_dead_value(value, *row);
                dead_.add(dead_key(state.name_space, state.queue, {row->ended_ms, row->id}), value);
            }
            if (is_ended(state.state)) return {};
            const DuePosition at{state.due_ms, row->id};
            if (const auto what = falls_due(state.state, state.is_recurring())) {
                const DueMs minute_ms = state.due_ms / DueMinute::kMs * DueMinute::kMs;
                const std::string kind = std::to_string(static_cast<int>(*what));
                due_counts_.add(due_counts_key(state.name_space, state.queue, minute_ms), kind);
                due_counts_.add(due_counts_key(state.name_space, {}, minute_ms), kind);
            }
            encode_queue_value(value, *row);
            queues_.add(queue_key(state.name_space, state.queue, at), value);
            if (!state.key.empty()) {
                keys_.add(key_key(state.name_space, state.queue, state.key), holder_text(row->id, state.request_hash));
            }
            if (!state.order_key.empty()) {
                encode_order_value(value, *row);
                const DuePosition position{state.nominal_due_ms, row->id};
                order_.add(order_row_key(state.name_space, state.queue, state.order_key, position), value);
            }
            if (!state.group.empty()) {
                encode_group_value(value, *row);
                groups_.add(group_row_key(state.name_space, state.queue, state.group, at), value);
            }
            if (state.expires_ms != 0 && state.expires_ms >= position_.load_cursor_ms) {
                encode_expire_value(value, *row);
                expire_.add(expire_key({state.expires_ms, row->id}), value);
            }
            if (!is_timed(state.state) || state.due_ms < position_.load_cursor_ms) return {};
            encode_due_value(value, *row);
            if (state.due_ms > position_.totals.server_time_ms) {
                due_.add(due_key(at), value);
                return {};
            }
            const Result<std::optional<std::string>> found = index_.rows().get(due_key(at));
            if (!found) return found.error();
            if (*found && **found == value) {
                ++past_due_;
            } else if (state.state == State::prepared) {
                due_.add(due_key(at), value);  // it must exist: see has_due_row()
            }
            return {};
        });
    }

    Status walk_sums(IndexTable table, RowSum& into) {
        return walk(table, [&](std::string_view key, std::string_view value) -> Status {
            into.add(key, value);
            return {};
        });
    }

    Status walk_due() {
        const std::string later = due_bound({position_.totals.server_time_ms + 1, 0});
        const char fire = due_key({}).back();
        return walk(IndexTable::due, [&](std::string_view key, std::string_view value) -> Status {
            if (key.back() != fire) {
                expire_rows_.add(key, value);
            } else if (key < later) {
                ++past_due_rows_;
            } else {
                due_rows_.add(key, value);
            }
            return {};
        });
    }

    // Each row counts as the messages in it.
    Status walk_due_counts() {
        return walk(IndexTable::forecast, [&](std::string_view key, std::string_view value) -> Status {
            const Result<DueCounts> counts = decode_due_counts(value);
            if (!counts) return counts.error();
            if (*counts == DueCounts()) due_count_rows_.add(key, value);  // it must not exist
            for (std::size_t kind = 0; kind < counts->by_kind.size(); ++kind) {
                due_count_rows_.add(key, std::to_string(kind), counts->by_kind[kind]);
            }
            return {};
        });
    }

    Status walk_keys() {
        return walk(IndexTable::key, [&](std::string_view key, std::string_view value) -> Status {
            const Result<KeyHolder> holder = decode_key_value(value);
            if (!holder) return holder.error();
            if (holder->ended_ms == 0) {
                key_rows_.add(key, holder_text(holder->id, holder->request_hash));
                return {};
            }
            const Result<std::optional<MessageRow>> row = index_.find(holder->id, 0);
            if (!row) return row.error();
            if (*row && !is_ended((*row)->state.state) && !difference_) {
                difference_ = "a key tells that message " + std::to_string(holder->id) +
                              " has ended, and its row that it has not";
            }
            return {};
        });
    }

    void compare(const std::string& which, const RowSum& there, const RowSum& wanted) {
        if (!(there == wanted)) differ(which, there.count(), wanted.count());
    }
    void differ(const std::string& which, std::uint64_t there, std::uint64_t wanted) {
        if (difference_) return;
        difference_ = "the " + std::to_string(there) + " rows " + which + " are not the " + std::to_string(wanted) +
                      " that follow from the rows by id";
    }

    const Index& index_;
    const IndexPosition position_;
    // The difference between expected and actual rows.
    RowSum queues_, due_, due_counts_, expire_, order_, groups_, dead_, keys_;
    RowSum queue_rows_, due_rows_, due_count_rows_, expire_rows_, order_rows_, group_rows_, dead_rows_, key_rows_;
    std::uint64_t past_due_ = 0, past_due_rows_ = 0;
    std::optional<std::string> difference_;
};

}  // namespace

Result<std::optional<std::string>> find_disagreement(const Index& index) {
    return Audit(index).run();
}

}  // namespace duewheel
