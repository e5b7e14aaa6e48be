// Finds the part of an engine that decides a command, reads a query, or finishes a lookup, by the type of that.
//
// So a new command, query or lookup is a struct, and a function of one part. The compiler refuses one that no part has
// a function for, or that two have.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include "engine/command.h"
#include "engine/engine_context.h"
#include "engine/pending_command.h"

namespace duewheel {

// A command that changes something: it becomes part of a batch.
template <class Part, class Command>
concept Decides = requires(Part& part, PendingCommand& pending, Command& command) {
    { part.decide(pending, command) } -> std::same_as<Verdict>;
};
// A query, which is answered at once, or after a lookup.
template <class Part, class Query>
concept Reads = requires(Part& part, const Query& query, ReplyToken token, const SharedLimits& limits) {
    part.read(query, token, limits);
};
template <class Part, class Kind>
concept Finishes = requires(Part& part, Kind lookup, typename Kind::Found found, Generation generation) {
    part.finish(std::move(lookup), std::move(found), generation);
};

template <class Command, class... Parts>
inline constexpr int kDeciders = (0 + ... + int{Decides<Parts, Command>});
template <class Query, class... Parts>
inline constexpr int kReaders = (0 + ... + int{Reads<Parts, Query>});
template <class Kind, class... Parts>
inline constexpr int kFinishers = (0 + ... + int{Finishes<Parts, Kind>});

template <class Command, class... Parts>
Verdict decide_in(PendingCommand& pending, Command& command, Parts&... parts) {
    Verdict verdict = Verdict::settled;
    const auto decide = [&]<class Part>(Part& part) {
        if constexpr (Decides<Part, Command>) verdict = part.decide(pending, command);
    };
    (decide(parts), ...);
    return verdict;
}

// False if it is no query.
template <class Query, class... Parts>
bool read_in(const Query& query, ReplyToken token, const SharedLimits& limits, Parts&... parts) {
    const auto read = [&]<class Part>(Part& part) {
        if constexpr (Reads<Part, Query>) part.read(query, token, limits);
    };
    (read(parts), ...);
    return kReaders<Query, Parts...> != 0;
}

template <class Kind, class... Parts>
void finish_in(Kind& lookup, typename Kind::Found found, Generation generation, Parts&... parts) {
    static_assert(kFinishers<Kind, Parts...> == 1, "no part, or more than one, finishes this lookup");
    const auto finish = [&]<class Part>(Part& part) {
        if constexpr (Finishes<Part, Kind>) part.finish(std::move(lookup), std::move(found), generation);
    };
    (finish(parts), ...);
}

}  // namespace duewheel
