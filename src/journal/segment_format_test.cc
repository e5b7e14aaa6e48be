#include "journal/segment_format.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "journal/trial_log.h"

namespace duewheel::segment_format_test {
namespace {

SegmentHeader sample_header() {
    SegmentHeader header;
    header.number = 7;
    header.before = {41, 1000, 0x1234, 5, 600, 70, 1'800'000'000'000};
    header.link = 99;
    header.identity = trial_identity(3);
    header.segment_bytes = 1 << 20;
    header.block_bytes = 4096;
    return header;
}

CommitFooter sample_footer() {
    CommitFooter footer;
    footer.first_sequence = 998;
    footer.count = 3;
    footer.closes_segment = true;
    footer.record_bytes = 300;
    footer.area_hash = 0xabcdef;
    footer.totals = {41, 1000, 0x1234, 5, 600, 70, 1'800'000'000'000};
    footer.identity_hash = trial_identity(3).hash();
    footer.link = 98;
    return footer;
}

TEST(SegmentFormat, a_header_comes_back_as_it_was) {
    const std::string bytes = encode_segment_header(sample_header());
    ASSERT_EQ(bytes.size(), kSegmentHeaderBytes);
    const Result<SegmentHeader> header = decode_segment_header(bytes);
    ASSERT_TRUE(header.ok()) << header.error().message;
    EXPECT_EQ(*header, sample_header());
    EXPECT_EQ(header->first_sequence(), 1001u);
    EXPECT_EQ(header->first_commit(), 42u);
}

TEST(SegmentFormat, a_footer_comes_back_as_it_was) {
    std::string bytes;
    CommitFooter wanted = sample_footer();
    wanted.checksum = append_footer(bytes, wanted);
    ASSERT_EQ(bytes.size(), kFooterBytes);
    EXPECT_TRUE(begins_like_footer(bytes));
    const Result<CommitFooter> footer = decode_footer(bytes);
    ASSERT_TRUE(footer.ok());
    EXPECT_EQ(*footer, wanted);
}

TEST(SegmentFormat, records_and_their_number_of_zeros_have_the_hash_of_the_area) {
    Random random(1);
    std::string records;
    for (const std::size_t zeros : {0, 1, 300, 4095}) {
        EXPECT_EQ(area_hash(records, zeros), area_hash(records + std::string(zeros, '\0')));
        for (int i = 0; i < 1'000; ++i) records.push_back(static_cast<char>(random.next()));
    }
}

TEST(SegmentFormat, any_flipped_bit_of_a_header_or_footer_is_seen) {
    const std::string header = encode_segment_header(sample_header());
    for (std::size_t bit = 0; bit < header.size() * 8; ++bit) {
        std::string damaged = header;
        damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
        ASSERT_FALSE(decode_segment_header(damaged).ok()) << bit;
    }
    std::string footer;
    append_footer(footer, sample_footer());
    for (std::size_t bit = 0; bit < footer.size() * 8; ++bit) {
        std::string damaged = footer;
        damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
        ASSERT_FALSE(decode_footer(damaged).ok()) << bit;
    }
}

TEST(SegmentFormat, a_cut_header_is_no_header) {
    const std::string header = encode_segment_header(sample_header());
    EXPECT_EQ(decode_segment_header({}).error().code, "bad_header"_code);
    EXPECT_EQ(decode_segment_header(std::string_view(header).substr(0, 4095)).error().code, "bad_header"_code);
    EXPECT_EQ(decode_segment_header(std::string(4096, '\0')).error().code, "bad_header"_code);
}

TEST(SegmentFormat, a_commit_takes_its_records_its_footer_and_what_is_left_of_the_block) {
    EXPECT_EQ(commit_size_in_segment(0), 512u);
    EXPECT_EQ(commit_size_in_segment(384), 512u);
    EXPECT_EQ(commit_size_in_segment(385), 1024u);
    EXPECT_EQ(commit_size_in_segment(385, 4096), 4096u);
    EXPECT_EQ(commit_size_in_segment(3969, 4096), 8192u);
}

TEST(SegmentFormat, names_sort_like_sequences_and_no_other_name_is_accepted) {
    EXPECT_EQ(segment_name(1), "seg-00000000000000000001.log");
    EXPECT_LT(segment_name(99), segment_name(100));
    EXPECT_EQ(sequence_of_segment_name(segment_name(~Sequence{0})), ~Sequence{0});
    for (const char* name : {"seg-1.log", "seg-0000000000000000000x.log", "seg-00000000000000000001.lo", "spare-1",
                             "seg-99999999999999999999.log", "seg-00000000000000000000.log", ""}) {
        EXPECT_EQ(sequence_of_segment_name(name), 0u) << name;
    }
}

// It advised to repair the log, for which there is no tool.
TEST(SegmentFormat, damage_is_reported_with_file_offset_and_remedy) {
    const Error error = damaged_log("journal/seg-1.log", 512, "a record ends early");
    EXPECT_EQ(error.code, "damaged_log"_code);
    EXPECT_NE(error.message.find("journal/seg-1.log at offset 512: a record ends early"), std::string::npos);
    EXPECT_NE(error.message.find("from a backup"), std::string::npos);
    EXPECT_NE(error.message.find("`duewheel export --skip-damaged`"), std::string::npos);
    EXPECT_FALSE(damage_place(error)) << "not the name of a segment";
    const std::string segment = segment_name(17);
    EXPECT_EQ(damage_place(damaged_log("journal/" + segment, 512, "")), (DamagePlace{segment, 512}));
    EXPECT_EQ(error.message.find("repair"), std::string::npos);
}

TEST(SegmentFormat, the_shard_is_in_the_header_and_absent_in_old_ones) {
    SegmentHeader header;
    header.segment_bytes = 1 << 20;
    header.identity = trial_identity(1);
    const std::string alone = encode_segment_header(header);
    EXPECT_EQ(alone.find_first_not_of('\0', 16 + 2 + 2 + 4 + 5 * 8 + 7 * 8 + 32), std::string::npos)
        << "shard 0 of 1 has the bytes of logs from before there were shards";
    header.identity.shard = 1023;
    header.identity.shards = 1024;
    EXPECT_EQ(decode_segment_header(encode_segment_header(header))->identity, header.identity);
    header.identity.shards = 1023;
    EXPECT_EQ(decode_segment_header(encode_segment_header(header)).error().code, "bad_header"_code);
}

TEST(SegmentFormat, the_log_of_another_shard_is_refused_by_name) {
    const auto of = [](std::uint16_t shard, std::uint16_t shards) {
        LogIdentity identity = trial_identity(1);
        identity.shard = shard;
        identity.shards = shards;
        return identity;
    };
    EXPECT_TRUE(check_shard(of(1, 2), of(1, 2), "DIR"));
    for (const auto& wanted : {of(0, 2), of(1, 3), of(0, 1)}) {
        const Status refused = check_shard(of(1, 2), wanted, "DIR");
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, "shards_changed"_code);
        EXPECT_TRUE(
            refused.error().message.starts_with("DIR has the log of shard 1 of 2, and the settings "
                                                "shards.number and shards.count say shard"))
            << refused.error().message;
    }
}

TEST(SegmentFormat, the_hash_in_footers_depends_on_the_secret) {
    LogIdentity one = trial_identity(1);
    const std::uint64_t before = one.hash();
    one.token_key[15] ^= std::byte{1};
    EXPECT_NE(one.hash(), before);
}

}  // namespace
}  // namespace duewheel::segment_format_test
