// The conversion of requests to commands: every call, a random round trip, and damaged input.
#include "http_api/request_command.h"

#include <limits>

#include <gtest/gtest.h>

#include "base/base64.h"
#include "base/error_codes.h"
#include "calendar/instant_text.h"
#include "http_api/command_fixture.h"
#include "http_api/problem.h"
#include "shared/random.h"
#include "shared/utf8.h"

namespace duewheel::request_command_test {
namespace {

const std::string kLease = lease_text({1024, 1, 2, 3});

// What HttpApi makes of a request, without the sockets.
std::string understood(const Call& call) {
    const Result<Command> command = command_of(call);
    return command ? describe(*command)
                   : "refused: " + std::string(name_of(command.error().code)) + " " + command.error().message;
}

TEST(RequestCommand, every_call_has_its_command) {
    const std::pair<Call, std::string> calls[] = {
        {{"POST", "/v1/queues/mail/messages", R"({"body":"x"})"},
         "put default mail delay=0 priority=0 body=x type= headers= trace="},
        {{"POST", "/v1/namespaces/team/queues/mail/messages", R"({"body":"x","delay":"1m"})"},
         "put team mail delay=60000 priority=0 body=x type= headers= trace="},
        {{"POST", "/v1/queues/mail/messages",
          R"({"body":"x","due":"2027-01-01T06:00:00.25Z","priority":-2147483648,"content_type":"text/plain","headers":{"b":"1","a":"\"\t"}})"},
         R"(put default mail at=1798783200250 priority=-2147483648 body=x type=text/plain headers={"b":"1","a":"\"\t"} trace=)"},
        {{"POST", "/v1/queues/mail/messages", R"({"body_base64":"/wA="})"},
         std::string("put default mail delay=0 priority=0 body=\xff\0 type= headers= trace=", 65)},
        {{"POST", "/v1/queues/mail/messages", R"({"body_base64":""})"},
         "put default mail delay=0 priority=0 body= type= headers= trace="},
        {{"POST", "/v1/queues/mail/messages", R"({"body":""})"},
         "put default mail delay=0 priority=0 body= type= headers= trace="},
        {{"POST", "/v1/queues/mail/messages", "raw \xff", "image/png"},
         "put default mail delay=0 priority=0 body=raw \xff type=image/png headers= trace="},
        {{"POST",
          "/v1/queues/mail/messages",
          "raw",
          "text/plain",
          {{"duewheel-delay", "1500ms"}, {"IDEMPOTENCY-KEY", "k"}}},
         "put default mail delay=1500 priority=0 body=raw type=text/plain headers= trace= key=k"},
        {{"POST", "/v1/queues/mail/messages", "raw", "text/plain", {{"Duewheel-Due", "2027-01-01T06:00:00Z"}}},
         "put default mail at=1798783200000 priority=0 body=raw type=text/plain headers= trace="},
        {{"POST", "/v1/queues/mail/messages", R"({"body":"","expires_in":"1h","order_key":"ann å","group":"a/b"})"},
         "put default mail delay=0 expires: delay=3600000 order_key=ann å group=a/b priority=0 body= type= headers= "
         "trace="},
        {{"POST", "/v1/queues/mail/messages", R"({"body":"","delay_ms":5,"expires":"2027-01-01T06:00:00Z"})"},
         "put default mail delay=5 expires: at=1798783200000 priority=0 body= type= headers= trace="},
        {{"POST", "/v1/queues/mail/messages",
          R"({"body":"","retry":{"attempts":5,"first":"1s","factor":1.5,"max_ms":250,"jitter":0.2}})"},
         "put default mail delay=0 priority=0 body= type= headers= trace= attempts=5 first=1000 factor=1500 max=250 "
         "jitter=200"},
        {{"POST", "/v1/queues/mail/messages", R"({"body":"","held":true,"delay_ms":5})"},
         "put default mail delay=5 priority=0 body= type= headers= trace= held"},
        {{"POST", "/v1/queues/mail/messages",
          R"({"body":"","held":false,"transaction":{"check_back":{"after_ms":5}}})"},
         "put default mail delay=0 priority=0 body= type= headers= trace= transaction=,5,0,rollback"},
        {{"POST", "/v1/messages/1024:hold"}, "hold default 1024"},
        {{"POST", "/v1/namespaces/team/messages/1024:kick", "{}"}, "kick team 1024"},
        {{"POST", "/v1/queues/mail:redrive"}, "redrive default mail max=-"},
        {{"POST", "/v1/queues/mail:redrive", R"({"max":7})"}, "redrive default mail max=7"},
        {{"POST", "/v1/queues/mail:redrive", R"({"max":-7})"}, "redrive default mail max=0"},
        {{"POST", "/v1/leases/" + kLease + ":hold"}, "hold " + kLease},
        {{"GET", "/v1/messages/1024"}, "get default 1024"},
        {{"GET", "/v1/messages/1024?wait=30s"}, "get default 1024 wait=30000"},
        {{"GET", "/v1/namespaces/team/messages/9007199254740991"}, "get team 9007199254740991"},
        {{"DELETE", "/v1/messages/1024"}, "cancel default 1024"},
        {{"PATCH", "/v1/messages/1024", R"({"delay_ms":250})"}, "reschedule default 1024 delay=250"},
        {{"PATCH", "/v1/messages/1024", R"({"due":"1970-01-01T00:00:00Z"})"}, "reschedule default 1024 at=0"},
        {{"PATCH", "/v1/messages/1024", R"({"due_ms":1798783200000})"}, "reschedule default 1024 at=1798783200000"},
        {{"POST", "/v1/messages/1024:fire"}, "fire default 1024"},
        {{"POST", "/v1/messages/1024:fire", "{}"}, "fire default 1024"},
        {{"POST", "/v1/queues/mail:lease"}, "lease default mail max=1 lease=- wait=0"},
        {{"POST", "/v1/queues/mail:lease", R"({"max":1000,"lease":"PT1H","wait":"20s"})"},
         "lease default mail max=1000 lease=3600000 wait=20000"},
        {{"POST", "/v1/namespaces/a%2Fb/queues/%24%28c%29:lease"}, "lease a/b $(c) max=1 lease=- wait=0"},
        {{"POST", "/v1/leases/" + kLease + ":ack"}, "ack " + kLease},
        {{"POST", "/v1/leases/" + kLease + ":ack", R"({"result": {"a": [1.0, null]}})"},
         "ack " + kLease + R"( result={"a": [1.0, null]})"},
        {{"POST", "/v1/leases/" + kLease + ":fail"}, "fail " + kLease + " reason= retry_in=-"},
        {{"POST", "/v1/leases/" + kLease + ":fail", R"({"reason":"no","retry_in_ms":0})"},
         "fail " + kLease + " reason=no retry_in=0"},
        {{"POST", "/v1/leases/" + kLease + ":extend", R"({"lease":"1m"})"}, "extend " + kLease + " lease=60000"},
        {{"POST", "/v1/leases/" + kLease + ":extend"}, "extend " + kLease + " lease=-"},
        {{"POST", "/v1/leases/" + kLease + ":release", R"({"delay":"1m"})"}, "release " + kLease + " delay=60000"},
        {{"POST", "/v1/leases/" + kLease + ":release"}, "release " + kLease + " delay=0"},
    };
    for (const auto& [call, command] : calls) EXPECT_EQ(understood(call), command) << call.target << " " << call.body;
}

