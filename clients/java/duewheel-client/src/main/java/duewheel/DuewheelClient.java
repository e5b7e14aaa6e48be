package duewheel;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.SecureRandom;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * Calls one server, or the nodes that it redirects to. It may be used by several threads, and keeps its connections, which do not go through the
 * proxy of the system. Every call is safe to repeat, and is repeated when its response is lost: a put without a key gets a random one.
 */
public final class DuewheelClient {
    /** How many leases one request may end or extend, and how many messages it may put. */
    static final int MANY_MAX = 1000;
    private static final Duration WAIT_MAX = Duration.ofMinutes(1); // of one request
    private static final SecureRandom RANDOM = new SecureRandom();

    private final Transport transport;
    private final Wire wire;
    private final String base;
    private final List<Middleware> middleware;
    private final Executor executor = Threads.executor("duewheel-call");

    private DuewheelClient(Builder builder) {
        transport = new Transport(builder.http(), builder.origin(), builder.token, builder.timeout);
        wire = new Wire(builder.mapper, builder.codec);
        base = builder.namespace == null ? "/v1" : "/v1/namespaces/" + Wire.segment(builder.namespace);
        middleware = List.copyOf(builder.middleware);
    }

    private DuewheelClient(DuewheelClient other, Duration timeout) {
        transport = other.transport.within(timeout);
        wire = other.wire;
        base = other.base;
        middleware = other.middleware;
    }

    /** The same client, with the same connections, whose calls have another deadline. */
    public DuewheelClient within(Duration timeout) {
        return new DuewheelClient(this, timeout);
    }

    /** A client of the server at a URL such as http://127.0.0.1:7420. It does not connect yet. */
    public static DuewheelClient of(String url) {
        return builder(url).build();
    }

    public static Builder builder(String url) {
        return new Builder(url);
    }

    /** The settings of a client. */
    public static final class Builder {
        private final String url;
        private final List<Middleware> middleware = new ArrayList<>();
        private String token;
        private String namespace;
        private Duration timeout = Duration.ofSeconds(30);
        private SSLContext trust;
        private ObjectMapper mapper;
        private PayloadCodec codec;

        private Builder(String url) {
            this.url = url;
        }

        /** An access token, "dw_...". */
        public Builder token(String token) {
            this.token = token;
            return this;
        }

        /** A namespace other than "default". */
        public Builder namespace(String name) {
            namespace = name;
            return this;
        }

        /** The deadline of each call with all its attempts, 30 s by default. A call that waits at the server has that time in addition. */
        public Builder timeout(Duration timeout) {
            this.timeout = timeout;
            return this;
        }

        /** The certificates, as PEM, of the authorities that are trusted. By default those of the Java runtime are. */
        public Builder ca(String pem) {
            try {
                KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
                store.load(null, null);
                for (var each : CertificateFactory.getInstance("X.509").generateCertificates(new ByteArrayInputStream(pem.getBytes(StandardCharsets.UTF_8)))) {
                    store.setCertificateEntry("ca" + store.size(), each);
                }
                if (store.size() == 0) {
                    throw new GeneralSecurityException("there is no certificate in this PEM");
                }
                TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
                managers.init(store);
                trust = SSLContext.getInstance("TLS");
                trust.init(null, managers.getTrustManagers(), null);
                return this;
            } catch (GeneralSecurityException | IOException error) {
                throw new DuewheelException.Invalid("bad_certificate", error.getMessage(), "ca", null, error);
            }
        }

        /** What turns data into JSON and back. By default a mapper that knows java.time and ignores unknown members. */
        public Builder mapper(ObjectMapper mapper) {
            this.mapper = mapper;
            return this;
        }

        /** Encodes the content of all that is put, and decodes what is read. */
        public Builder codec(PayloadCodec codec) {
            this.codec = codec;
            return this;
        }

        /** Adds what runs around puts and handlers, inside of what was added before. */
        public Builder middleware(Middleware added) {
            middleware.add(added);
            return this;
        }

        public DuewheelClient build() {
            return new DuewheelClient(this);
        }

        private String origin() {
            try {
                URI parsed = new URI(url);
                if (Transport.isHttp(parsed.getScheme()) && parsed.getHost() != null) {
                    return parsed.getScheme() + "://" + parsed.getRawAuthority();
                }
            } catch (URISyntaxException ignored) {
                // refused below
            }
            throw new DuewheelException.Invalid("bad_url", "`" + url + "` is no URL of a server: write it as http://127.0.0.1:7420", "url", null, null);
        }

