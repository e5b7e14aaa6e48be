#include "store/maintenance/index_proof.h"

#include <algorithm>
#include <map>
#include <utility>

#include "message/records/subject.h"
#include "message/schedule_state.h"
#include "message/watchdog_state.h"
#include "resource/queue_settings.h"
#include "store/index_reads.h"
#include "store/segment_effect.h"

namespace duewheel {
namespace {

std::string number(std::uint64_t value) {
    return std::to_string(value);
}

class Proof {
  public:
    Proof(const RecentTier& recent, const std::vector<Sequence>& first_sequences)
        : recent_(recent), first_sequences_(first_sequences), needed_(first_sequences.size()) {}

    // False: an error was found, and the scan may end.
    bool take_row(const MessageRow& row, Sequence index_end) {
        if (!needs_record(row.state.state)) return true;
        const bool overtaken = recent_.find(row.id) != kNoEntry || recent_.outcome(row.id) != nullptr;
        if (row.log_position > index_end) return wrong_position(row, "after the end of the index");
        count(row.log_position);
        return overtaken || take(row);
    }
    // Counts a needed record of the index at this position.
    void count(Sequence log_position) {
        if (log_position < first_sequences_.front()) return;
        const auto after = std::upper_bound(first_sequences_.begin(), first_sequences_.end(), log_position);
        ++needed_[static_cast<std::size_t>(after - first_sequences_.begin() - 1)];
    }
    void take(const Index::Settings& settings) {
        if (settings.row.log_position < first_sequences_.front()) {
            differs(std::string(subject_name(settings.subject)) + " " + settings.queue.queue + " stand at record " +
                    number(settings.row.log_position) + ", which is before the log's front");
        }
        sum_.needed_bytes += settings.row.record_bytes;
        const auto& [name_space, name] = settings.queue;
        sum_.digest += subject_term(settings.subject, name_space, name, settings.row.value);
    }
    bool take(const MessageRow& row) {
        if (!needs_record(row.state.state)) return true;
        if (row.log_position < first_sequences_.front()) return wrong_position(row, "before the log's front");
        sum_.needed_bytes += row.record_bytes;
        if (is_ended(row.state.state)) return true;
        ++sum_.live_count;
        sum_.digest += digest_term(row.id, row.state);
        return true;
    }

    void compare(const Totals& log) {
        if (sum_.live_count != log.live_count) {
            differs("the log says that " + number(log.live_count) + " messages are unfinished, and the rows hold " +
                    number(sum_.live_count));
        } else if (sum_.digest != log.digest) {
            differs("the " + number(log.live_count) + " unfinished messages are not those of the log");
        } else if (sum_.needed_bytes != log.needed_bytes) {
            differs("the log says that " + number(log.needed_bytes) + " bytes of it are needed, and the rows need " +
                    number(sum_.needed_bytes));
        }
    }
    void compare(const std::map<Sequence, std::uint64_t>& counts) {
        for (std::size_t i = 0; i < needed_.size(); ++i) {
            const auto counted = counts.find(first_sequences_[i]);
            compare_count(first_sequences_[i], counted == counts.end() ? 0 : counted->second, needed_[i]);
        }
        for (const auto& [first_sequence, count] : counts) {
            if (std::binary_search(first_sequences_.begin(), first_sequences_.end(), first_sequence)) continue;
            compare_count(first_sequence, count, 0);
        }
    }

    std::optional<std::string> difference;

  private:
    bool differs(std::string what) {
        if (!difference) difference = std::move(what);
        return false;
    }
    bool wrong_position(const MessageRow& row, std::string_view where) {
        return differs("message " + number(row.id) + " stands at record " + number(row.log_position) + ", which is " +
                       std::string(where));
    }
    void compare_count(Sequence first_sequence, std::uint64_t counted, std::uint64_t found) {
        if (counted == found) return;
        differs("in the segment that begins with record " + number(first_sequence) + " " + number(counted) +
                " records are counted as needed, and the rows need " + number(found));
    }

    const RecentTier& recent_;
    const std::vector<Sequence>& first_sequences_;
    std::vector<std::uint64_t> needed_;  // for each segment, from the rows of the index
    Totals sum_;
};

}  // namespace

Result<std::optional<std::string>> find_difference(const Index& index, const RecentTier& recent,
                                                   const std::vector<Index::Settings>& settings, const Totals& log,
                                                   const std::vector<Sequence>& first_sequences) {
    Proof proof(recent, first_sequences);
    const Sequence index_end = index.position().totals.sequence;
    const auto take = [&](std::string_view key, std::string_view value) -> Result<bool> {
        const Result<MessageRow> row = decode_id_row(key, value);
        if (!row) return row.error();
        return proof.take_row(*row, index_end);
    };
    const Status walked = walk_rows(index.rows(), id_key(0), id_key(kMessageIdMax + 1), kAllRows, take);
    if (!walked) return walked.error();
    recent.for_each_entry([&](EntryNumber, const Entry& entry) { proof.take(recent.row(entry)); });
    for (const Index::Settings& of : settings) proof.take(of);
    const Result<std::vector<Index::Settings>> sealed = index.settings();
    if (!sealed) return sealed.error();
    for (const Index::Settings& of : *sealed) proof.count(of.row.log_position);
    proof.compare(log);
    const Result<std::map<Sequence, std::uint64_t>> counts = index.needed_counts();
    if (!counts) return counts.error();
    proof.compare(*counts);
    return std::move(proof.difference);
}

Result<std::optional<std::string>> find_lost_need(const Index& index, Sequence front) {
    const Result<std::map<Sequence, std::uint64_t>> counts = index.needed_counts();
    if (!counts) return counts.error();
    for (const auto& [first_sequence, count] : *counts) {
        if (first_sequence >= front || count == 0) continue;
        return std::optional("the segment that began with record " + number(first_sequence) + " is gone, and " +
                             number(count) + " of its records are needed");
    }
    return std::optional<std::string>();
}

}  // namespace duewheel
