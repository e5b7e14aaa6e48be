// Sessions over a real engine with a clock of the test: on its thread, and on a thread of their own. Of the latter the
// test runs both loops, in turns, so that nothing depends on which one is faster.
#include "beanstalk/beanstalk_session.h"

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "beanstalk/beanstalk_far_port.h"
#include "beanstalk/beanstalk_near_port.h"
#include "beanstalk/trial_port_fixture.h"

namespace duewheel::beanstalk_session_test {
namespace {

class Client final : public StreamClient {
  public:
    explicit Client(BeanstalkService& service) : session_(service.open(*this)) {}

    void write(std::string_view bytes) override { output_ += bytes; }
    void resume() override { is_resumed_ = true; }
    void finish() override { is_finished = true; }
    const std::string& peer() const override { return peer_; }

    void send(const std::string& bytes) {
        input_ += bytes;
        is_resumed_ = true;
    }
    bool feed() {
        if (!session_ || !std::exchange(is_resumed_, false)) return false;
        input_.erase(0, session_->consume(input_));
        return true;
    }
    std::string output() { return std::exchange(output_, {}); }
    void close() { session_.reset(); }
    std::size_t unread() const { return input_.size(); }

    bool is_finished = false;

  private:
    const std::string peer_ = "uid:1001";
    std::unique_ptr<BeanstalkSession> session_;
    std::string input_;
    std::string output_;
    bool is_resumed_ = false;
};

// Writes a line when the test says so.
class TrialAudit final : public AuditPort {
  public:
    bool is_available() const override { return available; }
    void record(AuditEntry entry, std::function<void(bool)> done) override {
        entries.push_back(std::move(entry));
        waiting.push_back(std::move(done));
    }
    void record_limited(AuditEntry entry) override { entries.push_back(std::move(entry)); }

    // The oldest one.
    void finish(bool is_written) {
        const auto done = std::move(waiting.front());
        waiting.pop_front();
        done(is_written);
    }

    bool available = true;
    std::vector<AuditEntry> entries;
    std::deque<std::function<void(bool)>> waiting;
};

// What is between the engine and sessions.
class Link {
  public:
    Link(TrialPort& engine, AuditPort* audit, bool is_far) : engine_(engine), near_(engine, audit) {
        if (is_far) far_.emplace(near_, engine_loop_, own_loop_);
    }

    BeanstalkPort& port() {
        if (far_) return *far_;
        return near_;
    }
    // What sessions have sent reaches the engine, and what they read without a call is current.
    void pass_calls() {
        if (!far_) return;
        far_->publish();
        run_once(own_loop_);
        run_once(engine_loop_);
    }
    // All replies that are there reach the sessions.
    void deliver() {
        pass_calls();
        engine_.deliver();
        if (!far_) return;
        run_once(engine_loop_);
        run_once(own_loop_);
    }

  private:
    static void run_once(EventLoop& loop) {
        loop.run([&] {
            loop.stop();
            return EventLoop::kAtOnce;
        });
    }

    TrialPort& engine_;
    EventLoop engine_loop_, own_loop_;
    BeanstalkNearPort near_;
    std::optional<BeanstalkFarPort> far_;
};

class BeanstalkSessions : public ::testing::TestWithParam<bool> {
  protected:
    void run() {
        for (int i = 0; i < 50; ++i) {
            for (Client* client : {&one_, &two_}) client->feed();
            link_.deliver();
        }
        for (Client* client : {&one_, &two_}) client->feed();
    }
    std::string ask(Client& client, const std::string& bytes) {
        client.send(bytes);
        run();
        return client.output();
    }
    void pass(std::int64_t ms) {
        now_ms_ += ms;
        port_.shard().turn(ms);
        service_.run_due();
        run();
    }

