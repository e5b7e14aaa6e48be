// The limits of HTTP connections and their requests (server/limits/limit.h).
#include "base/error_codes.h"
#include "http_api/calls/event_streams.h"
#include "server/limits/limit_rows.h"

namespace duewheel::limit_rows {

std::span<const Limit> of_connections() {
    static constexpr Limit kRows[] = {
        at<kHttp, &Http::connections_max>(
            "http.connections_max", Unit::count,
            "Maximum number of open connections. When it is reached, connections without a "
            "request and without an access token are closed, the oldest first; if there are "
            "none, further clients wait. An address beyond this machine may have half of "
            "them, and up to 16 are kept for clients on this machine.",
            {.min = 1,
             .max = 1'000'000,
             .otherwise = "idle connections are closed, or clients wait",
             .use = of_http<&HttpCounters::connections_open>}),
        fixed<kEventStreamsMax>("http.event_streams_max", Unit::count,
                                "Maximum number of open event streams. An access token may have 8 of them.",
                                {.codes = {"stream_limit"_code}, .use = of_http<&HttpCounters::streams_open>}),
        at<kHttp, &Http::body_bytes_max>("http.body_max", Unit::bytes, "Maximum size of a request body.",
                                         {.min = 64 * kKiB, .max = kGiB, .codes = {"body_too_large"_code}}),
        bound<kHttp, &Http::header_bytes_max>("http.header_max", Unit::bytes,
                                              "Maximum size of all header fields of a request, line ends included.",
                                              {.codes = {"header_too_large"_code}}),
        bound<kHttp, &Http::header_count_max>("http.header_fields_max", Unit::count,
                                              "Maximum number of header fields of a request.",
                                              {.codes = {"header_too_large"_code}}),
        bound<kHttp, &Http::target_bytes_max>("http.target_max", Unit::bytes,
                                              "Maximum size of the path and query of a request.",
                                              {.codes = {"target_too_long"_code}}),
        at<kHttp, &Http::unfinished_bytes_max>(
            "http.unfinished_max", Unit::bytes,
            "Maximum total size of partly received requests, over all "
            "clients. The request that exceeds it is refused. One access token, and one "
            "address beyond this machine, may have half of it.",
            {.min = kMiB,
             .max = 1024 * kGiB,
             .codes = {"overloaded"_code},
             .use = of_http<&HttpCounters::unfinished_bytes>}),
        bound<kHttp, &Http::pipeline_max>("http.pipeline_max", Unit::count,
                                          "Maximum number of requests of a connection that wait for their "
                                          "responses. Beyond it the server stops reading from the connection.",
                                          {.otherwise = "reading pauses until responses are sent"}),
        bound<kHttp, &Http::reads_max>(
            "http.reads_max", Unit::count,
            "Maximum number of requests of a connection that read data at the same time, because their "
            "responses can be large. Beyond it the server stops reading from the connection.",
            {.otherwise = "reading pauses until responses are sent"}),
        bound<kHttp, &Http::output_bytes_max>("http.output_max", Unit::bytes,
                                              "Maximum size of a connection's responses that the client has not "
                                              "read. Beyond it the server stops reading from the connection.",
                                              {.otherwise = "reading pauses until responses are sent"}),
        at<kHttp, &Http::unsent_bytes_max>("http.unsent_max", Unit::bytes,
                                           "Maximum total size of unsent responses, over all connections. "
                                           "Beyond it the connections with the most unsent data are closed.",
                                           {.min = kMiB,
                                            .max = 1024 * kGiB,
                                            .otherwise = "the connection is closed",
                                            .use = of_http<&HttpCounters::unsent_bytes>}),
        bound<kHttp, &Http::header_deadline>("http.header_timeout", Unit::milliseconds,
                                             "Maximum time from the first byte of a request to the end of its header, "
                                             "for the first one from the begin of the connection.",
                                             {.codes = {"request_timeout"_code}}),
        bound<kHttp, &Http::body_deadline>("http.body_timeout", Unit::milliseconds,
                                           "Maximum time to receive a request body.",
                                           {.codes = {"request_timeout"_code}}),
        at<kHttp, &Http::idle_timeout>(
            "http.idle_timeout", Unit::milliseconds,
            "A connection that has sent a request, and has no other one, is closed after this time.",
            {.min = kSecond, .max = kDay, .otherwise = "the connection is closed"}),
        bound<kHttp, &Http::write_deadline>(
            "http.write_timeout", Unit::milliseconds,
            "Maximum time for a client to read 64 KiB of its responses, or the remainder if that is less.",
            {.otherwise = "the connection is closed"}),
    };
    return kRows;
}

}  // namespace duewheel::limit_rows
