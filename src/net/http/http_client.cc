#include "net/http/http_client.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <functional>
#include <new>
#include <optional>
#include <utility>

#include <curl/curl.h>

#include "base/error_codes.h"
#include "shared/system_clock.h"

namespace duewheel {
namespace {

constexpr std::size_t kHeaderBytesMax = 64u << 10;

struct FreeUrl {
    void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
struct FreeText {
    void operator()(char* text) const { curl_free(text); }
};
struct FreeList {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
struct FreeEasy {
    void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};

// Control characters, with which a caller's text could become another header or request.
bool holds_control(std::string_view text) {
    return std::any_of(text.begin(), text.end(),
                       [](char c) { return (c >= 0 && c < ' ' && c != '\t') || c == '\x7f'; });
}

bool may_repeat(std::string_view method, const std::vector<HttpHeader>& headers) {
    if (method != "POST" && method != "PATCH") return true;
    return std::any_of(headers.begin(), headers.end(),
                       [](const HttpHeader& header) { return equal_ignoring_case(header.name, "Idempotency-Key"); });
}

std::string part_of(CURLU* url, CURLUPart part) {
    char* text = nullptr;
    if (curl_url_get(url, part, &text, 0) != CURLUE_OK) return {};
    return std::unique_ptr<char, FreeText>(text).get();
}

struct ServerAddress {
    std::string base;  // of all targets, without a slash at its end
    bool is_https = false;
    bool is_loopback = false;
};

bool is_loopback(std::string_view host) {
    if (equal_ignoring_case(host, "localhost") || host == "[::1]") return true;
    return host.starts_with("127.") && std::all_of(host.begin(), host.end(), [](char c) {
               return std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.';
           });
}

// A part of the url that a redirect names, resolved against that of the request.
struct RedirectTarget {
    std::string url;
    std::string server;  // scheme, host and port
    bool is_https = false;
    bool is_loopback = false;
};

std::optional<RedirectTarget> resolve_redirect(const std::string& from, const std::string& location) {
    const std::unique_ptr<CURLU, FreeUrl> url(curl_url());
    if (!url) throw std::bad_alloc();
    if (holds_control(location) || location.empty() || location.find_first_of(" #") != std::string::npos) return {};
    constexpr unsigned kFlags = CURLU_DISALLOW_USER | CURLU_PATH_AS_IS;
    if (curl_url_set(url.get(), CURLUPART_URL, from.c_str(), kFlags) != CURLUE_OK) return {};
    if (curl_url_set(url.get(), CURLUPART_URL, location.c_str(), kFlags) != CURLUE_OK) return {};
    const std::string scheme = part_of(url.get(), CURLUPART_SCHEME);
    if (scheme != "http" && scheme != "https") return {};
    const std::string host = part_of(url.get(), CURLUPART_HOST);
    const std::string port = part_of(url.get(), CURLUPART_PORT);
    return RedirectTarget{.url = part_of(url.get(), CURLUPART_URL),
                          .server = scheme + "://" + host + (port.empty() ? "" : ":" + port),
                          .is_https = scheme == "https",
                          .is_loopback = is_loopback(host)};
}

Result<ServerAddress> parse_server(const std::string& server) {
    const Error error{"bad_address"_code,
                      "\"" + server +
                          "\" is not a server address; write http://HOST:PORT or https://HOST:PORT, such as "
                          "http://127.0.0.1:7420.",
                      ""};
    const std::unique_ptr<CURLU, FreeUrl> url(curl_url());
    if (!url) throw std::bad_alloc();
    if (holds_control(server) || server.find(' ') != std::string::npos) return error;
    if (curl_url_set(url.get(), CURLUPART_URL, server.c_str(), CURLU_DISALLOW_USER | CURLU_PATH_AS_IS) != CURLUE_OK) {
        return error;
    }
    const std::string scheme = part_of(url.get(), CURLUPART_SCHEME);
    const bool is_http = scheme == "http" || scheme == "https";
    const bool is_base = server.find_first_of("?#") == std::string::npos;
    if (!is_http || !is_base || part_of(url.get(), CURLUPART_PORT) == "0") return error;
    ServerAddress address;
    address.base = server;
    while (address.base.ends_with('/')) address.base.pop_back();
    address.is_https = scheme == "https";
    address.is_loopback = is_loopback(part_of(url.get(), CURLUPART_HOST));
    return address;
}

}  // namespace

std::optional<std::string_view> HttpAnswer::header(std::string_view name) const {
    for (const HttpHeader& header : headers) {
        if (equal_ignoring_case(header.name, name)) return header.value;
    }
    return std::nullopt;
}

struct HttpClient::Parts {
    explicit Parts(HttpClientOptions chosen);

