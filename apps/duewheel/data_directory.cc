// A token is added by the parts of a shard without threads or sockets, which take one command and make its commit
// durable: the record is the one that a running server would have written.
#include "data_directory.h"

#include <cerrno>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include <sys/stat.h>
#include <unistd.h>

#include "access/access_token_text.h"
#include "access/audit_files.h"
#include "access/audit_writer.h"
#include "base/error_codes.h"
#include "base/file.h"
#include "base/log.h"
#include "base/secure_random.h"
#include "journal/recovery.h"
#include "server/shard/shard_parts.h"
#include "shared/system_clock.h"
#include "store/maintenance/directory_marks.h"
#include "store/maintenance/retention.h"
#include "store/rocks_rows.h"

namespace duewheel {
namespace {

// Problems are returned as errors; there is no log here.
class NoLog final : public LogSink {
  public:
    void write(LogLevel, std::string_view, std::string_view, std::span<const LogField>) override {}
};

// Runs the engine until it has replied to `token`. Lookups concern messages and are not executed here.
Result<Reply> run_command(ShardParts& parts, ReplyToken token, DueMs now_ms) {
    constexpr int kTurnsMax = 10'000;
    Engine& engine = parts.engine();
    for (int turn = 0; turn < kTurnsMax; ++turn) {
        parts.report_free_space();
        engine.advance_to(now_ms);
        Effects effects = engine.take_effects();
        if (effects.fatal_error) return *std::move(effects.fatal_error);
        for (ReplyEffect& effect : effects.replies) {
            if (effect.token == token) return std::move(effect.reply);
        }
        if (!effects.closed_segments.empty()) {
            Result<SpaceReading> seen = parts.maintain_spare_segments();
            if (!seen) return std::move(seen).error();
            parts.take_space(*seen);
        }
        if (!effects.commit) continue;
        if (Status done = parts.commit(*effects.commit); !done) return std::move(done).error();
        engine.committed(*std::move(effects.commit));
    }
    return Error{"internal"_code, "the token could not be written to the log"};
}

// The line that a running server would have written.
Status record(AuditWriter& audit, const std::string& id, InstantMs now) {
    AuditEntry entry;
    entry.time_ms = now;
    entry.verb = "token.set";
    entry.actor = kOffline;
    entry.object = id;
    entry.outcome = kOutcomeOk;
    Status recorded = audit.append(std::span(&entry, 1));
    if (recorded) recorded = audit.sync();
    return recorded;
}

// Sets the shard of the log in the directory. A new log is that of a server without other shards.
Status take_shard(FileSystem& files, const std::string& directory, ShardOptions& options) {
    const Result<FoundLog> found = find_log_in_use(files, directory + "/journal");
    if (!found) return found.error().code == "not_found"_code ? Status() : Status(found.error());
    if (found->segments.empty()) return {};
    const LogIdentity& identity = found->segments.front()->header().identity;
    options.identity.shard = identity.shard;
    options.identity.shards = identity.shards;
    options.engine.shard = identity.shard;
    return {};
}

Error not_alone(const std::string& directory) {
    return {"log_is_replicated"_code,
            directory +
                " belongs to a node of a replicated log, and a token that is written to it alone is missing on "
                "the other nodes. Start the owner on loopback, where no token is required (--http "
                "127.0.0.1:7420), and run `duewheel token add ID --scope admin`. Nothing was changed"};
}

Result<Secret> add_token(const std::string& directory, AccessToken token) {
    if (const auto there = posix_file_system().list(directory); !there) {
        return Error{"not_a_data_directory"_code,
                     "there is no directory " + directory + ": give the data directory of the server"};
    }
    if (!refuse_replicated_log(posix_file_system(), directory)) return not_alone(directory);
    // Neither spare segments nor a reserve: the server's next start makes them.
    ShardOptions options;
    options.spare_segments = 0;
    options.reserve_segments = 0;
    options.free_floor_bytes = 0;
    Status drawn = secure_random_bytes(options.identity.instance);
    if (drawn) drawn = secure_random_bytes(options.identity.token_key);
    if (!drawn) return std::move(drawn).error();
    if (Status taken = take_shard(posix_file_system(), directory, options); !taken) return std::move(taken).error();
    Retention retention;
    RocksRowStorage rows(posix_file_system(), directory + "/index",
                         [](std::string_view, std::string_view) { return false; });
    NoLog log;
    Result<std::unique_ptr<ShardParts>> opened =
        ShardParts::open(posix_file_system(), directory, rows, retention, options, log);
    if (!opened) return std::move(opened).error();
    ShardParts& parts = **opened;
    // Before the token is added, because a token must not exist without a line.
    const Result<std::unique_ptr<AuditWriter>> audit =
        AuditWriter::open(posix_file_system(), audit_directory(directory), wall_now_ms());
    if (!audit) return audit.error();
    Result<Secret> secret = make_token_secret();
    if (!secret) return secret;
    token.secret = hash_of_secret(*secret);
    token.created_ms = wall_now_ms();
    ChangeTokenCommand command;
    command.id = token.id;
    command.change = [token](const AccessToken* current, DueMs) -> Result<std::optional<AccessToken>> {
        if (current == nullptr) return std::optional(token);
        return Error{"token_exists"_code,
                     "there is a token `" + token.id + "` already: choose another id, or remove that one first"};
    };
    constexpr ReplyToken kReply = 1;
    parts.engine().submit(std::move(command), kReply);
    // Time stays at the newest time in the log, so that no message becomes due here.
    Result<Reply> reply = run_command(parts, kReply, parts.engine().now());
    if (!reply) return std::move(reply).error();
    if (auto* error = std::get_if<Error>(&*reply)) return std::move(*error);
    if (Status recorded = record(**audit, token.id, token.created_ms); !recorded) return std::move(recorded).error();
    return secret;
}

}  // namespace

Result<Secret> add_token_offline(const std::string& directory, AccessToken token) {
    Result<Secret> added = add_token(directory, std::move(token));
    Status given = give_to_owner(directory);
    if (added && !given) return std::move(given).error();
    return added;
}

Status give_to_owner(const std::string& directory) {
    struct stat owner {};
    if (::geteuid() != 0 || ::stat(directory.c_str(), &owner) != 0 || owner.st_uid == 0) return {};
    std::error_code failed;
    for (std::filesystem::recursive_directory_iterator each(directory, failed), end; !failed && each != end;
         each.increment(failed)) {
        struct stat seen {};
        const char* path = each->path().c_str();
        if (::lstat(path, &seen) != 0 || seen.st_uid != 0) continue;
        if (::lchown(path, owner.st_uid, owner.st_gid) != 0) failed.assign(errno, std::generic_category());
    }
    if (!failed) return {};
    return Error{"not_owner"_code, "the command succeeded, but files in " + directory +
                                       " could not be given to its owner (" + failed.message() +
                                       "): change their owner with chown -R before you start the server"};
}

}  // namespace duewheel