// The settings before each change, and the time, are those of call_fixture.h.
TEST(RequestCommand, groups_are_named_in_paths_and_changed_as_queues_are) {
    const std::pair<Call, std::string> calls[] = {
        {{"PUT", "/v1/queues/mail/groups/a%2Fb%3Abackoff", R"({"rate":{"count":5,"per":"1m","burst":2},"weight":3})"},
         "change group default mail a/b:backoff revision=4 leased=0 rate=5,60000,2 weight=3 backoff=7000"},
        {{"PATCH", "/v1/namespaces/team/queues/mail/groups/ann", R"({"weight":2})"},
         "change group team mail ann revision=4 leased=3 weight=2 backoff=7000"},
        {{"PATCH", "/v1/queues/mail/groups/ann", R"({"leased":null,"rate":{"count":1}})"},
         "change group default mail ann revision=4 leased=0 rate=1,0,0 weight=0 backoff=7000"},
        {{"PATCH", "/v1/queues/mail/groups/ann", R"({"rate":{"per":"1s"}})"},
         "`rate.count` is missing: give how many deliveries may start in each `per`"},
        {{"DELETE", "/v1/queues/mail/groups/ann"},
         "change group default mail ann revision=4 leased=0 weight=0 backoff=0"},
        {{"POST", "/v1/queues/mail/groups/a%2Fb%3Abackoff:backoff", R"({"for":"30s"})"},
         "change group default mail a/b:backoff revision=4 leased=3 weight=0 backoff=35000"},
        {{"POST", "/v1/queues/mail/groups/ann:backoff", R"({"for_ms":0})"},
         "change group default mail ann revision=4 leased=3 weight=0 backoff=0"},
        {{"GET", "/v1/queues/mail/groups/%C3%A5"}, "describe group default mail å"},
        {{"GET", "/v1/queues/mail/groups"}, "list groups default mail order=0 after= limit=100"},
        {{"GET", "/v1/queues/mail/groups?order=leased&limit=7"}, "list groups default mail order=2 after= limit=7"},
        {{"GET", "/v1/queues/mail/groups?order=name&after=a%2Fb"},
         "list groups default mail order=3 after=a/b limit=100"},
    };
    for (const auto& [call, command] : calls) EXPECT_EQ(understood(call), command) << call.target << " " << call.body;
}

