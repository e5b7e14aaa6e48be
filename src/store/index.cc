#include "store/index.h"

#include <cassert>
#include <limits>
#include <utility>

#include "store/index_reads.h"

namespace duewheel {
namespace {

// Collects rows into a stretch with `decode`.
template <class Decode>
Result<Stretch> read_stretch(const SortedRows& rows, const std::string& lower, const std::string& upper,
                             std::uint32_t limit, Decode decode) {
    assert(limit > 0);
    Stretch stretch;
    const auto take = [&](std::string_view key, std::string_view value) -> Result<bool> {
        Result<PlacedRow> placed = decode(key, value);
        if (!placed) return std::move(placed).error();
        stretch.next = {placed->at.due_ms, placed->at.id + 1};
        stretch.rows.push_back(std::move(placed->row));
        return true;
    };
    if (const Status walked = walk_rows(rows, lower, upper, limit, take); !walked) return walked.error();
    stretch.complete = stretch.rows.size() < limit;
    return stretch;
}

// Reads a row whose key and value are decoded apart: `make` makes it of both.
template <class DecodeKey, class DecodeValue, class Make>
auto decoded(DecodeKey decode_key, DecodeValue decode_value, Make make) {
    return [=](std::string_view key,
               std::string_view value) -> Result<decltype(make(*decode_key(key), *decode_value(value)))> {
        const auto of_key = decode_key(key);
        if (!of_key) return of_key.error();
        const auto of_value = decode_value(value);
        if (!of_value) return of_value.error();
        return make(*of_key, *of_value);
    };
}

QueueName owned(const QueueOfKey& names) {
    return {std::string(names.name_space), std::string(names.queue)};
}

// The settings of a queue, a namespace, a token, an input, a schedule or a watchdog.
Result<Index::Settings> read_settings(std::string_view key, std::string_view value) {
    const Result<SubjectOfKey> of = decode_settings_key(key);
    if (!of) return of.error();
    Result<SettingsRow> row = decode_settings(value);
    if (!row) return std::move(row).error();
    return Index::Settings{owned({of->name_space, of->name}), *std::move(row), of->subject};
}

}  // namespace

Result<std::unique_ptr<Index>> Index::open(RowStorage& storage, const Retention& retention) {
    Result<std::unique_ptr<SortedRows>> rows = storage.open();
    if (!rows) return std::move(rows).error();
    std::unique_ptr<Index> index(new Index(*std::move(rows), retention));
    const auto position = find_row(*index->rows_, position_key(), decode_position);
    if (!position) return position.error();
    if (*position) index->position_ = **position;
    const Result<EraLedger> outcomes = index->outcome_ledger();
    if (!outcomes) return outcomes.error();
    index->outcome_bytes_ = outcomes->bytes();
    return index;
}

IndexPosition Index::position() const {
    const std::lock_guard lock(mutex_);
    return position_;
}

Result<std::optional<MessageRow>> Index::find(MessageId id, DueMs now_ms) const {
    const std::string key = id_key(id);
    const Result<std::optional<std::string>> found = rows_->get(key);
    if (!found) return found.error();
    if (!*found || retention_.has_expired(ended_ms_of_row(key, **found), now_ms)) return std::optional<MessageRow>();
    Result<MessageRow> row = decode_id_row(key, **found);
    if (!row) return std::move(row).error();
    return std::optional<MessageRow>(*std::move(row));
}

Result<std::optional<KeyHolder>> Index::find_key(std::string_view name_space, std::string_view queue,
                                                 std::string_view key, DueMs now_ms) const {
    auto holder = find_row(*rows_, key_key(name_space, queue, key), decode_key_value);
    if (holder && *holder && retention_.has_expired((*holder)->ended_ms, now_ms)) return std::optional<KeyHolder>();
    return holder;
}

Result<std::vector<DuePosition>> Index::leases() const {
    return read_rows(*rows_, lease_bound(false), lease_bound(true),
                     [](std::string_view key, std::string_view) { return decode_lease_key(key); });
}

Result<Stretch> Index::scan_due(DuePosition from, DueMs until_ms, std::uint32_t limit) const {
    return read_stretch(*rows_, due_bound(from), due_bound({until_ms, 0}), limit, decode_due_row);
}

Result<Stretch> Index::scan_queue(std::string_view name_space, std::string_view queue, DuePosition from, DueMs until_ms,
                                  std::uint32_t limit) const {
    return read_stretch(*rows_, queue_key(name_space, queue, from), queue_key(name_space, queue, {until_ms, 0}), limit,
                        decode_queue_row);
}

Result<Stretch> Index::scan_order(std::string_view name_space, std::string_view queue, std::string_view order_key,
                                  DuePosition from, std::uint32_t limit) const {
    constexpr DuePosition kEnd{std::numeric_limits<DueMs>::max(), std::numeric_limits<MessageId>::max()};
    return read_stretch(*rows_, order_row_key(name_space, queue, order_key, from),
                        order_row_key(name_space, queue, order_key, kEnd), limit, decode_order_row);
}

Result<Stretch> Index::scan_group(const ScanGroup& scan) const {
    return read_stretch(*rows_, group_row_key(scan.name_space, scan.queue, scan.group, scan.from),
                        group_row_key(scan.name_space, scan.queue, scan.group, {scan.until_ms, 0}), scan.limit,
                        decode_group_row);
}

// Each step reads the first row after all those of the group before.
Result<GroupStarts> Index::scan_groups(const ScanGroups& scan) const {
    GroupStarts starts;
    const std::string upper = group_bound(scan.name_space, scan.queue, true);
    std::string lower = scan.after.empty() ? group_bound(scan.name_space, scan.queue, false)
                                           : group_end(scan.name_space, scan.queue, scan.after);
    while (starts.groups.size() < scan.limit) {
        std::optional<GroupStart> first;
        const auto take = [&](std::string_view key, std::string_view value) -> Result<bool> {
            Result<PlacedRow> placed = decode_group_row(key, value);
            if (!placed) return std::move(placed).error();
            first = {std::move(placed->row.state.group), placed->at};
            return false;
        };
        if (const Status walked = walk_rows(*rows_, lower, upper, 1, take); !walked) return walked.error();
        if (!first) return starts;
        lower = group_end(scan.name_space, scan.queue, first->group);
        starts.groups.push_back(*std::move(first));
    }
    starts.complete = false;
    return starts;
}

Result<std::vector<MessageRow>> Index::scan_orders(std::string_view name_space, std::string_view queue,
                                                   std::uint32_t limit, std::string& after) const {
    std::vector<MessageRow> rows;
    const std::string lower = after.empty() ? order_bound(name_space, queue, false) : after + '\0';
    const auto take = [&](std::string_view key, std::string_view value) -> Result<bool> {
        Result<PlacedRow> placed = decode_order_row(key, value);
        if (!placed) return std::move(placed).error();
        rows.push_back(std::move(placed->row));
        after = key;
        return true;
    };
    const Status walked = walk_rows(*rows_, lower, order_bound(name_space, queue, true), limit, take);
    if (!walked) return walked.error();
    return rows;
}

Result<ListedRows> Index::list_queue(const ListQueue& list) const {
    assert(list.limit > 0 && list.walk_max > 0);
    ListedRows listed;
    const std::string lower = queue_key(list.name_space, list.queue, list.from);
    const std::string upper = queue_key(list.name_space, list.queue, {list.until_ms, 0});
    std::uint32_t walked = 0;
    const auto take = [&](std::string_view key, std::string_view value) -> Result<bool> {
        Result<PlacedRow> row = decode_queue_row(key, value);
        if (!row) return std::move(row).error();
        const DuePosition after{row->at.due_ms, row->at.id + 1};
        if (list.states.contains(row->row.state.state)) listed.rows.push_back(std::move(row->row));
        const bool full = ++walked == list.walk_max || listed.rows.size() == list.limit;
        if (full) listed.next = after;
        return !full;
    };
    if (const Status status = walk_rows(*rows_, lower, upper, list.walk_max, take); !status) return status.error();
    return listed;
}

Result<Stretch> Index::scan_dead(std::string_view name_space, std::string_view queue, DuePosition from, DueMs until_ms,
                                 std::uint32_t limit) const {
    return read_stretch(*rows_, dead_key(name_space, queue, from), dead_key(name_space, queue, {until_ms, 0}), limit,
                        decode_dead_row);
}

Result<EraLedger> Index::ledger(const std::string& key) const {
    auto found = find_row(*rows_, key, EraLedger::decode);
    if (!found) return std::move(found).error();
    return (*std::move(found)).value_or(EraLedger());
}

Result<EraLedger> Index::history_ledger() const {
    return ledger(history_ledger_key());
}

Result<EraLedger> Index::outcome_ledger() const {
    return ledger(outcome_ledger_key());
}

std::uint64_t Index::outcome_bytes() const {
    const std::lock_guard lock(mutex_);
    return outcome_bytes_;
}

Result<HistoryRows> Index::list_history(const ListHistory& list, DueMs now_ms) const {
    assert(list.limit > 0 && list.walk_max > 0);
    HistoryRows listed;
    const Result<EraLedger> ledger = history_ledger();
    if (!ledger) return ledger.error();
    const DueMs kept_from_ms = now_ms - retention_.history().keep_ms;
    DuePosition from{list.from_ms, list.from_id};
    if (from.due_ms < kept_from_ms) from = {kept_from_ms, 0};
    std::uint32_t left = list.walk_max;
    const auto take = [&](std::string_view key, std::string_view value) -> Result<bool> {
        Result<EndedRow> row = decode_history_row(key, value);
        if (!row) return std::move(row).error();
        if (list.wants(*row)) listed.rows.push_back(*row);
        const bool full = --left == 0 || listed.rows.size() == list.limit;
        if (full) listed.next = HistoryRows::Next{row->ended_ms, row->id + 1};
        return !full;
    };
    for (const EraLedger::Entry& era : ledger->entries()) {
        if (era.until_ms < from.due_ms) continue;
        if (era.from_ms >= list.until_ms || listed.next) break;
        const std::string lower = history_key(era.era, list.name_space, list.queue, from.due_ms, from.id);
        const std::string upper = history_key(era.era, list.name_space, list.queue, list.until_ms, 0);
        if (const Status walked = walk_rows(*rows_, lower, upper, left, take); !walked) return walked.error();
    }
    return listed;
}

Result<std::optional<DuePosition>> Index::queue_cursor(std::string_view name_space, std::string_view queue) const {
    return find_row(*rows_, queue_cursor_key(name_space, queue), decode_queue_cursor);
}

Result<std::vector<Index::QueueCursor>> Index::queue_cursors() const {
    return read_rows(*rows_, queue_cursor_bound(false), queue_cursor_bound(true),
                     decoded(decode_queue_cursor_key, decode_queue_cursor, [](const auto& names, const auto& at) {
                         return QueueCursor{owned(names), at};
                     }));
}

Result<QueueCounts> Index::queue_counts(std::string_view name_space, std::string_view queue) const {
    const auto found = find_row(*rows_, queue_counts_key(name_space, queue), decode_queue_counts);
    if (!found) return found.error();
    return found->value_or(QueueCounts());
}

Result<std::vector<Index::Counts>> Index::queue_counts() const {
    return read_rows(*rows_, queue_counts_bound(false), queue_counts_bound(true),
                     decoded(decode_queue_counts_key, decode_queue_counts, [](const auto& names, const auto& counts) {
                         return Counts{owned(names), counts};
                     }));
}

Result<std::optional<SettingsRow>> Index::settings(Subject subject, std::string_view name_space,
                                                   std::string_view name) const {
    return find_row(*rows_, settings_key(subject, name_space, name), decode_settings);
}

Result<std::vector<Index::Settings>> Index::rules() const {
    return read_rows(*rows_, rule_bound(false), rule_bound(true), read_settings);
}

Result<std::vector<Index::Settings>> Index::settings() const {
    Result<std::vector<Settings>> all = read_rows(*rows_, conf_bound(false), conf_bound(true), read_settings);
    if (!all) return all;
    Result<std::vector<Settings>> more = rules();
    if (!more) return more;
    all->insert(all->end(), std::make_move_iterator(more->begin()), std::make_move_iterator(more->end()));
    return all;
}

Result<std::map<Sequence, std::uint64_t>> Index::needed_counts() const {
    const auto counts = read_rows(
        *rows_, needed_bound(false), needed_bound(true),
        decoded(decode_needed_key, decode_needed,
                [](Sequence first_sequence, std::uint64_t count) { return std::pair(first_sequence, count); }));
    if (!counts) return counts.error();
    return std::map<Sequence, std::uint64_t>(counts->begin(), counts->end());
}

Status Index::take_in(const SegmentTable& table) {
    assert(table.position.segment > position().segment);
    const std::unique_ptr<TableBuilder> builder = rows_->build_table();
    write_rows(table, *builder);
    if (Status taken = builder->take_in(); !taken) return taken;
    const std::lock_guard lock(mutex_);
    position_ = table.position;
    outcome_bytes_ = table.outcomes.bytes();
    return {};
}

Status Index::mark_proven() {
    IndexPosition proven = position();
    proven.is_proven = true;
    std::string value;
    encode_position(value, proven);
    const std::unique_ptr<TableBuilder> builder = rows_->build_table();
    builder->put(position_key(), value);
    if (Status taken = builder->take_in(); !taken) return taken;
    const std::lock_guard lock(mutex_);
    position_ = proven;
    return {};
}

bool has_row_expired(const Retention& retention, std::string_view key, std::string_view value) {
    return retention.has_expired(ended_ms_of_row(key, value), retention.now_ms());
}

}  // namespace duewheel
