#include "kafka/out/kafka_ledger.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "base/error_codes.h"
#include "message/records/fields.h"

namespace duewheel {
namespace {

// Field numbers are part of the format of the ledger topic: never change or reuse one.
template <class Visitor, class OfRecord, class Bytes>
void ledger_fields(Visitor& visit, OfRecord& record, Bytes&& messages) {
    visit.text(1, record.owner);
    visit.number(2, record.number);
    visit.number(3, record.settled_before);
    visit.text(4, record.nonce);
    visit.text(5, messages);
}

// Per namespace: size of the name, name, number of ids, each id minus the one before.
std::string bytes_of(const std::vector<KafkaMessageName>& sorted) {
    std::string bytes;
    for (std::size_t from = 0; from < sorted.size();) {
        const std::string& name_space = sorted[from].name_space;
        std::size_t until = from;
        while (until < sorted.size() && sorted[until].name_space == name_space) ++until;
        append_varint(bytes, name_space.size());
        bytes.append(name_space);
        append_varint(bytes, until - from);
        for (MessageId before = 0; from < until; before = sorted[from++].id) {
            append_varint(bytes, sorted[from].id - before);
        }
    }
    return bytes;
}

bool read_messages(std::string_view bytes, std::vector<KafkaMessageName>& into) {
    while (!bytes.empty()) {
        const std::optional<std::uint64_t> size = take_varint(bytes);
        if (!size || *size > bytes.size()) return false;
        const std::string name_space(bytes.substr(0, *size));
        bytes.remove_prefix(*size);
        const std::optional<std::uint64_t> count = take_varint(bytes);
        if (!count || *count > bytes.size()) return false;
        MessageId id = 0;
        for (std::uint64_t i = 0; i < *count; ++i) {
            const std::optional<std::uint64_t> delta = take_varint(bytes);
            if (!delta) return false;
            into.push_back({name_space, id += *delta});
        }
    }
    return true;
}

}  // namespace

std::string encode_kafka_ledger_record(KafkaLedgerRecord record) {
    std::sort(record.messages.begin(), record.messages.end(), [](const auto& left, const auto& right) {
        return std::tie(left.name_space, left.id) < std::tie(right.name_space, right.id);
    });
    std::string out;
    FieldWriter to(out);
    ledger_fields(to, record, bytes_of(record.messages));
    return out;
}

Result<KafkaLedgerRecord> decode_kafka_ledger_record(std::string_view bytes) {
    KafkaLedgerRecord record;
    std::string_view messages;
    FieldsReader from(bytes);
    ledger_fields(from, record, messages);
    if (Status known = from.end("a record of the ledger holds"); !known) return std::move(known).error();
    if (from.damaged() || record.owner.empty() || !read_messages(messages, record.messages)) {
        return Error{"damaged_record"_code, "a record of the ledger cannot be read"};
    }
    return record;
}

KafkaLedgerRecord KafkaLedger::next_record(std::vector<KafkaMessageName> messages) const {
    return {owner_, next_number_, settled_before(), {}, std::move(messages)};
}

KafkaLedgerRecord KafkaLedger::barrier(std::string nonce) const {
    return {owner_, 0, 0, std::move(nonce), {}};
}

std::vector<KafkaMessageName> KafkaLedger::add(const KafkaLedgerRecord& record) {
    if (record.owner != owner_ || record.number == 0) return {};
    forget_before(record.settled_before);
    if (record.number < next_number_) return {};
    next_number_ = record.number + 1;
    Open& open = open_[record.number];
    std::vector<KafkaMessageName> added;
    for (const KafkaMessageName& each : record.messages) {
        if (!messages_.try_emplace(each.id, record.number).second) continue;
        open.messages.push_back(each.id);
        added.push_back(each);
    }
    open.left = open.messages.size();
    forget_settled();
    return added;
}

void KafkaLedger::end(MessageId id) {
    const auto found = messages_.find(id);
    if (found == messages_.end()) return;
    --open_.at(found->second).left;
    messages_.erase(found);
    forget_settled();
}

void KafkaLedger::forget_settled() {
    while (!open_.empty() && open_.begin()->second.left == 0) open_.erase(open_.begin());
}

void KafkaLedger::forget_before(std::uint64_t number) {
    while (!open_.empty() && open_.begin()->first < number) {
        for (const MessageId id : open_.begin()->second.messages) {
            const auto found = messages_.find(id);
            if (found != messages_.end() && found->second == open_.begin()->first) messages_.erase(found);
        }
        open_.erase(open_.begin());
    }
}

}  // namespace duewheel
