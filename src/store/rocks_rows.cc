// Why RocksDB is set up as it is:
//   - Tables are built with SstFileWriter and moved in (hard link, then unlink): each row is written once here, and
//     again only by compaction. The write buffer is as small as it goes, because nothing is ever written into it.
//   - LZ4 while rows are young, ZSTD at the bottom level, where most of them lie and are rarely rewritten.
//   - Blocks of 16 KiB; indexes and filters are cut into partitions that come and go in the block cache, so that memory
//     does not grow with the number of messages. Files are never mapped into memory.
//   - A Bloom filter of 10 bits a key: a put with a new idempotency key must not read the disk.
//   - Nothing that asks a clock: no periodic compaction, no time to live, no periodic statistics.
//   - No log file of its own: on a full disk the second failed line of it aborts the process, where this version is
//     built with its assertions, as distributions do.
//   - No recovery of its own from an error that stops it, above all a manifest that met a full disk: in this version,
//     the next table that is moved in after such a recovery aborts the process (it is given the file number 0). The
//     database is opened again instead, as soon as there is space for that; until then reads continue.
//   - Left alone, as known to be unsafe or slow in this version: compression of its log, atomic flush, recycled log
//     files, asynchronous reads, own comparators, and prefix iterators.
#include "store/rocks_rows.h"

#include <atomic>
#include <cassert>
#include <cstdarg>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include <rocksdb/cache.h>
#include <rocksdb/compaction_filter.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>
#include <rocksdb/options.h>
#include <rocksdb/rate_limiter.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>

#include "base/disk_guard.h"
#include "base/error_codes.h"

namespace duewheel {
namespace {

// A name that RocksDB does not use, so that it ignores the file.
constexpr std::string_view kIncomingName = "incoming-table";

// More than what an opening writes: a manifest with some 200 bytes for each table, and settings.
constexpr std::uint64_t kOpeningBytes = 512 << 10;

rocksdb::Slice slice(std::string_view bytes) {
    return {bytes.data(), bytes.size()};
}
std::string_view view(const rocksdb::Slice& bytes) {
    return {bytes.data(), bytes.size()};
}

Error error_of(const rocksdb::Status& status, const std::string& directory) {
    if (status.IsNoSpace()) {
        return {"no_space"_code, "no space left for the index in " + directory + " (" + status.ToString() + ")"};
    }
    if (status.IsIOError() && !status.IsPathNotFound()) {
        return {"io_error"_code, "the index in " + directory + " cannot be read or written: " + status.ToString()};
    }
    return {"damaged_index"_code,
            "the index in " + directory + " is damaged (" + status.ToString() +
                "). No data is lost: remove that directory, and the next start rebuilds it from the log"};
}

class ExpiredRowFilter final : public rocksdb::CompactionFilter {
  public:
    explicit ExpiredRowFilter(const RowExpired& expired) : expired_(expired) {}

    const char* Name() const override { return "duewheel.expired"; }
    bool Filter(int, const rocksdb::Slice& key, const rocksdb::Slice& value, std::string*, bool*) const override {
        return expired_(view(key), view(value));
    }

  private:
    const RowExpired& expired_;
};

// Records an error after which RocksDB accepts no more tables. RocksDB handles errors that only stop a compaction.
class StopWatch final : public rocksdb::EventListener {
  public:
    bool has_stopped() const { return stopped_; }
    void forget() { stopped_ = false; }

    void OnBackgroundError(rocksdb::BackgroundErrorReason, rocksdb::Status* error) override {
        if (stops(*error)) stopped_ = true;
    }
    void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status error, bool* may_recover) override {
        if (stops(error)) *may_recover = false;
    }

  private:
    static bool stops(const rocksdb::Status& error) {
        return error.severity() >= rocksdb::Status::Severity::kHardError;
    }

    std::atomic<bool> stopped_{false};
};

class SilentLogger final : public rocksdb::Logger {
  public:
    using rocksdb::Logger::Logv;
    void Logv(const char*, va_list) override {}
};

rocksdb::BlockBasedTableOptions table_options(const RocksRowsOptions& chosen) {
    rocksdb::BlockBasedTableOptions table;
    table.block_size = 16 << 10;
    table.format_version = 5;
    table.block_cache = rocksdb::NewLRUCache(chosen.cache_bytes);
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
    table.partition_filters = true;
    table.metadata_block_size = 4 << 10;
    table.cache_index_and_filter_blocks = true;
    table.cache_index_and_filter_blocks_with_high_priority = true;
    table.pin_top_level_index_and_filter = true;
    table.optimize_filters_for_memory = true;
    return table;
}

rocksdb::Options database_options(const RocksRowsOptions& chosen, const rocksdb::CompactionFilter* filter) {
    rocksdb::Options options;
    options.create_if_missing = true;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options(chosen)));
    options.compaction_filter = filter;
    options.compression = rocksdb::kLZ4Compression;
    options.bottommost_compression = rocksdb::kZSTD;
    options.level_compaction_dynamic_level_bytes = true;
    options.target_file_size_base = 32 << 20;
    options.max_bytes_for_level_base = 128 << 20;
    options.write_buffer_size = 64 << 10;
    options.arena_block_size = 4 << 10;
    options.max_background_jobs = 2;
    options.max_open_files = chosen.open_files_max;
    options.bytes_per_sync = 512 << 10;
    options.rate_limiter.reset(
        rocksdb::NewGenericRateLimiter(static_cast<std::int64_t>(chosen.compaction_bytes_per_second)));
    options.ttl = 0;
    options.periodic_compaction_seconds = 0;
    options.stats_dump_period_sec = 0;
    options.stats_persist_period_sec = 0;
    options.skip_stats_update_on_db_open = true;
    options.max_manifest_file_size = 1 << 20;
    options.manifest_preallocation_size = 64 << 10;
    options.info_log = std::make_shared<SilentLogger>();
    return options;
}

