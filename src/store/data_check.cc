#include "store/data_check.h"

#include <algorithm>

#include "message/queue_settings.h"
#include "message/totals.h"
#include "store/index.h"
#include "store/key_layout.h"
#include "store/retention.h"
#include "store/rocks_rows.h"

namespace duewheel {
namespace {

constexpr std::size_t kWalkRows = 10'000;

// Adds the records up beside the footers. A log whose front is gone begins with what its first header says.
class Adder {
  public:
    explicit Adder(DataReport& report) : report_(report) {}

    Status take(const CommitInLog& commit) {
        ++report_.commits;
        report_.records += commit.count;
        for (const FramedRecord& frame : commit.records) {
            Result<Record> record = decode_record(frame.kind, frame.body);
            if (!record) return std::move(record).error();
            add_to_totals(totals_, *record, frame.frame_bytes);
        }
        if (!started_) {  // where the front is gone, what came before it is only told by the first footer
            started_ = true;
            if (commit.totals.commit > 1) totals_ = commit.totals;
        }
        if (totals_.digest != commit.totals.digest || totals_.live_count != commit.totals.live_count ||
            totals_.needed_bytes != commit.totals.needed_bytes) {
            return Error{"damaged_log", "segment " + std::to_string(commit.segment_number) + ", offset " +
                                            std::to_string(commit.offset) + ": commit " +
                                            std::to_string(commit.totals.commit) +
                                            " does not add up to what its footer says"};
        }
        report_.pending = commit.totals.live_count;
        report_.sequence = commit.totals.sequence;
        return {};
    }

  private:
    DataReport& report_;
    Totals totals_;
    bool started_ = false;
};

Error damaged_index(std::string what) {
    return {"damaged_index", what + ": the log is whole, so remove the directory `index` and it is built anew"};
}

Status check_index(Index& index, Sequence log_front, DataReport& report) {
    const IndexPosition position = index.position();
    report.index_sequence = position.totals.sequence;
    if (position.totals.sequence > report.sequence) {
        return Error{"damaged_log", "the index knows record " + std::to_string(position.totals.sequence) +
                                        ", but the log ends at " + std::to_string(report.sequence)};
    }
    std::uint64_t digest = 0;
    std::uint64_t live = 0;
    Status broken;
    std::string from = id_key(0);
    const std::string end = id_key(kMessageIdMax + 1);
    for (bool more = true; more;) {
        more = false;
        std::size_t seen = 0;
        const Status walked =
            index.rows().scan(from, end, kWalkRows, [&](std::string_view key, std::string_view value) {
                from.assign(key).push_back('\0');
                more = ++seen == kWalkRows;
                const Result<MessageRow> row = decode_id_row(key, value);
                if (!row) {
                    broken = row.error();
                    return false;
                }
                const bool dead = row->state.state == State::dead;
                if (is_ended(row->state.state) && !dead) return true;
                if (row->place < log_front || row->place > position.totals.sequence) {
                    broken = damaged_index("message " + std::to_string(row->id) + " stands at record " +
                                           std::to_string(row->place) + ", which is not in the log");
                    return false;
                }
                if (dead) return true;
                ++live;
                digest += digest_term(row->id, row->state);
                return true;
            });
        if (!walked) return walked;
        if (!broken.ok()) return broken;
    }
    Result<std::vector<Index::Settings>> settings = index.settings();
    if (!settings) return std::move(settings).error();
    for (const Index::Settings& of : *settings) {
        if (of.row.place < log_front || of.row.place > position.totals.sequence) {
            return damaged_index("the settings of queue " + of.queue.queue + " stand at record " +
                                 std::to_string(of.row.place) + ", which is not in the log");
        }
        digest += settings_term(kSubjectQueue, of.queue.name_space, of.queue.queue, of.row.value);
    }
    report.index_messages = live;
    if (live != position.totals.live_count || digest != position.totals.digest) {
        return damaged_index("the index holds " + std::to_string(live) + " unfinished messages and the log says " +
                             std::to_string(position.totals.live_count) + ", or they differ");
    }
    return {};
}

}  // namespace

Result<DataReport> check_data_directory(FileSystem& files, const std::string& directory) {
    if (Result<std::vector<std::string>> there = files.list(directory + "/journal"); !there) {
        return Error{there.error().code, "there is no log in " + directory + ": name a data directory of duewheeld"};
    }
    Result<std::unique_ptr<DirectoryLock>> lock = files.lock(directory);
    if (!lock) return std::move(lock).error();

    DataReport report;
    Adder adder(report);
    const Result<FoundLog> found =
        verify_log(files, directory + "/journal", [&](const CommitInLog& commit) { return adder.take(commit); });
    if (!found) return found.error();
    report.segments = found->segments.size();
    for (const std::shared_ptr<SegmentFile>& segment : found->segments) {
        report.log_bytes += segment->header().segment_bytes;
    }
    report.torn_end = found->cut;
    if (Result<std::vector<std::string>> there = files.list(directory + "/index"); !there || there->empty()) {
        return report;
    }
    Retention retention;
    RocksRowStorage rows(files, directory + "/index", [](std::string_view, std::string_view) { return false; });
    Result<std::unique_ptr<Index>> index = Index::open(rows, retention);
    if (!index) return std::move(index).error();
    report.has_index = true;
    const Sequence front = found->segments.empty() ? 1 : found->segments.front()->first_sequence();
    if (Status checked = check_index(**index, front, report); !checked) return std::move(checked).error();
    return report;
}

}  // namespace duewheel
