#include "message/state.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace duewheel::state_test {
namespace {

using enum State;

constexpr State kAll[] = {prepared, scheduled, ready, leased, retrying, held, done, cancelled, expired, dead};

// The judge: the drawing of the header once more, as plain pairs. Every pair that is not listed is illegal.
const std::vector<std::pair<State, State>> kLegal = {
    {prepared, prepared}, {prepared, scheduled}, {prepared, cancelled},  {prepared, expired},   {scheduled, scheduled},
    {scheduled, ready},   {scheduled, held},     {scheduled, cancelled}, {scheduled, expired},  {ready, scheduled},
    {ready, leased},      {ready, held},         {ready, cancelled},     {ready, expired},      {leased, ready},
    {leased, scheduled},  {leased, retrying},    {leased, held},         {leased, done},        {leased, dead},
    {leased, cancelled},
    {retrying, ready},    {retrying, scheduled}, {retrying, held},       {retrying, cancelled}, {retrying, expired},
    {held, ready},        {held, scheduled},     {held, cancelled},      {held, expired},       {dead, scheduled},
    {dead, expired},      {dead, cancelled},     {scheduled, dead},      {retrying, dead},      {scheduled, done},
};

TEST(State, every_pair_of_states_is_judged_as_drawn) {
    for (State from : kAll) {
        for (State to : kAll) {
            bool legal = false;
            for (const auto& pair : kLegal) legal |= pair == std::pair(from, to);
            EXPECT_EQ(is_legal_move(from, to), legal) << state_name(from) << " -> " << state_name(to);
        }
    }
}

TEST(State, an_ended_message_stays_ended_unless_it_is_a_redriven_dead_letter) {
    for (State from : kAll) {
        if (!is_ended(from)) continue;
        for (State to : kAll) {
            EXPECT_EQ(is_legal_move(from, to), from == dead && (to == scheduled || to == expired || to == cancelled));
        }
    }
}

TEST(State, a_leased_message_does_not_expire) {
    EXPECT_FALSE(is_legal_move(leased, expired));
}

TEST(State, only_ready_and_leased_are_not_durable) {
    for (State state : kAll) EXPECT_EQ(is_durable(state), state != ready && state != leased);
}

TEST(State, names_are_distinct) {
    std::vector<std::string> seen;
    for (State state : kAll) {
        for (const std::string& name : seen) EXPECT_NE(name, state_name(state));
        seen.emplace_back(state_name(state));
    }
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(kStateCount));
}

}  // namespace
}  // namespace duewheel::state_test
