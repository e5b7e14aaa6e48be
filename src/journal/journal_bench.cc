// What the journal costs on this disk, beside the least that any log must do.
//
//     journal_bench DIRECTORY     on the disk to be measured; makes and removes DIRECTORY/journal-bench
//
// 1. Commits of 8 KiB, one after the other, each synced: a plain loop of pwrite and fdatasync into a file of zeros, the
//    same into a file that grows, and the journal with spares filled ahead. The last two take turns, so that
//    what else the disk does hits both; the growing file comes after them, because its syncs disturb what follows.
// 2. Replay of two million records of 260 bytes from the page cache, everything checked, nothing decoded.
// 3. Reading records by place at random, and in order, from the page cache.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "journal/trial_log.h"
#include "shared/system_clock.h"

namespace duewheel {
namespace {

constexpr std::uint64_t kRecordsInReplay = 2'000'000;
constexpr int kRounds = 5;
constexpr int kCommitsInRound = 1000;

template <class T>
T must(Result<T> result) {
    if (result) return std::move(*result);
    std::fprintf(stderr, "%s\n", result.error().message.c_str());
    std::exit(1);
}
void must(const Status& status) {
    if (status) return;
    std::fprintf(stderr, "%s\n", status.error().message.c_str());
    std::exit(1);
}

struct Figures {
    std::vector<std::int64_t> ns;

    void print(const char* name) {
        std::sort(ns.begin(), ns.end());
        std::int64_t sum = 0;
        for (const std::int64_t one : ns) sum += one;
        std::printf("%-34s %8.0f commits/s   p50 %6.0f us   p99 %6.0f us\n", name,
                    static_cast<double>(ns.size()) * 1e9 / static_cast<double>(sum),
                    static_cast<double>(ns[ns.size() / 2]) / 1e3, static_cast<double>(ns[ns.size() * 99 / 100]) / 1e3);
    }
};

template <class Step>
void timed(Figures& figures, int steps, Step step) {
    for (int i = 0; i < steps; ++i) {
        const std::int64_t before = monotonic_now_ns();
        step();
        figures.ns.push_back(monotonic_now_ns() - before);
    }
}

// This number of records, of 260 bytes with their frame, and their totals.
Commit batch(Totals totals, int records) {
    Commit commit;
    commit.totals = totals;
    commit.totals.commit += 1;
    commit.first_sequence = totals.sequence + 1;
    MessageRecord record;
    record.id = 1 << 20;
    record.state.queue = "orders";
    const std::string body(228, 'b');
    record.content.body = body;
    for (int i = 0; i < records; ++i) append_record(commit.records, ++commit.totals.sequence, record);
    commit.count = static_cast<std::uint32_t>(records);
    return commit;
}

class PlainFile {
  public:
    PlainFile(const std::string& path, std::uint64_t zeros)
        : file_(must(posix_file_system().open(path, OpenMode::create))) {
        const std::string piece(1 << 20, '\0');
        for (std::uint64_t at = 0; at < zeros; at += piece.size()) write(at, piece);
        must(file_->sync_data());
    }
    void append(const std::string& bytes) {
        write(end_, bytes);
        must(file_->sync_data());
        end_ += bytes.size();
    }

