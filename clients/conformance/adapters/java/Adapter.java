import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import duewheel.Answer;
import duewheel.Changes;
import duewheel.Dead;
import duewheel.DuewheelClient;
import duewheel.DuewheelException;
import duewheel.ExtendOptions;
import duewheel.FailOptions;
import duewheel.Handling;
import duewheel.Job;
import duewheel.LeaseOptions;
import duewheel.Outgoing;
import duewheel.PayloadCodec;
import duewheel.Put;
import duewheel.QueueSettings;
import duewheel.Result;
import duewheel.RetryLater;
import duewheel.ScheduleSettings;
import duewheel.Snooze;
import duewheel.WatchdogSettings;
import duewheel.Which;
import duewheel.Worker;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The adapter of the Java client: README.md of the scenarios, "The protocol". */
public final class Adapter {
    private static final ObjectMapper JSON = JsonMapper.builder().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
        .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES).build();
    private static final PrintStream OUT = System.out;

    private final Map<String, DuewheelClient> clients = new ConcurrentHashMap<>();
    private final Map<String, Work> works = new ConcurrentHashMap<>();

    public static void main(String[] arguments) throws IOException {
        Logger.getLogger("").setLevel(Level.SEVERE);
        var adapter = new Adapter();
        var calls = Executors.newCachedThreadPool();
        var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = input.readLine()) != null;) {
            JsonNode asked = JSON.readTree(line);
            calls.execute(() -> adapter.answer(asked));
        }
        System.exit(0);
    }

    private void answer(JsonNode asked) {
        ObjectNode answer = JSON.createObjectNode().set("id", asked.get("id"));
        try {
            answer.set("ok", carryOut(asked.get("do").asText(), asked.get("client").asText(), (ObjectNode) asked.get("with")));
        } catch (DuewheelException refused) {
            answer.set("error", shown(refused));
        } catch (Throwable failure) {
            answer.put("failed", failure.toString());
        }
        byte[] line = (answer + "\n").getBytes(StandardCharsets.UTF_8);
        synchronized (OUT) {
            OUT.write(line, 0, line.length);
            OUT.flush();
        }
    }

    private static ObjectNode shown(DuewheelException error) {
        String family = error.getClass().getSimpleName().replaceAll("(?<=[a-z])(?=[A-Z])", "_").toLowerCase();
        ObjectNode all = JSON.createObjectNode().put("family", family).put("code", error.code()).put("detail", error.detail());
        if (error.field() != null) {
            all.put("field", error.field());
        }
        return error.outcome() == null ? all : all.put("outcome", error.outcome());
    }

    private static JsonNode raw(Answer answer) {
        return answer.raw();
    }

    private static JsonNode all(List<? extends Result<? extends Answer>> results) {
        ArrayNode each = JSON.createArrayNode();
        results.forEach(result -> each.add(result.isOk() ? result.value().raw() : JSON.createObjectNode().set("error", shown(result.failure()))));
        return JSON.createObjectNode().set("results", each);
    }

    private static JsonNode messages(List<? extends Answer> messages) {
        ArrayNode each = JSON.createArrayNode();
        messages.forEach(message -> each.add(message.raw()));
        return JSON.createObjectNode().set("messages", each);
    }

    private static ObjectNode nothing() {
        return JSON.createObjectNode();
    }

    /** Takes a member that is text; null if there is none. */
    private static String text(ObjectNode with, String name) {
        JsonNode value = with.remove(name);
        return value == null ? null : value.asText();
    }

    private static List<String> texts(ObjectNode with, String name) {
        var all = new ArrayList<String>();
        with.remove(name).forEach(each -> all.add(each.asText()));
        return all;
    }

    /** A duration of the scenarios, which may have days. */
    private static Duration duration(String text) {
        if (text == null) {
            return Duration.ZERO;
        }
        if (text.endsWith("ms")) {
            return Duration.ofMillis(Long.parseLong(text.substring(0, text.length() - 2)));
        }
        double number = Double.parseDouble(text.substring(0, text.length() - 1));
        long unitMs = switch (text.charAt(text.length() - 1)) {
            case 's' -> 1000;
            case 'm' -> 60_000;
            case 'h' -> 3_600_000;
            default -> 86_400_000;
        };
        return Duration.ofMillis(Math.round(number * unitMs));
    }

    /** Takes the data of a put. */
    private static Object data(ObjectNode with) throws IOException {
        if (with.has("json")) {
            return with.remove("json");
        }
        return with.has("body_base64") ? with.remove("body_base64").binaryValue() : text(with, "body");
    }

    private static Which which(ObjectNode with) {
        return with.has("id") ? Which.id(text(with, "id")) : Which.keyed(text(with, "queue"), text(with, "key"));
    }

    /** Options with the members that are left, by the methods that a user calls. */
    private static <T> T filled(T options, ObjectNode with) throws Exception {
        T all = options;
        for (var each : with.properties()) {
            String[] parts = each.getKey().split("_");
            var name = new StringBuilder(parts[0]);
            for (int i = 1; i < parts.length; ++i) {
                name.append(Character.toUpperCase(parts[i].charAt(0))).append(parts[i].substring(1));
            }
            Method method = null;
            for (Method found : options.getClass().getMethods()) {
                if (found.getName().equals(name.toString()) && found.getParameterCount() == 1 && found.getReturnType() == options.getClass()) {
                    method = found;
                }
            }
            all = called(all, method, each.getKey(), each.getValue());
        }
        return all;
    }

    @SuppressWarnings("unchecked")
    private static <T> T called(T options, Method method, String name, JsonNode value) throws Exception {
        try {
            if (method == null || value.isNull()) { // as a user sets what is newer than the client
                return (T) options.getClass().getMethod("with", String.class, Object.class).invoke(options, name, value);
            }
            return (T) method.invoke(options, argument(method.getParameterTypes()[0], value));
        } catch (InvocationTargetException error) {
            throw error.getCause() instanceof Exception cause ? cause : error;
        }
    }

    private static Object argument(Class<?> type, JsonNode value) throws Exception {
        if (type == Duration.class) {
            return duration(value.asText());
        }
        if (type == Instant.class) {
            return OffsetDateTime.parse(value.asText()).toInstant();
        }
        if (type.getPackageName().equals("duewheel")) {
            return filled(type.getConstructor().newInstance(), (ObjectNode) value);
        }
        return type == Object.class ? value : JSON.convertValue(value, type);
    }

    private JsonNode carryOut(String call, String client, ObjectNode with) throws Exception {
        if (call.equals("hello")) {
            ObjectNode hello = nothing().put("name", "java");
            hello.putArray("capabilities").add("codec").add("take").add("versions").add("workers");
            return hello;
        }
        if (call.equals("connect")) {
            return connect(client, with);
        }
        DuewheelClient c = clients.get(client);
        switch (call) {
            case "put":
                String queue = text(with, "queue");
                Object data = data(with);
                return raw(c.put(queue, data, filled(new Put(), with)));
            case "put_many":
                var puts = new ArrayList<Outgoing>();
                for (JsonNode each : with.get("messages")) {
                    Object content = data((ObjectNode) each);
                    puts.add(new Outgoing(content, filled(new Put(), (ObjectNode) each)));
                }
                return all(c.putMany(text(with, "queue"), puts));
            case "lease":
                return messages(c.lease(text(with, "queue"), filled(new LeaseOptions(), with)));
            case "ack":
                return raw(c.ack(text(with, "lease_token"), with.get("result")));
            case "ack_many":
                return all(c.ackMany(texts(with, "lease_tokens"), with.get("result")));
            case "fail":
                return raw(c.fail(text(with, "lease_token"), text(with, "reason"), filled(new FailOptions(), with)));
            case "fail_many":
                return all(c.failMany(texts(with, "lease_tokens"), text(with, "reason"), filled(new FailOptions(), with)));
            case "extend":
                return raw(c.extend(text(with, "lease_token"), filled(new ExtendOptions(), with)));
            case "extend_many":
                return all(c.extendMany(texts(with, "lease_tokens"), filled(new ExtendOptions(), with)));
            case "release":
                return raw(c.release(text(with, "lease_token"), duration(text(with, "delay"))));
            case "release_many":
                return all(c.releaseMany(texts(with, "lease_tokens"), duration(text(with, "delay"))));
            case "hold_leased":
                return raw(c.holdLeased(text(with, "lease_token")));
            case "get":
                return raw(with.has("wait") ? c.await(which(with), duration(text(with, "wait"))) : c.get(which(with)));
            case "cancel":
                return raw(with.path("running").asBoolean() ? c.cancelRunning(which(with)) : c.cancel(which(with)));
            case "move":
                Which which = which(with);
                boolean hasData = with.has("json") || with.has("body") || with.has("body_base64");
                Changes changes = hasData ? new Changes().data(data(with)) : new Changes();
                return raw(c.move(which, filled(changes, with)));
            case "fire":
                return raw(c.fire(text(with, "id")));
            case "hold":
                return raw(c.hold(text(with, "id")));
            case "kick":
                return raw(c.kick(text(with, "id")));
            case "discard":
                return raw(c.discard(text(with, "id")));
            case "commit":
                return raw(c.commit(text(with, "id")));
            case "rollback":
                return raw(c.rollback(text(with, "id")));
            case "list":
                String listed = text(with, "queue");
                var filters = new LinkedHashMap<String, String>();
                with.properties().forEach(each -> filters.put(each.getKey().equals("page") ? "limit" : each.getKey(), each.getValue().asText()));
                return messages(c.list(listed, filters).toList());
            case "set_queue":
                return raw(c.setQueue(text(with, "queue"), filled(new QueueSettings(), with)));
            case "get_queue":
                return raw(c.getQueue(text(with, "queue")));
            case "change_queue":
                return raw(c.changeQueue(text(with, "queue"), filled(new QueueSettings(), with)));
            case "back_off_group":
                return c.backOffGroup(text(with, "queue"), text(with, "group"), duration(text(with, "for")));
            case "set_schedule":
                String schedule = text(with, "schedule");
                Object scheduled = data(with);
                return c.setSchedule(schedule, scheduled, filled(new ScheduleSettings(), with));
            case "set_watchdog":
                String watchdog = text(with, "watchdog");
                Object watched = data(with);
                return c.setWatchdog(watchdog, watched, filled(new WatchdogSettings(), with));
            case "feed_watchdog":
                return c.feedWatchdog(text(with, "watchdog"));
            case "advance":
                return c.advance(duration(text(with, "by")));
            case "work":
                String name = text(with, "worker");
                works.put(name, new Work(c, name, with));
                return nothing();
            case "handled":
                return works.get(text(with, "worker")).handled();
            case "finish_work":
                works.get(text(with, "worker")).released.countDown();
                return nothing();
            case "stop_work":
                works.get(text(with, "worker")).worker.stop(with.has("timeout") ? duration(text(with, "timeout")) : Duration.ofSeconds(25));
                return nothing();
            default:
                return named(c, call, with);
        }
    }

    /** Makes the calls on queues, schedules and watchdogs that have no method of their own. */
    private static JsonNode named(DuewheelClient c, String call, ObjectNode with) {
        String verb = call.replaceFirst("_.*", "");
        String kind = call.contains("_") ? call.substring(verb.length() + 1) : "queue";
        String path = "/" + kind + "s/" + URLEncoder.encode(text(with, kind), StandardCharsets.UTF_8).replace("+", "%20");
        return switch (verb) {
            case "change" -> c.call("PATCH", path, with);
            case "get" -> c.call("GET", path, null);
            case "delete" -> c.call("DELETE", path, null);
            case "preview" -> c.call("GET", path + ":preview" + (with.has("count") ? "?count=" + with.get("count") : ""), null);
            default -> c.call("POST", path + ":" + verb, with.isEmpty() ? null : with);
        };
    }

    private JsonNode connect(String name, ObjectNode with) throws IOException {
        DuewheelClient.Builder builder = DuewheelClient.builder(text(with, "url"));
        if (with.has("token")) {
            builder.token(text(with, "token"));
        }
        if (with.has("namespace")) {
            builder.namespace(text(with, "namespace"));
        }
        if (with.has("timeout")) {
            builder.timeout(duration(text(with, "timeout")));
        }
        if (with.has("ca")) {
            builder.ca(Files.readString(Path.of(text(with, "ca"))));
        }
        if (with.has("codec")) {
            builder.codec(new Flip(text(with, "codec")));
        }
        if (name.equals("client")) { // a new scenario: end the workers of the one before, whose handlers may wait for ever
            for (Work work : works.values()) {
                work.released.countDown();
                new Thread(() -> work.worker.stop(Duration.ZERO)).start();
            }
            works.clear();
        }
        clients.put(name, builder.build());
        return nothing();
    }

    /** The codec of the scenarios with this name. */
    private record Flip(String name) implements PayloadCodec {
        @Override
        public byte[] encode(byte[] data) {
            byte[] flipped = data.clone();
            for (int i = 0; i < flipped.length; ++i) {
                flipped[i] ^= 0x5a;
            }
            return flipped;
        }

        @Override
        public byte[] decode(byte[] data) throws IOException {
            byte[] flipped = encode(data);
            for (byte each : flipped) {
                if (each == -1) {
                    throw new IOException("0xff");
                }
            }
            return flipped;
        }
    }

    /** A worker whose handler follows a script, and what it has seen. */
    private static final class Work {
        private final Worker worker;
        private final JsonNode outcomes;
        private final CountDownLatch released = new CountDownLatch(1);
        private final List<ObjectNode> entries = new ArrayList<>(); // guarded by itself
        private int running; // guarded by entries

        Work(DuewheelClient client, String name, ObjectNode with) {
            outcomes = with.get("outcomes");
            Handling handling = Handling.concurrency(with.path("concurrency").asInt(1));
            if (with.has("lease")) {
                handling = handling.lease(duration(text(with, "lease")));
            }
            worker = Worker.builder(client).name(name).handleResult(client.queue(text(with, "queue"), Object.class), this::handle, handling).build();
            worker.start();
        }

        JsonNode handled() {
            synchronized (entries) {
                ObjectNode all = nothing().put("running", running);
                ArrayNode messages = all.putArray("messages");
                entries.forEach(each -> messages.add(each.deepCopy()));
                return all;
            }
        }

        private Object handle(Job<Object> job) throws Exception {
            ObjectNode seen = nothing().put("id", job.id()).put("attempt", job.attempt()).put("group", job.group()).put("cancelled", false);
            seen.set("data", JSON.valueToTree(job.data()));
            seen.set("checkpoint", job.checkpoint(JsonNode.class));
            int nth = 0;
            synchronized (entries) {
                for (ObjectNode each : entries) {
                    nth += each.get("id").equals(seen.get("id")) ? 1 : 0;
                }
                entries.add(seen);
                ++running;
            }
            try {
                var outcome = outcomes.get(Math.min(nth, outcomes.size() - 1)).properties().iterator().next();
                return follow(job, seen, outcome.getKey(), outcome.getValue());
            } finally {
                synchronized (entries) {
                    --running;
                }
            }
        }

        private Object follow(Job<Object> job, ObjectNode seen, String verb, JsonNode value) throws Exception {
            switch (verb) {
                case "checkpoint":
                    job.progress(0.5, value.get(0));
                    var next = value.get(1).properties().iterator().next();
                    return follow(job, seen, next.getKey(), next.getValue());
                case "return":
                    return value.isNull() ? null : value;
                case "return_what_is_no_json":
                    return new Object();
                case "raise":
                    throw new IllegalStateException(value.asText());
                case "retry":
                    throw RetryLater.after(duration(value.asText()));
                case "snooze":
                    throw Snooze.of(duration(value.asText()));
                case "dead":
                    throw Dead.because(value.asText());
                case "take":
                    Thread.sleep(duration(value.asText()).toMillis());
                    return null;
                case "compute":
                    while (released.getCount() > 0) {
                        Thread.onSpinWait(); // never gives up its thread by itself
                    }
                    return null;
                case "progress":
                    job.progress(0.5, value);
                    break;
                default:
            }
            try {
                released.await();
            } catch (InterruptedException cancelled) {
                synchronized (entries) {
                    seen.put("cancelled", job.isCancelled());
                }
                if (!verb.equals("ignore_cancel")) {
                    throw cancelled;
                }
                released.await();
            }
            return value;
        }
    }
}