// A file of the bottom level's compression would be slow to build, and most of it is rewritten soon.
rocksdb::Options incoming_options(const rocksdb::Options& of_database) {
    rocksdb::Options options = of_database;
    options.bottommost_compression = rocksdb::kDisableCompressionOption;
    options.compaction_filter = nullptr;
    options.rate_limiter.reset();
    return options;
}

}  // namespace

class RocksTableBuilder final : public TableBuilder {
  public:
    // `usable`: the state of the database to which the table will be added.
    RocksTableBuilder(rocksdb::DB* database, const Status& usable, const rocksdb::Options& options, FileSystem& files,
                      std::string directory)
        : database_(database),
          usable_(usable),
          files_(files),
          directory_(std::move(directory)),
          path_(directory_ + "/" + std::string(kIncomingName)),
          writer_(rocksdb::EnvOptions(), options) {
        status_ = writer_.Open(path_);
    }
    ~RocksTableBuilder() override {
        if (!taken_in_) (void)files_.remove(path_);
    }

    void put(std::string_view key, std::string_view value) override {
        if (status_.ok()) status_ = writer_.Put(slice(key), slice(value));
        ++count_;
    }
    void erase(std::string_view key) override {
        if (status_.ok()) status_ = writer_.Delete(slice(key));
        ++count_;
    }
    void erase_range(std::string_view lower, std::string_view upper) override {
        assert(lower < upper);
        if (status_.ok()) status_ = writer_.DeleteRange(slice(lower), slice(upper));
        ++count_;
    }

    Status take_in() override {
        if (!usable_) return usable_;
        if (count_ == 0) return {};  // a file without rows would be refused
        if (status_.ok()) status_ = writer_.Finish();
        if (status_.ok()) status_ = ingest();
        if (!status_.ok()) return error_of(status_, directory_);
        taken_in_ = true;
        return {};
    }

  private:
    rocksdb::Status ingest() {
        rocksdb::IngestExternalFileOptions how;
        how.move_files = true;
        how.failed_move_fall_back_to_copy = false;
        how.snapshot_consistency = false;  // there are no snapshots; an iterator keeps the tables it started with
        how.allow_blocking_flush = false;  // nothing is ever in memory that would have to be flushed first
        how.write_global_seqno = false;
        return database_->IngestExternalFile({path_}, how);
    }

    rocksdb::DB* const database_;  // null only if it is not usable
    const Status usable_;
    FileSystem& files_;
    std::string directory_;
    std::string path_;
    rocksdb::SstFileWriter writer_;
    rocksdb::Status status_;
    std::size_t count_ = 0;
    bool taken_in_ = false;
};

class RocksRows final : public SortedRows {
  public:
    RocksRows(FileSystem& files, std::string directory, RowExpired expired, const RocksRowsOptions& chosen)
        : files_(files),
          directory_(std::move(directory)),
          expired_(std::move(expired)),
          filter_(expired_),
          options_(database_options(chosen, &filter_)),
          incoming_(incoming_options(options_)) {
        options_.listeners.push_back(stop_watch_);
    }

    Status open() {
        rocksdb::DB* database = nullptr;
        const rocksdb::Status status = rocksdb::DB::Open(options_, directory_, &database);
        database_.reset(database);
        if (!status.ok()) return error_of(status, directory_);
        return {};
    }

    Result<std::optional<std::string>> get(std::string_view key) const override {
        assert_disk_is_allowed();
        const std::shared_lock lock(mutex_);
        if (database_ == nullptr) return closed();
        std::string value;
        const rocksdb::Status status =
            database_->Get(rocksdb::ReadOptions(), database_->DefaultColumnFamily(), slice(key), &value);
        if (status.IsNotFound()) return std::optional<std::string>();
        if (!status.ok()) return error_of(status, directory_);
        return std::optional<std::string>(std::move(value));
    }

    Status scan(std::string_view lower, std::string_view upper, std::size_t limit,
                const RowVisitor& visit) const override {
        assert_disk_is_allowed();
        assert(lower <= upper);
        const std::shared_lock lock(mutex_);
        if (database_ == nullptr) return closed();
        const rocksdb::Slice from = slice(lower);
        const rocksdb::Slice until = slice(upper);
        rocksdb::ReadOptions how;
        how.iterate_lower_bound = &from;
        how.iterate_upper_bound = &until;
        how.total_order_seek = true;
        const std::unique_ptr<rocksdb::Iterator> row(database_->NewIterator(how));
        for (row->Seek(from); limit > 0 && row->Valid(); row->Next(), --limit) {
            if (!visit(view(row->key()), view(row->value()))) break;
        }
        if (!row->status().ok()) return error_of(row->status(), directory_);
        return {};
    }

