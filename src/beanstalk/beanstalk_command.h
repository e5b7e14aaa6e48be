// The commands of beanstalkd's protocol, as plain values, and the parser that reads them.
//
// Specification: doc/protocol.txt of beanstalkd 1.12. What that page leaves open follows the behaviour of beanstalkd
// (docs/beanstalk.md lists the differences).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace duewheel {

enum class BeanstalkVerb : std::uint8_t {
    put,
    peek,
    peek_ready,
    peek_delayed,
    peek_buried,
    reserve,
    reserve_with_timeout,
    reserve_job,
    remove,  // "delete"
    release,
    bury,
    kick,
    kick_job,
    touch,
    use,
    watch,
    ignore,
    list_tubes,
    list_tube_used,
    list_tubes_watched,
    stats,
    stats_job,
    stats_tube,
    pause_tube,
    quit,
};
inline constexpr std::size_t kBeanstalkVerbs = static_cast<std::size_t>(BeanstalkVerb::quit) + 1;

struct BeanstalkCommand {
    BeanstalkVerb verb = BeanstalkVerb::quit;
    std::uint64_t id = 0;
    std::uint32_t priority = 0;  // smaller first
    std::uint32_t delay_s = 0;
    std::uint32_t ttr_s = 0;     // time to run
    std::uint32_t number = 0;    // kick: how many
    std::int32_t timeout_s = 0;  // reserve_with_timeout; negative: none
    std::string tube;
    std::string body;
};

// The client speaks another protocol: nothing that follows may be carried out.
struct OtherProtocol {
    std::string_view reply = "UNKNOWN_COMMAND\r\n";
};

// Reads the commands of one connection. The result does not depend on how the bytes are cut into pieces.
//
// A web page can make a browser send HTTP to any port, with commands in the body. So a request line or a Host field of
// HTTP is OtherProtocol, and so is a first line that does not begin with a command. After that the parser must not be
// used.
class BeanstalkParser {
  public:
    // A command, or the reply to what is not one, such as "BAD_FORMAT\r\n".
    using Parsed = std::variant<BeanstalkCommand, std::string_view, OtherProtocol>;

    // `job_bytes_max`: the maximum size of a job's body.
    explicit BeanstalkParser(std::size_t job_bytes_max) : job_bytes_max_(job_bytes_max) {}

    // Takes the bytes of the next command from the front of `bytes`. None: all were taken, and more are needed.
    // O(bytes).
    std::optional<Parsed> read(std::string_view& bytes);

    // Bytes kept of the command that is being read.
    std::size_t held_bytes() const { return line_.size() + put_.body.size(); }
    // Whether a part of a job has arrived, and the rest has not.
    bool in_job() const { return body_left_ > 0 || skip_left_ > 0; }
    // Frees the job that is being read, if there is one. The rest of it is skipped, then the reply is OUT_OF_MEMORY.
    void drop_job();

  private:
    std::optional<Parsed> read_line(std::string_view& bytes);
    std::optional<Parsed> read_body(std::string_view& bytes);
    std::optional<Parsed> skip_body(std::string_view& bytes);
    bool is_of_other_protocol(std::string_view line_start);
    std::optional<Parsed> understand(std::string_view line);
    std::optional<Parsed> begin_put(std::string_view arguments);

    const std::size_t job_bytes_max_;
    std::string line_;            // what came of a line in pieces
    bool line_too_long_ = false;  // the rest of it is skipped
    bool is_first_line_ = true;
    BeanstalkCommand put_;         // whose body is being read
    std::size_t body_left_ = 0;    // of put_, with the line end behind it; 0: none is being read
    std::uint64_t skip_left_ = 0;  // of the body of a refused put, likewise
    std::string_view refusal_;     // the reply to it
};

}  // namespace duewheel
