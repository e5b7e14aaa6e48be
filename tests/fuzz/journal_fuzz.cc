// A log whose files were modified: it is refused and left unchanged, or yields a prefix of what was committed. A gap, a
// changed record or a forged one is a failure.
//
// The script commits records, then damages the files: bytes flipped, ranges zeroed, cut, copied or overwritten. Every
// other input ends with a commit whose footer is valid and whose records are bytes of the script, as a bug that writes
// garbage, or a colliding checksum, would produce.
#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/error_codes.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/input_script.h"
#include "journal/local_journal.h"
#include "support/sim_disk.h"

namespace duewheel::journal_fuzz {
namespace {

constexpr const char* kDirectory = "/journal";
constexpr std::uint64_t kSegmentBytes = 8 << 10;
constexpr int kCommitsMax = 24;
constexpr int kDamagesMax = 8;

JournalOptions options() {
    JournalOptions options;
    options.segment_bytes = kSegmentBytes;
    options.spare_count = 0;
    options.reserve_count = 0;
    options.identity.instance.fill(std::byte{1});
    options.identity.token_key.fill(std::byte{2});
    return options;
}

// One commit as it was written, or as it was read.
struct Kept {
    Totals totals;
    std::vector<OwnedRecord> records;

    bool operator==(const Kept&) const = default;
};

using Image = std::map<std::string, std::string>;

Image image_of(FileSystem& files) {
    Image image;
    for (const std::string& name : files.list(kDirectory).value()) {
        const std::string path = std::string(kDirectory) + "/" + name;
        const auto file = files.open(path, OpenMode::read).value();
        std::string& bytes = image[path];
        bytes.resize(file->size().value());
        require(file->read_at(0, std::as_writable_bytes(std::span(bytes))).ok(), "a file cannot be read");
    }
    return image;
}

void put_image(FileSystem& files, const Image& image) {
    require(files.make_directories(kDirectory).ok(), "no directory can be made");
    for (const auto& [path, bytes] : image) {
        const auto file = files.open(path, OpenMode::create).value();
        require(file->write_at(0, std::as_bytes(std::span(bytes))).ok(), "a file cannot be written");
    }
}

class Trial {
  public:
    explicit Trial(std::string_view input) : script_(input) {}

    void run() {
        write();
        const bool forges = script_.chance(2);
        if (forges) {
            forge();
        } else {
            damage();
        }
        read(forges);
    }

  private:
    void write() {
        SimDisk disk;
        auto journal = LocalJournal::open(disk, kDirectory, options()).value();
        const int commits = 1 + static_cast<int>(script_.below(kCommitsMax));
        for (int i = 0; i < commits; ++i) {
            const SegmentRoom room = journal->room();
            const Commit commit = draw_commit(journal->totals(), room);
            const Status done = journal->commit(commit);
            require(done.ok(), "a commit failed");
        }
        const auto newest = journal->catalog().snapshot().back();
        kept_before_newest_ = newest->header().first_commit() - 1;
        newest_ = newest->path();
        header_ = newest->header();
        end_ = newest->end();
        journal.reset();
        image_ = image_of(disk);
    }

    Commit draw_commit(const Totals& before, const SegmentRoom& room) {
        Commit commit;
        commit.totals = before;
        commit.totals.commit += 1;
        commit.totals.server_time_ms += 1;
        commit.first_sequence = before.sequence + 1;
        Kept kept;
        const unsigned records = room.has_record && !room.closed ? script_.below(4) : 1 + script_.below(3);
        for (unsigned i = 0; i < records; ++i) {
            MessageRecord record;
            record.id = 1024 * (commit.totals.sequence + 1);
            record.state.queue = "q";
            const std::string body(script_.below(200), static_cast<char>(script_.byte()));
            record.content.body = body;
            commit.totals.sequence += 1;
            const std::size_t start = commit.records.size();
            append_record(commit.records, commit.totals.sequence, record);
            const FramedRecord frame = *read_frame(std::string_view(commit.records).substr(start));
            kept.records.push_back({frame.sequence, frame.kind, std::string(frame.body)});
        }
        commit.count = records;
        const std::uint64_t used = room.closed ? kSegmentHeaderBytes : room.used_bytes;
        commit.closes_segment = used + commit_size_in_segment(commit.records.size()) + 2048 > kSegmentBytes &&
                                (records > 0 || (room.has_record && !room.closed));
        kept.totals = commit.totals;
        kept_.push_back(std::move(kept));
        return commit;
    }

