#include "transfer/export_reader.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "transfer/random_line.h"

namespace duewheel::export_reader_test {
namespace {

constexpr std::string_view kQueue = R"({"kind":"queue","queue":"mail","settings":{"paused":true,"lease_ms":120000}})";

// An export of this number of messages and one queue.
std::vector<std::string> lines_of(int messages) {
    std::vector<std::string> lines(1);
    ExportHeader header;
    header.instance = "0123456789abcdef0123456789abcdef";
    header.server_time_ms = kLineNow;
    write_header_line(lines.back(), header);
    lines.emplace_back(kQueue);
    ExportEnd end;
    end.counts.queues = 1;
    for (int i = 0; i < messages; ++i) {
        Random random(static_cast<std::uint64_t>(i + 1));
        const MessageLine line = random_line(random);
        ++(line.state == State::dead ? end.counts.dead : end.counts.messages);
        write_message_line(lines.emplace_back(), line);
    }
    StreamDigest digest;
    for (const std::string& line : lines) digest.add(line + "\n");
    end.digest = digest.text();
    write_end_line(lines.emplace_back(), end);
    return lines;
}

std::string verdict(const std::vector<std::string>& lines) {
    ExportReader reader;
    for (const std::string& line : lines) {
        const Result<ExportLine> read = reader.read(line);
        if (!read) return std::string(name_of(read.error().code)) + " in line " + std::to_string(reader.line());
    }
    const Status whole = reader.finish();
    return whole ? "whole" : std::string(name_of(whole.error().code));
}

TEST(ExportReader, accepts_a_whole_export_and_returns_the_kind_of_each_line) {
    const std::vector<std::string> lines = lines_of(50);
    EXPECT_EQ(verdict(lines), "whole");
    ExportReader reader;
    EXPECT_TRUE(std::holds_alternative<ExportHeader>(*reader.read(lines[0])));
    const ExportLine queue = *reader.read(lines[1]);
    EXPECT_EQ(std::get<SettingsLine>(queue).path(), "/v1/namespaces/default/queues/mail");
    EXPECT_TRUE(std::holds_alternative<MessageLine>(*reader.read(lines[2])));
}

TEST(ExportReader, sees_that_a_file_was_cut_or_changed) {
    const std::vector<std::string> whole = lines_of(20);
    for (std::size_t lines = 1; lines < whole.size(); ++lines) {
        EXPECT_EQ(verdict({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(lines)}), "incomplete_export");
    }
    for (std::size_t line = 1; line + 1 < whole.size(); ++line) {
        std::vector<std::string> changed = whole;
        changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(line));
        EXPECT_EQ(verdict(changed), "changed_export") << "without line " << line + 1;
        if (line + 2 < whole.size()) {
            changed = whole;
            std::swap(changed[line], changed[line + 1]);
            EXPECT_EQ(verdict(changed), "changed_export") << "line " << line + 1;
        }
        changed = whole;
        changed[line] += " ";
        EXPECT_EQ(verdict(changed), "changed_export") << "line " << line + 1;
    }
    std::vector<std::string> longer = whole;
    longer.push_back(whole[2]);
    EXPECT_EQ(verdict(longer), "changed_export");
    EXPECT_EQ(verdict({}), "no_export");
}

TEST(ExportReader, refuses_other_files_and_names_the_line) {
    const std::vector<std::string> whole = lines_of(3);
    EXPECT_EQ(verdict({R"({"body": "a put"})"}), "no_export in line 1");
    EXPECT_EQ(verdict({"PNG"}), "no_export in line 1");
    EXPECT_EQ(verdict({""}), "no_export in line 1");
    std::string newer = whole[0];
    newer.replace(newer.find(R"("format":1)"), 10, R"("format":2)");
    EXPECT_EQ(verdict({newer}), "newer_format in line 1");
    const auto with = [&](std::string_view second) { return verdict({whole[0], std::string(second)}); };
    EXPECT_EQ(with("{"), "bad_json in line 2");
    EXPECT_EQ(with(""), "missing_member in line 2");
    EXPECT_EQ(with(R"({"kind":"massage"})"), "unknown_kind in line 2");
    EXPECT_EQ(with(R"({"kind":7})"), "wrong_type in line 2");
    EXPECT_EQ(with(whole[0]), "unknown_kind in line 2");
    EXPECT_EQ(with(R"({"kind":"end","xxh3":"x"})"), "missing_member in line 2");
    EXPECT_EQ(with(R"({"kind":"queue","settings":{}})"), "missing_member in line 2");
    EXPECT_EQ(with(R"({"kind":"queue","queue":"mail"})"), "missing_member in line 2");
    EXPECT_EQ(with(R"({"kind":"queue","queue":"mail","settings":{"leese":1}})"), "unknown_member in line 2");
    EXPECT_EQ(with(R"({"kind":"queue","queue":"a b","settings":{}})"), "bad_queue_name in line 2");
    EXPECT_EQ(with(R"({"kind":"schedule","schedule":"x","settings":{"queue":"q"}})"), "missing_member in line 2");
    EXPECT_EQ(with(R"({"kind":"watchdog","watchdog":"x","settings":{"queue":"q"}})"), "missing_member in line 2");
    EXPECT_EQ(with(R"({"kind":"namespace","settings":{}})"), "missing_member in line 2");
}

TEST(ExportReader, says_where_in_a_line_json_ends) {
    ExportReader reader;
    const std::vector<std::string> whole = lines_of(3);
    ASSERT_TRUE(reader.read(whole[0]).ok());
    const Result<ExportLine> cut = reader.read(R"({"kind":"queue",)");
    ASSERT_FALSE(cut.ok());
    EXPECT_NE(cut.error().message.find("line 2, column"), std::string::npos) << cut.error().message;
}

}  // namespace
}  // namespace duewheel::export_reader_test
