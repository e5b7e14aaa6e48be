#include "message/records/input_position.h"

#include "base/error_codes.h"
#include "message/records/fields.h"

namespace duewheel {
namespace {

// Field numbers. They are part of the log format: never change or reuse one.
enum Tag : std::uint32_t {
    kOffset = 1,
};

}  // namespace

// Offset 0 is written too: a record without a value would remove the position.
std::string encode_input_position(std::int64_t offset) {
    std::string out;
    FieldWriter(out).signed_number(kOffset, offset, kNoInputPosition);
    return out;
}

Result<std::int64_t> decode_input_position(std::string_view bytes) {
    std::int64_t offset = kNoInputPosition;
    FieldsReader from(bytes);
    from.signed_number(kOffset, offset);
    if (Status known = from.end("the position of an input holds"); !known) return std::move(known).error();
    if (from.damaged() || offset < 0) return Error{"damaged_record"_code, "the position of an input cannot be read"};
    return offset;
}

}  // namespace duewheel
