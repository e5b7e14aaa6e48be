// duewheel kafka reseed: rebuilds the topic of a replicated log from a data directory.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>

#include "arguments.h"
#include "base/secure_random.h"
#include "kafka_access.h"
#include "kafka_verbs.h"
#include "plain_json.h"
#include "plain_text.h"
#include "progress.h"
#include "replication/topic_seed.h"

namespace duewheel {
namespace {

struct KafkaReseedArguments {
    KafkaConnectionArguments access;
    std::string directory;
};

int reseed(Session& session, const KafkaReseedArguments& arguments) {
    KafkaAccess access;
    if (const Status opened = access.open(arguments.access); !opened)
        return session.complain(opened.error(), kExitUsage);
    FileSystem& files = posix_file_system();
    const Result<std::unique_ptr<DirectoryLock>> lock = files.lock(arguments.directory);
    if (!lock) return session.complain(lock.error(), kExitRefused);
    std::uint64_t node = 0;
    if (const Status drawn = secure_random_bytes(std::as_writable_bytes(std::span(&node, 1))); !drawn) {
        return session.complain(drawn.error(), kExitRefused);
    }
    const Result<TopicSeed> seeded = [&]() -> Result<TopicSeed> {
        const Result<TopicLog> place = log_of(access.server.kafka, arguments.directory, *access.client);
        if (!place) return place.error();
        Progress progress("written");
        return seed_topic(files, arguments.directory, *access.client, *place, node, KafkaAccess::kTimeoutMs,
                          [&](std::uint64_t done, std::uint64_t all) { progress.show(done, all); });
    }();
    if (!seeded) return access.complain(session, seeded.error());
    if (session.json) {
        const boost::json::object object{
            {"segments", seeded->segments}, {"commits", seeded->commits}, {"newest_commit", seeded->newest_commit}};
        std::printf("%s\n", plain_json(object).c_str());
        return kExitDone;
    }
    std::printf("%s\nthe topic has the log of this directory: start the nodes, this one first\n",
                fields({{"segments", std::to_string(seeded->segments)},
                        {"commits", std::to_string(seeded->commits)},
                        {"newest commit", std::to_string(seeded->newest_commit)}})
                    .c_str());
    return kExitDone;
}

}  // namespace

void add_kafka_reseed(CLI::App& kafka, Session& session) {
    Verb<KafkaReseedArguments> verb(kafka, session, "reseed",
                                    "Rebuild the empty topic of a replicated log from a data directory that no server "
                                    "uses, after the topic was lost; refuses a topic that has or had records",
                                    "duewheel kafka reseed --bootstrap 127.0.0.1:9092 --data ./duewheel-data", reseed);
    verb.options->access.add_to(*verb.app);
    verb.app->add_option("--data", verb.options->directory, "The data directory with the newest log")
        ->required()
        ->type_name("DIR");
}

}  // namespace duewheel
