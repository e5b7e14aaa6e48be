// Bytes from a client of beanstalkd: cut into pieces at any position, they are the same commands. And a session that is
// given them, over a port whose replies are of the right kind with any content: it sends one reply to each command, in
// order, and gives every lease back when it ends.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/error_codes.h"
#include "beanstalk/beanstalk_near_port.h"
#include "beanstalk/beanstalk_session.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/input_script.h"

namespace duewheel::beanstalk_fuzz {
namespace {

constexpr std::size_t kJobBytesMax = 40;

std::string text_of(const BeanstalkParser::Parsed& parsed) {
    if (const auto* refusal = std::get_if<std::string_view>(&parsed)) return std::string(*refusal);
    if (std::holds_alternative<OtherProtocol>(parsed)) return "other protocol";
    const auto& command = std::get<BeanstalkCommand>(parsed);
    std::string text;
    for (const std::uint64_t number :
         {static_cast<std::uint64_t>(command.verb), command.id, std::uint64_t{command.priority},
          std::uint64_t{command.delay_s}, std::uint64_t{command.ttr_s}, std::uint64_t{command.number},
          static_cast<std::uint64_t>(command.timeout_s)}) {
        text += std::to_string(number) + " ";
    }
    return text + command.tube + " " + command.body;
}

std::vector<std::string> parse(std::string_view bytes, InputScript cuts, bool whole) {
    BeanstalkParser parser(kJobBytesMax);
    std::vector<std::string> parsed;
    while (!bytes.empty()) {
        std::string_view piece = bytes.substr(0, whole ? bytes.size() : 1 + cuts.below(16));
        bytes.remove_prefix(piece.size());
        while (const auto next = parser.read(piece)) {
            parsed.push_back(text_of(*next));
            if (std::holds_alternative<OtherProtocol>(*next)) return parsed;
        }
        require(piece.empty(), "bytes were left");
        require(parser.held_bytes() <= 300 + kJobBytesMax, "too much is kept");
    }
    return parsed;
}

class ScriptedPort final : public CommandPort {
  public:
    explicit ScriptedPort(InputScript& script) : script_(script) {}

    ReplyTokens add_sink(ReplySink sink) override { return sinks_.add(std::move(sink)); }
    void submit(Command&& command, ReplyToken token, SharedLimits) override {
        commands_.emplace_back(token, std::move(command));
    }
    // As the engine: a lease call that is forgotten or withdrawn gets no lease, and every other command is executed all
    // the same.
    void forget(ReplyToken token) override { drop_lease_call(token); }
    bool withdraw(ReplyToken token) override { return !script_.chance(3) && drop_lease_call(token); }
    bool answer_one() {
        if (commands_.empty()) return false;
        const std::size_t at = script_.below(static_cast<unsigned>(std::min<std::size_t>(commands_.size(), 200)));
        auto [token, command] = std::move(commands_[at]);
        commands_.erase(commands_.begin() + static_cast<std::ptrdiff_t>(at));
        sinks_.deliver(token, answer_to(command));
        return true;
    }
    const std::set<MessageId>& leased() const { return leased_; }

    const AccessToken* find_token(std::string_view) const override { return nullptr; }
    const AccessToken* find_token_of_certificate(std::string_view) const override { return nullptr; }
    EngineCounters counters() const override { return {}; }
    std::vector<QueueCounters> busiest_queues(std::size_t) const override { return {}; }
    std::optional<ReadyKey> first_ready(std::string_view) override {
        if (script_.chance(3)) return std::nullopt;
        return ReadyKey{.priority = static_cast<std::int32_t>(script_.below(3)), .entry = 0, .position = {}};
    }
    QueueSums queue_sums() const override { return {}; }
    DeliveryLevels recent_deliveries() const override { return {}; }
    const LatenessHistory& lateness_history() const override { std::abort(); }
    WheelView wheel() const override { return {}; }
    ClockStatus clock() const override { return {}; }
    bool accept_clock() override { return false; }
    void advance_clock(std::int64_t) override {}

