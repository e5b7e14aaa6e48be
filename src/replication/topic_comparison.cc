#include "replication/topic_comparison.h"

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/error_codes.h"
#include "journal/recovery.h"
#include "journal/segment.h"

namespace duewheel {
namespace {

constexpr std::size_t kComparedRecords = 1'000;

// A segment of the directory, read as bytes.
struct LocalSegment {
    SegmentHeader header;
    std::string path;
    std::unique_ptr<File> file;
};

class Comparison {
  public:
    // The files stay readable while a server removes them.
    Status open(FileSystem& files, const std::string& directory) {
        const Result<FoundLog> found = find_log_in_use(files, directory);
        if (!found) return found.error();
        if (found->segments.empty())
            return Error{"not_found"_code, "there is no log in " + directory + ": it contains no segment (seg-*)"};
        for (const std::shared_ptr<SegmentFile>& segment : found->segments) {
            Result<std::unique_ptr<File>> file = files.open(segment->path(), OpenMode::read);
            if (!file && file.error().code == "not_found"_code) continue;  // removed meanwhile
            if (!file) return std::move(file).error();
            segments_[segment->header().number] = {segment->header(), segment->path(), *std::move(file)};
        }
        result_.local_commit = found->segments.back()->end().totals.commit;
        return {};
    }

    Status take(const TopicChain& chain, TopicChain::Step step) {
        if (step == TopicChain::Step::segment) return begin(chain.segment());
        if (step != TopicChain::Step::committed) return {};
        result_.topic_commit = chain.position().commit;
        const bool is_compared = current_ != nullptr && chain.position().commit <= result_.local_commit;
        return is_compared ? compare(chain.committed()) : Status();
    }

    bool is_different() const { return result_.difference.has_value(); }

    TopicComparison finish(const TopicChain& chain) {
        if (!is_different() && result_.local_commit > chain.position().commit) {
            result_.difference = "the directory has commits up to " + std::to_string(result_.local_commit) +
                                 ", and the topic only up to " + std::to_string(chain.position().commit) +
                                 ": the topic has lost records, or was created again";
        }
        return std::move(result_);
    }

  private:
    Status begin(const SegmentHeader& header) {
        if (!began_ && header.before.commit > result_.local_commit) {
            result_.difference = "the directory ends at commit " + std::to_string(result_.local_commit) +
                                 ", and the topic begins after commit " + std::to_string(header.before.commit);
        }
        began_ = true;
        const auto found = segments_.find(header.number);
        current_ = found == segments_.end() ? nullptr : &found->second;
        if (current_ == nullptr) return {};
        offset_ = 0;
        link_ = header.link;
        ++result_.segments;
        return compare_bytes(encode_segment_header(header), "the header");
    }

    Status compare(const Commit& commit) {
        std::string bytes;
        link_ = encode_commit(bytes, commit, current_->header, link_);
        ++result_.commits;
        return compare_bytes(bytes, "commit " + std::to_string(commit.totals.commit));
    }

    Status compare_bytes(const std::string& expected, const std::string& what) {
        std::string bytes(expected.size(), '\0');
        const Result<std::size_t> got = current_->file->read_at(offset_, std::as_writable_bytes(std::span(bytes)));
        if (!got) return got.error();
        const auto [local, topic] = std::mismatch(bytes.begin(), bytes.end(), expected.begin());
        if (local != bytes.end() && !is_different()) {
            const std::uint64_t at = offset_ + static_cast<std::uint64_t>(local - bytes.begin());
            result_.difference = what + " in " + current_->path + " is not what the topic has, from offset " +
                                 std::to_string(at) + " of the file";
        }
        offset_ += expected.size();
        result_.bytes += expected.size();
        return {};
    }

    std::map<std::uint64_t, LocalSegment> segments_;  // by number
    TopicComparison result_;
    bool began_ = false;
    const LocalSegment* current_ = nullptr;
    std::uint64_t offset_ = 0;
    std::uint64_t link_ = 0;
};

}  // namespace

Result<TopicComparison> compare_with_topic(FileSystem& files, const std::string& directory, KafkaCluster& cluster,
                                           const TopicLog& log, std::int64_t timeout_ms) {
    // The directory first: the topic has everything that it has.
    Comparison comparison;
    if (Status opened = comparison.open(files, directory + "/journal"); !opened) return std::move(opened).error();
    Result<std::unique_ptr<KafkaConsumer>> consumer = cluster.open_consumer();
    if (!consumer) return std::move(consumer).error();
    const auto partition = static_cast<std::int32_t>(log.shard);
    const Result<KafkaConsumer::Offsets> offsets = (*consumer)->offsets(log.topic, partition, timeout_ms);
    if (!offsets) return offsets.error();
    if (Status assigned = (*consumer)->assign(log.topic, partition, offsets->low); !assigned) {
        return std::move(assigned).error();
    }
    TopicChain chain(log);
    while (std::max(chain.position().next_offset, offsets->low) < offsets->high && !comparison.is_different()) {
        const Result<std::vector<KafkaRecord>> records = (*consumer)->poll(kComparedRecords, timeout_ms);
        if (!records) return records.error();
        if (records->empty()) return Error{"kafka_unavailable"_code, "topic " + log.topic + " cannot be read"};
        for (const KafkaRecord& record : *records) {
            const Result<TopicChain::Step> step = chain.append(record);
            if (!step) return step.error();
            if (Status taken = comparison.take(chain, *step); !taken) return std::move(taken).error();
        }
    }
    return comparison.finish(chain);
}

}  // namespace duewheel
