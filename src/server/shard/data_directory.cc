#include "server/shard/data_directory.h"

#include <utility>

#include "base/error_codes.h"
#include "base/file.h"
#include "base/secure_random.h"
#include "base/volume_size.h"
#include "server/shard/store_sizes.h"
#include "store/index.h"
#include "store/maintenance/directory_marks.h"
#include "store/maintenance/known_damage.h"

namespace duewheel {

DataDirectory::DataDirectory(const ServerOptions& options, LogSink& log)
    : options_(options),
      log_(log),
      run_(options.data_directory, log),
      retention_(options.keep_outcomes_ms, options.history),
      rows_(posix_file_system(), options.data_directory + "/index",
            [this](std::string_view key, std::string_view value) { return has_row_expired(retention_, key, value); }) {}

Status DataDirectory::open(LogReplication* replication) {
    ShardOptions shard_options;
    shard_options.engine = options_.engine;
    shard_options.engine.keys_kept_ms = options_.keep_outcomes_ms;  // as long as the index keeps them
    shard_options.spare_segments = options_.spare_segments;
    shard_options.reserve_segments = options_.reserve_segments;
    if (Status fitted = fit_volume(shard_options); !fitted) return fitted;
    Status drawn = secure_random_bytes(shard_options.identity.instance);
    if (drawn) drawn = secure_random_bytes(shard_options.identity.token_key);
    if (!drawn) return drawn;
    shard_options.engine.shard = options_.shards.number;
    shard_options.identity.shard = static_cast<std::uint16_t>(options_.shards.number);
    shard_options.identity.shards = static_cast<std::uint16_t>(options_.shards.count);
    if (replication == nullptr) {
        // A directory that cannot be read is refused when it is opened, with advice.
        Status alone = refuse_replicated_log(posix_file_system(), options_.data_directory);
        if (!alone && alone.error().code == "log_is_replicated"_code) return alone;
    } else {
        shard_options.engine.unconfirmed_max_ms = options_.kafka.log.takeover_after_ms / 2;
        shard_options.replicate = [replication](LocalJournal& local) { return replication->wrap(local); };
    }
    Result<std::unique_ptr<ShardParts>> opened =
        ShardParts::open(posix_file_system(), options_.data_directory, rows_, retention_, shard_options, log_);
    if (!opened) return std::move(opened).error();
    shard_ = *std::move(opened);
    return run_.read_last();
}

Status DataDirectory::fit_volume(ShardOptions& shard_options) {
    const Result<std::uint64_t> volume = volume_bytes(options_.data_directory);
    if (!volume) return volume.error();
    const StoreSizes sizes = store_sizes(options_.segment_bytes, options_.free_floor_bytes, *volume);
    shard_options.engine.segment_bytes = sizes.segment_bytes;
    shard_options.free_floor_bytes = sizes.free_floor_bytes;
    const std::uint64_t needed = sizes.needed_bytes(options_.spare_segments + options_.reserve_segments);
    if (*volume != 0 && needed >= *volume) {
        log_.warning(
            "small_volume",
            "The volume of the data directory is too small, and all puts are refused. Use a larger volume, or lower "
            "the settings store.segment_size and store.free_floor.",
            {{"volume_bytes", *volume},
             {"needed_bytes", needed},
             {"segment_bytes", sizes.segment_bytes},
             {"free_floor_bytes", sizes.free_floor_bytes}});
    }
    return {};
}

void DataDirectory::keep(const Error& error) {
    if (const Status kept = remember_damage(posix_file_system(), options_.data_directory, error); !kept) {
        log_.warning("damage_not_saved",
                     "The place of the damage cannot be saved, so the next start does not refuse because of it.",
                     {{"error", kept.error().message}});
    }
    if (error.code == "damaged_index"_code) {
        const std::string index = options_.data_directory + "/index";
        if (const Status condemned = rows_.condemn(); condemned) {
            log_.warning("index_damaged",
                         "The index is damaged. No data is lost: the next start rebuilds the index from the log.",
                         {{"index", index}});
        } else {
            log_.warning("index_damaged",
                         "The index is damaged, and marking it for a rebuild failed. No data is lost: remove the index "
                         "directory, and the next start rebuilds it from the log.",
                         {{"index", index}, {"error", condemned.error().message}});
        }
    }
}

}  // namespace duewheel
