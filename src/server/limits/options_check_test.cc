#include "server/limits/options_check.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/error_codes.h"
#include "http_api/calls/shard_placement.h"
#include "shared/system_clock.h"
#include "support/temporary_directory.h"

namespace duewheel::options_check_test {
namespace {

std::string refusal(const std::string& address, std::vector<std::string> hosts = {}, bool unsafe = false) {
    ServerOptions options;
    options.http_address = address;
    options.http_hosts = std::move(hosts);
    options.unsafe_plain_listen = unsafe;
    const Status checked = check_options(options, wall_now_ms());
    return checked ? "" : std::string(name_of(checked.error().code));
}

TEST(OptionsCheck, accepts_loopback_by_default_and_more_if_allowed) {
    for (const char* address : {"127.0.0.1:7420", "127.0.0.2:0", "[::1]:7420", "localhost:7420"}) {
        EXPECT_EQ(refusal(address), "") << address;
    }
    for (const char* address : {"0.0.0.0:7420", "[::]:7420", "192.0.2.1:7420"}) {
        EXPECT_EQ(refusal(address), "unsafe_listen") << address;
        EXPECT_EQ(refusal(address, {}, true), "") << address;
    }
}

TEST(OptionsCheck, tokens_are_required_beyond_loopback_unless_said_otherwise) {
    ServerOptions options;
    options.http_address = "127.0.0.1:7420";
    EXPECT_FALSE(requires_tokens(options));
    options.http_address = "0.0.0.0:7420";
    EXPECT_TRUE(requires_tokens(options));
    EXPECT_NE(lack_of_defence(options).find("no TLS"), std::string::npos);
    options.auth_required = false;
    EXPECT_FALSE(requires_tokens(options));
    EXPECT_NE(lack_of_defence(options).find("neither"), std::string::npos);
    options.http_address = "127.0.0.1:7420";
    options.auth_required = true;
    EXPECT_TRUE(requires_tokens(options));
}

TEST(OptionsCheck, refuses_invalid_addresses_and_hosts) {
    for (const char* address :
         {"", "7420", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "::1:80", "localhost.invalid:1"}) {
        EXPECT_EQ(refusal(address, {}, true), "bad_address") << address;
    }
    for (const char* host : {"", "http://a.example/", "ftp://a.example", "a.example:port", "a/b", "::1"}) {
        EXPECT_EQ(refusal("127.0.0.1:0", {"b.example", host}), "bad_host") << host;
    }
    EXPECT_EQ(refusal("127.0.0.1:0", {"b.example", "127.0.0.1", "[::1]", "a.example:8080", "https://a.example"}), "");
}

TEST(OptionsCheck, clients_of_beanstalkd_are_served_on_loopback_and_by_the_shard_of_their_queues) {
    const auto code = [](const std::string& listen, std::uint32_t shard, bool unsafe = false) {
        ServerOptions options;
        options.beanstalk.listen = listen;
        options.unsafe_plain_listen = unsafe;
        options.shards = {.number = shard, .count = 2, .urls = {"http://a:1", "http://b:1"}};
        const Status checked = check_options(options, InstantMs{0});
        return checked ? std::string() : std::string(name_of(checked.error().code));
    };
    const std::uint32_t owner = shard_of_namespace(kDefaultNamespace, 2);
    EXPECT_EQ(code("127.0.0.1:11300", owner), "");
    EXPECT_EQ(code("unix:/run/socket", owner), "");
    EXPECT_EQ(code("127.0.0.1:11300", 1 - owner), "beanstalk_elsewhere");
    EXPECT_EQ(code("", 1 - owner), "");
    EXPECT_EQ(code("0.0.0.0:11300", owner), "unsafe_beanstalk_listen");
    EXPECT_EQ(code("0.0.0.0:11300", owner, true), "");
    EXPECT_EQ(code("somewhere", owner), "bad_beanstalk_address");
}

TEST(OptionsCheck, the_group_of_the_unix_socket_must_exist_and_have_a_socket) {
    const auto code = [](const char* listen, const char* group) {
        ServerOptions options;
        options.beanstalk = {.listen = listen, .socket_group = group};
        const Status checked = check_options(options, InstantMs{0});
        return checked ? std::string() : std::string(name_of(checked.error().code));
    };
    EXPECT_EQ(code("unix:/run/socket", "root"), "");
    EXPECT_EQ(code("unix:/run/socket", "no such group"), "bad_beanstalk_group");
    EXPECT_EQ(code("127.0.0.1:11300", "root"), "bad_beanstalk_group");
    EXPECT_EQ(code("", "root"), "bad_beanstalk_group");
}

TEST(OptionsCheck, a_data_directory_that_every_user_can_change_is_refused) {
    const TemporaryDirectory directory;
    ServerOptions options;
    options.data_directory = directory.path();
    for (const auto& [mode, code] :
         {std::pair(0700, ""), {0770, ""}, {0777, "unsafe_data_directory"}, {01777, "unsafe_data_directory"}}) {
        ASSERT_EQ(::chmod(directory.path().c_str(), static_cast<mode_t>(mode)), 0);
        const Status checked = check_options(options, wall_now_ms());
        EXPECT_EQ(checked ? "" : std::string(name_of(checked.error().code)), code) << std::oct << mode;
    }
    options.data_directory = directory.at("not there yet");
    EXPECT_TRUE(check_options(options, wall_now_ms()).ok());
}

TEST(OptionsCheck, a_node_of_a_replicated_log_needs_a_url_to_which_clients_can_be_redirected) {
    ServerOptions options;
    options.unsafe_plain_listen = true;
    options.kafka.bootstrap = "127.0.0.1:9092";
    options.kafka.log.replicate = true;
    for (const char* address : {"0.0.0.0:7420", "[::]:7420"}) {
        options.http_address = address;
        options.kafka.log.url = "";
        const Status refused = check_options(options, wall_now_ms());
        ASSERT_FALSE(refused.ok()) << address;
        EXPECT_EQ(refused.error().code, "bad_kafka_setting"_code);
        EXPECT_EQ(refused.error().field, "kafka.log.url");
        options.kafka.log.url = "http://node1:7420";
        EXPECT_TRUE(check_options(options, wall_now_ms()).ok());
    }
    options.kafka.log.url = "";
    options.http_address = "192.0.2.1:7420";
    EXPECT_TRUE(check_options(options, wall_now_ms()).ok());
}

}  // namespace
}  // namespace duewheel::options_check_test
