#include "webhooks/address_policy.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/error_codes.h"
#include "webhooks/webhook_url.h"

namespace duewheel::address_policy_test {
namespace {

IpAddress address(std::string_view text) {
    const auto read = parse_ip_address(text);
    EXPECT_TRUE(read) << text;
    return read.value_or(IpAddress{});
}

std::vector<IpBlock> blocks(std::initializer_list<const char*> texts) {
    std::vector<IpBlock> all;
    for (const char* text : texts) all.push_back(*IpBlock::from(text));
    return all;
}

TEST(IpAddress, is_read_strictly) {
    for (const char* text : {"0.0.0.0", "127.0.0.1", "255.255.255.255", "10.20.30.40", "::", "::1", "2001:db8::1",
                             "fe80::1", "::ffff:1.2.3.4"}) {
        EXPECT_EQ(address(text).to_string(), text);
    }
    for (const char* text :
         {"", "1", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1.2.3.04", "1.2.3.256", "0x1.2.3.4", "1.2.3.4 ", " 1.2.3.4",
          "1.2.3.4/8", ":", ":::", "1::2::3", "[::1]", "fe80::1%1", "g::", "12345::"}) {
        EXPECT_FALSE(parse_ip_address(text)) << text;
    }
}

TEST(IpAddress, is_read_from_a_socket) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(8080);
    v4.sin_addr.s_addr = htonl(0x0a000001);
    EXPECT_EQ(ip_address_of(reinterpret_cast<const sockaddr&>(v4)), address("10.0.0.1"));
    EXPECT_EQ(port_of(reinterpret_cast<const sockaddr&>(v4)), 8080);
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(443);
    v6.sin6_addr = in6addr_loopback;
    EXPECT_EQ(ip_address_of(reinterpret_cast<const sockaddr&>(v6)), address("::1"));
    EXPECT_EQ(port_of(reinterpret_cast<const sockaddr&>(v6)), 443);
    sockaddr local{};
    local.sa_family = AF_UNIX;
    EXPECT_FALSE(ip_address_of(local));
}

TEST(IpBlock, contains_addresses_with_the_same_prefix) {
    const IpBlock odd = *IpBlock::from("172.16.0.0/12");
    EXPECT_TRUE(odd.contains(address("172.16.0.0")));
    EXPECT_TRUE(odd.contains(address("172.31.255.255")));
    EXPECT_FALSE(odd.contains(address("172.15.255.255")));
    EXPECT_FALSE(odd.contains(address("172.32.0.0")));
    EXPECT_FALSE(odd.contains(address("ac10::")));
    EXPECT_TRUE(IpBlock::from("0.0.0.0/0")->contains(address("255.0.0.1")));
    EXPECT_FALSE(IpBlock::from("0.0.0.0/0")->contains(address("::1")));
    EXPECT_EQ(IpBlock::from("10.0.0.1")->text(), "10.0.0.1/32");
    for (const char* text : {"10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/x", "10.0.0.0/-1", "10.0.0.0/8/8",
                             "fd00::1/8", "::/129", "example.com", ""}) {
        const Result<IpBlock> block = IpBlock::from(text);
        ASSERT_FALSE(block) << text;
        EXPECT_EQ(block.error().code, "bad_address_block"_code);
    }
}

TEST(AddressPolicy, public_addresses_are_allowed) {
    const AddressPolicy policy;
    for (const char* text : {"1.1.1.1",           "8.8.8.8",         "9.255.255.255",
                             "11.0.0.0",          "100.63.255.255",  "100.128.0.0",
                             "126.255.255.255",   "128.0.0.0",       "169.253.255.255",
                             "169.255.0.0",       "172.15.255.255",  "172.32.0.0",
                             "192.167.255.255",   "192.169.0.0",     "198.17.255.255",
                             "198.20.0.0",        "223.255.255.255", "2606:4700:4700::1111",
                             "2a00:1450:4001::1", "2400:cb00::"}) {
        EXPECT_EQ(policy.refusal(address(text), 443), "") << text;
    }
}

struct Refused {
    const char* address;
    const char* what;
};

constexpr Refused kRefused[] = {
    {"0.0.0.0", "this machine"},
    {"0.1.2.3", "this machine"},
    {"127.0.0.1", "this machine"},
    {"127.255.255.254", "this machine"},
    {"::1", "this machine"},
    {"::", "this machine"},
    {"10.0.0.0", "private"},
    {"10.255.255.255", "private"},
    {"172.16.0.1", "private"},
    {"172.31.255.255", "private"},
    {"192.168.0.1", "private"},
    {"192.168.255.255", "private"},
    {"fc00::1", "private"},
    {"fdff::1", "private"},
    {"fec0::1", "private"},
    {"100.64.0.1", "shared"},
    {"100.127.255.255", "shared"},
    {"169.254.0.1", "link-local"},
    {"fe80::1", "link-local"},
    {"febf::1", "link-local"},
    {"169.254.169.254", "metadata"},
    {"169.254.170.2", "metadata"},
    {"100.100.100.200", "metadata"},
    {"192.0.0.192", "metadata"},
    {"168.63.129.16", "metadata"},
    {"fd00:ec2::254", "metadata"},
    {"224.0.0.1", "multicast"},
    {"239.255.255.255", "multicast"},
    {"ff02::1", "multicast"},
    {"192.0.0.1", "reserved"},
    {"192.0.2.1", "reserved"},
    {"198.18.0.1", "reserved"},
    {"198.19.255.255", "reserved"},
    {"198.51.100.1", "reserved"},
    {"203.0.113.1", "reserved"},
    {"240.0.0.1", "reserved"},
    {"255.255.255.255", "reserved"},
    {"192.88.99.1", "tunnel"},
    {"::ffff:127.0.0.1", "contains"},
    {"::ffff:8.8.8.8", "contains"},
    {"::127.0.0.1", "contains"},
    {"64:ff9b::10.0.0.1", "contains"},
    {"64:ff9b:1::1", "contains"},
    {"2002:7f00:1::", "tunnel"},
    {"2001:0:1::1", "tunnel"},
    {"2001:2::1", "reserved"},
    {"2001:db8::1", "reserved"},
    {"3fff::1", "reserved"},
    {"100::1", "reserved"},
    {"4000::1", "reserved"},
    {"5f00::1", "reserved"},
    {"2a00::5efe:7f00:1", "tunnel"},
    {"2a00::200:5efe:a00:1", "tunnel"},
};

TEST(AddressPolicy, special_addresses_are_refused_by_name) {
    const AddressPolicy policy;
    for (const Refused& each : kRefused) {
        const std::string_view what = policy.refusal(address(each.address), 443);
        EXPECT_NE(what.find(each.what), std::string_view::npos) << each.address << ": " << what;
    }
}

TEST(AddressPolicy, an_administrator_may_allow_some) {
    const AddressPolicy policy(blocks({"10.1.0.0/16", "::1", "169.254.169.254"}), {});
    EXPECT_EQ(policy.refusal(address("10.1.2.3"), 80), "");
    EXPECT_EQ(policy.refusal(address("::1"), 80), "");
    EXPECT_EQ(policy.refusal(address("169.254.169.254"), 80), "");
    EXPECT_NE(policy.refusal(address("10.2.0.1"), 80), "");
    EXPECT_NE(policy.refusal(address("::ffff:10.1.2.3"), 80), "") << "that is another address";
}

TEST(AddressPolicy, the_server_itself_cannot_be_called) {
    const AddressPolicy policy(blocks({"0.0.0.0/0", "::/0"}),
                               {{address("127.0.0.1"), 7420}, {address("8.8.4.4"), 9000}});
    for (const char* own : {"127.0.0.1", "127.8.9.10", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1"}) {
        EXPECT_NE(policy.refusal(address(own), 7420), "") << own;
        EXPECT_EQ(policy.refusal(address(own), 7421), "") << own;
    }
    EXPECT_NE(policy.refusal(address("8.8.4.4"), 9000), "");
    EXPECT_NE(policy.refusal(address("::ffff:8.8.4.4"), 9000), "");
    EXPECT_EQ(policy.refusal(address("8.8.4.4"), 7420), "");
}

// Each special address in each form that was used to bypass such rules: the URL is refused when it is read, or the
// address in it is refused later.
TEST(AddressPolicy, no_spelling_bypasses_it) {
    const AddressPolicy policy;
    std::vector<std::string> hosts;
    for (const Refused& each : kRefused) {
        const IpAddress special = address(each.address);
        if (special.is_v6()) {
            hosts.push_back("[" + special.to_string() + "]");
            continue;
        }
        const auto b = special.to_v4().to_bytes();
        const unsigned number = unsigned{b[0]} << 24 | unsigned{b[1]} << 16 | unsigned{b[2]} << 8 | b[3];
        char text[128];
        for (const char* form : {"%u.%u.%u.%u", "0%o.%u.%u.%u", "0x%x.%u.%u.%u", "%u.%u.%u.0x%x", "%03u.%03u.%03u.%03u",
                                 "%u.%u.%u.%u.", "[::ffff:%u.%u.%u.%u]", "[::%u.%u.%u.%u]", "[64:ff9b::%u.%u.%u.%u]",
                                 "user@%u.%u.%u.%u", "example.com\\@%u.%u.%u.%u", "example.com#@%u.%u.%u.%u"}) {
            std::snprintf(text, sizeof text, form, b[0], b[1], b[2], b[3]);
            hosts.emplace_back(text);
        }
        for (const char* form : {"%u", "0x%x", "0%o"}) {
            std::snprintf(text, sizeof text, form, number);
            hosts.emplace_back(text);
        }
        std::snprintf(text, sizeof text, "%u.%u", unsigned{b[0]}, number & 0xffffff);
        hosts.emplace_back(text);
        std::snprintf(text, sizeof text, "[2002:%x:%x::1]", number >> 16, number & 0xffff);
        hosts.emplace_back(text);
    }
    EXPECT_GE(hosts.size(), 200u);
    for (const std::string& host : hosts) {
        for (const std::string& text : {"http://" + host + "/", "https://" + host + ":8443/latest/meta-data?a=1"}) {
            const Result<WebhookUrl> url = WebhookUrl::from(text);
            if (!url) continue;
            ASSERT_TRUE(url->address) << text << " would be looked up as a name";
            EXPECT_NE(policy.refusal(*url->address, url->port), "") << text;
        }
    }
}

}  // namespace
}  // namespace duewheel::address_policy_test
