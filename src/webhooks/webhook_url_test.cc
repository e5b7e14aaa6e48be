#include "webhooks/webhook_url.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"

namespace duewheel::webhook_url_test {
namespace {

TEST(WebhookUrl, is_split_into_its_parts) {
    const WebhookUrl url = *WebhookUrl::from("HTTPS://Hooks.Example.COM:8443/in/box?a=1&b=%2F");
    EXPECT_TRUE(url.is_tls);
    EXPECT_EQ(url.host, "hooks.example.com");
    EXPECT_FALSE(url.address);
    EXPECT_EQ(url.port, 8443);
    EXPECT_EQ(url.target, "/in/box?a=1&b=%2F");
    EXPECT_EQ(url.authority(), "hooks.example.com:8443");
    EXPECT_EQ(url.text(), "https://hooks.example.com:8443/in/box?a=1&b=%2F");
}

TEST(WebhookUrl, defaults_may_be_omitted) {
    EXPECT_EQ(WebhookUrl::from("http://example.com")->text(), "http://example.com/");
    EXPECT_EQ(WebhookUrl::from("http://example.com:80/")->text(), "http://example.com/");
    EXPECT_EQ(WebhookUrl::from("http://example.com:443/")->text(), "http://example.com:443/");
    EXPECT_EQ(WebhookUrl::from("https://example.com:443")->text(), "https://example.com/");
    EXPECT_EQ(WebhookUrl::from("https://example.com?a=1")->target, "/?a=1");
    EXPECT_EQ(WebhookUrl::from("https://a_b.example.com/x//y/../z/@:")->target, "/x//y/../z/@:") << "sent as it stands";
    EXPECT_EQ(WebhookUrl::from("https://xn--bcher-kva.example/")->host, "xn--bcher-kva.example");
    EXPECT_EQ(WebhookUrl::from("http://3com.com/")->host, "3com.com");
    EXPECT_EQ(WebhookUrl::from("http://0x7f.example/")->host, "0x7f.example");
}

TEST(WebhookUrl, an_address_is_known_as_one) {
    const WebhookUrl v4 = *WebhookUrl::from("http://10.1.2.3:8080/");
    EXPECT_EQ(v4.address, parse_ip_address("10.1.2.3"));
    EXPECT_EQ(v4.authority(), "10.1.2.3:8080");
    const WebhookUrl v6 = *WebhookUrl::from("http://[2001:DB8:0:0::1]/in");
    EXPECT_EQ(v6.address, parse_ip_address("2001:db8::1"));
    EXPECT_EQ(v6.host, "2001:db8::1");
    EXPECT_EQ(v6.authority(), "[2001:db8::1]");
    EXPECT_EQ(WebhookUrl::from("https://[::1]:8443")->text(), "https://[::1]:8443/");
    EXPECT_TRUE(WebhookUrl::from("http://[::ffff:127.0.0.1]/")->address->is_v6());
}

struct Refused {
    const char* text;
    const char* part_of_why;
};

TEST(WebhookUrl, ambiguous_forms_are_refused) {
    const std::string long_label(64, 'a');
    const std::string long_host = "http://" + [] {
        std::string host;
        for (int i = 0; i < 64; ++i) host += "abc.";
        return host + "com/";
    }();
    const std::vector<Refused> all = {
        {"", "begin with"},
        {"example.com", "begin with"},
        {"//example.com/", "begin with"},
        {"ftp://example.com/", "begin with"},
        {"file:///etc/passwd", "begin with"},
        {"gopher://example.com/", "begin with"},
        {"javascript:alert(1)", "begin with"},
        {"http:/example.com/", "begin with"},
        {"http:example.com", "begin with"},
        {"https;//example.com", "begin with"},
        {"http+unix://socket/", "begin with"},
        {" http://example.com/", "space"},
        {"http://example.com/ ", "space"},
        {"http://exa mple.com/", "space"},
        {"http://example.com/\r\nX: y", "control"},
        {"http://example.com\t/", "control"},
        {"http://example.com/\x7f", "control"},
        {"http://example.com\\@evil.example/", "backslash"},
        {"http:\\\\example.com\\", "backslash"},
        {"http://b\xc3\xbc"
         "cher.example/",
         "xn--"},
        {"http://\xef\xbd\x85xample.com/", "xn--"},
        {"http://user@example.com/", "password"},
        {"http://user:secret@example.com/", "password"},
        {"http://example.com@10.0.0.1/", "password"},
        {"http://@example.com/", "password"},
        {"http://example.com:80@10.0.0.1/", "password"},
        {"http://example.com#@10.0.0.1/", "#"},
        {"http://example.com/a#b", "#"},
        {"http:///path", "has no host"},
        {"http://", "has no host"},
        {"http://?a=1", "has no host"},
        {"http://:80/", "has no host"},
        {"http://.example.com/", "empty part"},
        {"http://example..com/", "empty part"},
        {"http://example.com./", "empty part"},
        {"http://127.0.0.1./", "empty part"},
        {"http://-a.example/", "`-`"},
        {"http://a-.example/", "`-`"},
        {"http://exam%70le.com/", "letters"},
        {"http://%31%32%37.0.0.1/", "letters"},
        {"http://a,b.example/", "letters"},
        {"http://a*b/", "letters"},
        {"http://127.1/", "ends in a number"},
        {"http://127.0.1/", "ends in a number"},
        {"http://2130706433/", "ends in a number"},
        {"http://0177.0.0.1/", "ends in a number"},
        {"http://127.0.0.01/", "ends in a number"},
        {"http://0x7f.0.0.1/", "ends in a number"},
        {"http://0x7f000001/", "ends in a number"},
        {"http://0X7F000001/", "ends in a number"},
        {"http://017700000001/", "ends in a number"},
        {"http://1.2.3.0x4/", "ends in a number"},
        {"http://1.2.3.4.5/", "ends in a number"},
        {"http://256.0.0.1/", "ends in a number"},
        {"http://1.2.3.4294967296/", "ends in a number"},
        {"http://example.1/", "ends in a number"},
        {"http://[::1/", "brackets"},
        {"http://::1/", "has no host"},
        {"http://[::1]x/", "brackets"},
        {"http://[::1]]/", "brackets"},
        {"http://[127.0.0.1]/", "brackets"},
        {"http://[fe80::1%25eth0]/", "brackets"},
        {"http://[fe80::1%eth0]/", "brackets"},
        {"http://[v1.a]/", "brackets"},
        {"http://[]/", "brackets"},
        {"http://[/", "brackets"},
        {"http://[::ffff:127.0.0.01]/", "brackets"},
        {"http://example.com:/", "port"},
        {"http://example.com:0/", "port"},
        {"http://example.com:080/", "port"},
        {"http://example.com:65536/", "port"},
        {"http://example.com:99999999999/", "port"},
        {"http://example.com:-1/", "port"},
        {"http://example.com:+80/", "port"},
        {"http://example.com:8a/", "port"},
        {"http://example.com:80:80/", "port"},
        {"http://example.com/<a>", "escaped"},
        {"http://example.com/\"", "escaped"},
        {"http://example.com/{id}", "escaped"},
        {"http://example.com/?a=[1]", "escaped"},
        {"http://example.com/%", "hexadecimal"},
        {"http://example.com/%2", "hexadecimal"},
        {"http://example.com/%zz", "hexadecimal"},
    };
    for (const auto& [text, part_of_why] : all) {
        const Result<WebhookUrl> url = WebhookUrl::from(text);
        ASSERT_FALSE(url) << text << " was taken as " << url->text();
        EXPECT_EQ(url.error().code, "bad_webhook_url"_code);
        EXPECT_NE(url.error().message.find(part_of_why), std::string::npos) << text << ": " << url.error().message;
    }
    EXPECT_FALSE(WebhookUrl::from("http://" + long_label + ".com/"));
    EXPECT_FALSE(WebhookUrl::from(long_host));
    using namespace std::string_view_literals;
    EXPECT_FALSE(WebhookUrl::from("http://example.com\0.evil.example/"sv));
}

TEST(WebhookUrl, has_a_maximum_length) {
    const std::string beginning = "http://example.com/";
    EXPECT_TRUE(WebhookUrl::from(beginning + std::string(kWebhookUrlBytesMax - beginning.size(), 'a')));
    EXPECT_FALSE(WebhookUrl::from(beginning + std::string(kWebhookUrlBytesMax - beginning.size() + 1, 'a')));
    const std::string host = std::string(63, 'a') + "." + std::string(63, 'b') + "." + std::string(63, 'c') + ".";
    EXPECT_TRUE(WebhookUrl::from("http://" + host + std::string(61, 'd')));
    EXPECT_FALSE(WebhookUrl::from("http://" + host + std::string(62, 'd')));
}

}  // namespace
}  // namespace duewheel::webhook_url_test