    void start(std::string_view target);
    void begin(std::string_view method, std::string_view body, std::chrono::milliseconds timeout);
    Result<HttpAnswer> perform(curl_slist* fields, std::string_view method);
    Status redirect(const HttpAnswer& answer);
    Error describe(CURLcode code, std::string_view method) const;
    Error unreachable(const std::string& what) const;
    Error bad_answer(const std::string& what) const;
    std::string detail(CURLcode code) const;

    static int before_sending(void* self, char*, char*, int, int);
    static std::size_t on_body(char* bytes, std::size_t, std::size_t size, void* self);
    static int on_progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t);
    static std::size_t on_header(char* bytes, std::size_t, std::size_t size, void* self);

    const HttpClientOptions options;
    const Result<ServerAddress> address;
    std::unique_ptr<CURL, FreeEasy> easy;
    // State of the request that runs.
    std::string url;
    std::string server;  // of the url
    int redirects = 0;
    bool may_be_repeated = false;
    bool is_exposed = false;  // others can read along: not encrypted, and beyond this machine
    bool was_sent = false;    // or partly
    bool is_repeat = false;   // it would have been sent a second time
    std::size_t header_bytes = 0;
    bool has_whole_head = false;  // of the response; the library accepts a truncated one
    std::string body;
    // Consumers of a response without a known end; null for others.
    const std::function<void(std::string_view)>* take = nullptr;
    const std::function<bool()>* goes_on = nullptr;
    bool was_stopped = false;
    std::array<char, CURL_ERROR_SIZE> error{};
};

HttpClient::Parts::Parts(HttpClientOptions chosen) : options(std::move(chosen)), address(parse_server(options.server)) {
    static const CURLcode is_set_up = curl_global_init(CURL_GLOBAL_DEFAULT);
    easy.reset(is_set_up == CURLE_OK ? curl_easy_init() : nullptr);
    if (!easy) throw std::bad_alloc();
    CURL* const handle = easy.get();
    curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, error.data());
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    // The thread that resolves a name cannot be stopped. Without this option the end of a request waits for it.
    curl_easy_setopt(handle, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(handle, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
    curl_easy_setopt(handle, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(handle, CURLOPT_HTTP09_ALLOWED, 0L);
    curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    curl_easy_setopt(handle, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    curl_easy_setopt(handle, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(handle, CURLOPT_SSL_VERIFYHOST, 2L);
    if (!options.ca_file.empty()) curl_easy_setopt(handle, CURLOPT_CAINFO, options.ca_file.c_str());
    if (!options.client_certificate.empty()) {
        const std::string& key = options.client_key.empty() ? options.client_certificate : options.client_key;
        curl_easy_setopt(handle, CURLOPT_SSLCERT, options.client_certificate.c_str());
        curl_easy_setopt(handle, CURLOPT_SSLKEY, key.c_str());
    }
    curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, &Parts::before_sending);
    curl_easy_setopt(handle, CURLOPT_PREREQDATA, this);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &Parts::on_body);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, this);
    curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, &Parts::on_header);
    curl_easy_setopt(handle, CURLOPT_HEADERDATA, this);
    curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, &Parts::on_progress);
    curl_easy_setopt(handle, CURLOPT_XFERINFODATA, this);
}

// If a kept connection ends without a response, the library retries on another one, up to five times. The server may
// have executed the request each time.
int HttpClient::Parts::before_sending(void* self, char*, char*, int, int) {
    Parts& parts = *static_cast<Parts*>(self);
    parts.is_repeat = std::exchange(parts.was_sent, true);
    return parts.is_repeat && !parts.may_be_repeated ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

std::size_t HttpClient::Parts::on_body(char* bytes, std::size_t, std::size_t size, void* self) {
    Parts& parts = *static_cast<Parts*>(self);
    if (parts.take != nullptr) {
        long status = 0;
        curl_easy_getinfo(parts.easy.get(), CURLINFO_RESPONSE_CODE, &status);
        if (status < 300) {
            (*parts.take)({bytes, size});
            return size;
        }
    }
    if (size > parts.options.body_bytes_max - parts.body.size()) return CURL_WRITEFUNC_ERROR;
    parts.body.append(bytes, size);
    return size;
}

// The transfer ends when this is not 0.
int HttpClient::Parts::on_progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    Parts& parts = *static_cast<Parts*>(self);
    parts.was_stopped = parts.goes_on != nullptr && !(*parts.goes_on)();
    return parts.was_stopped ? 1 : 0;
}

std::size_t HttpClient::Parts::on_header(char* bytes, std::size_t, std::size_t size, void* self) {
    Parts& parts = *static_cast<Parts*>(self);
    const std::string_view line(bytes, size);
    if (line.starts_with("HTTP/")) parts.has_whole_head = false;
    if (line.find_first_not_of("\r\n") == std::string_view::npos) parts.has_whole_head = true;
    parts.header_bytes += size;
    return parts.header_bytes > kHeaderBytesMax ? 0 : size;
}

void HttpClient::Parts::start(std::string_view target) {
    url = address->base + std::string(target);
    server = options.server;
    redirects = 0;
    is_exposed = !address->is_https && !address->is_loopback;
    curl_easy_setopt(easy.get(), CURLOPT_PROXY, address->is_loopback ? "" : nullptr);
}

// Continues at the address that the answer names.
Status HttpClient::Parts::redirect(const HttpAnswer& answer) {
    const std::string location(answer.header("Location").value_or(""));
    const std::optional<RedirectTarget> next = resolve_redirect(url, location);
    const std::string at = "The server at " + server;
    if (!next) {
        return Error{"bad_redirect"_code,
                     at + " redirects to \"" + location +
                         "\", which is not the address of a server. Check the setting kafka.log.url or "
                         "shards.urls of the servers."};
    }
    if (url.starts_with("https:") && !next->is_https) {
        return Error{"bad_redirect"_code,
                     at + " redirects to " + next->server +
                         ", which is not encrypted, so nothing was sent there. Check the setting "
                         "kafka.log.url or shards.urls of the servers: it must begin with https://."};
    }
    if (++redirects > kRedirectsMax) {
        return Error{"bad_redirect"_code,
                     at + " redirects to " + next->server + ", after " + std::to_string(kRedirectsMax) +
                         " redirects in a row: the servers do not agree which of them is responsible. "
                         "Try again, and check that all have the same settings."};
    }
    url = next->url;
    server = next->server;
    is_exposed = !next->is_https && !next->is_loopback;
    curl_easy_setopt(easy.get(), CURLOPT_PROXY, next->is_loopback ? "" : nullptr);
    return {};
}

void HttpClient::Parts::begin(std::string_view method, std::string_view sent_body, std::chrono::milliseconds timeout) {
    was_sent = is_repeat = false;
    header_bytes = 0;
    has_whole_head = was_stopped = false;
    body.clear();
    error[0] = '\0';
    CURL* const handle = easy.get();
    const auto timeout_ms = static_cast<long>(std::max<std::int64_t>(1, timeout.count()));
    const bool has_end = take == nullptr;
    curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, has_end ? timeout_ms : 0L);
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, timeout_ms);
    curl_easy_setopt(handle, CURLOPT_NOPROGRESS, has_end ? 1L : 0L);
    curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, has_end ? 0L : 1L);
    curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, has_end ? 0L : std::max(1L, timeout_ms / 1000));
    curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
    if (method == "HEAD") {
        curl_easy_setopt(handle, CURLOPT_NOBODY, 1L);
    } else if (!sent_body.empty() || method == "POST" || method == "PUT" || method == "PATCH") {
        curl_easy_setopt(handle, CURLOPT_POST, 1L);
        curl_easy_setopt(handle, CURLOPT_POSTFIELDS, sent_body.empty() ? "" : sent_body.data());
        curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(sent_body.size()));
    } else {
        curl_easy_setopt(handle, CURLOPT_HTTPGET, 1L);
    }
    curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, std::string(method).c_str());
}

