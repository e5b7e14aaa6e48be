package duewheel;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLPeerUnverifiedException;

/** Sends calls, and repeats them until their deadline. The rules are those of all clients: clients/conformance/README.md. */
final class Transport {
    /**
     * One call with all its attempts.
     *
     * @param body of an attempt that begins so long after the first one; null: no body
     * @param kind the media type of the body
     * @param atServer how long the server may wait by itself, in addition to the deadline of the call
     * @param within the deadline; null: that of the client
     * @param traceparent the trace that a put belongs to; null: none
     */
    record Call(String method, String path, Function<Duration, byte[]> body, String kind, Duration atServer, Duration within, String traceparent) {
        Call(String method, String path, byte[] body) {
            this(method, path, body == null ? null : passed -> body, "application/json", Duration.ZERO, null, null);
        }

        Call waiting(Duration time) {
            return new Call(method, path, body, kind, time, within, traceparent);
        }

        Call within(Duration time) {
            return new Call(method, path, body, kind, atServer, time, traceparent);
        }

        Call traced(String by) {
            return new Call(method, path, body, kind, atServer, within, by);
        }

        Call lines() {
            return new Call(method, path, body, "application/x-ndjson", atServer, within, traceparent);
        }
    }

    private static final long BACKOFF_FIRST_NS = 50_000_000L;
    private static final long BACKOFF_MAX_NS = 2_000_000_000L;
    private static final int REDIRECTS_MAX = 5;
    /** The versions of servers that this client understands: from the first one, and before the second one. */
    private static final int[] OLDEST = {0, 1};
    private static final int[] BEFORE = {0, 2};
    private static final Call READY = new Call("GET", "/readyz", null);
    private static final Pattern VERSION = Pattern.compile("(\\d{1,6})\\.(\\d{1,6})\\b.*");

    private final HttpClient http;
    private final String origin;
    private final String token;
    private final Duration timeout;
    private volatile boolean isChecked; // whether the version of the server is one of these

    Transport(HttpClient http, String origin, String token, Duration timeout) {
        this.http = http;
        this.origin = origin;
        this.token = token;
        this.timeout = timeout;
    }

    Transport within(Duration time) {
        var made = new Transport(http, origin, token, time);
        made.isChecked = isChecked;
        return made;
    }

    Duration timeout() {
        return timeout;
    }

    /** The body of the successful answer. */
    byte[] send(Call call) {
        return new Attempts(call).send();
    }

    private static int compare(int major, int minor, int[] other) {
        return major != other[0] ? Integer.compare(major, other[0]) : Integer.compare(minor, other[1]);
    }

    /** An answer without a version is no obstacle: a proxy may keep it back. */
    private void checkVersion(HttpResponse<byte[]> ready) {
        JsonNode page = Wire.parsed(ready.body());
        String version = page == null ? "" : page.path("version").asText();
        Matcher parts = VERSION.matcher(version);
        if (parts.matches()) {
            int major = Integer.parseInt(parts.group(1));
            int minor = Integer.parseInt(parts.group(2));
            if (compare(major, minor, OLDEST) < 0 || compare(major, minor, BEFORE) >= 0) {
                throw DuewheelException.unavailable("unsupported_server", "%s is a Duewheel server of version %s, and this client is for those from %d.%d and before %d.%d: "
                    .formatted(origin, version, OLDEST[0], OLDEST[1], BEFORE[0], BEFORE[1]) + "install the client of the server's version", null);
            }
        }
        isChecked = true;
    }

