#include "engine/core/part_by_type.h"

#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace duewheel::part_by_type_test {
namespace {

struct Commands {
    Verdict decide(PendingCommand&, const CancelCommand&) { return ++cancels, Verdict::deferred; }
    Verdict decide(PendingCommand&, AckCommand&) { return Verdict::settled; }
    int cancels = 0;
};

struct Views {
    void read(const GetCommand& query, ReplyToken, const SharedLimits&) { id = query.id; }
    void finish(FactsLookup lookup, const std::optional<MessageRow>& row, Generation) {
        token = lookup.command.token;
        has_row = row.has_value();
    }
    void start(const RedriveCommand&, ReplyToken of) { token = of; }
    MessageId id = 0;
    ReplyToken token = 0;
    bool has_row = false;
};

template <Subject own>
struct Owner {
    static constexpr bool owns(Subject subject) { return subject == own; }
    Verdict decide(PendingCommand&, const RelocateSettingsCommand&) { return ++decided, Verdict::settled; }
    void apply(Operation&, const SubjectRecord&) {}
    int decided = 0;
};
using TokenOwner = Owner<Subject::token>;
using QueueOwner = Owner<Subject::queue>;

// The compiler refuses a command, a query or a lookup with another number.
static_assert(kDeciders<CancelCommand, Commands, Views> == 1);
static_assert(kDeciders<CancelCommand, Views> == 0);
static_assert(kDeciders<CancelCommand, Commands, Commands> == 2);
static_assert(kReaders<GetCommand, Commands, Views> == 1);
static_assert(kReaders<CancelCommand, Commands, Views> == 0);
static_assert(kFinishers<FactsLookup, Commands, Views> == 1);
static_assert(kFinishers<KeysLookup, Commands, Views> == 0);

TEST(PartByType, a_command_goes_to_the_part_that_decides_it) {
    Commands commands;
    Views views;
    PendingCommand pending;
    CancelCommand cancel;
    EXPECT_EQ(decide_in(pending, cancel, views, commands), Verdict::deferred);
    EXPECT_EQ(commands.cancels, 1);
}

TEST(PartByType, a_query_goes_to_the_part_that_reads_it_and_a_command_to_none) {
    Commands commands;
    Views views;
    GetCommand query;
    query.id = 7;
    EXPECT_TRUE(read_in(query, 1, nullptr, commands, views));
    EXPECT_EQ(views.id, 7u);
    EXPECT_FALSE(read_in(CancelCommand{}, 1, nullptr, commands, views));
}

TEST(PartByType, a_request_is_started_by_its_part) {
    Commands commands;
    Views views;
    EXPECT_TRUE(read_in(RedriveCommand{}, 5, nullptr, commands, views));
    EXPECT_EQ(views.token, 5u);
}

static_assert(!has_each_subject_one_owner<TokenOwner, QueueOwner>(), "that of schedules is missing");
static_assert(has_each_subject_one_owner<TokenOwner, QueueOwner, Owner<Subject::name_space>, Owner<Subject::input>,
                                         Owner<Subject::group>, Owner<Subject::schedule>, Owner<Subject::watchdog>>());

TEST(PartByType, what_has_a_subject_goes_to_its_owner) {
    TokenOwner tokens;
    QueueOwner queues;
    PendingCommand pending;
    RelocateSettingsCommand relocate{.subject = Subject::token};
    EXPECT_EQ(decide_in(pending, relocate, queues, tokens), Verdict::settled);
    EXPECT_EQ(tokens.decided, 1);
    EXPECT_EQ(queues.decided, 0);
}

TEST(PartByType, the_result_of_a_lookup_goes_with_what_waits_for_it_to_the_part_that_finishes_it) {
    Commands commands;
    Views views;
    FactsLookup lookup;
    lookup.command.token = 9;
    finish_in(lookup, MessageRow{}, 1, commands, views);
    EXPECT_EQ(views.token, 9u);
    EXPECT_TRUE(views.has_row);
}

}  // namespace
}  // namespace duewheel::part_by_type_test
