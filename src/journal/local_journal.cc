#include "journal/local_journal.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/error_codes.h"

namespace duewheel {

LocalJournal::LocalJournal(FileSystem& files, std::string directory, const JournalOptions& options,
                           std::uint64_t marked)
    : files_(files),
      directory_(std::move(directory)),
      options_(options),
      identity_(options.identity),
      spares_(files, directory_, options.segment_bytes, options.spare_count + options.reserve_count),
      mark_(files, directory_, marked) {
    assert(options.block_bytes == 512 || options.block_bytes == 4096);
    assert(options.segment_bytes % options.block_bytes == 0 && options.segment_bytes <= kSegmentBytesMax);
    assert(options.segment_bytes > kSegmentHeaderBytes);
}

Result<std::unique_ptr<LocalJournal>> LocalJournal::open(FileSystem& files, const std::string& directory,
                                                         const JournalOptions& options) {
    if (Status made = files.make_directories(directory); !made) return std::move(made).error();
    Result<FoundLog> log = find_log(files, directory, options.known_end);
    if (!log) return std::move(log).error();
    if (Status mended = mend_log(files, directory, *log); !mended) return std::move(mended).error();
    std::unique_ptr<LocalJournal> journal(new LocalJournal(files, directory, options, log->marked_newest));
    if (Status started = journal->start(std::move(*log)); !started) return std::move(started).error();
    return journal;
}

Status LocalJournal::start(FoundLog log) {
    cut_ = std::move(log.cut);
    if (Status adopted = spares_.adopt(log.spares); !adopted) return adopted;
    if (log.segments.empty()) {
        SegmentHeader first;
        first.identity = options_.identity;
        first.block_bytes = options_.block_bytes;
        first.segment_bytes = options_.segment_bytes;
        if (options_.front) {
            first = *options_.front;
            identity_ = first.identity;
        }
        if (Status begun = begin_segment(first); !begun) return begun;
        return mark_newest();
    }
    newest_ = log.segments.back();
    identity_ = newest_->header().identity;
    for (auto& segment : log.segments) catalog_.add(std::move(segment));
    // In case an earlier run could not. If the disk is full, the next commit does it.
    Status marked = mark_newest();
    return !marked && marked.error().code == "no_space"_code ? Status() : marked;
}

Status LocalJournal::commit(const Commit& commit) {
    if (const std::optional<Error> failed = failure()) return *failed;
    if (newest()->end().closed) {
        const bool was_reported = prepared_.has_value();
        Status begun;
        if (const Result<CommitPlace> place = prepare(commit); !place) begun = place.error();
        if (begun) begun = give_name(*std::exchange(prepared_spare_, {}), *prepared_);
        if (begun || !was_reported) prepared_.reset();
        if (!begun) return begun;
    }
    if (Status marked = mark_newest(); !marked) return marked;
    const std::shared_ptr<SegmentFile> segment = newest();
    const SegmentEnd end = segment->end();
    const SegmentHeader& header = segment->header();
    assert(commit.totals.commit == end.totals.commit + 1);
    assert(commit.first_sequence == end.totals.sequence + 1);
    assert(commit.totals.sequence == end.totals.sequence + commit.count);
    assert(!commit.closes_segment || commit.totals.sequence >= header.first_sequence());
    assert(end.offset + commit_size_in_segment(commit.records.size(), header.block_bytes) <= header.segment_bytes);
    const Status appended = segment->append(commit);
    if (appended) return {};
    return fail("write commit " + std::to_string(commit.totals.commit) + " at offset " + std::to_string(end.offset) +
                    " of " + segment->path(),
                appended.error());
}

Result<CommitPlace> LocalJournal::prepare(const Commit& commit) {
    if (const std::optional<Error> failed = failure()) return *failed;
    const std::shared_ptr<SegmentFile> last = newest();
    const SegmentEnd end = last->end();
    if (!end.closed) return CommitPlace{last->header(), end.link, false};
    if (!prepared_spare_) {
        SegmentHeader header = prepared_ ? *prepared_ : header_after_end();
        if (!prepared_) header.segment_bytes = segment_size_for(commit, header.block_bytes);
        Result<SpareSegment> spare =
            take_spare(header.segment_bytes, prepared_ ? SpareSize::exactly : SpareSize::at_least);
        if (!spare) return std::move(spare).error();
        header.segment_bytes = spare->bytes;
        prepared_ = header;
        prepared_spare_ = std::move(*spare);
    }
    return CommitPlace{*prepared_, end.link, true};
}

Status LocalJournal::follow(const SegmentHeader& header) {
    if (const std::optional<Error> failed = failure()) return *failed;
    assert(newest()->end().closed && header.number == newest()->header().number + 1);
    assert(header.before == newest()->end().totals && header.link == newest()->end().link);
    return begin_segment(header);
}

SegmentHeader LocalJournal::header_after_end() const {
    const std::shared_ptr<SegmentFile> last = newest();
    const SegmentEnd end = last->end();
    SegmentHeader next = last->header();
    next.number += 1;
    next.before = end.totals;
    next.link = end.link;
    return next;
}

// Large enough for the commit that is its first, and for one that closes it.
std::uint64_t LocalJournal::segment_size_for(const Commit& commit, std::uint32_t block_bytes) const {
    std::uint64_t needed = kSegmentHeaderBytes + commit_size_in_segment(commit.records.size(), block_bytes);
    if (!commit.closes_segment) needed += std::max<std::uint64_t>(kClosingRoomBytes, block_bytes);
    return std::max(options_.segment_bytes, needed);
}

// Does nothing except in the first commit of a segment.
Status LocalJournal::mark_newest() {
    const Status raised = mark_.raise(newest()->header().number);
    if (raised || raised.error().code == "no_space"_code) return raised;
    return fail("record the newest segment in " + directory_, raised.error());
}

Status LocalJournal::begin_segment(const SegmentHeader& header) {
    Result<SpareSegment> spare = take_spare(header.segment_bytes, SpareSize::exactly);
    if (!spare) return std::move(spare).error();
    return give_name(std::move(*spare), header);
}

Result<SpareSegment> LocalJournal::take_spare(std::uint64_t bytes, SpareSize size) {
    Result<SpareSegment> spare = spares_.take(bytes, size);
    if (spare || spare.error().code == "no_space"_code) return spare;
    return fail("create a segment in " + directory_, spare.error()).error();
}

// A segment is created in this order: header durable, name, name durable; so a named segment never has a torn header.
Status LocalJournal::give_name(SpareSegment spare, const SegmentHeader& header) {
    const std::string head = encode_segment_header(header);
    const std::string path = directory_ + "/" + segment_name(header.first_sequence());
    Status written = spare.file->write_at(0, std::as_bytes(std::span(head)));
    Status done = written;
    if (done) done = spare.file->sync_data();
    const bool synced = done.ok();
    if (done) done = files_.rename(directory_ + "/" + spare.name, path);
    const bool is_still_a_spare = !written || (synced && !done);
    if (is_still_a_spare && done.error().code == "no_space"_code) {
        spares_.return_spare(std::move(spare));
        return done;
    }
    if (done) done = files_.sync_directory(directory_);
    if (!done) return fail("begin segment " + path, done.error());
    const SegmentEnd end{header.before, header.link, kSegmentHeaderBytes, false};
    auto segment =
        std::make_shared<SegmentFile>(path, std::move(spare.file), header, end, OffsetList(header.first_sequence()));
    catalog_.add(segment);
    const std::lock_guard lock(mutex_);
    newest_ = std::move(segment);
    return {};
}

Status LocalJournal::prepare_spares() {
    if (const std::optional<Error> failed = failure()) return *failed;
    const Status prepared = spares_.prepare();
    if (prepared || prepared.error().code == "no_space"_code) return prepared;
    return fail("fill a spare segment in " + directory_, prepared.error());
}

Result<bool> LocalJournal::give_up_spare(std::size_t keep) {
    if (const std::optional<Error> failed = failure()) return *failed;
    return spares_.give_up(keep);
}

Status LocalJournal::drop_before(Sequence sequence) {
    if (const std::optional<Error> failed = failure()) return *failed;
    const std::vector<std::shared_ptr<const SegmentFile>> segments = catalog_.snapshot();
    for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
        if (segments[i]->end().totals.sequence >= sequence) break;
        Status dropped = files_.remove(segments[i]->path());
        if (dropped) dropped = files_.sync_directory(directory_);
        if (!dropped) return fail("drop " + segments[i]->path(), dropped.error());
        catalog_.remove_first();
    }
    return {};
}