  private:
    void write(std::uint64_t at, const std::string& bytes) {
        must(file_->write_at(at, std::as_bytes(std::span(bytes))));
    }
    std::unique_ptr<File> file_;
    std::uint64_t end_ = 0;
};

void measure_commits(const std::string& directory) {
    const int records = 31;  // 8 KiB with frames and footer
    const std::string bytes(8192, 'b');
    PlainFile zeroed(directory + "/zeroed", std::uint64_t{kRounds} * kCommitsInRound * bytes.size() + (1 << 20));
    PlainFile growing(directory + "/growing", 0);
    JournalOptions options;
    auto journal = must(LocalJournal::open(posix_file_system(), directory + "/commits", options));
    must(journal->prepare_spares());
    Figures of_zeroed, of_growing, of_journal;
    std::uint64_t size = 0;
    const auto into_growing = [&] { timed(of_growing, kCommitsInRound, [&] { growing.append(bytes); }); };
    const auto into_zeroed = [&] { timed(of_zeroed, kCommitsInRound, [&] { zeroed.append(bytes); }); };
    const auto into_journal = [&] {
        timed(of_journal, kCommitsInRound, [&] {
            const Commit commit = batch(journal->totals(), records);
            size = commit_size_in_segment(commit.records.size());
            must(journal->commit(commit));
        });
    };
    for (int round = 0; round < kRounds; ++round) {
        if (round % 2 == 0) into_journal();
        into_zeroed();
        if (round % 2 != 0) into_journal();
    }
    for (int round = 0; round < kRounds; ++round) into_growing();
    std::printf("commits of 8 KiB, each synced (%d of each; the journal's take %lu bytes)\n", kRounds * kCommitsInRound,
                size);
    of_growing.print("  pwrite + fdatasync, growing file");
    of_zeroed.print("  pwrite + fdatasync, into zeros");
    of_journal.print("  journal");
}

void measure_reading(const std::string& directory) {
    JournalOptions options;
    auto journal = must(LocalJournal::open(posix_file_system(), directory + "/replay", options));
    std::uint64_t record_bytes = 0;
    while (journal->totals().sequence < kRecordsInReplay) {
        Commit commit = batch(journal->totals(), 4000);
        record_bytes = commit.records.size() / 4000;
        const SegmentRoom room = journal->room();
        const std::uint64_t used = room.closed ? kSegmentHeaderBytes : room.used_bytes;
        commit.closes_segment = used + 2 * commit_size_in_segment(commit.records.size()) > room.segment_bytes;
        must(journal->commit(commit));
    }
    journal.reset();
    std::int64_t before = monotonic_now_ns();
    journal = must(LocalJournal::open(posix_file_system(), directory + "/replay", options));
    std::printf("open of %zu segments: %.1f ms\n", journal->catalog().list().size(),
                static_cast<double>(monotonic_now_ns() - before) / 1e6);
    for (int round = 0; round < 3; ++round) {
        std::uint64_t records = 0;
        before = monotonic_now_ns();
        must(journal->replay(1, [&](const CommitInLog& commit) { return records += commit.records.size(), Status(); }));
        const auto seconds = static_cast<double>(monotonic_now_ns() - before) / 1e9;
        std::printf("replay of %lu records of %lu bytes: %.2f M records/s, %.0f MB/s\n", records, record_bytes,
                    static_cast<double>(records) / seconds / 1e6,
                    static_cast<double>(records * record_bytes) / seconds / 1e6);
    }
    Random random(1);
    constexpr int kReads = 200'000;
    before = monotonic_now_ns();
    for (int i = 0; i < kReads; ++i) {
        const Sequence log_position = 1 + random.below(kRecordsInReplay);
        must(must(journal->catalog().find(log_position))->read_record(log_position));
    }
    std::printf("read by place at random: %.0f records/s\n",
                kReads * 1e9 / static_cast<double>(monotonic_now_ns() - before));
    std::vector<Sequence> log_positions;
    for (int i = 0; i < kReads; ++i) log_positions.push_back(1 + static_cast<Sequence>(i) * 5);
    before = monotonic_now_ns();
    must(journal->catalog().read_records(log_positions));
    std::printf("read by place in order, every fifth: %.0f records/s\n",
                kReads * 1e9 / static_cast<double>(monotonic_now_ns() - before));
}

int run(const std::string& parent) {
    const std::string directory = parent + "/journal-bench";
    must(posix_file_system().remove_tree(directory));
    must(posix_file_system().make_directories(directory));
    measure_commits(directory);
    measure_reading(directory);
    must(posix_file_system().remove_tree(directory));
    return 0;
}

}  // namespace
}  // namespace duewheel

int main(int count, char** arguments) {
    const std::string argument = count == 2 ? arguments[1] : "";
    const bool asks = argument == "--help" || argument == "-h";
    // What begins with a dash is not a directory but an unknown flag.
    if (asks || argument.empty() || argument.front() == '-') {
        std::fprintf(asks ? stdout : stderr,
                     "usage: journal_bench DIRECTORY\n"
                     "Measures commits and replays of a log that it makes in DIRECTORY/journal-bench and removes.\n");
        return asks ? 0 : 2;
    }
    return duewheel::run(argument);
}