    std::int64_t now_ms_ = 5'000;
    TrialPort port_;
    Link link_{port_, nullptr, GetParam()};
    BeanstalkService service_{link_.port(), {}, [this] { return now_ms_; }};
    Client one_{service_};
    Client two_{service_};
};

INSTANTIATE_TEST_SUITE_P(On, BeanstalkSessions, ::testing::Bool(), [](const auto& of) {
    return std::string(of.param ? "their_own_thread" : "the_engines_thread");
});

TEST_P(BeanstalkSessions, a_job_is_reserved_once_and_ends_with_its_delete) {
    EXPECT_EQ(ask(one_, "put 1 0 60 1\r\nx\r\n"), "INSERTED 1024\r\n");
    EXPECT_EQ(ask(one_, "reserve\r\n"), "RESERVED 1024 1\r\nx\r\n");
    EXPECT_EQ(ask(two_, "reserve-with-timeout 0\r\n"), "TIMED_OUT\r\n");
    EXPECT_EQ(ask(two_, "delete 1024\r\n"), "NOT_FOUND\r\n");
    EXPECT_EQ(ask(one_, "delete 1024\r\n"), "DELETED\r\n");
    EXPECT_EQ(ask(one_, "delete 1024\r\n"), "NOT_FOUND\r\n");
}

TEST_P(BeanstalkSessions, a_job_times_out_after_its_ttr_whether_it_is_short_or_long) {
    for (const std::int64_t ttr_s : {2, 60, 600, 100'000}) {
        const std::string id = ask(one_, "put 1 0 " + std::to_string(ttr_s) + " 1\r\nx\r\n").substr(9);
        EXPECT_EQ(ask(one_, "reserve\r\n"), "RESERVED " + id.substr(0, id.size() - 2) + " 1\r\nx\r\n");
        two_.send("reserve\r\n");
        run();
        for (std::int64_t left_ms = ttr_s * 1'000 - 1; left_ms > 0;) {
            const std::int64_t step_ms = std::min<std::int64_t>(left_ms, 1'000'000);
            pass(step_ms);
            left_ms -= step_ms;
        }
        EXPECT_EQ(two_.output(), "") << ttr_s;
        pass(1);
        EXPECT_EQ(two_.output().substr(0, 9), "RESERVED ") << ttr_s;
        EXPECT_EQ(ask(one_, "touch " + id), "NOT_FOUND\r\n");
        EXPECT_EQ(ask(two_, "delete " + id), "DELETED\r\n");
    }
    EXPECT_EQ(service_.counters().timeouts, 4U);
}

TEST_P(BeanstalkSessions, a_client_that_waits_hears_of_its_deadline) {
    ask(one_, "put 1 0 10 1\r\nx\r\nreserve\r\n");
    EXPECT_EQ(ask(one_, "reserve\r\n"), "");
    pass(8'999);
    EXPECT_EQ(one_.output(), "");
    pass(1);
    EXPECT_EQ(one_.output(), "DEADLINE_SOON\r\n");
    EXPECT_EQ(ask(one_, "reserve\r\n"), "DEADLINE_SOON\r\n");
    ask(two_, "put 1 0 60 1\r\ny\r\n");
    EXPECT_EQ(ask(one_, "reserve\r\n"), "RESERVED 2048 1\r\ny\r\n") << "there is a job";
}

TEST_P(BeanstalkSessions, a_wait_times_out) {
    one_.send("reserve-with-timeout 3\r\n");
    run();
    pass(2'999);
    EXPECT_EQ(one_.output(), "");
    pass(1);
    EXPECT_EQ(one_.output(), "TIMED_OUT\r\n");
    EXPECT_EQ(ask(two_, "put 1 0 60 1\r\nx\r\n"), "INSERTED 1024\r\n");
    EXPECT_EQ(ask(two_, "reserve-with-timeout 0\r\n"), "RESERVED 1024 1\r\nx\r\n") << "nothing waits any more";
}

// The wait ended with TIMED_OUT, and the job that had been leased for it was returned, as one that was reserved once:
// Laravel, which counts so and tries a job once unless told otherwise, took it for failed without having run it.
TEST_P(BeanstalkSessions, a_job_that_is_on_its_way_when_a_wait_times_out_is_reserved) {
    EXPECT_EQ(ask(two_, "put 1 3 60 1\r\nx\r\n"), "INSERTED 1024\r\n");
    EXPECT_EQ(ask(one_, "reserve-with-timeout 3\r\n"), "");
    pass(3'000);
    EXPECT_EQ(one_.output(), "RESERVED 1024 1\r\nx\r\n");
    EXPECT_NE(ask(one_, "stats-job 1024\r\n").find("reserves: 1\n"), std::string::npos);
}

TEST_P(BeanstalkSessions, jobs_of_a_closed_session_are_ready_and_waits_end) {
    ask(one_, "put 1 0 60 1\r\nx\r\nreserve\r\n");
    two_.send("reserve\r\n");
    run();
    one_.send("reserve\r\n");
    run();
    one_.close();
    run();
    EXPECT_EQ(two_.output(), "RESERVED 1024 1\r\nx\r\n");
    EXPECT_EQ(service_.sessions(), 1U);
}

TEST_P(BeanstalkSessions, of_the_jobs_of_several_tubes_that_come_at_once_one_is_taken) {
    ask(one_, "watch a\r\nwatch b\r\n");
    one_.send("reserve\r\n");
    run();
    two_.send("use a\r\n");
    run();
    port_.shard().hold_commits = true;
    ask(two_, "put 1 0 60 1\r\nA\r\n");
    ask(two_, "put 1 0 60 1\r\nB\r\n");
    port_.shard().hold_commits = false;
    port_.shard().settle();
    run();
    EXPECT_EQ(one_.output().size(), std::string("WATCHING 2\r\nWATCHING 3\r\nRESERVED 1024 1\r\nA\r\n").size() - 24);
    EXPECT_EQ(ask(one_, "reserve-with-timeout 0\r\n").substr(0, 9), "RESERVED ");
}

TEST_P(BeanstalkSessions, a_job_is_reserved_by_its_id_whatever_state_it_waits_in) {
    ask(one_, "use a\r\nput 1 0 60 1\r\nx\r\nput 1 1000 60 1\r\ny\r\nput 1 0 60 1\r\nz\r\n");
    ask(one_, "watch a\r\n");
    EXPECT_EQ(ask(one_, "reserve\r\nbury 1024 1\r\n"), "RESERVED 1024 1\r\nx\r\nBURIED\r\n");
    EXPECT_EQ(ask(two_, "reserve-job 3072\r\n"), "RESERVED 3072 1\r\nz\r\n") << "ready";
    EXPECT_EQ(ask(two_, "reserve-job 2048\r\n"), "RESERVED 2048 1\r\ny\r\n") << "delayed";
    EXPECT_EQ(ask(two_, "reserve-job 1024\r\n"), "RESERVED 1024 1\r\nx\r\n") << "buried";
    EXPECT_EQ(ask(one_, "reserve-job 1024\r\n"), "NOT_FOUND\r\n") << "reserved";
    EXPECT_EQ(ask(one_, "reserve-job 9999\r\n"), "NOT_FOUND\r\n");
    EXPECT_EQ(ask(two_, "delete 1024\r\ndelete 2048\r\n"), "DELETED\r\nDELETED\r\n");
    EXPECT_EQ(ask(one_, "reserve-job 1024\r\n"), "NOT_FOUND\r\n") << "gone";
    two_.close();
    run();
    EXPECT_EQ(ask(one_, "reserve-with-timeout 0\r\n"), "RESERVED 3072 1\r\nz\r\n");
}

TEST_P(BeanstalkSessions, a_client_that_leaves_while_its_job_is_read_has_not_reserved_it) {
    ask(one_, "put 1 1000 60 1\r\nx\r\n");
    port_.shard().hold_commits = true;
    two_.send("reserve-job 1024\r\n");
    two_.feed();
    link_.pass_calls();
    port_.shard().turn();
    two_.close();
    link_.pass_calls();
    port_.shard().hold_commits = false;
    port_.shard().settle();
    EXPECT_EQ(ask(one_, "reserve-with-timeout 0\r\n"), "RESERVED 1024 1\r\nx\r\n");
}

TEST_P(BeanstalkSessions, of_several_tubes_the_job_with_the_smallest_priority_comes_first) {
    ask(one_, "use a\r\nput 5 0 60 1\r\nA\r\nput 1 0 60 1\r\nB\r\n");
    ask(one_, "use b\r\nput 3 0 60 1\r\nC\r\nput 5 0 60 1\r\nD\r\n");
    ask(two_, "watch a\r\nwatch b\r\nwatch empty\r\n");
    std::string bodies;
    for (int i = 0; i < 4; ++i) {
        const std::string reserved = ask(two_, "reserve-with-timeout 0\r\n");
        bodies += reserved.at(reserved.size() - 3);
    }
    EXPECT_EQ(bodies, "BCAD");
    EXPECT_EQ(ask(two_, "reserve-with-timeout 0\r\n"), "TIMED_OUT\r\n");
}

TEST_P(BeanstalkSessions, a_release_and_a_bury_give_a_job_another_priority) {
    ask(one_, "put 1 0 60 1\r\nx\r\nput 2 0 60 1\r\ny\r\n");
    EXPECT_EQ(ask(one_, "reserve\r\nrelease 1024 3 0\r\n"), "RESERVED 1024 1\r\nx\r\nRELEASED\r\n");
    EXPECT_EQ(ask(one_, "peek-ready\r\n"), "FOUND 2048 1\r\ny\r\n");
    EXPECT_EQ(ask(one_, "reserve\r\nbury 2048 4\r\nkick 1\r\n"), "RESERVED 2048 1\r\ny\r\nBURIED\r\nKICKED 1\r\n");
    EXPECT_EQ(ask(one_, "peek-ready\r\n"), "FOUND 1024 1\r\nx\r\n");
    EXPECT_NE(ask(one_, "stats-job 2048\r\n").find("\npri: 4\n"), std::string::npos);
}

// A pipeline of releases took a commit for each.
TEST_P(BeanstalkSessions, commands_that_change_different_jobs_share_a_commit_and_are_answered_in_order) {
    for (int i = 0; i < 6; ++i) ask(one_, "put 1 0 60 1\r\nx\r\n");
    for (int i = 0; i < 4; ++i) ask(one_, "reserve\r\n");
    EXPECT_EQ(ask(two_, "reserve-job 5120\r\nbury 5120 1\r\n"), "RESERVED 5120 1\r\nx\r\nBURIED\r\n");
    const std::uint64_t commits = port_.shard().engine().totals().commit;
    EXPECT_EQ(ask(one_,
                  "release 1024 1 100\r\nbury 2048 1\r\ndelete 3072\r\nkick-job 5120\r\nreserve-job 6144\r\n"
                  "put 1 0 60 1\r\ny\r\nrelease 7 1 0\r\nrelease 4096 1 0\r\n"),
              "RELEASED\r\nBURIED\r\nDELETED\r\nKICKED\r\nRESERVED 6144 1\r\nx\r\nINSERTED 7168\r\nNOT_FOUND\r\n"
              "RELEASED\r\n");
    EXPECT_LE(port_.shard().engine().totals().commit, commits + 3);
}

TEST_P(BeanstalkSessions, commands_about_one_job_are_executed_one_after_the_other) {
    ask(one_, "put 1 0 60 1\r\nx\r\nput 1 0 60 1\r\ny\r\n");
    EXPECT_EQ(ask(one_,
                  "reserve-job 1024\r\nrelease 1024 1 100\r\nkick-job 1024\r\nreserve-job 1024\r\nbury 1024 1\r\n"
                  "kick-job 1024\r\ndelete 1024\r\ndelete 1024\r\ndelete 2048\r\n"),
              "RESERVED 1024 1\r\nx\r\nRELEASED\r\nKICKED\r\nRESERVED 1024 1\r\nx\r\nBURIED\r\nKICKED\r\nDELETED\r\n"
              "NOT_FOUND\r\nDELETED\r\n");
}

TEST_P(BeanstalkSessions, puts_and_deletes_are_in_progress_together_and_other_commands_wait) {
    port_.shard().hold_commits = true;
    one_.send("put 1 0 60 1\r\na\r\nput 1 0 60 1\r\nb\r\nstats-job 1024\r\nlist-tube-used\r\n");
    one_.feed();
    link_.pass_calls();
    EXPECT_EQ(port_.submitted, 2);
    port_.shard().hold_commits = false;
    port_.shard().settle();
    run();
    const std::string output = one_.output();
    EXPECT_TRUE(output.starts_with("INSERTED 1024\r\nINSERTED 2048\r\nOK ")) << output;
    EXPECT_TRUE(output.ends_with("USING default\r\n")) << output;
}

// A page of any site could post to the listener: the lines of the request's head were refused, and the commands in its
// body were carried out.
TEST_P(BeanstalkSessions, another_protocol_ends_the_session_and_nothing_behind_it_is_carried_out) {
    const std::string kPut = "put 1 0 60 1\r\na\r\n";
    for (const char* beginning : {"POST / HTTP/1.1\r\n", "nonsense\r\n", "\r\n", "\x16\x03\x01\r\n"}) {
        Client client(service_);
        client.send(beginning + kPut);
        client.feed();
        EXPECT_EQ(client.output(), "UNKNOWN_COMMAND\r\n") << beginning;
        EXPECT_TRUE(client.is_finished);
        client.send(kPut);
        client.feed();
    }
    for (const char* later : {"GET /x\r\n", "hOsT: x\r\n", "foo bar HTTP/1.1\r\n", "PUT / HTTP/1.1\r\n"}) {
        Client client(service_);
        client.send("use other\r\n" + (later + kPut));
        while (client.feed()) {
        }
        EXPECT_EQ(client.output(), "USING other\r\nUNKNOWN_COMMAND\r\n") << later;
        EXPECT_TRUE(client.is_finished);
    }
    link_.pass_calls();
    EXPECT_EQ(port_.submitted, 0);
}

// The memory of unfinished jobs is shared by all clients, and a client that never sent the rest kept its part for good.
TEST_P(BeanstalkSessions, a_job_that_does_not_arrive_in_time_ends_the_session) {
    Client slow(service_), steady(service_);
    slow.send("put 1 0 60 100\r\nhalf");
    slow.feed();
    for (int i = 0; i < 12; ++i) {  // never without a part of a job
        steady.send(i == 0 ? "put 1 0 60 1\r\n" : "a\r\nput 1 0 60 1\r\n");
        steady.feed();
        pass(10'000);
    }
    EXPECT_TRUE(slow.is_finished);
    EXPECT_FALSE(steady.is_finished);
}

// A client that requested statistics without reading them had thousands of replies made at once, and all others waited.
TEST_P(BeanstalkSessions, a_few_of_the_commands_that_a_client_has_sent_are_answered_in_a_turn) {
    const std::pair<std::string, std::string> kAsked[] = {{"list-tube-used\r\n", "USING default\r\n"},
                                                          {"nonsense\r\n", "UNKNOWN_COMMAND\r\n"}};  // not first
    for (const auto& [command, reply] : kAsked) {
        for (int i = 0; i < 100; ++i) one_.send(command);
        one_.feed();
        const std::size_t first = one_.output().size() / reply.size();
        EXPECT_GE(first, 1U);
        EXPECT_LE(first, 10U);
        run();
        EXPECT_EQ(one_.output().size(), (100 - first) * reply.size()) << "the others in their turns";
    }
}

TEST_P(BeanstalkSessions, a_tube_that_is_paused_gives_nothing_to_those_who_waited) {
    one_.send("reserve\r\n");
    run();
    EXPECT_EQ(ask(two_, "pause-tube default 10\r\n"), "PAUSED\r\n");
    EXPECT_EQ(ask(two_, "put 1 0 60 1\r\nx\r\nreserve-with-timeout 0\r\n"), "INSERTED 1024\r\nTIMED_OUT\r\n");
    EXPECT_EQ(one_.output(), "");
    pass(10'001);
    EXPECT_EQ(one_.output(), "RESERVED 1024 1\r\nx\r\n");
    EXPECT_EQ(ask(two_, "pause-tube unknown 10\r\n"), "NOT_FOUND\r\n");
}

TEST_P(BeanstalkSessions, a_stop_ends_waits_and_answers_what_is_in_progress) {
    port_.shard().hold_commits = true;
    one_.send("put 1 0 60 1\r\na\r\nput 1");
    two_.send("reserve\r\n");
    for (Client* client : {&one_, &two_}) client->feed();
    link_.pass_calls();
    service_.stop();
    EXPECT_EQ(two_.output(), "TIMED_OUT\r\n");
    EXPECT_TRUE(two_.is_finished);
    EXPECT_FALSE(one_.is_finished);
    port_.shard().hold_commits = false;
    port_.shard().settle();
    run();
    EXPECT_EQ(one_.output(), "INSERTED 1024\r\n");
    EXPECT_TRUE(one_.is_finished);
}

// Ten thousand clients that each sent half a job could take all memory.
TEST_P(BeanstalkSessions, unfinished_jobs_of_all_clients_have_a_limit) {
    BeanstalkOptions options;
    options.unfinished_bytes_max = 10;
    BeanstalkService service(link_.port(), options, [this] { return now_ms_; });
    Client one(service);
    const auto send = [](Client& client, const std::string& bytes) {
        client.send(bytes);
        client.feed();
    };
    send(one, "put 1 0 60 8\r\n12345");
    for (int i = 0; i < 3; ++i) {
        Client gone(service);
        send(gone, "put 1 0 60 8\r\n12345");
        EXPECT_EQ(gone.output(), "");
        Client two(service);
        send(two, "put 1 0 60 8\r\n1");
        EXPECT_EQ(two.output(), "") << "the rest of it is skipped first";
        send(two, "2345678\r\nlist-tube-used\r\n");
        EXPECT_EQ(two.output(), "OUT_OF_MEMORY\r\nUSING default\r\n");
    }
    send(one, "678\r\n");
    link_.deliver();
    EXPECT_EQ(one.output().substr(0, 9), "INSERTED ");
}

// Delays of more than ten years, and a limit that this protocol did not know of, were answered INTERNAL_ERROR.
TEST_P(BeanstalkSessions, all_delays_are_taken_and_no_input_is_an_internal_error) {
    EXPECT_EQ(ask(one_, "put 0 4294967295 60 1\r\nx\r\n"), "INSERTED 1024\r\n");
    EXPECT_EQ(ask(one_, "put 0 4294967296 60 1\r\n"), "BAD_FORMAT\r\n");
    EXPECT_EQ(ask(one_, "reserve-job 1024\r\nrelease 1024 0 4294967295\r\n"), "RESERVED 1024 1\r\nx\r\nRELEASED\r\n");
    pass(4'294'967'294'999);
    EXPECT_EQ(ask(one_, "reserve-with-timeout 0\r\n"), "TIMED_OUT\r\n");
    pass(1);
    EXPECT_EQ(ask(one_, "reserve-with-timeout 0\r\n"), "RESERVED 1024 1\r\nx\r\n");
    NamespaceSettings settings;
    settings.put_rate = 1;
    port_.shard().ask<NamespaceAnswer>(ConfigureNamespaceCommand{"default", false, settings});
    EXPECT_EQ(ask(one_, "put 0 0 60 1\r\nx\r\nput 0 0 60 1\r\nx\r\n"), "INSERTED 2048\r\nOUT_OF_MEMORY\r\n");
}

// Over HTTP both leave a line in the audit log; a client of this protocol changed a whole tube without a trace.
TEST_P(BeanstalkSessions, a_kick_and_a_pause_are_answered_when_the_audit_log_has_their_line) {
    TrialAudit audit;
    Link link(port_, &audit, GetParam());
    BeanstalkService service(link.port(), {}, [this] { return now_ms_; });
    Client one(service);
    const auto replies_to = [&](const std::string& bytes) {
        one.send(bytes);
        for (int i = 0; i < 10; ++i) {
            one.feed();
            link.deliver();
        }
        return one.output();
    };
    EXPECT_EQ(replies_to("kick 5\r\nlist-tube-used\r\n"), "");
    ASSERT_EQ(audit.entries.size(), 1u);
    EXPECT_EQ(audit.entries[0].verb, "tube.kick");
    EXPECT_EQ(audit.entries[0].actor, "uid:1001");
    EXPECT_EQ(audit.entries[0].address, "unix");
    EXPECT_EQ(audit.entries[0].name_space, "default");
    EXPECT_EQ(audit.entries[0].object, "default");
    EXPECT_EQ(audit.entries[0].outcome, "ok");
    audit.finish(true);
    EXPECT_EQ(replies_to(""), "KICKED 0\r\nUSING default\r\n");
    EXPECT_EQ(replies_to("pause-tube default 0\r\n"), "");
    audit.finish(false);
    EXPECT_EQ(replies_to(""), "OUT_OF_MEMORY\r\n");
    EXPECT_EQ(replies_to("pause-tube unknown 0\r\n"), "NOT_FOUND\r\n");
    ASSERT_EQ(audit.entries.size(), 3u);
    EXPECT_EQ(audit.entries[1].verb, "tube.pause");
    EXPECT_EQ(audit.entries[2].outcome, "unknown_queue");

    audit.available = false;
    link.pass_calls();
    EXPECT_EQ(replies_to("kick 5\r\npause-tube default 0\r\n"), "OUT_OF_MEMORY\r\nOUT_OF_MEMORY\r\n");
    EXPECT_EQ(audit.entries.size(), 3u);

    audit.available = true;
    link.pass_calls();
    EXPECT_EQ(replies_to("kick 5\r\n"), "");
    one.close();
    audit.finish(true);  // to a client that has left
}

TEST_P(BeanstalkSessions, a_draining_server_refuses_puts_and_serves_the_rest) {
    ask(one_, "put 1 0 60 1\r\nx\r\n");
    service_.drain();
    EXPECT_EQ(ask(one_, "put 1 0 60 1\r\nx\r\n"), "DRAINING\r\n");
    EXPECT_EQ(ask(one_, "reserve\r\n"), "RESERVED 1024 1\r\nx\r\n");
}

}  // namespace
}  // namespace duewheel::beanstalk_session_test