// The system's message for a failed connection; otherwise the library's message.
std::string HttpClient::Parts::detail(CURLcode code) const {
    long reason = 0;
    curl_easy_getinfo(easy.get(), CURLINFO_OS_ERRNO, &reason);
    if (code == CURLE_COULDNT_CONNECT && reason != 0) return std::strerror(static_cast<int>(reason));
    return error[0] != '\0' ? error.data() : curl_easy_strerror(code);
}

Error HttpClient::Parts::unreachable(const std::string& what) const {
    if (redirects > 0) {
        return {"unreachable"_code, "Cannot reach the server at " + server + ", to which " + options.server +
                                        " redirects: " + what +
                                        ". If that server has just failed, another one takes over within seconds: try "
                                        "again."};
    }
    return {"unreachable"_code,
            "Cannot reach the server at " + options.server + ": " + what +
                ". Check that it is running and that the address is right (--server or DUEWHEEL_SERVER).",
            ""};
}

Error HttpClient::Parts::bad_answer(const std::string& what) const {
    return {"bad_answer"_code,
            "The address " + server + " does not seem to belong to a Duewheel server: " + what +
                ". Check the address (--server or DUEWHEEL_SERVER).",
            ""};
}

Error HttpClient::Parts::describe(CURLcode code, std::string_view method) const {
    switch (code) {
        case CURLE_URL_MALFORMAT:
            return {"bad_address"_code, server + ": " + detail(code) + ".", ""};
        case CURLE_PEER_FAILED_VERIFICATION:
            return {"untrusted_server"_code,
                    "The certificate of the server at " + server + " is not valid: " + detail(code) +
                        ". Check the address, or name the file of its certificate authority (--ca-file or "
                        "DUEWHEEL_CA_FILE).",
                    ""};
        case CURLE_SSL_CACERT_BADFILE:
        case CURLE_SSL_CERTPROBLEM:
            return {"bad_certificate_file"_code,
                    "A certificate file cannot be used: " + detail(code) +
                        ". Check --ca-file, --client-certificate and --client-key: they are files in PEM format.",
                    ""};
        case CURLE_UNSUPPORTED_PROTOCOL:
        case CURLE_WEIRD_SERVER_REPLY:
        case CURLE_BAD_CONTENT_ENCODING:
            return bad_answer(detail(code));
        case CURLE_WRITE_ERROR:
            return bad_answer("its response is too large");
        case CURLE_COULDNT_RESOLVE_PROXY:
        case CURLE_COULDNT_RESOLVE_HOST:
        case CURLE_COULDNT_CONNECT:
        case CURLE_SSL_CONNECT_ERROR:
            return unreachable(detail(code));
        default:
            break;
    }
    if (!was_sent) {
        return unreachable(code == CURLE_OPERATION_TIMEDOUT ? "it did not accept the connection in time"
                                                            : detail(code));
    }
    const bool harmless = method == "GET" || method == "HEAD";
    const std::string what = code == CURLE_OPERATION_TIMEDOUT
                                 ? "it did not respond in time"
                                 : "the connection broke before the response was complete (" +
                                       (is_repeat ? "the server closed it" : detail(code)) + ")";
    return unreachable(harmless ? what : what + "; it is unknown whether the request was executed");
}

