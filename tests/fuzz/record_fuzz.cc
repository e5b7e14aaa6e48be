// Records of the log from arbitrary bytes: refused, or a record that is the same after it is written and read again.
//
// The first byte is the kind, the rest a record's body: in a real log a checksum precedes every body, which no fuzzer
// can guess. The bytes are also read as a frame.
#include <string>

#include "base/error_codes.h"
#include "fuzz/fuzz_target.h"
#include "message/records/record.h"

namespace duewheel::record_fuzz {
namespace {

void judge_frame(std::string_view bytes) {
    const Result<FramedRecord> frame = read_frame(bytes);
    if (!frame) {
        const ErrorCode code = frame.error().code;
        require(code == "torn_record"_code || code == "bad_checksum"_code || code == "newer_format"_code,
                "a frame has another error", name_of(code));
        return;
    }
    require(frame->frame_bytes <= bytes.size(), "a frame is longer than its bytes");
    require(frame->frame_bytes == kRecordFrameBytes + frame->body.size(), "a frame has another size than its parts");
}

// Fields that mean nothing without others; whoever writes a record leaves them out.
void leave_out_idle_fields(MessageContent& content) {
    if (content.repeat == Repeat{}) content.repeat.reset();
    if (content.transaction == TransactionRule{}) content.transaction.reset();
}
template <class Of>
void leave_out_idle_fields(Of& record) {
    if constexpr (requires { record.content; }) leave_out_idle_fields(record.content);
    if constexpr (requires { record.previous; }) {
        if (record.previous.version == 0) record.previous = {};
    }
    if constexpr (requires { record.term_before; }) {
        if (record.revision_before == 0) record.term_before = 0;
    }
}

void judge_digest(const Record& again, const Record& decoded) {
    const auto* first = std::get_if<MessageRecord>(&again);
    const auto* second = std::get_if<MessageRecord>(&decoded);
    if (first == nullptr || second == nullptr) return;
    require(digest_term(first->id, first->state) == digest_term(second->id, second->state), "its digest changed");
}

}  // namespace

void fuzz(std::string_view input) {
    judge_frame(input);
    if (input.empty()) return;
    const auto kind = static_cast<RecordKind>(static_cast<unsigned char>(input.front()) % 13 + 1);
    const std::string_view body = input.substr(1);
    Result<Record> decoded = decode_record(kind, body);
    if (!decoded) {
        const ErrorCode code = decoded.error().code;
        require(code == "damaged_record"_code || code == "newer_format"_code, "a record has another error",
                name_of(code));
        return;
    }
    std::visit([](auto& record) { leave_out_idle_fields(record); }, *decoded);
    std::string written;
    const std::size_t size = append_record(written, 7, *decoded);
    require(size == written.size(), "a record's size is not that of its bytes");
    const Result<FramedRecord> frame = read_frame(written);
    require(frame.ok() && frame->sequence == 7 && frame->kind == kind && frame->frame_bytes == size,
            "a frame that was written cannot be read");
    const Result<Record> again = decode_record(kind, frame->body);
    require(again.ok() && *again == *decoded, "a record is another after writing");
    judge_digest(*again, *decoded);
    std::string twice;
    append_record(twice, 7, *again);
    require(twice == written, "equal records have different bytes");
    // Half a frame is no frame.
    require(!read_frame(std::string_view(written).substr(0, size - 1)).ok(), "a torn frame was taken");
}

}  // namespace duewheel::record_fuzz
