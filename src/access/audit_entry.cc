#include "access/audit_entry.h"

#include <charconv>
#include <iterator>
#include <optional>

#include "access/sha256.h"
#include "base/error_codes.h"
#include "base/hex.h"
#include "base/json_writer.h"
#include "calendar/instant_text.h"
#include "shared/utf8.h"

namespace duewheel {
namespace {

// A valid name has up to 200 bytes; that of a refused request can be as long as a request. With control characters,
// which take six bytes each, a line has up to 8 KiB.
constexpr std::size_t kAuditTextBytesMax = 256;
constexpr std::size_t kTornBytesMax = 1024;

struct Member {
    std::string_view name;
    std::string AuditEntry::*text = nullptr;
    std::uint64_t AuditEntry::*number = nullptr;
};

// After "seq" and "time", before "previous" and "hash".
constexpr Member kMembers[] = {
    {"verb", &AuditEntry::verb},
    {"actor", &AuditEntry::actor},
    {"address", &AuditEntry::address},
    {"call", &AuditEntry::call},
    {"namespace", &AuditEntry::name_space},
    {"object", &AuditEntry::object},
    {"outcome", &AuditEntry::outcome},
    {"traceparent", &AuditEntry::traceparent},
    {"suppressed", nullptr, &AuditEntry::suppressed},
    {"file", nullptr, &AuditEntry::file},
    {"removed_files_through", nullptr, &AuditEntry::removed_files_through},
    {"removed_seq", nullptr, &AuditEntry::removed_seq},
    {"removed_hash", &AuditEntry::removed_hash},
    {"torn_bytes", nullptr, &AuditEntry::torn_bytes},
    {"torn", &AuditEntry::torn},
};

constexpr std::string_view kBeforeHash = ",\"hash\":\"";

// The line up to `,"hash"`.
std::string hashed_part(const AuditEntry& entry, std::uint64_t seq, std::string_view previous) {
    std::string line;
    JsonWriter json(line);
    json.open().number("seq", seq).text("time", format_instant(entry.time_ms));
    for (const Member& member : kMembers) {
        if (member.text != nullptr && !(entry.*member.text).empty()) json.text(member.name, entry.*member.text);
        if (member.number != nullptr && entry.*member.number != 0) json.number(member.name, entry.*member.number);
    }
    json.text("previous", previous);
    return line;
}

Error damaged(std::string why) {
    return {"damaged_audit_line"_code, std::move(why)};
}

// Reads the output of JsonWriter. Anything else that it accepts is detected by encoding the result again.
class LineScanner {
  public:
    explicit LineScanner(std::string_view line) : rest_(line) {}

    bool take(std::string_view text) {
        if (!rest_.starts_with(text)) return false;
        rest_.remove_prefix(text.size());
        return true;
    }
    // `"name":` with a comma before it.
    bool take_name(std::string_view name) {
        const std::string text = ",\"" + std::string(name) + "\":";
        return take(text);
    }
    bool number(std::uint64_t& into) {
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), into);
        if (error != std::errc()) return false;
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        return true;
    }
    bool text(std::string& into) {
        if (!take("\"")) return false;
        into.clear();
        while (!rest_.empty() && rest_.front() != '"') {
            const char c = rest_.front();
            rest_.remove_prefix(1);
            if (c != '\\') {
                into += c;
            } else if (!escaped(into)) {
                return false;
            }
        }
        return take("\"");
    }
    bool is_at_end() const { return rest_.empty(); }

  private:
    bool escaped(std::string& into) {
        if (rest_.empty()) return false;
        const char c = rest_.front();
        rest_.remove_prefix(1);
        switch (c) {
            case '"':
            case '\\':
                into += c;
                return true;
            case 'n':
                into += '\n';
                return true;
            case 'r':
                into += '\r';
                return true;
            case 't':
                into += '\t';
                return true;
            default:
                break;
        }
        if (c != 'u' || rest_.size() < 4 || !rest_.starts_with("00")) return false;
        const int high = hex_digit_value(rest_[2]);
        const int low = hex_digit_value(rest_[3]);
        if (high < 0 || low < 0) return false;
        into += static_cast<char>(high << 4 | low);
        rest_.remove_prefix(4);
        return true;
    }

    std::string_view rest_;
};

bool scan(std::string_view text, AuditLine& line, std::string& time) {
    LineScanner scanner(text);
    if (!scanner.take("{\"seq\":") || !scanner.number(line.at.seq)) return false;
    if (!scanner.take_name("time") || !scanner.text(time)) return false;
    for (const Member& member : kMembers) {
        if (!scanner.take_name(member.name)) continue;
        const bool read =
            member.text != nullptr ? scanner.text(line.entry.*member.text) : scanner.number(line.entry.*member.number);
        if (!read) return false;
    }
    if (!scanner.take_name("previous") || !scanner.text(line.previous)) return false;
    return scanner.take_name("hash") && scanner.text(line.at.hash) && scanner.take("}") && scanner.is_at_end();
}

}  // namespace

std::string encode_audit_line(AuditEntry entry, AuditChain& chain) {
    for (const Member& member : kMembers) {
        if (member.text == nullptr) continue;
        std::string& text = entry.*member.text;
        const bool is_torn = member.text == &AuditEntry::torn;
        text = std::string(cut_utf8(as_utf8(text), is_torn ? kTornBytesMax : kAuditTextBytesMax));
    }
    ++chain.seq;
    std::string line = hashed_part(entry, chain.seq, chain.hash);
    chain.hash = sha256_hex(line);
    return line.append(kBeforeHash).append(chain.hash).append("\"}\n");
}

Result<AuditLine> decode_audit_line(std::string_view text) {
    AuditLine line;
    std::string time;
    if (!scan(text, line, time)) return damaged("it is not a line of an audit log");
    const Result<InstantMs> instant = parse_instant(time);
    if (!instant) return damaged("its time is not valid");
    line.entry.time_ms = *instant;
    const std::string hashed = hashed_part(line.entry, line.at.seq, line.previous);
    const std::string spelled = hashed + std::string(kBeforeHash) + line.at.hash + "\"}";
    if (spelled != text) return damaged("it is not in the form that the server writes");
    if (sha256_hex(hashed) != line.at.hash) return damaged("its hash does not match its content");
    return line;
}

}  // namespace duewheel