  private:
    bool drop_lease_call(ReplyToken token) {
        return std::erase_if(commands_, [&](const auto& each) {
                   return each.first == token && std::holds_alternative<LeaseCommand>(each.second);
               }) > 0;
    }
    Reply answer_to(const Command& command) {
        if (const auto* ack = std::get_if<AckCommand>(&command)) return ended(ack->lease, LeaseOutcome::done);
        if (const auto* release = std::get_if<ReleaseCommand>(&command)) {
            return ended(release->lease, LeaseOutcome::released);
        }
        if (const auto* hold = std::get_if<HoldLeaseCommand>(&command)) return ended(hold->lease, LeaseOutcome::held);
        if (script_.chance(8)) return Error{script_.chance(2) ? "too_busy"_code : "unknown_id"_code, "refused"};
        if (std::holds_alternative<PutCommand>(command)) return PutAnswer{.id = ++last_id_};
        if (std::holds_alternative<LeaseCommand>(command)) return lease();
        if (std::holds_alternative<LeaseMessageCommand>(command)) return lease_one();
        if (std::holds_alternative<ExtendCommand>(command)) return LeaseEndAnswer{.outcome = LeaseOutcome::extended};
        if (std::holds_alternative<ListCommand>(command)) return page();
        if (std::holds_alternative<RedriveCommand>(command)) return RedriveAnswer{.redriven = script_.below(3)};
        if (std::holds_alternative<DescribeQueueCommand>(command)) return QueueAnswer{};
        if (std::holds_alternative<ListQueuesCommand>(command)) return QueueListAnswer{};
        if (const auto* get = std::get_if<GetCommand>(&command)) return message(get->id);
        return ChangeAnswer{.outcome =
                                script_.one_of({ChangeOutcome::cancelled, ChangeOutcome::kicked, ChangeOutcome::fired,
                                                ChangeOutcome::dead, ChangeOutcome::gone})};
    }
    Reply lease() { return script_.chance(3) ? LeaseAnswer() : lease_one(); }
    LeaseAnswer lease_one() {
        LeaseAnswer answer;
        Delivered& job = answer.messages.emplace_back();
        job.id = job.lease.id = ++last_id_;
        job.body = script_.one_of<const char*>({"", "x", "a\r\nb"});
        job.headers = script_.one_of<const char*>({"", "{\"beanstalk-ttr\":\"2\"}", "{\"beanstalk-ttr\":\"x\"}"});
        leased_.insert(job.id);
        return answer;
    }
    Reply ended(const LeaseToken& lease, LeaseOutcome outcome) {
        require(leased_.erase(lease.id) == 1, "a lease is ended twice");
        return LeaseEndAnswer{.outcome = script_.chance(8) ? LeaseOutcome::expired : outcome};
    }
    Reply page() {
        ListAnswer answer;
        for (unsigned left = script_.below(3); left > 0; --left) answer.listed.emplace_back().row.id = ++last_id_;
        return answer;
    }
    Reply message(MessageId id) {
        MessageAnswer answer;
        answer.row.id = id;
        answer.row.state.state =
            script_.one_of({State::ready, State::scheduled, State::held, State::dead, State::leased});
        answer.has_content = !script_.chance(4);
        return answer;
    }

    InputScript& script_;
    ReplySinks sinks_;
    std::deque<std::pair<ReplyToken, Command>> commands_;
    std::set<MessageId> leased_;
    MessageId last_id_ = 0;
};

class Client final : public StreamClient {
  public:
    void write(std::string_view bytes) override { written += bytes.size(); }
    void resume() override {}
    void finish() override {}
    const std::string& peer() const override { return peer_; }

    std::size_t written = 0;

  private:
    const std::string peer_ = "192.0.2.7";
};

}  // namespace

void fuzz(std::string_view input) {
    const std::size_t half = input.size() / 2;
    const std::string_view bytes = input.substr(0, half);
    InputScript script(input.substr(half));
    require(parse(bytes, script, true) == parse(bytes, script, false), "other commands in pieces");

    ScriptedPort port(script);
    BeanstalkNearPort near(port, nullptr);
    std::int64_t now_ms = 1'000;
    BeanstalkOptions options;
    options.job_bytes_max = kJobBytesMax;
    BeanstalkService service(near, options, [&] { return now_ms; });
    Client client;
    std::unique_ptr<BeanstalkSession> session = service.open(client);
    std::string waiting;
    std::string_view left = bytes;
    for (int step = 0; step < 400 && (!left.empty() || !script.at_end()); ++step) {
        const std::string_view piece = left.substr(0, 1 + script.below(64));
        left.remove_prefix(piece.size());
        waiting += piece;
        waiting.erase(0, session->consume(waiting));
        for (unsigned answers = script.below(4); answers > 0 && port.answer_one(); --answers) {
        }
        now_ms += script.one_of({0, 1, 500, 2'000, 70'000});
        service.run_due();
    }
    session.reset();
    while (port.answer_one()) {
    }
    require(port.leased().empty(), "a lease was not given back");
}

}  // namespace duewheel::beanstalk_fuzz
