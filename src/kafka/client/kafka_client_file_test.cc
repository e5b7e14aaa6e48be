#include "kafka/client/kafka_client_file.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "kafka/client/kafka_client.h"
#include "support/recording_log.h"
#include "support/temporary_directory.h"

namespace duewheel {
namespace {
namespace kafka_client_file_test {

using std::string_literals::operator""s;

std::string refusal(std::string_view text) {
    const auto parsed = parse_kafka_client_file("client", text);
    EXPECT_FALSE(parsed.ok()) << text;
    if (parsed.ok()) return {};
    EXPECT_EQ(parsed.error().code, "bad_kafka_client_file"_code);
    return parsed.error().message;
}

TEST(KafkaClientFile, reads_properties_and_skips_comments) {
    const auto parsed = parse_kafka_client_file(
        "client", "# ours\n\n security.protocol = sasl_ssl\r\nsasl.password=a=b #c\nssl.ca.location=/etc/ca.pem");
    ASSERT_TRUE(parsed.ok()) << parsed.error().message;
    ASSERT_EQ(parsed->size(), 3u);
    EXPECT_EQ((*parsed)[0].name, "security.protocol");
    EXPECT_EQ((*parsed)[0].value.reveal(), "sasl_ssl");
    EXPECT_EQ((*parsed)[1].value.reveal(), "a=b #c");
    EXPECT_EQ((*parsed)[1].line, 4);
    EXPECT_EQ((*parsed)[2].value.reveal(), "/etc/ca.pem");
}

TEST(KafkaClientFile, refuses_what_the_client_sets_itself_and_what_runs_code) {
    for (const std::string name :
         {"acks", "enable.idempotence", "isolation.level", "transactional.id", "group.id", "bootstrap.servers",
          "plugin.library.paths", "sasl.kerberos.kinit.cmd", "ssl.engine.location", "ssl.providers", ""}) {
        const std::string message = refusal("\n" + name + "=geheim");
        EXPECT_NE(message.find("line 2: the property " + name + " is not accepted"), std::string::npos) << message;
        EXPECT_EQ(message.find("geheim"), std::string::npos);
    }
    EXPECT_NE(refusal("sasl.password").find("line 1: there is no ="), std::string::npos);
}

TEST(KafkaClientFile, refuses_a_file_that_others_can_read) {
    const TemporaryDirectory directory;
    const std::string path = directory.path() + "/client";
    std::ofstream(path) << "security.protocol=ssl\n";
    std::filesystem::permissions(path, std::filesystem::perms(0644));
    const auto open_to_all = read_kafka_client_file(path);
    ASSERT_FALSE(open_to_all.ok());
    EXPECT_NE(open_to_all.error().message.find("chmod 600"), std::string::npos) << open_to_all.error().message;
    for (const unsigned mode : {0600u, 0640u}) {
        std::filesystem::permissions(path, std::filesystem::perms(mode));
        EXPECT_TRUE(read_kafka_client_file(path).ok()) << mode;
    }
    EXPECT_NE(read_kafka_client_file(path + "x").error().message.find("No such file"), std::string::npos);
    EXPECT_NE(read_kafka_client_file(directory.path()).error().message.find("is not a file"), std::string::npos);
}

TEST(KafkaClientFile, names_the_line_that_librdkafka_refuses_but_no_value) {
    const TemporaryDirectory directory;
    const std::string path = directory.path() + "/client";
    RecordingLog log;
    const auto open = [&](std::string_view text) {
        std::ofstream(path) << text;
        std::filesystem::permissions(path, std::filesystem::perms(0600));
        const auto opened = KafkaClient::open({.bootstrap = "127.0.0.1:1", .client_file = path}, log);
        EXPECT_FALSE(opened.ok());
        return opened.ok() ? Error{} : opened.error();
    };
    const Error value = open("# a comment\nsecurity.protocol=geheim\n");
    EXPECT_EQ(value.code, "bad_kafka_client_file"_code);
    EXPECT_NE(value.message.find("line 2: librdkafka refuses the value of security.protocol"), std::string::npos)
        << value.message;
    EXPECT_EQ(value.message.find("geheim"), std::string::npos);
    const Error name = open("sasl.passwort=geheim\n");
    EXPECT_NE(name.message.find("line 1: librdkafka has no property sasl.passwort"), std::string::npos) << name.message;
    EXPECT_EQ(name.message.find("geheim"), std::string::npos);
}

// The server crashed instead: librdkafka released its interceptors twice.
TEST(KafkaClientFile, refuses_files_and_mechanisms_that_librdkafka_cannot_use) {
    const TemporaryDirectory directory;
    const std::string path = directory.path() + "/client";
    RecordingLog log;
    for (const std::string& line : {"ssl.ca.location=" + directory.path() + "/missing.pem", "sasl.mechanism=GEHEIM"s}) {
        std::ofstream(path) << "security.protocol=sasl_ssl\nsasl.username=ann\nsasl.password=geheim\n" << line << "\n";
        std::filesystem::permissions(path, std::filesystem::perms(0600));
        const auto opened = KafkaClient::open({.bootstrap = "127.0.0.1:1", .client_file = path}, log);
        ASSERT_FALSE(opened.ok()) << line;
        EXPECT_EQ(opened.error().code, "kafka_failed"_code);
        EXPECT_NE(opened.error().message.find("the file that kafka.client_file names"), std::string::npos)
            << opened.error().message;
        EXPECT_EQ(opened.error().message.find("geheim"), std::string::npos) << opened.error().message;
    }
}

}  // namespace kafka_client_file_test
}  // namespace
}  // namespace duewheel
