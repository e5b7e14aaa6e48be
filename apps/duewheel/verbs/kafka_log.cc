// duewheel kafka verify and reseed: compare the log in a data directory with its topic, byte by byte, and rebuild that
// topic from the directory.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>

#include "arguments.h"
#include "base/secure_random.h"
#include "kafka_access.h"
#include "plain_text.h"
#include "replication/topic_comparison.h"
#include "replication/topic_seed.h"
#include "terminal.h"

namespace duewheel {
namespace {

struct KafkaLogArguments {
    KafkaConnectionArguments access;
    std::string directory;
};

void print(const Session& session, const TopicComparison& compared) {
    if (session.json) {
        boost::json::object object{{"segments", compared.segments},
                                   {"commits", compared.commits},
                                   {"bytes", compared.bytes},
                                   {"directory_commit", compared.local_commit},
                                   {"topic_commit", compared.topic_commit}};
        if (compared.difference) object["difference"] = json_text(*compared.difference);
        std::printf("%s\n", plain_json(object).c_str());
        return;
    }
    const auto number = [](std::uint64_t value) { return std::to_string(value); };
    std::printf("%s\n%s\n",
                fields({{"segments", number(compared.segments)},
                        {"commits", number(compared.commits)},
                        {"bytes", number(compared.bytes)},
                        {"newest commit of the directory", number(compared.local_commit)},
                        {"newest commit of the topic", number(compared.topic_commit)}})
                    .c_str(),
                compared.difference ? ("difference: " + printable(*compared.difference)).c_str()
                                    : "the directory has the bytes of the topic");
}

int verify(Session& session, const KafkaLogArguments& arguments) {
    KafkaAccess access;
    if (const Status opened = access.open(arguments.access); !opened)
        return session.complain(opened.error(), kExitUsage);
    const Result<TopicLog> place = log_of(access.server.kafka, arguments.directory, *access.client);
    if (!place) return access.complain(session, place.error());
    const Result<TopicComparison> compared =
        compare_with_topic(posix_file_system(), arguments.directory, *access.client, *place, KafkaAccess::kTimeoutMs);
    if (!compared) return access.complain(session, compared.error());
    print(session, *compared);
    return compared->difference ? kExitRefused : kExitDone;
}

int reseed(Session& session, const KafkaLogArguments& arguments) {
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
    const Result<TopicLog> place = log_of(access.server.kafka, arguments.directory, *access.client);
    if (!place) return access.complain(session, place.error());
    const Result<TopicSeed> seeded = [&] {
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

void add_verb(CLI::App& kafka, Session& session, const char* name, const char* description, const char* directory,
              int (*run)(Session&, const KafkaLogArguments&)) {
    Verb<KafkaLogArguments> verb(
        kafka, session, name, description,
        "duewheel kafka " + std::string(name) + " --bootstrap 127.0.0.1:9092 --data ./duewheel-data", run);
    verb.options->access.add_to(*verb.app);
    verb.app->add_option("--data", verb.options->directory, directory)->required()->type_name("DIR");
}

}  // namespace

void add_kafka_log_verbs(CLI::App& kafka, Session& session) {
    add_verb(kafka, session, "verify",
             "Compare the log in a data directory, which a node may be using, with the topic of the replicated log, "
             "byte by byte; exits 1 if they differ",
             "The data directory", verify);
    add_verb(kafka, session, "reseed",
             "Rebuild the empty topic of a replicated log from a data directory that no server uses, after the topic "
             "was lost; refuses a topic that has or had records",
             "The data directory with the newest log", reseed);
}

}  // namespace duewheel
