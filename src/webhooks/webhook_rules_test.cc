// Which webhooks a queue may have, and the files of the secrets.
#include "webhooks/webhook_rules.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/error_codes.h"
#include "support/temporary_directory.h"
#include "webhooks/own_listeners.h"

namespace duewheel::webhook_rules_test {
namespace {

const std::string kKey = "whsec_" + std::string(32, 'A');

std::string refusal(const std::vector<std::string>& files) {
    const Result<WebhookSecrets> read = WebhookSecrets::read(files);
    return read ? "" : std::string(name_of(read.error().code)) + ": " + read.error().message;
}

TEST(WebhookSecrets, are_read_from_their_files_by_name) {
    TemporaryDirectory files;
    const std::string one = files.write("one", kKey + "\n");
    const std::string two = files.write("two", "whsk_" + std::string(43, 'A') + "=\r\n", 0440);
    const Result<WebhookSecrets> secrets = WebhookSecrets::read(std::vector{"a=" + one, "b.c-d_e=" + two});
    ASSERT_TRUE(secrets.ok()) << secrets.error().message;
    EXPECT_TRUE(secrets->has("a"));
    EXPECT_FALSE(secrets->has("one"));
    const Result<WebhookSigner> both = secrets->signer(std::vector<std::string>{"b.c-d_e", "a"});
    ASSERT_TRUE(both.ok());
    const std::string signature = both->sign("1", 2, "x");
    EXPECT_TRUE(signature.starts_with("v1a,")) << signature;
    EXPECT_NE(signature.find(" v1,"), std::string::npos) << signature;
    EXPECT_EQ(secrets->signer(std::vector<std::string>{"z"}).error().code, "bad_webhook_secret"_code);
    EXPECT_FALSE(secrets->signer({})->has_keys());
}

TEST(WebhookSecrets, report_errors_of_a_file_without_its_content) {
    TemporaryDirectory files;
    const std::string good = files.write("good", kKey);
    EXPECT_EQ(refusal({}), "");
    for (const std::string& each :
         {std::string("good"), "=" + good, "a b=" + good, std::string(65, 'x') + "=" + good}) {
        EXPECT_TRUE(refusal({each}).starts_with("bad_webhook_secret: a webhook secret is given as NAME=FILE")) << each;
    }
    EXPECT_NE(refusal({"a=" + good, "a=" + good}).find("given twice"), std::string::npos);
    EXPECT_NE(refusal({"a=" + files.path() + "/none"}).find("cannot be read"), std::string::npos);
    EXPECT_NE(refusal({"a=" + files.path()}).find("cannot be read"), std::string::npos) << "a directory";
    for (const mode_t mode : {0644u, 0602u, 0620u, 0604u}) {
        EXPECT_NE(refusal({"a=" + files.write("open", kKey, mode)}).find("chmod 600"), std::string::npos) << mode;
    }
    const std::string canary = "whsec_Y2FuYXJ5";
    for (const std::string& bad :
         {canary, "canary" + canary, canary + "\nmore", std::string(5'000, 'c'), std::string()}) {
        const std::string said = refusal({"a=" + files.write("bad", bad)});
        EXPECT_NE(said.find("holds no valid secret: "), std::string::npos) << said;
        EXPECT_TRUE(bad.empty() || said.find(bad.substr(0, 8)) == std::string::npos) << said;
    }
}

struct Rules {
    explicit Rules(std::vector<std::string> allowed = {}) {
        options.allowed_networks = std::move(allowed);
        addresses = AddressPolicy(*allowed_networks(options), {{*parse_ip_address("127.0.0.1"), 7420}});
        const std::string file = files.write("key", kKey);
        secrets = *WebhookSecrets::read(std::vector<std::string>{"key=" + file, "old=" + file, "other=" + file},
                                        std::vector<std::string>{"key=shop/mail-", "old=shop/", "old=team/x"});
    }
    std::string check(WebhookTarget target, const TargetOwner& owner = {"default", "q"}) {
        const WebhookRules rules(options, addresses, secrets);
        if (const Status fine = rules.check(owner, target); !fine) {
            message = fine.error().message;
            EXPECT_FALSE(fine.error().message.empty());
            return std::string(name_of(fine.error().code)) + " " + fine.error().field;
        }
        return target.url;
    }
    std::string check(const std::string& url) { return check(WebhookTarget{url, {}, 0, 0, 0}); }

    std::string message;  // of the last refusal

    TemporaryDirectory files;
    WebhookOptions options;
    AddressPolicy addresses;
    WebhookSecrets secrets;
};

TEST(WebhookRules, normalize_a_url) {
    Rules rules;
    EXPECT_EQ(rules.check("HTTPS://Example.COM:443"), "https://example.com/");
    EXPECT_EQ(rules.check("http://example.com:8080/a?b=c"), "http://example.com:8080/a?b=c");
}

TEST(WebhookRules, refuse_invalid_urls_and_forbidden_targets) {
    Rules rules;
    for (const char* url : {"", "ftp://example.com/", "example.com", "http://127.1/", "http://a:b@example.com/"}) {
        EXPECT_EQ(rules.check(url), "bad_webhook_url target.webhook.url") << url;
    }
    for (const char* url : {"http://127.0.0.1/", "http://10.1.2.3/", "http://[::1]/", "http://[::ffff:10.0.0.1]/",
                            "http://169.254.169.254/", "http://localhost:7420/", "http://LocalHost/",
                            "http://a.localhost/", "https://192.168.1.1/"}) {
        EXPECT_EQ(rules.check(url), "forbidden_address target.webhook.url") << url;
    }
    EXPECT_EQ(rules.check("http://8.8.8.8/"), "http://8.8.8.8/");
}

TEST(WebhookRules, allow_configured_addresses_and_never_the_server_itself) {
    Rules rules({"127.0.0.0/8", "10.1.0.0/16"});
    EXPECT_EQ(rules.check("http://127.0.0.1:81/"), "http://127.0.0.1:81/");
    EXPECT_EQ(rules.check("http://localhost:81/"), "http://localhost:81/");
    EXPECT_EQ(rules.check("http://10.1.2.3/"), "http://10.1.2.3/");
    EXPECT_EQ(rules.check("http://10.2.2.3/"), "forbidden_address target.webhook.url");
    EXPECT_EQ(rules.check("http://127.0.0.1:7420/"), "forbidden_address target.webhook.url");
    EXPECT_EQ(rules.check("http://localhost:7420/"), "forbidden_address target.webhook.url");
}

TEST(WebhookRules, refuse_unknown_secrets_and_numbers_out_of_range) {
    Rules rules;
    const auto with = [&](const std::vector<std::string>& secrets, std::int64_t timeout_ms = 0,
                          std::uint32_t concurrency = 0, std::uint32_t rate = 0) {
        return rules.check(WebhookTarget{"http://example.com/", secrets, timeout_ms, concurrency, rate});
    };
    EXPECT_EQ(with({"key", "old"}, 300'000, 1'000, kWebhookRateMax), "http://example.com/");
    EXPECT_EQ(with({"kye"}), "bad_webhook_secret target.webhook.secrets");
    EXPECT_EQ(with({"whsec_" + std::string(32, '/')}), "bad_webhook_secret target.webhook.secrets");
    EXPECT_EQ(with({"key", "key"}), "bad_webhook_secret target.webhook.secrets");
    EXPECT_EQ(with({"a", "b", "c", "d", "e"}), "bad_webhook_secret target.webhook.secrets");
    EXPECT_EQ(with({}, 300'001), "out_of_range target.webhook.timeout");
    EXPECT_EQ(with({}, 0, 1'001), "out_of_range target.webhook.concurrency");
    EXPECT_EQ(with({}, 0, 0, kWebhookRateMax + 1), "out_of_range target.webhook.rate");
}

// Names of secrets were names for all: a token of one queue got a signature of another tenant over a body of its
// choice.
TEST(WebhookRules, answer_a_secret_of_others_like_one_that_does_not_exist) {
    Rules rules;
    const std::string fine = "http://example.com/";
    const auto of_tenant = [&](const char* name_space, const char* queue, const std::string& secret) {
        return rules.check(WebhookTarget{fine, {secret}, 0, 0, 0}, {name_space, queue, false});
    };
    EXPECT_EQ(of_tenant("shop", "mail-1", "key"), fine);
    EXPECT_EQ(of_tenant("shop", "anything", "old"), fine);
    EXPECT_EQ(of_tenant("team", "x1", "old"), fine);
    const std::string refused = "bad_webhook_secret target.webhook.secrets";
    EXPECT_EQ(of_tenant("shop", "mail-1", "none"), refused);
    const std::string of_none = rules.message;
    for (const auto& [name_space, queue, secret] : {std::tuple("shop", "mail", "key"),
                                                    {"shop", "Mail-1", "key"},
                                                    {"team", "mail-1", "key"},
                                                    {"team", "y", "old"},
                                                    {"shop/", "mail-1", "key"},
                                                    {"shop", "mail-1", "other"}}) {
        EXPECT_EQ(of_tenant(name_space, queue, secret), refused) << name_space << queue << secret;
        std::string expected = of_none;
        EXPECT_EQ(rules.message, expected.replace(expected.find("none"), 4, secret));
    }
    for (const char* secret : {"key", "old", "other"}) {
        EXPECT_EQ(rules.check(WebhookTarget{fine, {secret}, 0, 0, 0}, {"any", "queue", true}), fine);
    }
}

TEST(WebhookSecrets, queues_of_a_secret_that_are_not_clear_refuse_the_start) {
    TemporaryDirectory files;
    const std::vector<std::string> keys{"key=" + files.write("key", kKey)};
    for (const char* queues : {"key", "key=", "key=shop", "key=/mail", "other=shop/", "=shop/", ""}) {
        const auto read = WebhookSecrets::read(keys, std::vector<std::string>{queues});
        ASSERT_FALSE(read.ok()) << queues;
        EXPECT_EQ(read.error().code, "bad_webhook_secret"_code);
    }
}

TEST(WebhookRules, refuse_headers_that_the_server_sets) {
    Rules rules;
    const auto with = [&](const std::string& name) {
        WebhookTarget target{"http://example.com/", {}, 0, 0, 0};
        target.headers = {{"X-Fine", "x"}, {name, "x"}};
        return rules.check(std::move(target));
    };
    EXPECT_EQ(with("Authorization"), "http://example.com/");
    for (const std::string name : {"Host", "content-length", "Transfer-Encoding", "Content-Type", "webhook-id",
                                   "Webhook-Signature", "DUEWHEEL-queue", "Proxy-Authorization", "traceparent"}) {
        EXPECT_EQ(with(name), "bad_webhook_header target.webhook.headers." + name);
    }
}

TEST(WebhookRules, invalid_networks_are_reported) {
    WebhookOptions options;
    options.allowed_networks = {"10.0.0.0/8", "10.0.0.1/8"};
    EXPECT_EQ(allowed_networks(options).error().code, "bad_address_block"_code);
}

TEST(OwnListeners, of_loopback_are_loopback_and_of_others_every_address_of_this_machine) {
    EXPECT_EQ(own_listeners("127.0.0.1", 7420).size(), 1u);
    EXPECT_EQ(own_listeners("::1", 7420).size(), 1u);
    EXPECT_EQ(own_listeners("[::1]", 7420).size(), 1u);
    for (const char* host : {"0.0.0.0", "::", "[::]", "192.0.2.1", "somewhere.example"}) {
        const std::vector<AddressPolicy::Listener> own = own_listeners(host, 7420);
        const AddressPolicy policy({*IpBlock::from("0.0.0.0/0"), *IpBlock::from("::/0")}, own);
        EXPECT_EQ(policy.refusal(*parse_ip_address("127.0.0.1"), 7420), AddressPolicy::kOwn) << host;
        EXPECT_EQ(policy.refusal(*parse_ip_address("127.0.0.1"), 7421), "") << host;
        for (const AddressPolicy::Listener& each : own)
            EXPECT_EQ(policy.refusal(each.address, 7420), AddressPolicy::kOwn);
    }
}

}  // namespace
}  // namespace duewheel::webhook_rules_test
