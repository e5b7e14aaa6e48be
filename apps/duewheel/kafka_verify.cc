// duewheel kafka verify: compares the log in a data directory with its topic, byte by byte.
#include <cstdio>
#include <string>

#include "arguments.h"
#include "kafka_access.h"
#include "kafka_verbs.h"
#include "plain_json.h"
#include "plain_text.h"
#include "replication/topic_comparison.h"

namespace duewheel {
namespace {

struct KafkaVerifyArguments {
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

int verify(Session& session, const KafkaVerifyArguments& arguments) {
    KafkaAccess access;
    if (const Status opened = access.open(arguments.access); !opened)
        return session.complain(opened.error(), kExitUsage);
    const Result<TopicComparison> compared = [&]() -> Result<TopicComparison> {
        const Result<TopicLog> place = log_of(access.server.kafka, arguments.directory, *access.client);
        if (!place) return place.error();
        return compare_with_topic(posix_file_system(), arguments.directory, *access.client, *place,
                                  KafkaAccess::kTimeoutMs);
    }();
    if (!compared) return access.complain(session, compared.error());
    print(session, *compared);
    return compared->difference ? kExitRefused : kExitDone;
}

}  // namespace

void add_kafka_verify(CLI::App& kafka, Session& session) {
    Verb<KafkaVerifyArguments> verb(kafka, session, "verify",
                                    "Compare the log in a data directory, which a node may be using, with the topic of "
                                    "the replicated log, byte by byte; exits 1 if they differ",
                                    "duewheel kafka verify --bootstrap 127.0.0.1:9092 --data ./duewheel-data", verify);
    verb.options->access.add_to(*verb.app);
    verb.app->add_option("--data", verb.options->directory, "The data directory")->required()->type_name("DIR");
}

}  // namespace duewheel