    std::string& draw_file() {
        auto file = image_.begin();
        std::advance(file, script_.below(static_cast<unsigned>(image_.size())));
        return file->second;
    }
    // Two bytes reach every place of a file.
    std::size_t draw_place(const std::string& bytes) {
        const std::size_t drawn = script_.byte() | std::size_t{script_.byte()} << 8;
        return bytes.empty() ? 0 : drawn % bytes.size();
    }

    void damage() {
        const unsigned damages = script_.below(kDamagesMax);
        for (unsigned i = 0; i < damages; ++i) {
            std::string& bytes = draw_file();
            if (bytes.empty()) continue;
            const std::size_t at = draw_place(bytes);
            const std::size_t size = std::min<std::size_t>(bytes.size() - at, 1 + 8 * std::size_t{script_.byte()});
            switch (script_.below(5)) {
                case 0:
                    bytes[at] = static_cast<char>(bytes[at] ^ script_.byte());
                    break;
                case 1:
                    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), size, '\0');
                    break;
                case 2:
                    bytes.resize(at);
                    break;
                case 3: {
                    const std::size_t from = std::min(draw_place(bytes), bytes.size() - size);
                    bytes.replace(at, size, std::string(bytes, from, size));
                    break;
                }
                default: {
                    const std::string_view written = script_.text();
                    const std::size_t fits = std::min(written.size(), bytes.size() - at);
                    bytes.replace(at, fits, written.substr(0, fits));
                    break;
                }
            }
        }
    }

    // A commit that fits in all but its records.
    void forge() {
        std::string& bytes = image_[newest_];
        Commit commit;
        commit.closes_segment = script_.chance(4);
        commit.count = script_.below(8);
        commit.totals = end_.totals;
        commit.totals.commit += 1;
        commit.totals.sequence += commit.count;
        commit.first_sequence = end_.totals.sequence + 1;
        commit.records = script_.rest().substr(0, 2000);
        std::string encoded;
        encode_commit(encoded, commit, header_, end_.link);
        if (end_.closed || end_.offset + encoded.size() > bytes.size()) return;
        bytes.replace(end_.offset, encoded.size(), encoded);
    }

    void read(bool forged) {
        SimDisk disk;
        put_image(disk, image_);
        auto journal = LocalJournal::open(disk, kDirectory, options());
        if (!journal) {
            judge_refusal(journal.error());
            require(image_of(disk) == image_, "a log was refused, but changed");
            return;
        }
        std::vector<Kept> found;
        const Status whole = (*journal)->verify_all([&](const CommitInLog& commit) {
            Kept kept{commit.totals, {}};
            for (const FramedRecord& record : commit.records) {
                kept.records.push_back({record.sequence, record.kind, std::string(record.body)});
            }
            found.push_back(std::move(kept));
            return Status();
        });
        if (!whole) return judge_refusal(whole.error());
        require((*journal)->totals() == (found.empty() ? Totals{} : found.back().totals), "totals are others");
        // One that was forged may be whole: the script wrote records then.
        const std::size_t judged = std::min(found.size(), kept_.size());
        require(found.size() <= kept_.size() + (forged ? 1 : 0), "there are commits that nobody wrote");
        require(judged >= kept_before_newest_, "a commit is gone that another segment followed");
        require(std::equal(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(judged), kept_.begin()),
                "a commit is not what was written");
        if (forged) require(judged == kept_.size(), "a commit is gone for what came after it");
        judge_goes_on(**journal);
        journal->reset();
        const auto again = LocalJournal::open(disk, kDirectory, options());
        require(again.ok() && !(*again)->cut(), "a log that was mended is not whole");
    }

    // What was opened can be appended to.
    void judge_goes_on(LocalJournal& journal) {
        const Totals before = journal.totals();
        const Commit commit = draw_commit(before, journal.room());
        require(journal.commit(commit).ok(), "a log that was opened takes no commit");
        require(journal.totals() == commit.totals, "a commit that was taken does not count");
    }

    static void judge_refusal(const Error& error) {
        require(error.code == "damaged_log"_code || error.code == "newer_format"_code,
                "a log has another error:", name_of(error.code));
        require(!error.message.empty(), "a refusal says nothing");
    }

    InputScript script_;
    Image image_;
    std::vector<Kept> kept_;
    std::size_t kept_before_newest_ = 0;
    std::string newest_;
    SegmentHeader header_;
    SegmentEnd end_;
};

}  // namespace

void fuzz(std::string_view input) {
    Trial(input).run();
}

}  // namespace duewheel::journal_fuzz