Result<HttpAnswer> HttpClient::Parts::perform(curl_slist* fields, std::string_view method) {
    if (is_exposed && !options.token.empty() && !options.insecure) {
        return Error{"exposed_token"_code,
                     "The connection to " + server +
                         " is not encrypted, and others could read the token, so nothing was sent "
                         "there. Use https://, or --insecure in a network that you trust."};
    }
    CURL* const handle = easy.get();
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, fields);
    const CURLcode code = curl_easy_perform(handle);
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, nullptr);
    if (code != CURLE_OK && !was_stopped) return describe(code, method);
    if (!has_whole_head && !was_stopped) return describe(CURLE_GOT_NOTHING, method);
    HttpAnswer answer;
    long status = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    answer.status = static_cast<int>(status);
    for (curl_header* each = nullptr; (each = curl_easy_nextheader(handle, CURLH_HEADER, -1, each)) != nullptr;) {
        answer.headers.push_back({each->name, each->value});
    }
    answer.body = std::move(body);
    return answer;
}

HttpClient::HttpClient(HttpClientOptions options) : parts_(std::make_unique<Parts>(std::move(options))) {}
HttpClient::~HttpClient() = default;
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;

Result<HttpAnswer> HttpClient::request(std::string_view method, std::string_view target,
                                       const std::vector<HttpHeader>& headers, std::string_view body,
                                       std::chrono::milliseconds timeout) {
    Parts& parts = *parts_;
    if (!parts.address) return parts.address.error();
    bool clean = !holds_control(method) && !holds_control(target) && !holds_control(parts.options.token) &&
                 target.find_first_of(" #") == std::string_view::npos;
    std::unique_ptr<curl_slist, FreeList> fields;
    const auto add = [&fields](const std::string& field) {
        curl_slist* const longer = curl_slist_append(fields.get(), field.c_str());
        if (longer == nullptr) throw std::bad_alloc();
        static_cast<void>(fields.release());
        fields.reset(longer);
    };
    bool has_type = false;
    for (const HttpHeader& header : headers) {
        clean = clean && !holds_control(header.name) && !holds_control(header.value);
        has_type = has_type || equal_ignoring_case(header.name, "Content-Type");
        add(header.value.empty() ? header.name + ";" : header.name + ": " + header.value);
    }
    if (!clean) return Error{"bad_request"_code, "The request contains a line break or another control character.", ""};
    if (!parts.options.token.empty()) add("Authorization: Bearer " + parts.options.token);
    if (!has_type) add("Content-Type:");
    add("Expect:");
    parts.may_be_repeated = may_repeat(method, headers);
    const std::int64_t give_up_ns = monotonic_now_ns() + std::chrono::nanoseconds(timeout).count();
    parts.start(target);
    while (true) {
        const std::chrono::nanoseconds left(give_up_ns - monotonic_now_ns());
        parts.begin(method, body, std::chrono::duration_cast<std::chrono::milliseconds>(left));
        Result<HttpAnswer> answer = parts.perform(fields.get(), method);
        if (!answer || answer->status != 307) return answer;
        if (Status followed = parts.redirect(*answer); !followed) return std::move(followed).error();
    }
}

Result<HttpAnswer> HttpClient::stream(std::string_view target, const std::function<void(std::string_view)>& take,
                                      const std::function<bool()>& goes_on, std::chrono::seconds silence_max) {
    parts_->take = &take;
    parts_->goes_on = &goes_on;
    Result<HttpAnswer> answer = request("GET", target, {}, {}, silence_max);
    parts_->take = nullptr;
    parts_->goes_on = nullptr;
    return answer;
}

}  // namespace duewheel