        private HttpClient http() {
            HttpClient.Builder http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(10))
                .followRedirects(HttpClient.Redirect.NEVER).proxy(HttpClient.Builder.NO_PROXY);
            return (trust == null ? http : http.sslContext(trust)).build();
        }
    }

    /** Names a queue. It makes no call: a queue is there once something is put. */
    public <T> MessageQueue<T> queue(String name, Class<T> type) {
        return new MessageQueue<>(this, name, type, null);
    }

    /** The same for a type with type arguments: {@code queue("mail", new TypeReference<List<Email>>() {})}. */
    public <T> MessageQueue<T> queue(String name, TypeReference<T> type) {
        return new MessageQueue<>(this, name, type.getType(), null);
    }

    /** Makes a call in a thread of this client: {@code client.async(() -> client.get(id))}. */
    public <T> CompletableFuture<T> async(Supplier<T> call) {
        return CompletableFuture.supplyAsync(call, executor);
    }

    /**
     * Makes any call of the HTTP API, by method and path below /v1 or the namespace: a way to what has no method here.
     *
     * @param value the body, which may be options; null: none
     */
    public JsonNode call(String method, String path, Object value) {
        return fetch(new Transport.Call(method, base + path, value == null ? null : Wire.bytes(wire.member(value))));
    }

    private JsonNode fetch(Transport.Call call) {
        JsonNode answer = Wire.parsed(transport.send(call));
        if (answer == null) {
            throw transport.notDuewheel("with what is no JSON");
        }
        return answer;
    }

    private Outcome outcome(String method, String path, Object value) {
        return new Outcome(wire, call(method, path, value));
    }

    Wire wire() {
        return wire;
    }

    List<Middleware> middleware() {
        return middleware;
    }

    Duration timeout() {
        return transport.timeout();
    }

    /** Puts a message that is due now. */
    public Receipt put(String queue, Object data) {
        return put(queue, data, new Put());
    }

    /** Puts a message: a String as text, a byte[] as bytes, anything else as JSON. Without a key it gets a random one, so that it is there once
     * even if a response is lost. */
    public Receipt put(String queue, Object data, Put put) {
        return aroundPut(queue, List.of(new Outgoing(data, put)), (at, messages) ->
            messages.size() == 1 ? List.of(new Result<>(putOne(at, messages.get(0)), null)) : putBatch(at, messages)).get(0).get();
    }

    /** Puts up to 1,000 messages with one request. The results are in the order of the messages. */
    public List<Result<Receipt>> putMany(String queue, List<Outgoing> messages) {
        return aroundPut(queue, messages, this::putBatch);
    }

    private List<Result<Receipt>> aroundPut(String queue, List<Outgoing> messages, Middleware.PutNext last) {
        Middleware.PutNext next = last;
        for (int i = middleware.size() - 1; i >= 0; i--) {
            Middleware each = middleware.get(i);
            Middleware.PutNext inner = next;
            next = (at, some) -> each.put(at, some, inner);
        }
        return next.put(queue, messages);
    }

    private Receipt putOne(String queue, Outgoing message) {
        byte[] body = bodyOf(message);
        var call = new Transport.Call("POST", base + "/queues/" + Wire.segment(queue) + "/messages", body).traced(message.traceparent());
        return new Receipt(wire, fetch(call));
    }

    private List<Result<Receipt>> putBatch(String queue, List<Outgoing> messages) {
        var lines = new ByteArrayOutputStream();
        for (Outgoing each : messages) {
            lines.writeBytes(bodyOf(each));
            lines.write('\n');
        }
        var call = new Transport.Call("POST", base + "/queues/" + Wire.segment(queue) + "/messages:batch", lines.toByteArray()).lines()
            .traced(messages.isEmpty() ? null : messages.get(0).traceparent());
        String answer = new String(transport.send(call), StandardCharsets.UTF_8);
        return answer.lines().map(line -> result(Wire.parsed(line.getBytes(StandardCharsets.UTF_8)), each -> new Receipt(wire, each))).toList();
    }

    private <E> Result<E> result(JsonNode item, Function<JsonNode, E> made) {
        if (item == null) {
            throw transport.notDuewheel("with a line that is no JSON");
        }
        DuewheelException refusal = DuewheelException.of(item);
        return new Result<>(refusal == null ? made.apply(item) : null, refusal);
    }

    /** A put without a key gets another one each time, so it is made once for all attempts. */
    private byte[] bodyOf(Outgoing message) {
        ObjectNode members = wire.members(message.put());
        if (!members.hasNonNull("key")) {
            byte[] key = new byte[16];
            RANDOM.nextBytes(key);
            members.put("key", HexFormat.of().formatHex(key));
        }
        wire.setContent(members, message.data());
        return Wire.bytes(members);
    }

    /**
     * Puts a message that is delivered only after {@link #commit}. If this program dies before it commits or rolls back, the server asks with a
     * message in the queue of the check what became of it; without an answer the message is rolled back.
     */
    public Receipt prepare(String queue, Object data, CheckBack check, Put put) {
        return put(queue, data, put.transaction(new Transaction().checkBack(check).otherwise("rollback")));
    }

    private String place(Which which, Map<String, String> parameters) {
        String path = "/messages";
        if (which instanceof Which.Id id) {
            path += "/" + Wire.segment(id.id());
        } else if (which instanceof Which.Keyed keyed) {
            parameters.put("queue", keyed.queue());
            parameters.put("key", keyed.key());
        }
        return path + Wire.query(parameters);
    }

    private static Map<String, String> parameters() {
        return new LinkedHashMap<>();
    }

    public Message get(String id) {
        return get(Which.id(id));
    }

    public Message get(Which which) {
        return get(which, Duration.ZERO);
    }

    private Message get(Which which, Duration wait) {
        Map<String, String> parameters = parameters();
        if (!wait.isZero()) {
            parameters.put("wait", Wire.text(wait));
        }
        return new Message(wire, fetch(new Transport.Call("GET", base + place(which, parameters), null).waiting(wait)));
    }

    public Message await(String id, Duration timeout) {
        return await(Which.id(id), timeout);
    }

    /** Waits for the end of the message, and returns it with its result; after the timeout, as it is then. */
    public Message await(Which which, Duration timeout) {
        long end = System.nanoTime() + timeout.toNanos();
        while (true) {
            Duration left = Duration.ofNanos(Math.max(0, end - System.nanoTime()));
            Message message = get(which, left.compareTo(WAIT_MAX) < 0 ? left : WAIT_MAX);
            if (message.hasEnded() || end - System.nanoTime() <= 0) {
                return message;
            }
        }
    }

    public Outcome cancel(String id) {
        return cancel(Which.id(id));
    }

    /** Cancels a message that no worker has. */
    public Outcome cancel(Which which) {
        return outcome("DELETE", place(which, parameters()), null);
    }

    public Outcome cancelRunning(String id) {
        return cancelRunning(Which.id(id));
    }

    /** Cancels a message. If a worker has it, the worker is asked to stop, and the outcome is "cancelling". */
    public Outcome cancelRunning(Which which) {
        Map<String, String> parameters = parameters();
        parameters.put("running", "true");
        return outcome("DELETE", place(which, parameters), null);
    }

    public Outcome move(String id, Changes changes) {
        return move(Which.id(id), changes);
    }

    /** Changes the due time of a message, or other members of its put. */
    public Outcome move(Which which, Changes changes) {
        ObjectNode members = wire.members(changes.without(Options.DATA));
        if (changes.members().containsKey(Options.DATA)) {
            wire.setContent(members, changes.members().get(Options.DATA));
        }
        return outcome("PATCH", place(which, parameters()), members);
    }

    /** Makes a scheduled message due now. */
    public Outcome fire(String id) {
        return act(id, "fire");
    }

    /** Holds a message until it is kicked. */
    public Outcome hold(String id) {
        return act(id, "hold");
    }

    /** Returns a held message or a dead letter to its queue. */
    public Outcome kick(String id) {
        return act(id, "kick");
    }

    /** Ends a held message or a dead letter for good. */
    public Outcome discard(String id) {
        return act(id, "discard");
    }

    /** Commits a prepared message: it is delivered when it is due. */
    public Outcome commit(String id) {
        return act(id, "commit");
    }

    /** Ends a prepared message; it is not delivered. */
    public Outcome rollback(String id) {
        return act(id, "rollback");
    }

    private Outcome act(String id, String verb) {
        return outcome("POST", "/messages/" + Wire.segment(id) + ":" + verb, null);
    }

    /** The unfinished messages of a queue by due time. */
    public Stream<Message> list(String queue) {
        return list(queue, Map.of());
    }

    /**
     * The same with parameters of the HTTP API, such as {@code Map.of("state", "dead")} for the dead letters, or {@code "limit"}, which is how
     * many messages one request returns. The requests are made as the stream is read.
     */
    public Stream<Message> list(String queue, Map<String, String> filters) {
        var pages = new Iterator<Message>() {
            private final Map<String, String> parameters = new LinkedHashMap<>(filters);
            private Iterator<JsonNode> page;

            @Override
            public boolean hasNext() {
                while (page == null || !page.hasNext()) {
                    if (page != null && !parameters.containsKey("cursor")) {
                        return false;
                    }
                    JsonNode answer = call("GET", "/queues/" + Wire.segment(queue) + "/messages" + Wire.query(parameters), null);
                    page = answer.path("messages").iterator();
                    parameters.remove("cursor");
                    if (answer.hasNonNull("cursor")) {
                        parameters.put("cursor", answer.get("cursor").asText());
                    }
                }
                return true;
            }

            @Override
            public Message next() {
                if (!hasNext()) {
                    throw new NoSuchElementException();
                }
                return new Message(wire, page.next());
            }
        };
        return StreamSupport.stream(Spliterators.spliteratorUnknownSize(pages, Spliterator.ORDERED | Spliterator.NONNULL), false);
    }

    /** Leases due messages. An attempt that follows a lost one waits for the rest of the time. */
    public List<Lease> lease(String queue, LeaseOptions options) {
        Duration wait = options.members().get("wait") instanceof Duration given ? given : Duration.ZERO;
        Function<Duration, byte[]> body = passed -> {
            Duration left = wait.minus(passed);
            boolean waits = left.compareTo(Duration.ZERO) > 0;
            return Wire.bytes(wire.members(waits ? options.wait(left) : options.without("wait").without("min")));
        };
        var call = new Transport.Call("POST", base + "/queues/" + Wire.segment(queue) + ":lease", body, "application/json", wait, null, null);
        var leases = new ArrayList<Lease>();
        fetch(call).path("messages").forEach(each -> leases.add(new Lease(wire, each)));
        return leases;
    }

    /**
     * Ends the message as done.
     *
     * @param result any JSON of up to 64 KiB, which the producer gets with {@link #await}; null: none
     */
    public Outcome ack(String token, Object result) {
        return end(token, "ack", ackMembers(result));
    }

    /** Ends the attempt as failed: the outcome is "retrying", or "dead" after the last attempt. */
    public Outcome fail(String token, String reason, FailOptions options) {
        return end(token, "fail", failMembers(reason, options));
    }

    /** Makes the lease last from now on. The outcome says whether the worker should stop. */
    public Outcome extend(String token, ExtendOptions options) {
        return end(token, "extend", wire.members(options));
    }

    /** Returns the message to its queue after a delay, which may be zero. The attempt does not count. */
    public Outcome release(String token, Duration delay) {
        return end(token, "release", releaseMembers(delay));
    }

    /** Holds the message until it is kicked. */
    public Outcome holdLeased(String token) {
        return end(token, "hold", Wire.object());
    }

    private Outcome end(String token, String verb, ObjectNode members) {
        return outcome("POST", "/leases/" + Wire.segment(token) + ":" + verb, members.isEmpty() ? null : members);
    }

    /** {@link #ack} for up to 1,000 leases. The results are in the order of the tokens. */
    public List<Result<Outcome>> ackMany(List<String> tokens, Object result) {
        return sameForAll("ack", tokens, ackMembers(result));
    }

    /** {@link #fail} for up to 1,000 leases. */
    public List<Result<Outcome>> failMany(List<String> tokens, String reason, FailOptions options) {
        return sameForAll("fail", tokens, failMembers(reason, options));
    }

    /** {@link #extend} for up to 1,000 leases. */
    public List<Result<Outcome>> extendMany(List<String> tokens, ExtendOptions options) {
        return sameForAll("extend", tokens, wire.members(options));
    }

    /** {@link #release} for up to 1,000 leases. */
    public List<Result<Outcome>> releaseMany(List<String> tokens, Duration delay) {
        return sameForAll("release", tokens, releaseMembers(delay));
    }

    private List<Result<Outcome>> sameForAll(String verb, List<String> tokens, ObjectNode members) {
        return many(verb, tokens.stream().map(token -> new Ending(token, Wire.object())).toList(), members, null);
    }

    /** What is to become of one lease of many. */
    record Ending(String token, ObjectNode members) {}

    /**
     * @param common members for those that do not have them
     * @param within the deadline; null: that of the client
     */
    List<Result<Outcome>> many(String verb, List<Ending> endings, ObjectNode common, Duration within) {
        ObjectNode body = common.deepCopy();
        var leases = body.putArray("leases");
        for (Ending each : endings) {
            if (each.members().isEmpty()) {
                leases.add(each.token());
            } else {
                leases.add(Wire.object().put("token", each.token()).setAll(each.members()));
            }
        }
        var results = new ArrayList<Result<Outcome>>();
        JsonNode answer = fetch(new Transport.Call("POST", base + "/leases:" + verb, Wire.bytes(body)).within(within));
        answer.path("results").forEach(each -> results.add(result(each, item -> new Outcome(wire, item))));
        if (results.size() != endings.size()) {
            throw transport.notDuewheel("with " + results.size() + " results for " + endings.size() + " leases");
        }
        return results;
    }

    ObjectNode ackMembers(Object result) {
        ObjectNode members = Wire.object();
        return result == null ? members : members.set("result", wire.json(result));
    }

    ObjectNode failMembers(String reason, FailOptions options) {
        ObjectNode members = wire.members(options);
        return reason == null || reason.isEmpty() ? members : members.put("reason", Wire.reason(reason));
    }

    ObjectNode releaseMembers(Duration delay) {
        ObjectNode members = Wire.object();
        return delay.isZero() ? members : members.put("delay", Wire.text(delay));
    }

    public QueueState getQueue(String queue) {
        return queueCall("GET", queue, "", null);
    }

    /** Creates a queue, or replaces all its settings. */
    public QueueState setQueue(String queue, QueueSettings settings) {
        return queueCall("PUT", queue, "", settings);
    }

    /** Changes some settings of a queue. */
    public QueueState changeQueue(String queue, QueueSettings changes) {
        return queueCall("PATCH", queue, "", changes);
    }

    /** Makes its messages wait. */
    public QueueState pauseQueue(String queue) {
        return queueCall("POST", queue, ":pause", null);
    }

    public QueueState resumeQueue(String queue) {
        return queueCall("POST", queue, ":resume", null);
    }

    /** Delivers nothing of a group of the queue for this time, such as after a 429 of a customer's API. Zero ends it. */
    public JsonNode backOffGroup(String queue, String group, Duration time) {
        ObjectNode members = Wire.object().put("for", Wire.text(time));
        return call("POST", "/queues/" + Wire.segment(queue) + "/groups/" + Wire.segment(group) + ":backoff", members);
    }

    private QueueState queueCall(String method, String queue, String verb, Object value) {
        return new QueueState(wire, call(method, "/queues/" + Wire.segment(queue) + verb, value));
    }

    /**
     * Creates or replaces a schedule, whose messages have the data. The same call again changes nothing, so a program may make it at each start.
     * One of cron, every, iso and at sets the times.
     */
    public JsonNode setSchedule(String name, Object data, ScheduleSettings settings) {
        return setNamed("/schedules/", name, data, settings);
    }

    public JsonNode getSchedule(String name) {
        return call("GET", "/schedules/" + Wire.segment(name), null);
    }

    /** Ends a schedule. Messages that it has created stay. */
    public JsonNode deleteSchedule(String name) {
        return call("DELETE", "/schedules/" + Wire.segment(name), null);
    }

    /** Creates or replaces a watchdog: it puts a message with the data into its queue unless it is fed in time. */
    public JsonNode setWatchdog(String name, Object data, WatchdogSettings settings) {
        return setNamed("/watchdogs/", name, data, settings);
    }

    /** Starts the time of a watchdog again. */
    public JsonNode feedWatchdog(String name) {
        return call("POST", "/watchdogs/" + Wire.segment(name) + ":feed", null);
    }

    public JsonNode deleteWatchdog(String name) {
        return call("DELETE", "/watchdogs/" + Wire.segment(name), null);
    }

    private JsonNode setNamed(String kind, String name, Object data, Options<?> settings) {
        ObjectNode members = wire.members(settings);
        wire.setContent(members, data);
        return call("PUT", kind + Wire.segment(name), members);
    }

    /** The time of the server. */
    public Instant now() {
        return Instant.ofEpochMilli(fetch(new Transport.Call("GET", "/v1/clock", null)).path("server_time_ms").asLong());
    }

    /** Moves the time of a server that was started with --test-clock. */
    public JsonNode advance(Duration by) {
        return fetch(new Transport.Call("POST", "/v1/clock:advance", Wire.bytes(Wire.object().put("by", Wire.text(by)))));
    }
}