    private HttpResponse<byte[]> exchange(String at, String path, Call call, byte[] content, long leftNs)
        throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(at + path));
        request.method(call.method(), content == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofByteArray(content));
        if (content != null) {
            request.setHeader("Content-Type", call.kind());
        }
        if (token != null) {
            request.setHeader("Authorization", "Bearer " + token);
        }
        if (call.traceparent() != null) {
            request.setHeader("traceparent", call.traceparent());
        }
        var response = http.sendAsync(request.build(), HttpResponse.BodyHandlers.ofByteArray());
        try {
            return response.get(Math.max(leftNs, 1), TimeUnit.NANOSECONDS);
        } catch (TimeoutException | InterruptedException error) {
            response.cancel(true); // also if the body does not come, for which a timeout of the request does not hold
            if (error instanceof InterruptedException interrupted) {
                throw interrupted;
            }
            throw new IOException("the response did not come", error);
        } catch (ExecutionException error) {
            throw error.getCause() instanceof IOException cause ? cause : new IOException(error.getCause());
        }
    }

    /** What one call does until it has an answer that another attempt does not improve, or until its deadline. */
    private final class Attempts {
        private final Call call;
        private final long beganNs = System.nanoTime();
        private final long timeNs;
        private String at = origin;
        private String path;
        private int redirects;
        private long pauseAtLeastNs; // what the server asked for

        Attempts(Call call) {
            this.call = call;
            path = call.path();
            timeNs = (call.within() == null ? timeout : call.within()).plus(call.atServer()).toNanos();
        }

        private long leftNs() {
            return timeNs - (System.nanoTime() - beganNs);
        }

        byte[] send() {
            try {
                for (long backoffNs = BACKOFF_FIRST_NS;; backoffNs = Math.min(2 * backoffNs, BACKOFF_MAX_NS)) {
                    DuewheelException failure;
                    pauseAtLeastNs = 0;
                    try {
                        if (!isChecked) {
                            checkVersion(exchange(origin, "/readyz", READY, null, leftNs()));
                        }
                        HttpResponse<byte[]> response = followed();
                        failure = refusalOf(response);
                        if (failure == null) {
                            return response.body();
                        }
                    } catch (IOException error) {
                        failure = lost(error);
                    }
                    long pauseNs = Math.max(pauseAtLeastNs, (long) (backoffNs * ThreadLocalRandom.current().nextDouble(0.5, 1)));
                    if (pauseNs > leftNs()) {
                        throw failure;
                    }
                    TimeUnit.NANOSECONDS.sleep(pauseNs);
                }
            } catch (InterruptedException error) {
                Thread.currentThread().interrupt();
                throw DuewheelException.unavailable("interrupted", call.method() + " " + call.path() + ": the thread was interrupted", error);
            }
        }

        private HttpResponse<byte[]> followed() throws IOException, InterruptedException {
            while (true) {
                byte[] content = call.body() == null ? null : call.body().apply(Duration.ofNanos(System.nanoTime() - beganNs));
                var response = exchange(at, path, call, content, leftNs());
                String location = response.headers().firstValue("Location").orElse("");
                if (response.statusCode() != 307 || location.isEmpty()) {
                    return response;
                }
                redirect(location);
            }
        }

        /** Makes the next request go to another node. */
        private void redirect(String location) {
            URI target = null;
            try {
                target = new URI(location);
            } catch (java.net.URISyntaxException ignored) {
                // refused below
            }
            if (++redirects > REDIRECTS_MAX || target == null || target.getRawAuthority() == null || !isHttp(target.getScheme())) {
                throw DuewheelException.unavailable("too_many_redirects", at + " redirects to " + location + ", and there were " + redirects + " redirects", null);
            }
            at = target.getScheme() + "://" + target.getRawAuthority();
            path = target.getRawPath() + (target.getRawQuery() == null ? "" : "?" + target.getRawQuery());
        }

        /** null after success. A refusal that another attempt may improve is returned, any other is thrown. */
        private DuewheelException refusalOf(HttpResponse<byte[]> response) {
            int status = response.statusCode();
            String kind = response.headers().firstValue("Content-Type").orElse("");
            if (status < 300 && (kind.startsWith("application/json") || kind.startsWith("application/x-ndjson"))) {
                return null;
            }
            JsonNode problem = status < 300 ? null : Wire.parsed(response.body());
            DuewheelException refusal = problem == null ? null : DuewheelException.of(problem);
            if (refusal == null) {
                throw notDuewheel("with status " + status + " and `" + kind + "`");
            }
            if (status != 429 && status != 503 && status != 507) {
                throw refusal;
            }
            String seconds = response.headers().firstValue("Retry-After").orElse("");
            pauseAtLeastNs = seconds.matches("\\d{1,9}") ? TimeUnit.SECONDS.toNanos(Long.parseLong(seconds)) : 0;
            return refusal;
        }

        private DuewheelException lost(IOException error) {
            Throwable reason = error;
            for (Throwable each = error; each != null; each = each.getCause()) {
                reason = each;
            }
            for (Throwable each = error; each != null; each = each.getCause()) {
                if (each instanceof CertificateException || each instanceof CertPathValidatorException || each instanceof SSLPeerUnverifiedException) {
                    throw DuewheelException.unavailable("bad_certificate", at + ": " + reason.getClass().getSimpleName() + ": " + reason.getMessage(), error);
                }
            }
            String nameless = error instanceof ConnectException ? "the connection was refused" : reason.getClass().getSimpleName();
            String said = reason.getMessage() == null ? nameless : reason.getMessage();
            var failure = DuewheelException.unavailable("deadline", "no response within " + Duration.ofNanos(timeNs).toMillis() + " ms; the last attempt: " + at + ": " + said, error);
            at = origin;
            path = call.path();
            return failure;
        }
    }

    DuewheelException notDuewheel(String answer) {
        return DuewheelException.unavailable("not_duewheel", origin + " answered " + answer + ": check the URL, it is no Duewheel server", null);
    }

    static boolean isHttp(String scheme) {
        return "http".equals(scheme) || "https".equals(scheme);
    }
}
