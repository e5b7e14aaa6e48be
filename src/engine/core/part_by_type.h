// Finds the part of an engine that decides a command, reads a query, starts a request, or finishes a lookup, by the
// type of that; and the part that owns the subject of a record.
//
// So a new command, query or lookup is a struct, and a function of one part. The compiler refuses one that no part has
// a function for, or that two have. The commands with a subject are the exception: each owner of subjects decides its
// own.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include "engine/commands/command.h"
#include "engine/core/pending_command.h"
#include "engine/core/uses.h"
#include "message/records/subject.h"

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
// A request that is neither: its reply comes when its work is done.
template <class Part, class Request>
concept Starts = requires(Part& part, const Request& request, ReplyToken token) {
    part.start(request, token);
};
// Subjects of records and of commands.
template <class Part>
concept OwnsSubjects = requires(Subject subject) {
    { Part::owns(subject) } -> std::same_as<bool>;
};
// The records of its subjects, which are of this type: ConfRecord or RuleRecord.
template <class Part, class Of>
concept Applies = OwnsSubjects<Part> && requires(Part& part, Operation& operation, const Of& record) {
    part.apply(operation, record);
};
template <class Command>
concept HasSubject = requires(const Command& command) {
    command.subject;
};
template <class Part, class Kind>
concept Finishes = requires(Part& part, Kind lookup, typename Kind::Found found, Generation generation) {
    part.finish(std::move(lookup), std::move(found), generation);
};

template <class Command, class... Parts>
inline constexpr int kDeciders = (0 + ... + int{Decides<Parts, Command>});
template <class Query, class... Parts>
inline constexpr int kReaders = (0 + ... + int{Reads<Parts, Query> || Starts<Parts, Query>});
template <class Kind, class... Parts>
inline constexpr int kFinishers = (0 + ... + int{Finishes<Parts, Kind>});

template <class Part>
constexpr bool owns(Subject subject) {
    if constexpr (OwnsSubjects<Part>) return Part::owns(subject);
    return false;
}
template <class Of, class... Parts>
consteval bool has_each_one_owner(std::span<const Subject> subjects) {
    return std::all_of(subjects.begin(), subjects.end(), [](Subject subject) {
        return (0 + ... + int{Applies<Parts, Of> && owns<Parts>(subject)}) == 1;
    });
}
template <class... Parts>
consteval bool has_each_subject_one_owner() {
    return has_each_one_owner<ConfRecord, Parts...>(kConfSubjects) &&
           has_each_one_owner<RuleRecord, Parts...>(kRuleSubjects);
}

// A command on a subject is for the part that owns it.
template <class Part, class Command>
bool is_for(const Command& command) {
    if constexpr (HasSubject<Command>) return owns<Part>(command.subject);
    return true;
}

template <class Command, class... Parts>
Verdict decide_in(PendingCommand& pending, Command& command, Parts&... parts) {
    Verdict verdict = Verdict::settled;
    const auto decide = [&]<class Part>(Part& part) {
        if constexpr (Decides<Part, Command>) {
            if (is_for<Part>(command)) verdict = part.decide(pending, command);
        }
    };
    (decide(parts), ...);
    return verdict;
}

// False if it is a command for a batch.
template <class Query, class... Parts>
bool read_in(const Query& query, ReplyToken token, const SharedLimits& limits, Parts&... parts) {
    const auto read = [&]<class Part>(Part& part) {
        if constexpr (Reads<Part, Query>) part.read(query, token, limits);
        if constexpr (Starts<Part, Query>) part.start(query, token);
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

template <class Of, class... Parts>
void apply_to_owner(Operation& operation, const Of& record, Parts&... parts) {
    static_assert(has_each_subject_one_owner<Parts...>());
    const auto apply = [&]<class Part>(Part& part) {
        if constexpr (Applies<Part, Of>) {
            if (Part::owns(record.subject)) part.apply(operation, record);
        }
    };
    (apply(parts), ...);
}

// Work of the engine's own that becomes part of batches.
template <class Part>
concept BatchSource = requires(const Part& part, Part& source) {
    // A batch would add some of it now, or have it read.
    { part.has_work() } -> std::same_as<bool>;
    // The most that the next of it adds to a batch, 0 if there is none: the open segment is closed without space for
    // that.
    { part.next_bytes() } -> std::same_as<std::size_t>;
    source.add_to_batch();
    // None of it is on its way to the disk or from it.
    { part.is_idle() } -> std::same_as<bool>;
};

}  // namespace duewheel
