// The limits of HTTP connections and their requests (server/limit.h).
#include "ingress/event_streams.h"
#include "server/limit_rows.h"

namespace duewheel::limit_rows {

std::span<const Limit> of_connections() {
    static constexpr Limit kRows[] = {
        at<kHttp, &Http::connections_max>(
            {.name = "http.connections_max",
             .sentence = "Maximum number of open connections. Further clients wait until one closes.",
             .min = 1,
             .max = 1'000'000,
             .otherwise = "clients wait in the kernel's queue",
             .use = of_http<&HttpCounters::connections_open>}),
        fixed<kEventStreamsMax>({.name = "http.event_streams_max",
                                 .sentence = "Maximum number of open event streams.",
                                 .codes = {"stream_limit"},
                                 .use = of_http<&HttpCounters::streams_open>}),
        at<kHttp, &Http::body_bytes_max>({.name = "http.body_max",
                                          .unit = Unit::bytes,
                                          .sentence = "Maximum size of a request body.",
                                          .min = 64 * kKiB,
                                          .max = kGiB,
                                          .codes = {"body_too_large"}}),
        bound<kHttp, &Http::header_bytes_max>(
            {.name = "http.header_max",
             .unit = Unit::bytes,
             .sentence = "Maximum size of all header fields of a request, line ends included.",
             .codes = {"header_too_large"}}),
        bound<kHttp, &Http::header_count_max>({.name = "http.header_fields_max",
                                               .sentence = "Maximum number of header fields of a request.",
                                               .codes = {"header_too_large"}}),
        bound<kHttp, &Http::target_bytes_max>({.name = "http.target_max",
                                               .unit = Unit::bytes,
                                               .sentence = "Maximum size of the path and query of a request.",
                                               .codes = {"target_too_long"}}),
        at<kHttp, &Http::unfinished_bytes_max>({.name = "http.unfinished_max",
                                                .unit = Unit::bytes,
                                                .sentence = "Maximum total size of partly received requests, over all "
                                                            "clients. The request that exceeds it is refused.",
                                                .min = kMiB,
                                                .max = 1024 * kGiB,
                                                .codes = {"overloaded"},
                                                .use = of_http<&HttpCounters::unfinished_bytes>}),
        bound<kHttp, &Http::pipeline_max>({.name = "http.pipeline_max",
                                           .sentence =
                                               "Maximum number of requests of a connection that wait for their "
                                               "responses. Beyond it the server stops reading from the connection.",
                                           .otherwise = "reading pauses until responses are sent"}),
        bound<kHttp, &Http::reads_max>(
            {.name = "http.reads_max",
             .sentence = "Maximum number of requests of a connection that read data at the same time, because their "
                         "responses can be large. Beyond it the server stops reading from the connection.",
             .otherwise = "reading pauses until responses are sent"}),
        bound<kHttp, &Http::output_bytes_max>({.name = "http.output_max",
                                               .unit = Unit::bytes,
                                               .sentence =
                                                   "Maximum size of a connection's responses that the client has not "
                                                   "read. Beyond it the server stops reading from the connection.",
                                               .otherwise = "reading pauses until responses are sent"}),
        at<kHttp, &Http::unsent_bytes_max>({.name = "http.unsent_max",
                                            .unit = Unit::bytes,
                                            .sentence =
                                                "Maximum total size of unsent responses, over all connections. "
                                                "Beyond it the connections with the most unsent data are closed.",
                                            .min = kMiB,
                                            .max = 1024 * kGiB,
                                            .otherwise = "the connection is closed",
                                            .use = of_http<&HttpCounters::unsent_bytes>}),
        bound<kHttp, &Http::header_deadline>(
            {.name = "http.header_timeout",
             .unit = Unit::milliseconds,
             .sentence = "Maximum time from the first byte of a request to the end of its header.",
             .codes = {"request_timeout"}}),
        bound<kHttp, &Http::body_deadline>({.name = "http.body_timeout",
                                            .unit = Unit::milliseconds,
                                            .sentence = "Maximum time to receive a request body.",
                                            .codes = {"request_timeout"}}),
        at<kHttp, &Http::idle_timeout>({.name = "http.idle_timeout",
                                        .unit = Unit::milliseconds,
                                        .sentence = "A connection without a request is closed after this time.",
                                        .min = kSecond,
                                        .max = kDay,
                                        .otherwise = "the connection is closed"}),
        bound<kHttp, &Http::write_deadline>(
            {.name = "http.write_timeout",
             .unit = Unit::milliseconds,
             .sentence = "Maximum time for a client to read 64 KiB of its responses, or the remainder if that is less.",
             .otherwise = "the connection is closed"}),
    };
    return kRows;
}

}  // namespace duewheel::limit_rows