    std::unique_ptr<TableBuilder> build_table() override {
        assert_disk_is_allowed();
        const Status usable = stop_watch_->has_stopped() ? open_anew() : Status();
        return std::make_unique<RocksTableBuilder>(database_.get(), usable, incoming_, files_, directory_);
    }

    Status verify_checksums() const override {
        assert_disk_is_allowed();
        const rocksdb::Status status = database_->VerifyChecksum();
        if (!status.ok()) return error_of(status, directory_);
        return {};
    }

    std::uint64_t bytes() const override {
        const std::shared_lock lock(mutex_);
        std::uint64_t bytes = 0;
        if (database_ != nullptr) database_->GetIntProperty(rocksdb::DB::Properties::kLiveSstFilesSize, &bytes);
        return bytes;
    }

    Status compact() {
        const std::shared_lock lock(mutex_);
        rocksdb::CompactRangeOptions how;
        how.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
        const rocksdb::Status status = database_->CompactRange(how, nullptr, nullptr);
        if (!status.ok()) return error_of(status, directory_);
        return {};
    }

  private:
    Error closed() const { return {"io_error"_code, "the index in " + directory_ + " could not be opened again"}; }

    // RocksDB has stopped accepting tables. Opening it again writes a new manifest, so that is tried only if there is
    // space; if the space is used up meanwhile, reads still work. Reads wait until it is open.
    Status open_anew() {
        const Result<std::uint64_t> free = files_.free_bytes(directory_);
        if (!free) return free.error();
        if (*free < kOpeningBytes) {
            return Error{"no_space"_code, "the index in " + directory_ + " needs " + std::to_string(kOpeningBytes) +
                                              " bytes of free space, but only " + std::to_string(*free) + " are free"};
        }
        const std::unique_lock lock(mutex_);
        database_.reset();
        Status opened = open();
        if (opened) {
            stop_watch_->forget();
            return opened;
        }
        rocksdb::DB* reading = nullptr;
        const rocksdb::Status status = rocksdb::DB::OpenForReadOnly(options_, directory_, &reading);
        database_.reset(reading);
        return status.ok() ? opened : error_of(status, directory_);
    }

    FileSystem& files_;
    std::string directory_;
    RowExpired expired_;
    ExpiredRowFilter filter_;
    std::shared_ptr<StopWatch> stop_watch_ = std::make_shared<StopWatch>();  // RocksDB asks for shared ownership
    rocksdb::Options options_;
    rocksdb::Options incoming_;
    mutable std::shared_mutex mutex_;        // held alone while the database is opened again
    std::unique_ptr<rocksdb::DB> database_;  // last: closed before what it refers to
};

RocksRowStorage::RocksRowStorage(FileSystem& files, std::string directory, RowExpired expired, RocksRowsOptions options)
    : files_(files), directory_(std::move(directory)), expired_(std::move(expired)), options_(options) {}

Result<std::unique_ptr<SortedRows>> RocksRowStorage::open() {
    const Result<std::unique_ptr<File>> note = files_.open(note_path(), OpenMode::read);
    if (note) {
        return Error{"damaged_index"_code, "the index in " + directory_ + " was marked as damaged, in " + note_path() +
                                               ". No data is lost: the next start rebuilds it from the log"};
    }
    if (note.error().code != "not_found"_code) return note.error();
    if (Status made = files_.make_directories(directory_); !made) return std::move(made).error();
    // Left by a process that ended while it built a table.
    if (Status removed = files_.remove(directory_ + "/" + std::string(kIncomingName));
        !removed && removed.error().code != "not_found"_code) {
        return std::move(removed).error();
    }
    auto rows = std::make_unique<RocksRows>(files_, directory_, expired_, options_);
    if (Status opened = rows->open(); !opened) return std::move(opened).error();
    return std::unique_ptr<SortedRows>(std::move(rows));
}

std::string RocksRowStorage::parent() const {
    const std::size_t slash = directory_.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : directory_.substr(0, slash);
}

Status RocksRowStorage::condemn() {
    const Result<std::unique_ptr<File>> note = files_.open(note_path(), OpenMode::create);
    if (!note && note.error().code != "already_exists"_code) return note.error();
    return files_.sync_directory(parent());
}

// The mark is removed last: after an interrupted removal the rest is still marked for removal.
Status RocksRowStorage::discard() {
    if (Status removed = files_.remove_tree(directory_); !removed) return removed;
    Status removed = files_.remove(note_path());
    if (!removed && removed.error().code != "not_found"_code) return removed;
    return files_.sync_directory(parent());
}

Status compact_rows(SortedRows& rows) {
    auto* const of_rocks = dynamic_cast<RocksRows*>(&rows);
    assert(of_rocks != nullptr);
    return of_rocks->compact();
}

}  // namespace duewheel
