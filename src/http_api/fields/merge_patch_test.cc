// Merge patches (RFC 7396) of settings: members in the patch change, null removes, and all others are kept.
#include <optional>
#include <string>
#include <vector>

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "http_api/answers/queue_text.h"
#include "http_api/answers/schedule_text.h"
#include "http_api/answers/watchdog_text.h"
#include "http_api/calls/call_path.h"
#include "http_api/command_fixture.h"

namespace duewheel::merge_patch_test {
namespace {

// What the patch makes of the settings, or the code and the field of its refusal.
std::string patch(QueueSettings& settings, const std::string& text,
                  const HttpApiOptions& options = kDefaultApiOptions) {
    const Result<Command> command =
        command_of({"PATCH", "/v1/queues/q", text, "application/merge-patch+json"}, options);
    if (!command) return code_and_field(command.error());
    const Status changed = std::get<PatchQueueCommand>(*command).change(settings);
    return changed ? "" : code_and_field(changed.error());
}

QueueSettings all_of_a_queue() {
    QueueSettings settings;
    settings.paused = true;
    settings.lease_ms = 60'000;
    settings.pending_max = 10;
    settings.retry = {3, 1'000, 2'000, 9'000, 100};
    settings.webhook = WebhookTarget{"https://receiver.example/in", {"old", "new"}, 5'000, 8, 9};
    return settings;
}

TEST(MergePatch, keeps_what_it_does_not_name) {
    const QueueSettings before = all_of_a_queue();
    const auto changed = [&](const std::string& text, auto change) {
        QueueSettings settings = before;
        QueueSettings wanted = before;
        change(wanted);
        EXPECT_EQ(patch(settings, text), "") << text;
        EXPECT_EQ(settings, wanted) << text;
    };
    changed("{}", [](QueueSettings&) {});
    changed("", [](QueueSettings&) {});
    changed(R"({"lease":"2m"})", [](QueueSettings& to) { to.lease_ms = 120'000; });
    changed(R"({"lease":null})", [](QueueSettings& to) { to.lease_ms = 0; });
    changed(R"({"lease_ms":120000})", [](QueueSettings& to) { to.lease_ms = 120'000; });
    changed(R"({"lease_ms":null})", [](QueueSettings& to) { to.lease_ms = 0; });
    changed(R"({"lease_ms":null,"lease":"2m"})", [](QueueSettings& to) { to.lease_ms = 120'000; });
    changed(R"({"lease":null,"lease_ms":120000})", [](QueueSettings& to) { to.lease_ms = 120'000; });
    changed(R"({"paused":false})", [](QueueSettings& to) { to.paused = false; });
    changed(R"({"paused":null})", [](QueueSettings& to) { to.paused = false; });
    changed(R"({"limits":{"pending":7}})", [](QueueSettings& to) { to.pending_max = 7; });
    changed(R"({"limits":{"pending":null}})", [](QueueSettings& to) { to.pending_max = 0; });
    changed(R"({"limits":{}})", [](QueueSettings&) {});
    changed(R"({"limits":null})", [](QueueSettings& to) { to.pending_max = 0; });
    changed(R"({"retry":{"attempts":null,"max":"20s"}})", [](QueueSettings& to) {
        to.retry.attempts.reset();
        to.retry.max_ms = 20'000;
    });
    changed(R"({"retry":{"first_ms":null,"max_ms":20000}})", [](QueueSettings& to) {
        to.retry.first_ms.reset();
        to.retry.max_ms = 20'000;
    });
    changed(R"({"retry":null})", [](QueueSettings& to) { to.retry = {}; });
    changed(R"({"target":{"webhook":{"rate":50}}})", [](QueueSettings& to) { to.webhook->rate = 50; });
    changed(R"({"target":{"webhook":{"secrets":["newest"],"timeout":null}}})", [](QueueSettings& to) {
        to.webhook->secrets = {"newest"};
        to.webhook->timeout_ms = 0;
    });
    changed(R"({"target":{"webhook":{"timeout_ms":7000}}})", [](QueueSettings& to) { to.webhook->timeout_ms = 7'000; });
    changed(R"({"target":{"webhook":{"timeout_ms":null}}})", [](QueueSettings& to) { to.webhook->timeout_ms = 0; });
    changed(R"({"target":{"webhook":{"secrets":null}}})", [](QueueSettings& to) { to.webhook->secrets.clear(); });
    changed(R"({"target":{}})", [](QueueSettings&) {});
    for (const char* pull : {R"({"target":"pull"})", R"({"target":null})", R"({"target":{"webhook":null}})"}) {
        changed(pull, [](QueueSettings& to) { to.webhook.reset(); });
    }
}

TEST(MergePatch, changes_members_of_a_kafka_target_and_replaces_a_webhook_that_it_removes) {
    const KafkaTarget target{.topic = "t", .key = "k", .partition = 3, .exactly_once = false};
    const auto patched = [&](const std::string& kafka) {
        QueueSettings settings;
        settings.kafka = target;
        EXPECT_EQ(patch(settings, R"({"target":)" + kafka + "}"), "") << kafka;
        return settings.kafka;
    };
    EXPECT_EQ(patched("{}"), target);
    EXPECT_EQ(patched(R"({"kafka":{"topic":"u"}})"),
              (KafkaTarget{.topic = "u", .key = "k", .partition = 3, .exactly_once = false}));
    EXPECT_EQ(patched(R"({"kafka":{"key":null,"partition":null,"delivery":null}})"), KafkaTarget{.topic = "t"});
    EXPECT_EQ(patched(R"({"kafka":null})"), std::nullopt);
    EXPECT_EQ(patched("\"pull\""), std::nullopt);
    EXPECT_EQ(patched("null"), std::nullopt);
    QueueSettings settings = all_of_a_queue();
    EXPECT_EQ(patch(settings, R"({"target":{"kafka":{"topic":"t"}}})"), "conflicting_members target.kafka");
    settings = all_of_a_queue();
    EXPECT_EQ(patch(settings, R"({"target":{"webhook":null,"kafka":{"topic":"t"}}})"), "");
    EXPECT_FALSE(settings.webhook);
    EXPECT_EQ(settings.kafka, KafkaTarget{.topic = "t"});
    EXPECT_EQ(patch(settings, R"({"target":{"webhook":{"url":"u"}}})"), "conflicting_members target.webhook");
}

TEST(MergePatch, is_read_as_strictly_as_settings_are) {
    for (const auto& [text, code] : {std::pair{R"({"laese":null})", "unknown_member laese"},
                                     {R"({"retry":{"frist":null}})", "unknown_member retry.frist"},
                                     {R"({"limits":{"pneding":null}})", "unknown_member limits.pneding"},
                                     {R"({"target":{"webhook":{"urls":null}}})", "unknown_member target.webhook.urls"},
                                     {R"({"target":{"webhook":{"url":null}}})", "missing_member target.webhook.url"},
                                     {R"({"lease":null,"lease":"1m"})", "duplicate_member lease"},
                                     {R"({"lease":true})", "wrong_type lease"},
                                     {R"({"lease":60})", "bad_duration lease"},
                                     {R"({"lease_ms":"1m"})", "wrong_type lease_ms"},
                                     {R"({"lease_ms":0})", "lease_too_short lease"},
                                     {R"({"lease":"1m","lease_ms":1})", "conflicting_members lease_ms"},
                                     {R"([])", "wrong_type "}}) {
        QueueSettings settings = all_of_a_queue();
        EXPECT_EQ(patch(settings, text), code) << text;
    }
    for (const auto& [text, code] :
         {std::pair{R"({"target":{"webhook":{"rate":5}}})", "missing_member target.webhook.url"},
          {R"({"target":{}})", "unsupported_target target"}}) {
        QueueSettings pull;
        EXPECT_EQ(patch(pull, text), code) << text;
    }
    // Where all is set, null is no value.
    for (const std::string member : {"lease", "lease_ms"}) {
        const Result<Command> put = command_of({"PUT", "/v1/queues/q", "{\"" + member + "\":null}"});
        EXPECT_EQ(code_and_field(put.error()), "wrong_type " + member);
    }
    const Result<Command> typed = command_of({"PATCH", "/v1/queues/q", "{}", "text/plain"});
    EXPECT_EQ(code_and_field(typed.error()), "unsupported_media_type Content-Type");
}

// A reader of the settings does not see the values, and cannot give them again.
TEST(MergePatch, headers_of_a_webhook_are_kept_one_by_one) {
    using Headers = std::vector<std::pair<std::string, std::string>>;
    const auto patched = [](const std::string& members) {
        QueueSettings settings = all_of_a_queue();
        settings.webhook->headers = {{"Authorization", "Bearer x"}, {"X-Team", "letters"}};
        const std::string refusal = patch(settings, R"({"target":{"webhook":)" + members + "}}");
        return refusal.empty() ? settings.webhook->headers : Headers{{refusal, ""}};
    };
    const Headers both = {{"Authorization", "Bearer x"}, {"X-Team", "letters"}};
    EXPECT_EQ(patched(R"({"rate":5})"), both);
    EXPECT_EQ(patched(R"({"headers":{}})"), both);
    EXPECT_EQ(patched(R"({"headers":null})"), Headers());
    EXPECT_EQ(patched(R"({"headers":{"AUTHORIZATION":null}})"), (Headers{{"X-Team", "letters"}}));
    EXPECT_EQ(patched(R"({"headers":{"X-None":null}})"), both);
    EXPECT_EQ(patched(R"({"headers":{"authorization":"Bearer y"}})"),
              (Headers{{"X-Team", "letters"}, {"authorization", "Bearer y"}}));
    EXPECT_EQ(patched(R"({"headers":{"X-Team":null,"X-New":""}})"),
              (Headers{{"Authorization", "Bearer x"}, {"X-New", ""}}));
    // The same of values that are encrypted: their size is that of what was encrypted.
    const std::string sealed(((100 + kSealedHeaderBytes) * 4 + 2) / 3, 'A');
    const auto patched_sealed = [&](const std::string& members) {
        QueueSettings settings = all_of_a_queue();
        settings.webhook->headers.clear();
        settings.webhook->sealed_headers = {{"Authorization", sealed}, {"X-Team", sealed}};
        const std::string refusal = patch(settings, R"({"target":{"webhook":)" + members + "}}");
        if (!refusal.empty()) return refusal;
        std::string text;
        for (const auto& [name, value] : settings.webhook->sealed_headers) {
            text += name + (value == sealed ? "=sealed;" : "=?;");
        }
        for (const auto& [name, value] : settings.webhook->headers) text += name + "=" + value.substr(0, 9) + ";";
        return text;
    };
    EXPECT_EQ(patched_sealed(R"({"rate":5})"), "Authorization=sealed;X-Team=sealed;");
    EXPECT_EQ(patched_sealed(R"({"headers":null})"), "");
    EXPECT_EQ(patched_sealed(R"({"headers":{"AUTHORIZATION":null}})"), "X-Team=sealed;");
    EXPECT_EQ(patched_sealed(R"({"headers":{"authorization":"Bearer y"}})"), "X-Team=sealed;authorization=Bearer y;");
    EXPECT_EQ(patched_sealed(R"({"url":"https://other.example/"})"),
              "bad_webhook_header target.webhook.headers.Authorization");
    const std::size_t left = kWebhookHeadersBytesMax - 2 * 100 - std::string("AuthorizationX-TeamX-Long").size();
    EXPECT_EQ(patched_sealed(R"({"headers":{"X-Long":")" + std::string(left, 'x') + R"("}})"),
              "Authorization=sealed;X-Team=sealed;X-Long=xxxxxxxxx;");
    EXPECT_EQ(patched_sealed(R"({"headers":{"X-Long":")" + std::string(left + 1, 'x') + R"("}})"),
              "bad_webhook_header target.webhook.headers");
    const std::string field = "bad_webhook_header target.webhook.headers";
    EXPECT_EQ(patched(R"({"headers":{"Authorization":"***"}})"), (Headers{{field + ".Authorization", ""}}));
    EXPECT_EQ(patched(R"({"headers":{"X-Long":")" + std::string(4'066, 'x') + R"("}})"), (Headers{{field, ""}}));
}

// A client that may change the URL would have received the values of headers that are never shown.
TEST(MergePatch, a_webhook_at_another_url_does_not_get_the_headers_of_the_one_before) {
    HttpApiOptions options;
    options.check_webhook = [](const TargetOwner&, WebhookTarget& target) {
        if (!target.url.ends_with('/')) target.url += '/';  // the one form
        return Status();
    };
    const auto patched = [&](const std::string& members) {
        QueueSettings settings = all_of_a_queue();
        settings.webhook->url = "https://receiver.example/";
        settings.webhook->headers = {{"Authorization", "Bearer x"}};
        return patch(settings, R"({"target":{"webhook":)" + members + "}}", options);
    };
    EXPECT_EQ(patched(R"({"url":"https://other.example/"})"),
              "bad_webhook_header target.webhook.headers.Authorization");
    EXPECT_EQ(patched(R"({"url":"https://receiver.example"})"), "") << "the one before";
    EXPECT_EQ(patched(R"({"url":"https://other.example/","headers":null})"), "");
    EXPECT_EQ(patched(R"({"url":"https://other.example/","headers":{"authorization":"Bearer y"}})"), "");
}

TEST(MergePatch, of_a_namespace) {
    const Result<Command> command = command_of(
        {"PATCH", "/v1/namespaces/team", R"({"limits":{"queues":null,"schedules":4,"put_rate":9},"weight":2})"});
    ASSERT_TRUE(command);
    const auto& patch = std::get<PatchNamespaceCommand>(*command);
    EXPECT_EQ(patch.name_space, "team");
    NamespaceSettings settings{.pending_max = 1, .queues_max = 2, .schedules_max = 3, .weight = 7};
    ASSERT_TRUE(patch.change(settings));
    EXPECT_EQ(settings, (NamespaceSettings{.pending_max = 1, .schedules_max = 4, .put_rate = 9, .weight = 2}));
}

// ---- schedules and watchdogs

ScheduleRule rule_of_a_schedule() {
    ScheduleRule rule;
    rule.times = {.kind = TimesKind::cron,
                  .text = "0 9 * * *",
                  .zone = "Europe/Oslo",
                  .skips_gaps = true,
                  .closed = "SAT",
                  .times = 10};
    rule.queue = "jobs";
    rule.jitter_ms = 5;
    rule.misfire = Misfire::all;
    rule.misfire_window_ms = 60'000;
    rule.order_key = "key";
    rule.priority = 3;
    rule.expires_after_ms = 7;
    return rule;
}

MessageContent content() {
    MessageContent content;
    content.body = "hello";
    content.content_type = "text/plain";
    content.headers = R"({"a":"b","c":"d"})";
    content.traceparent = "trace";
    return content;
}

Result<PutScheduleCommand> patch_schedule(const std::string& text) {
    const Result<Command> command = command_of({"PATCH", "/v1/schedules/s", text});
    if (!command) return command.error();
    return std::get<PatchScheduleCommand>(*command).change(rule_of_a_schedule(), content());
}

TEST(MergePatch, of_a_schedule_keeps_rule_and_content) {
    const Result<PutScheduleCommand> same = patch_schedule("{}");
    ASSERT_TRUE(same) << same.error().message;
    ScheduleRule wanted = rule_of_a_schedule();
    wanted.content_hash = same->rule.content_hash;
    EXPECT_EQ(same->rule, wanted);
    EXPECT_EQ(same->body, "hello");
    EXPECT_EQ(same->headers, R"({"a":"b","c":"d"})");
    EXPECT_EQ(same->traceparent, "trace");
    EXPECT_FALSE(same->paused);
    const Result<PutScheduleCommand> changed = patch_schedule(
        R"({"closed":null,"jitter":"1s","misfire":null,"misfire_window":null,"times":null,"priority":null,)"
        R"("order_key":null,"expires_in":null,"paused":true,"headers":{"A":"x","c":null,"e":"f"},"content_type":null})");
    ASSERT_TRUE(changed) << changed.error().message;
    wanted.times.closed.clear();
    wanted.times.times = 0;
    wanted.jitter_ms = 1'000;
    wanted.misfire = Misfire::once;
    wanted.misfire_window_ms = 0;
    wanted.order_key.clear();
    wanted.priority = 0;
    wanted.expires_after_ms = 0;
    EXPECT_NE(changed->rule.content_hash, wanted.content_hash) << "its messages hold something else now";
    wanted.content_hash = changed->rule.content_hash;
    EXPECT_EQ(changed->rule, wanted);
    EXPECT_EQ(changed->headers, R"({"A":"x","e":"f"})") << "names of headers are the same in capitals";
    EXPECT_EQ(changed->content_type, "");
    EXPECT_EQ(changed->body, "hello");
    EXPECT_EQ(changed->paused, true);
    EXPECT_EQ(patch_schedule(R"({"body_base64":"aGk="})")->body, "hi");
    EXPECT_EQ(patch_schedule(R"({"body":null})")->body, "");
    EXPECT_EQ(patch_schedule(R"({"headers":null})")->headers, "");
}

// A type of the content before would be wrong for the one that replaces it.
TEST(MergePatch, a_body_replaces_the_content_and_its_type) {
    const auto content_of = [](const std::string& text) {
        const Result<PutScheduleCommand> changed = patch_schedule(text);
        return changed ? changed->content_type + ": " + changed->body : code_and_field(changed.error());
    };
    EXPECT_EQ(content_of("{}"), "text/plain: hello");
    EXPECT_EQ(content_of(R"({"content_type":"text/html"})"), "text/html: hello");
    EXPECT_EQ(content_of(R"({"json":{"a": null, "b":1.50}})"), R"(application/json: {"a": null, "b":1.50})");
    EXPECT_EQ(content_of(R"({"json":[1],"body":null})"), "application/json: [1]");
    EXPECT_EQ(content_of(R"({"body":"hi"})"), ": hi");
    EXPECT_EQ(content_of(R"({"body_base64":"aGk=","content_type":"text/css"})"), "text/css: hi");
    for (const char* none : {R"({"body":null})", R"({"body_base64":null})", R"({"json":null})"}) {
        EXPECT_EQ(content_of(none), ": ") << none;
    }
    EXPECT_EQ(content_of(R"({"json":1,"body":"x"})"), "conflicting_members json");
}

TEST(MergePatch, times_of_a_schedule_go_by_either_name) {
    const Result<PutScheduleCommand> set = patch_schedule(
        R"({"every_ms":60000,"jitter_ms":8,"misfire_window_ms":9,"expires_in_ms":10,"start_ms":1798783200000,)"
        R"("end":"2028-01-01T00:00:00Z"})");
    ASSERT_TRUE(set) << set.error().message;
    EXPECT_EQ(set->rule.times.kind, TimesKind::every);
    EXPECT_EQ(set->rule.times.every_ms, 60'000);
    EXPECT_EQ(set->rule.jitter_ms, 8);
    EXPECT_EQ(set->rule.misfire_window_ms, 9);
    EXPECT_EQ(set->rule.expires_after_ms, 10);
    EXPECT_EQ(set->rule.times.start_ms, 1'798'783'200'000);
    const auto removed = [&](const std::string& text) {
        const Result<Command> command = command_of({"PATCH", "/v1/schedules/s", text});
        return std::get<PatchScheduleCommand>(*command).change(set->rule, content());
    };
    const Result<PutScheduleCommand> without =
        removed(R"({"jitter_ms":null,"misfire_window_ms":null,"expires_in_ms":null,"start_ms":null,"end_ms":null})");
    ASSERT_TRUE(without) << without.error().message;
    ScheduleRule wanted = set->rule;
    wanted.jitter_ms = wanted.misfire_window_ms = wanted.expires_after_ms = 0;
    wanted.times.start_ms = wanted.times.end_ms = 0;
    EXPECT_EQ(without->rule, wanted);
    for (const char* name : {"every", "every_ms"}) {
        EXPECT_EQ(code_and_field(removed("{\"" + std::string(name) + "\":null}").error()), "missing_member cron")
            << name;
    }
    EXPECT_TRUE(removed(R"({"every_ms":null,"cron":"0 9 * * *"})"));
    EXPECT_EQ(removed(R"({"every_ms":null,"every":"1h"})")->rule.times.every_ms, 3'600'000);
}

// With the kind of rule before, a patch had to name two members, and one more that only `cron` has.
TEST(MergePatch, another_kind_of_rule_takes_the_place_of_the_one_before) {
    const Result<PutScheduleCommand> every = patch_schedule(R"({"every":"10m"})");
    ASSERT_TRUE(every) << every.error().message;
    EXPECT_EQ(every->rule.times.kind, TimesKind::every);
    EXPECT_EQ(every->rule.times.every_ms, 600'000);
    EXPECT_EQ(every->rule.times.text, "");
    EXPECT_FALSE(every->rule.times.skips_gaps);
    EXPECT_EQ(every->rule.times.zone, "Europe/Oslo");
    EXPECT_TRUE(patch_schedule(R"({"cron":"0 10 * * *"})")->rule.times.skips_gaps);
    EXPECT_EQ(code_and_field(patch_schedule(R"({"cron":null})").error()), "missing_member cron");
    EXPECT_TRUE(patch_schedule(R"({"cron":null,"every":"1h"})"));
    EXPECT_EQ(code_and_field(patch_schedule(R"({"every":"1h","iso":"R/PT1H"})").error()), "conflicting_members iso");
    EXPECT_EQ(code_and_field(patch_schedule(R"({"queue":null})").error()), "missing_member queue");
    EXPECT_EQ(code_and_field(patch_schedule(R"({"zone":"Europe/Olso"})").error()), "bad_zone zone");
}

TEST(MergePatch, of_a_watchdog) {
    WatchdogRule rule;
    rule.queue = "alarms";
    rule.timeout_ms = 1'000;
    rule.max_ms = 2'000;
    rule.repeat_every_ms = 3'000;
    rule.priority = 4;
    const auto changed = [&](const std::string& text) {
        const Result<Command> command = command_of({"PATCH", "/v1/watchdogs/w", text});
        return std::get<PatchWatchdogCommand>(*command).change(rule, content());
    };
    const Result<PutWatchdogCommand> some = changed(R"({"timeout":"1500ms","max":null,"feed":true})");
    ASSERT_TRUE(some) << some.error().message;
    WatchdogRule wanted = rule;
    wanted.timeout_ms = 1'500;
    wanted.max_ms = 0;
    wanted.content_hash = some->rule.content_hash;
    EXPECT_EQ(some->rule, wanted);
    EXPECT_TRUE(some->feeds);
    EXPECT_EQ(some->body, "hello");
    EXPECT_FALSE(changed("{}")->feeds);
    EXPECT_EQ(code_and_field(changed(R"({"timeout":null})").error()), "missing_member timeout");
    EXPECT_EQ(code_and_field(changed(R"({"timeout_ms":null})").error()), "missing_member timeout");
    const Result<PutWatchdogCommand> by_number = changed(R"({"timeout_ms":1500,"max_ms":null,"repeat_every_ms":4000})");
    ASSERT_TRUE(by_number) << by_number.error().message;
    wanted.repeat_every_ms = 4'000;
    EXPECT_EQ(by_number->rule, wanted);
    EXPECT_EQ(changed(R"({"json":[1]})")->content_type, "application/json");
}

// ---- what a read shows

// The settings in an answer, as a request.
std::string settings_in(const std::string& answer) {
    return boost::json::serialize(boost::json::parse(answer).at("settings"));
}

TEST(MergePatch, settings_that_a_read_shows_are_taken_again) {
    QueueAnswer queue;
    queue.settings = all_of_a_queue();
    std::string text;
    JsonWriter queue_json(text);
    write_queue(queue_json, queue);
    const Result<Command> set = command_of({"PUT", "/v1/queues/q", settings_in(text)});
    ASSERT_TRUE(set) << set.error().message;
    EXPECT_EQ(std::get<ConfigureQueueCommand>(*set).settings, all_of_a_queue());
    QueueSettings patched = all_of_a_queue();
    EXPECT_EQ(patch(patched, settings_in(text)), "");
    EXPECT_EQ(patched, all_of_a_queue());
}

TEST(MergePatch, schedules_and_watchdogs_that_a_read_shows_are_taken_again) {
    ScheduleAnswer schedule;
    schedule.state.rule = rule_of_a_schedule();
    schedule.state.rule.times = {.kind = TimesKind::every, .every_ms = 60'000, .start_ms = 1'000, .end_ms = 9'000'000};
    schedule.state.rule.retry = {3, 1'000, 2'000, 9'000, 100};
    schedule.has_content = true;
    schedule.body = "[1]";
    schedule.content_type = "application/json";
    schedule.headers = R"({"a":"b"})";
    std::string text;
    JsonWriter schedule_json(text);
    write_schedule(schedule_json, schedule);
    for (const char* method : {"PUT", "PATCH"}) {
        const Result<Command> command = command_of({method, "/v1/schedules/s", settings_in(text)});
        ASSERT_TRUE(command) << command.error().message;
        const auto* patch = std::get_if<PatchScheduleCommand>(&*command);
        const Result<PutScheduleCommand> put = patch != nullptr
                                                   ? patch->change({}, {})
                                                   : Result<PutScheduleCommand>(std::get<PutScheduleCommand>(*command));
        ASSERT_TRUE(put) << put.error().message;
        schedule.state.rule.content_hash = put->rule.content_hash;
        EXPECT_EQ(put->rule, schedule.state.rule);
        EXPECT_EQ(put->content_type + put->body + put->headers, R"(application/json[1]{"a":"b"})");
    }
    WatchdogAnswer dog;
    dog.state.rule.queue = "alarms";
    dog.state.rule.timeout_ms = 1'000;
    dog.state.rule.max_ms = 2'000;
    dog.state.rule.repeat_every_ms = 3'000;
    dog.state.rule.expires_after_ms = 4'000;
    text.clear();
    JsonWriter dog_json(text);
    write_watchdog(dog_json, dog);
    const Result<Command> command = command_of({"PUT", "/v1/watchdogs/w", settings_in(text)});
    ASSERT_TRUE(command) << command.error().message;
    dog.state.rule.content_hash = std::get<PutWatchdogCommand>(*command).rule.content_hash;
    EXPECT_EQ(std::get<PutWatchdogCommand>(*command).rule, dog.state.rule);
}

}  // namespace
}  // namespace duewheel::merge_patch_test