Status LocalJournal::replay(Sequence from, const CommitVisitor& visitor) const {
    if (const std::optional<Error> failed = failure()) return *failed;
    const std::vector<std::shared_ptr<const SegmentFile>> segments = catalog_.snapshot();
    const Sequence last = segments.back()->end().totals.sequence;
    if (from < segments.front()->first_sequence() || from > last + 1) {
        return Error{"not_found"_code, "the log in " + directory_ + " holds records " +
                                           std::to_string(segments.front()->first_sequence()) + " to " +
                                           std::to_string(last) + ", but is to be read from " + std::to_string(from)};
    }
    const CommitVisitor from_there = [&](const CommitInLog& commit) {
        return commit.totals.sequence >= from ? visitor(commit) : Status();
    };
    for (std::size_t i = 0; i < segments.size(); ++i) {
        const bool ends_before = i + 1 < segments.size() && segments[i + 1]->first_sequence() <= from;
        if (ends_before) continue;
        if (Status read = segments[i]->scan(from_there); !read) return read;
    }
    return {};
}

Status LocalJournal::verify_all(const CommitVisitor& visitor) const {
    if (const std::optional<Error> failed = failure()) return *failed;
    for (const auto& segment : catalog_.snapshot()) {
        if (Status read = segment->scan(visitor); !read) return read;
    }
    return {};
}

Sequence LocalJournal::first_sequence() const {
    return catalog_.snapshot().front()->first_sequence();
}

SegmentRoom LocalJournal::room() const {
    const std::shared_ptr<SegmentFile> segment = newest();
    const SegmentEnd end = segment->end();
    const SegmentHeader& header = segment->header();
    return {header.number, end.offset, header.segment_bytes, end.closed,
            end.totals.sequence >= header.first_sequence()};
}

Status LocalJournal::fail(std::string_view action, const Error& error) {
    const std::lock_guard lock(mutex_);
    if (!failed_) {
        failed_ =
            Error{"log_failed"_code, "cannot " + std::string(action) + ": " + error.message +
                                         ". The server stops, because it cannot confirm what it cannot save. Check the "
                                         "disk, then start the server again."};
        catalog_.fail(*failed_);
    }
    return *failed_;
}

std::optional<Error> LocalJournal::failure() const {
    const std::lock_guard lock(mutex_);
    return failed_;
}

std::shared_ptr<SegmentFile> LocalJournal::newest() const {
    const std::lock_guard lock(mutex_);
    return newest_;
}

}  // namespace duewheel
