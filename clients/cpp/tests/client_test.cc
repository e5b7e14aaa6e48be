// The client and its workers with a real server: what the conformance scenarios cannot say, because it is C++.
#include <atomic>
#include <csignal>
#include <future>
#include <limits>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "duewheel/client/boost_json.h"
#include "duewheel/client/testing.h"
#include "duewheel/client/worker.h"

using namespace std::chrono_literals;
using namespace duewheel::client;

namespace {

struct Email {
    std::string to, text;
};
BOOST_DESCRIBE_STRUCT(Email, (), (to, text))

struct Bill {
    std::int64_t amount = 0;
    std::vector<Email> copies{};
    std::optional<std::string> note{};
};
BOOST_DESCRIBE_STRUCT(Bill, (), (amount, copies, note))

const RetryRule kOnce{.first = 1h};  // its second attempt follows after the test

class CppClient : public ServerTest {
  protected:
    // A worker whose warnings are expected.
    static WorkerOptions silent() {
        return {.name = "w", .log = [](LogLevel, const std::string&) {}};
    }
    template <class T>
    std::string put(const std::string& queue, const T& data, PutOptions options = {}) {
        return client.put(queue, data, std::move(options)).value().id;
    }
    // Waits until the message has the state.
    Message awaited(const std::string& id, const std::string& state) {
        const auto give_up = std::chrono::steady_clock::now() + 20s;
        while (true) {
            Message message = client.get(id).value();
            if (message.state == state) return message;
            if (std::chrono::steady_clock::now() > give_up)
                throw std::runtime_error("it is not " + state + ": " + message.raw);
            static_cast<void>(client.wait(id, 10ms));
        }
    }
};

TEST_F(CppClient, several_types_in_one_queue_have_kinds_and_middleware_sees_their_outcomes) {
    const auto mails = client.queue<Email>("kinds").of_kind("mail");
    const auto bills = mails.of_kind<Bill>("bill");
    std::mutex mutex;
    std::vector<std::string> seen;
    Worker worker(client, silent());
    worker.handle(mails, [](Job<Email>& job) { return job.data.to; });
    worker.handle(bills, [](Job<Bill>& job) { return job.data.amount; });
    for (const std::string name : {"outer", "inner"}) {
        worker.around([&, name](const Lease& lease, const std::function<Outcome()>& next) {
            Outcome outcome = next();
            const std::lock_guard lock(mutex);
            seen.push_back(name + " " + lease.headers.at("kind") + " " + outcome.result.text);
            return outcome;
        });
    }
    worker.start().value();
    const std::string mail = mails.put({"ann", ""}).value().id;
    EXPECT_EQ(awaited(mail, "done").result.text, R"("ann")");
    EXPECT_EQ(awaited(bills.put({7}).value().id, "done").result.text, "7");
    EXPECT_EQ(seen,
              (std::vector<std::string>{R"(inner mail "ann")", R"(outer mail "ann")", "inner bill 7", "outer bill 7"}));
    const std::string letter = mails.of_kind("letter").put({"ann", ""}, {.retry = kOnce}).value().id;
    EXPECT_NE(awaited(letter, "retrying").raw.find("no handler for the kind `letter`"), std::string::npos);
}

TEST_F(CppClient, what_a_handler_throws_and_data_that_does_not_fit_fail_the_attempt) {
    Worker worker(client, silent());
    worker.handle<Email>("odd", [](Job<Email>& job) {
        if (job.data.to == "number") throw 7;
        if (job.data.to == "bytes") throw std::runtime_error("bytes \xff");
        throw std::runtime_error("the printer is on fire");
    });
    worker.start().value();
    const std::pair<std::string, std::string> expected[] = {{R"({"to":"ann"})", "the printer is on fire"},
                                                            {R"({"to":"number"})", "no std::exception"},
                                                            {R"({"to":"bytes"})", "bytes ?"},
                                                            {"7", "does not fit its type"}};
    for (const auto& [data, reason] : expected) {
        EXPECT_NE(awaited(put("odd", Json{data}, {.retry = kOnce}), "retrying").reason.find(reason), std::string::npos)
            << data;
    }
}

TEST_F(CppClient, many_results_are_reported_and_one_that_is_refused_fails_alone) {
    std::vector<Put> puts;
    for (int i = 0; i < 300; ++i) puts.push_back({encode(i), {.retry = kOnce}});
    const auto receipts = client.put_many("numbers", std::move(puts)).value();
    Worker worker(client, silent());
    worker.handle<int>("numbers",
                       [](Job<int>& job) -> Outcome {
                           if (job.data == 7) return done(std::string(100'000, 'x'));
                           if (job.data == 8) return {.result = Json{"{"}};
                           // The server refuses whole requests for these.
                           if (job.data == 9) return {.result = Json{std::string(64, '[') + std::string(64, ']')}};
                           if (job.data == 10) return {.result = Json{R"("\ud800")"}};
                           if (job.data == 11) return {.result = Json{"1e99999999999"}};
                           if (job.data == 12) return retry_after(std::chrono::years(200), "much later");
                           if (job.data == 13) return retry_after(-1s);
                           if (job.data == 14) return snooze(-1s);
                           if (job.data == 15) return failed(std::string(2'000'000, 'x') + "the end");
                           return done(job.data);
                       },
                       {.concurrency = 100});
    worker.start().value();
    for (int i = 0; i < 300; ++i) {
        const std::string& id = receipts[static_cast<std::size_t>(i)].value().id;
        if (i >= 7 && i <= 15) {
            const std::string reason = awaited(id, "retrying").reason;
            EXPECT_TRUE(i == 15 ? reason.ends_with("the end") : !reason.empty()) << i << " " << reason;
        } else {
            const Message message = awaited(id, "done");
            EXPECT_EQ(message.result.text, std::to_string(i));
            EXPECT_EQ(message.attempts, 1) << i;
        }
    }
}

// A progress of more than 1 KiB was refused with the extension that carried it, and so was the next one, until the
// lease had ended.
TEST_F(CppClient, a_progress_that_is_refused_does_not_cost_the_lease) {
    Worker worker(client, silent());
    worker.handle<std::string>("q", [](Job<std::string>& job) {
        const auto leased_until = job.deadline();
        const auto give_up = std::chrono::steady_clock::now() + 8s;  // before the beat that comes anyway
        while (job.deadline() == leased_until && std::chrono::steady_clock::now() < give_up) {
            job.progress(std::string(2000, 'x'));
            std::this_thread::yield();
        }
        return job.deadline() > leased_until;
    });
    worker.start().value();
    EXPECT_EQ(awaited(put("q", "x"), "done").result.text, "true");
}

TEST_F(CppClient, schedules_and_checks_have_handlers) {
    std::atomic<int> runs = 0;
    Worker worker(client, silent());
    worker.handle_checks<std::string>(
        "checks", [](Job<std::string>& job) { return job.data == "paid" ? Verdict::committed : Verdict::rolled_back; });
    worker.schedule("nightly", {.every = 24h}, [&runs] { ++runs; });
    worker.start().value();
    const CheckBack check{.queue = "checks", .after = 1min};
    const std::string paid = client.prepare("parcels", "paid", check).value().id;
    const std::string unpaid = client.prepare("parcels", "unpaid", check).value().id;
    server.advance(25h);
    awaited(paid, "ready");
    awaited(unpaid, "cancelled");
    client.delete_schedule("nightly").value();
    for (const Message& message : server.messages("nightly")) awaited(message.id, "done");
    EXPECT_EQ(runs, 1);
}

TEST_F(CppClient, a_signal_drains_and_a_second_one_gives_back_at_once) {
    Worker worker(client, silent());
    std::promise<void> release;
    std::shared_future<void> released = release.get_future();
    std::atomic<int> begun = 0;
    std::atomic<StopReason> reason = StopReason::none;
    worker.handle<std::string>("slow",
                               [&](Job<std::string>& job) {
                                   ++begun;
                                   begun.notify_all();
                                   if (job.data == "soon") return released.wait();
                                   std::promise<void> stopped;
                                   const std::stop_callback on_stop(job.stop_token(),
                                                                    [&stopped] { stopped.set_value(); });
                                   stopped.get_future().wait();
                                   reason = job.stop_reason();
                                   throw std::runtime_error("stopped");
                               },
                               {.concurrency = 2});
    const std::string soon = put("slow", "soon");
    const std::string late = put("slow", "late");
    auto run = std::async([&worker] { return worker.run(); });
    for (int seen = 0; seen < 2; seen = begun) begun.wait(seen);
    Worker other(client, silent());
    EXPECT_EQ(other.run().error().code, "running");
    std::raise(SIGTERM);
    release.set_value();
    awaited(soon, "done");
    std::raise(SIGTERM);
    ASSERT_EQ(run.wait_for(20s), std::future_status::ready);
    EXPECT_TRUE(run.get());
    EXPECT_EQ(reason, StopReason::stopping);
    EXPECT_EQ(awaited(late, "ready").timeline.front().outcome, "released");
}

TEST_F(CppClient, a_stop_token_ends_run_and_a_stopped_worker_does_not_start_again) {
    std::stop_source stop;
    Worker worker(client, silent());
    worker.handle<std::string>("q", [](Job<std::string>&) {});
    auto run = std::async([&] { return worker.run(stop.get_token()); });
    awaited(put("q", "x"), "done");
    stop.request_stop();
    EXPECT_TRUE(run.get());
    EXPECT_TRUE(worker.start());
    EXPECT_EQ(awaited(put("q", "x"), "ready").attempts, 0);
}

TEST_F(CppClient, handlers_run_on_the_executor_of_the_program) {
    std::mutex mutex;
    std::vector<std::thread> threads;
    std::set<std::thread::id> ids;
    WorkerOptions options = silent();
    options.executor = [&](std::function<void()> function) {
        const std::lock_guard lock(mutex);
        threads.emplace_back(std::move(function));
    };
    std::optional<Worker> worker(std::in_place, client, options);
    worker->handle<std::string>("q", [&](Job<std::string>&) {
        const std::lock_guard lock(mutex);
        ids.insert(std::this_thread::get_id());
    });
    worker->start().value();
    awaited(put("q", "x"), "done");
    worker.reset();
    ASSERT_EQ(threads.size(), 1u);
    EXPECT_TRUE(ids.contains(threads.front().get_id()));
    threads.front().join();
}

Task<std::string> put_and_cancel(AsyncClient client) {
    std::string text;
    for (int i = 0; i < 3; ++i) {
        Call<Receipt> put = client.put("later", "x", {.delay = 1h});
        const Result<Receipt> receipt = co_await put;
        text += (co_await client.cancel(receipt.value().id)).value().outcome + " ";
    }
    const Email email{"ann", "hi"};
    (co_await client.queue<Email>("later").put(email)).value();
    const Result<Message> none = co_await client.get("999999999");
    co_return text + none.error().code;
}

TEST_F(CppClient, coroutines_await_calls) {
    EXPECT_EQ(sync_wait(put_and_cancel(AsyncClient(client))), "cancelled cancelled cancelled unknown_id");
    server.assert_put("later", Email{"ann", "hi"});
    EXPECT_THROW(server.assert_put("later", Email{"ben", "hi"}), std::runtime_error);
    const auto throwing = []() -> Task<int> {
        throw std::runtime_error("no");
        co_return 1;
    };
    EXPECT_THROW(sync_wait(throwing()), std::runtime_error);
}

TEST_F(CppClient, a_call_ends_early_when_it_is_cancelled_or_its_client_is_destroyed) {
    std::optional<AsyncClient> async(std::in_place, server.url());
    Call<std::vector<Lease>> cancelled = async->lease("none", {.wait = 1min});
    Call<std::vector<Lease>> abandoned = async->lease("none", {.wait = 1min});
    cancelled.cancel();
    EXPECT_EQ(cancelled.get().error().code, "cancelled");
    async.reset();
    EXPECT_FALSE(abandoned.get());
    abandoned.cancel();
}

TEST_F(CppClient, errors_have_families_and_puts_a_hook) {
    const Result<Message> none = client.get("999999999");
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().family, Family::not_found);
    EXPECT_EQ(none.error().code, "unknown_id");
    EXPECT_THROW(none.value(), Failure);
    EXPECT_EQ(client.put("q", "\xff").error().code, "bad_data");
    EXPECT_EQ(client.put("q", std::numeric_limits<double>::infinity()).error().code, "bad_data");
    EXPECT_EQ(client.put("q", Json{"{"}).error().code, "bad_data");
    EXPECT_THROW(Client("localhost:7420"), Failure);
    EXPECT_THROW(Client("http://localhost", {.ca = "none"}), Failure);
    const Client traced(server.url(),
                        {.before_put = [](std::string_view, PutOptions& options) { options.headers["trace"] = "7"; }});
    EXPECT_EQ(client.get(traced.put("q", "x").value().id).value().headers.at("trace"), "7");
}

TEST_F(CppClient, each_content_has_its_type) {
    const auto same = [this](const auto& data) {
        using Data = std::remove_cvref_t<decltype(data)>;
        return data_of<Data>(client.get(put("types", data)).value());
    };
    EXPECT_EQ(same(std::string("é \"\\\n\x01")), "é \"\\\n\x01");
    EXPECT_EQ(same(Bytes{std::string("\xff\0", 2)}).data, std::string("\xff\0", 2));
    EXPECT_EQ(same(std::uint64_t{18446744073709551615u}), 18446744073709551615u);
    EXPECT_EQ(same(-0.1), -0.1);
    EXPECT_TRUE(same(true));
    EXPECT_EQ(same(Json{"123456789012345678901234567890"}).text, "123456789012345678901234567890");
    EXPECT_EQ(same(Bill{7, {{"ann", "x"}}, "paid"}).copies.front().to, "ann");
    const Message of_older_type = client.get(put("types", Json{R"({"copies":[{"to":"ann","unknown":1}]})"})).value();
    EXPECT_EQ(data_of<Bill>(of_older_type).copies.front().to, "ann");
    EXPECT_THROW(data_of<bool>(of_older_type), Failure);
    EXPECT_EQ(data_of<std::string>(client.get(put("types", Json{R"("A\u00e9\ud83d\udd70")"})).value()), "Aé🕰");
}

TEST_F(CppClient, changes_have_native_types_and_null_removes_a_member) {
    const std::string id = put("q", "x", {.delay = 1h, .retry = kOnce});
    client.move(id, {{"delay", 2h}, {"retry", nullptr}, {"priority", 7}}).value();
    const Message moved = client.get(id).value();
    EXPECT_EQ(moved.priority, 7);
    EXPECT_TRUE(moved.retry.text.empty());
    client.move(id, {{"due", *moved.due + 1ns}}).value();
    EXPECT_EQ(*client.get(id).value().due, *moved.due + 1ms);  // nothing is early
}

}  // namespace