TEST(RequestCommand, media_types_are_compared_as_such) {
    for (const char* type :
         {"application/json", "Application/JSON", "application/json; charset=utf-8", "application/json ;x"}) {
        EXPECT_EQ(understood({"POST", "/v1/queues/q/messages", R"({"body":"x"})", type}),
                  "put default q delay=0 priority=0 body=x type= headers= trace=");
    }
    EXPECT_EQ(understood({"POST", "/v1/queues/q/messages", "{}", "application/jsonx"}),
              "put default q delay=0 priority=0 body={} type=application/jsonx headers= trace=");
}

// A broken one would be handed on, and its bytes stand in JSON.
TEST(RequestCommand, only_a_valid_trace_is_kept) {
    const std::string good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const auto trace_of = [](const std::string& text) {
        const std::string command =
            understood({"POST", "/v1/queues/q/messages", R"({"body":""})", "", {{"traceparent", text}}});
        return command.substr(command.find("trace=") + 6);
    };
    EXPECT_EQ(trace_of(good), good);
    const std::string later = "cc" + good.substr(2);
    EXPECT_EQ(trace_of(later), later);
    EXPECT_EQ(trace_of(later + "-what the future will be like"), later + "-what the future will be like");
    std::string broken = good;
    broken[10] = '\xff';
    for (const std::string& text :
         {broken, good.substr(1), good + "x", good + "-00", "0" + good, std::string(300, 'a'), good + "\"",
          std::string(), "ff" + good.substr(2), later + "x", later + "-\xff", later + "-" + std::string(100, 'a'),
          std::string("00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
          std::string("00-00000000000000000000000000000000-b7ad6b7169203331-01"),
          std::string("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01")}) {
        EXPECT_EQ(trace_of(text), "") << text;
    }
    const Call two{
        "POST", "/v1/queues/q/messages", R"({"body":""})", "", {{"traceparent", good}, {"Traceparent", good}}};
    EXPECT_TRUE(understood(two).ends_with("trace="));
}

TEST(RequestCommand, a_body_is_taken_up_to_its_limit) {
    const HttpApiOptions options;
    const std::string full(options.body_bytes_max, 'b');
    EXPECT_TRUE(command_of({"POST", "/v1/queues/q/messages", full.substr(1), "text/plain"}));
    EXPECT_TRUE(command_of({"POST", "/v1/queues/q/messages", full, "text/plain"}));
    EXPECT_TRUE(command_of({"POST", "/v1/queues/q/messages", "{\"body\":\"" + full + "\"}"}));
    EXPECT_TRUE(command_of({"POST", "/v1/queues/q/messages", "{\"body_base64\":\"" + base64(full) + "\"}"}));
    const Call beyond[] = {{"POST", "/v1/queues/q/messages", full + "b", "text/plain"},
                           {"POST", "/v1/queues/q/messages", "{\"body\":\"b" + full + "\"}"},
                           {"POST", "/v1/queues/q/messages", "{\"body_base64\":\"" + base64(full + "b") + "\"}"}};
    for (const Call& call : beyond) {
        const Result<Command> command = command_of(call);
        ASSERT_FALSE(command);
        EXPECT_EQ(command.error().code, "body_too_large"_code);
    }
}

TEST(RequestCommand, message_headers_are_taken_up_to_their_limits) {
    const auto with_headers = [](std::size_t count, std::size_t bytes) {
        std::string pairs;
        for (std::size_t i = 0; i < count; ++i) {
            const std::string name = "h" + std::to_string(100 + i);
            const std::size_t size = i + 1 < count ? 1 : bytes - (count - 1) * 5 - 4;
            pairs += (i > 0 ? ",\"" : "\"") + name + "\":\"" + std::string(size, 'v') + "\"";
        }
        const Result<Command> command =
            command_of({"POST", "/v1/queues/q/messages", R"({"body":"","headers":{)" + pairs + "}}"});
        return command ? std::string("taken")
                       : std::string(name_of(command.error().code)) + " " + command.error().field;
    };
    for (const std::size_t bytes : {std::size_t{400}, std::size_t{8191}, std::size_t{8192}}) {
        EXPECT_EQ(with_headers(31, bytes), "taken");
        EXPECT_EQ(with_headers(32, bytes), "taken");
        EXPECT_EQ(with_headers(33, bytes), "headers_too_large headers");
    }
    EXPECT_EQ(with_headers(32, 8193), "headers_too_large headers");
    EXPECT_EQ(with_headers(1, 8192), "taken");
    EXPECT_EQ(with_headers(1, 8193), "headers_too_large headers");
}

TEST(RequestCommand, queue_names_are_taken_up_to_their_limit) {
    for (const auto& [name, good] :
         {std::pair{std::string(199, 'q'), true}, {std::string(200, 'q'), true}, {std::string(201, 'q'), false}}) {
        EXPECT_EQ(command_of({"GET", "/v1/namespaces/" + name + "/messages/1"}).ok(), good) << name.size();
        EXPECT_EQ(command_of({"POST", "/v1/queues/" + name + ":lease"}).ok(), good) << name.size();
    }
    for (int c = 0; c < 256; ++c) {
        const std::string name = {'q', static_cast<char>(c)};
        const bool good = std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+/;$()-")
                              .find(static_cast<char>(c)) != std::string_view::npos;
        const Result<Command> command =
            command_of({"POST", "/v1/queues/" + percent_encode(name) + "/messages", R"({"body":""})"});
        EXPECT_EQ(command.ok(), good) << c;
        if (!command) {
            EXPECT_EQ(command.error().code, "bad_queue_name"_code) << c;
        }
    }
}

TEST(RequestCommand, names_of_other_scripts_are_percent_encoded_in_paths_and_plain_in_json) {
    const auto put =
        command_of({"POST", "/v1/namespaces/%C3%A9quipe/queues/%E6%B3%A8%E6%96%87/messages", R"({"body":""})"});
    ASSERT_TRUE(put) << put.error().message;
    EXPECT_EQ(std::get<PutCommand>(*put).name_space, "équipe");
    EXPECT_EQ(std::get<PutCommand>(*put).queue, "注文");
    const auto schedule =
        command_of({"PUT", "/v1/schedules/n%C3%A4chtlich", R"({"queue": "gr\u00f6\u00dfe", "every": "1h"})"});
    ASSERT_TRUE(schedule) << schedule.error().message;
    EXPECT_EQ(std::get<PutScheduleCommand>(*schedule).name, "nächtlich");
    EXPECT_EQ(std::get<PutScheduleCommand>(*schedule).rule.queue, "größe");
    const auto history = command_of({"GET", "/v1/history?queue=gr%C3%B6%C3%9Fe"});
    ASSERT_TRUE(history) << history.error().message;
    EXPECT_EQ(std::get<HistoryCommand>(*history).queue, "größe");
    for (const auto& [call, code] : {std::pair{Call{"POST", "/v1/queues/cafe%CC%81:lease"}, "bad_queue_name"},
                                     std::pair{Call{"GET", "/v1/schedules/cafe%CC%81"}, "bad_schedule_name"},
                                     std::pair{Call{"GET", "/v1/watchdogs/cafe%CC%81"}, "bad_watchdog_name"},
                                     std::pair{Call{"GET", "/v1/namespaces/cafe%CC%81"}, "bad_namespace"}}) {
        const Result<Command> command = command_of(call);
        ASSERT_FALSE(command) << code;
        EXPECT_EQ(name_of(command.error().code), code);
        EXPECT_NE(command.error().message.find("caf%C3%A9"), std::string::npos) << command.error().message;
    }
}

TEST(RequestCommand, message_headers_are_such_as_http_can_pass_on) {
    const auto code = [](const std::string& headers) {
        const Result<Command> command =
            command_of({"POST", "/v1/queues/q/messages", "{\"body\":\"\",\"headers\":" + headers + "}"});
        return command ? "taken" : std::string(name_of(command.error().code)) + " " + command.error().field;
    };
    EXPECT_EQ(code("{}"), "taken");
    EXPECT_EQ(code(R"({"!#$%&'*+-.^_`|~09azAZ":""})"), "taken");
    EXPECT_EQ(code(R"({"a":"\t å \u00e5 ~"})"), "taken");
    for (const char* name : {"", " ", "a b", "a:", "å", "a\\n", "\\u0000", "(a)"}) {
        EXPECT_EQ(code("{\"" + std::string(name) + "\":\"x\"}"), "bad_message_header headers") << name;
    }
    for (const char* value : {"\\u0000", "\\n", "x\\r\\ny: z", "\\u007f", "\\u001f"}) {
        EXPECT_EQ(code("{\"a\":\"" + std::string(value) + "\"}"), "bad_message_header headers.a") << value;
    }
    EXPECT_EQ(code(R"({"a":"1","b":"2","A":"3"})"), "duplicate_member headers.A");
    EXPECT_EQ(code(R"({"a":"1","\u0061":"3"})"), "duplicate_member headers.a");
}

TEST(RequestCommand, content_types_are_media_types) {
    const auto code = [](const std::string& type) {
        const Result<Command> command =
            command_of({"POST", "/v1/queues/q/messages", "{\"body\":\"\",\"content_type\":\"" + type + "\"}"});
        return command ? "taken" : std::string(name_of(command.error().code)) + " " + command.error().field;
    };
    const auto raw_code = [](const std::string& type) {
        const Result<Command> command = command_of({"POST", "/v1/queues/q/messages", "x", type});
        return command ? "taken" : std::string(name_of(command.error().code)) + " " + command.error().field;
    };
    const std::string fits = "x/" + std::string(254, 'y');
    for (const std::string& type : {std::string("text/plain"), std::string("a/b;c=d"), std::string("a/b ; c"),
                                    std::string("application/vnd.x+json"), fits, fits.substr(1).insert(0, "x")}) {
        EXPECT_EQ(code(type), "taken") << type;
        EXPECT_EQ(raw_code(type), "taken") << type;
    }
    EXPECT_EQ(code(""), "taken");
    for (const std::string& type : {std::string("text"), std::string("/"), std::string("a/"), std::string("/b"),
                                    std::string("a/;"), std::string("a b/c"), std::string("a/å"), fits + "y"}) {
        EXPECT_EQ(code(type), "bad_content_type content_type") << type;
        EXPECT_EQ(raw_code(type), "unsupported_media_type Content-Type") << type;
    }
    for (const char* escaped : {"a/b\\n", "a/b;\\u0000", "a/b;\\u007f"}) {
        EXPECT_EQ(code(escaped), "bad_content_type content_type");
    }
    EXPECT_EQ(raw_code("a/b;\xff"), "unsupported_media_type Content-Type");
}

TEST(RequestCommand, fields_are_given_once_and_known) {
    const auto code = [](std::vector<std::pair<std::string, std::string>> fields,
                         const std::string& type = "text/plain") {
        const Result<Command> command = command_of({"POST", "/v1/queues/q/messages", "{}", type, std::move(fields)});
        return command ? "taken" : std::string(name_of(command.error().code)) + " " + command.error().field;
    };
    EXPECT_EQ(code({{"X-Anything", "x"}, {"Duewheel", "x"}, {"User-Agent", "\xff"}}), "taken");
    EXPECT_EQ(code({{"Duewheel-Delay", "1s"}, {"duewheel-delay", "1s"}}), "duplicate_member duewheel-delay");
    EXPECT_EQ(code({{"Content-Type", "text/plain"}}), "duplicate_member Content-Type");
    EXPECT_EQ(code({{"duewheel-", "x"}}), "unknown_member duewheel-");
    EXPECT_EQ(code({{"Duewheel-Delays", "x"}}), "unknown_member Duewheel-Delays");
    // It was skipped, and the message was due now.
    for (const char* type : {"text/plain", "application/json"}) {
        EXPECT_EQ(code({{"X-Duewheel-Delay", "10m"}}, type), "unknown_member X-Duewheel-Delay");
        EXPECT_EQ(code({{"x-duewheel-anything", "1"}}, type), "unknown_member x-duewheel-anything");
    }
    EXPECT_EQ(code({{"Idempotency-Key", "k"}, {"idempotency-key", "k"}}), "duplicate_member idempotency-key");
    for (const char* name : {"Duewheel-Delay", "Duewheel-Due"}) {
        EXPECT_EQ(code({{name, "1"}}, "application/json"), "conflicting_members " + std::string(name));
    }
    for (const char* name : {"Duewheel-Expires", "Duewheel-Priority", "Duewheel-Retry"}) {
        EXPECT_EQ(code({{name, "1"}}), "unknown_member " + std::string(name)) << "members of JSON alone";
    }
}

TEST(RequestCommand, a_patch_of_a_message_gives_what_changes) {
    const auto patch_of = [](const std::string& body) {
        return command_of({"PATCH", "/v1/messages/1024", body, "application/merge-patch+json"});
    };
    const Result<Command> read =
        patch_of(R"({"priority":3,"expires":null,"retry":{"attempts":2},"headers":{"a":null,"b":"c"},"delay":"1s"})");
    ASSERT_TRUE(read);
    const auto& patch = std::get<PatchMessageCommand>(*read);
    EXPECT_EQ(patch.id, 1024u);
    EXPECT_EQ(patch.when->delay_ms, 1'000);
    EXPECT_EQ(patch.priority, 3);
    EXPECT_TRUE(patch.expires && !*patch.expires);
    EXPECT_EQ(patch.retry->attempts, 2);
    MessageContent kept;
    kept.body = "body";
    kept.headers = R"({"a":"1"})";
    const Result<Content> content = patch.content(kept);
    ASSERT_TRUE(content);
    EXPECT_EQ(content->body, "body");
    EXPECT_EQ(content->headers, R"({"b":"c"})");
    EXPECT_TRUE(std::holds_alternative<RescheduleCommand>(*patch_of(R"({"due_ms":1798783200000})")));
    for (const char* bad : {R"({"body":"a","json":1})", R"({"key":"k"})", R"({"order_key":"a"})", R"({"body":7})"}) {
        EXPECT_FALSE(patch_of(bad)) << bad;
    }
}

// A reason is for people: shortened, not refused. Its end was lost, with the line of a traceback that names the error.
TEST(RequestCommand, a_long_reason_keeps_its_beginning_and_its_end) {
    std::string reason = "Traceback: ";
    for (int i = 0; i < 3'000; ++i) reason += "å";
    reason += " KeyError";
    const Result<Command> command =
        command_of({"POST", "/v1/leases/" + kLease + ":fail", "{\"reason\":\"" + reason + "\"}"});
    ASSERT_TRUE(command);
    const std::string& kept = std::get<FailCommand>(*command).reason;
    EXPECT_LE(kept.size(), 4096u);
    EXPECT_TRUE(is_utf8(kept));
    EXPECT_TRUE(kept.starts_with("Traceback: å")) << kept;
    EXPECT_TRUE(kept.ends_with("å KeyError")) << kept;
}

// ---- random puts

constexpr std::int64_t kFirstByNumber = 946'684'800'000;  // 2000-01-01T00:00:00Z

std::string random_text(Random& random, std::size_t letters_max) {
    static constexpr const char* kLetters[] = {"a",    "Z", "0", "\"", "\\", "/", "\n",      "\x01",
                                               "\x7f", "å", "→", "🜂",  " ",  "{", "\xc2\x80"};
    std::string text;
    for (std::uint64_t i = random.below(letters_max + 1); i > 0; --i)
        text += kLetters[random.below(std::size(kLetters))];
    return text;
}

std::string random_header_value(Random& random) {
    std::string text = random_text(random, 10);
    std::erase_if(text, [](char c) { return c == '\n' || c == '\x01' || c == '\x7f'; });
    return text;
}

struct RandomPut {
    PutCommand put;
    std::string json;
};

RandomPut random_put(Random& random) {
    namespace json = boost::json;
    RandomPut made;
    json::object object;
    PutCommand& put = made.put;
    put.queue = "q";
    if (random.chance(500'000)) {
        put.body = random_text(random, 30);
        object["body"] = put.body;
    } else {
        for (std::uint64_t i = random.below(40); i > 0; --i) put.body += static_cast<char>(random.next());
        object["body_base64"] = base64(put.body);
    }
    const std::int64_t number = static_cast<std::int64_t>(random.next() >> random.between(14, 63));
    switch (random.below(5)) {
        case 0:
            put.when.delay_ms = number, object["delay_ms"] = number;
            break;
        case 1:
            put.when.delay_ms = number, object["delay"] = std::to_string(number) + "ms";
            break;
        case 2:
            put.when.at_ms = kFirstByNumber + number % (kLastInstant - kFirstByNumber);
            object["due_ms"] = *put.when.at_ms;
            break;
        case 3:
            put.when.at_ms = number % kLastInstant, object["due"] = format_instant(*put.when.at_ms);
            break;
        default:
            break;
    }
    if (random.chance(300'000)) object["order_key"] = put.order_key = "k" + std::to_string(random.below(100));
    if (random.chance(200'000)) {
        put.expires = When{std::nullopt, number / 2};
        object["expires_in_ms"] = number / 2;
    } else if (random.chance(200'000)) {
        put.expires = When{number % kLastInstant, 0};
        object["expires"] = format_instant(number % kLastInstant);
    }
    if (random.chance(300'000)) {
        put.priority = static_cast<std::int32_t>(random.next());
        object["priority"] = put.priority;
    }
    if (random.chance(300'000))
        object["content_type"] = put.content_type = "text/x-" + std::to_string(random.below(100));
    json::object headers;
    for (std::uint64_t i = random.below(4); i > 0; --i) {
        headers["h" + std::to_string(i)] = random_header_value(random);
    }
    if (random.chance(300'000)) {
        json::object retry;
        if (random.chance(500'000)) retry["attempts"] = *(put.retry.attempts = 1 + number % 1'000'000);
        if (random.chance(500'000)) retry["first_ms"] = *(put.retry.first_ms = number);
        if (random.chance(500'000)) {
            put.retry.factor_permille = 1000 + static_cast<std::int64_t>(random.below(8)) * 125;
            retry["factor"] = static_cast<double>(*put.retry.factor_permille) / 1000;
        }
        if (random.chance(500'000)) retry["max"] = std::to_string(*(put.retry.max_ms = number)) + "ms";
        if (random.chance(500'000)) retry["jitter"] = *(put.retry.jitter_permille = 0);
        object["retry"] = retry;
    }
    if (!headers.empty()) object["headers"] = headers;
    made.json = json::serialize(object);
    put.headers = headers.empty() ? "" : json::serialize(headers);
    return made;
}

TEST(RequestCommand, a_random_put_comes_through_whole) {
    for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        RandomPut made = random_put(random);
        const Result<Command> command = command_of({"POST", "/v1/queues/q/messages", made.json});
        ASSERT_TRUE(command) << command.error().message << "\n" << made.json;
        PutCommand got = std::get<PutCommand>(*command);
        // Headers are kept as JSON, whose spelling may differ.
        if (!got.headers.empty()) got.headers = boost::json::serialize(boost::json::parse(got.headers));
        ASSERT_EQ(describe(Command(got)), describe(Command(made.put))) << made.json;
    }
}

// ---- damaged input

void damage(std::string& text, Random& random) {
    static constexpr const char* kPieces[] = {
        "\"",           "{",  "}", "[",  "]", ":",  ",",   "\\", "\\u", "\\ud800", "null", "-", "1e999", "\xff",
        "\xed\xa0\x80", "\0", "/", "//", "%", "%2", "%00", "?",  "..",  "true",    "NaN"};
    for (std::uint64_t i = 1 + random.below(4); i > 0; --i) {
        const std::size_t at = random.below(text.size() + 1);
        switch (random.below(5)) {
            case 0:
                text.insert(at, kPieces[random.below(std::size(kPieces))]);
                break;
            case 1:
                text.erase(at, 1 + random.below(4));
                break;
            case 2:
                text.insert(at, 1, static_cast<char>(random.next()));
                break;
            case 3:
                text.insert(at, text.substr(random.below(text.size() + 1), random.below(12)));
                break;
            default:
                if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << random.below(8)));
        }
    }
}

// Whatever comes: a command, or an error of the client's that is listed and that JSON can carry.
void expect_sound(const Call& call) {
    const Result<Command> command = command_of(call);
    if (command) return;
    const ErrorCodeRow* row = row_of(command.error().code);
    ASSERT_NE(row, nullptr);
    EXPECT_GE(row->status, 400) << row->name;
    EXPECT_LT(row->status, 500) << row->name;
    const std::string document = problem(command.error()).body;
    EXPECT_TRUE(is_utf8(document)) << document;
    EXPECT_LT(document.size(), 1000u);
    boost::json::error_code broken;
    boost::json::parse(document, broken);
    EXPECT_FALSE(broken) << document;
}

TEST(RequestCommand, damaged_json_is_refused_or_understood_without_a_crash) {
    int refused = 0;
    for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        std::string json = random_put(random).json;
        damage(json, random);
        const Call call{"POST", "/v1/queues/q/messages", json};
        expect_sound(call);
        refused += command_of(call).ok() ? 0 : 1;
        if (testing::Test::HasFailure()) FAIL() << json;
    }
    EXPECT_GT(refused, 10'000);
    EXPECT_LT(refused, 20'000);
}

TEST(RequestCommand, damaged_addresses_are_refused_or_understood_without_a_crash) {
    const std::string targets[] = {
        "/v1/queues/mail/messages", "/v1/namespaces/a%2Fb/queues/q%24:lease", "/v1/messages/1024",
        "/v1/messages/1024:fire",   "/v1/leases/" + kLease + ":ack",          "/v1/leases/" + kLease + ":release"};
    for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        std::string target = targets[random.below(std::size(targets))];
        damage(target, random);
        if (target.empty() || target[0] != '/') target.insert(0, "/");
        for (const char* method : {"GET", "POST"}) expect_sound({method, target});
        if (testing::Test::HasFailure()) FAIL() << target;
    }
}

TEST(RequestCommand, random_bytes_are_refused_without_a_crash) {
    for (std::uint64_t seed = 1; seed <= 5000; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        std::string bytes(random.below(60), '\0');
        for (char& byte : bytes) byte = static_cast<char>(random.next());
        const Call calls[] = {
            {"POST", "/v1/queues/q/messages", bytes},
            {"POST", "/v1/queues/q/messages", bytes, "x/" + bytes},
            {"POST", "/v1/queues/q:lease", bytes},
            {"PATCH", "/v1/messages/1024", bytes},
            {"POST", "/v1/queues/q/messages", "x", "text/plain", {{"Duewheel-Delay", bytes}}},
            {"POST", "/v1/queues/q/messages", "x", "text/plain", {{"Duewheel-Due", bytes}}},
            {"POST", "/v1/queues/q/messages", "x", "text/plain", {{"Idempotency-Key", bytes}}},
            {"POST", "/v1/queues/q:redrive", bytes},
            {"POST", "/v1/queues/q/messages", "x", "text/plain", {{"Duewheel-" + percent_encode(bytes), bytes}}}};
        for (const Call& call : calls) expect_sound(call);
        if (testing::Test::HasFailure()) FAIL();
    }
}

// The engine names members of JSON: a client that had sent header fields got an error about a `delay` that it had not
// sent.
TEST(RequestCommand, names_the_header_field_where_the_engine_refuses_a_raw_put) {
    ApiServer server;
    const Call raw = {"POST", "/v1/queues/q/messages", "x", "text/plain", {{"Duewheel-Delay", "1s"}}};
    const auto field = [&](const Call& call, const char* member) {
        return member_of(server.ask(call, Error{"delay_too_long"_code, "No.", member}), "field");
    };
    EXPECT_EQ(field(raw, "delay"), "Duewheel-Delay");
    EXPECT_EQ(field(raw, "due"), "Duewheel-Due");
    EXPECT_EQ(field(raw, "key"), "Idempotency-Key");
    EXPECT_EQ(field(raw, "body"), "body");
    EXPECT_EQ(field(Call{"POST", "/v1/queues/q/messages", R"({"body":""})"}, "delay"), "delay");
}

}  // namespace
}  // namespace duewheel::request_command_test
