package duewheel.test;

import com.fasterxml.jackson.databind.JsonNode;
import duewheel.DuewheelClient;
import duewheel.DuewheelException;
import duewheel.Message;
import duewheel.Worker;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A real server for tests, in a temporary directory and with a clock that the test moves. {@link DuewheelExtension} gives one to each test. The
 * program duewheeld is found in the folder that the environment variable DUEWHEEL_BIN names, or on the PATH.
 */
public final class DuewheelServer implements AutoCloseable {
    private static final Duration READY_WITHIN = Duration.ofMinutes(1);
    private static final Duration IDLE_WITHIN = Duration.ofSeconds(30);
    private static final Duration STOPPED_WITHIN = Duration.ofSeconds(5);
    private static final long POLL_EVERY_MS = 20;
    private static final int QUIET_POLLS = 3; // in a row: what a schedule creates may come a moment after an advance
    private static final Pattern READY = Pattern.compile("ready http=([\\d.]+:\\d+).*");

    private final Path directory;
    private final Process process;
    private final String url;
    private final DuewheelClient client;
    private final List<Worker> workers = new ArrayList<>();

    private DuewheelServer(Path directory, Process process, String url) {
        this.directory = directory;
        this.process = process;
        this.url = url;
        client = DuewheelClient.of(url);
    }

    /**
     * Starts a server, which ends when it is closed or this program ends.
     *
     * @param arguments more arguments of duewheeld
     */
    public static DuewheelServer start(String... arguments) {
        String folder = System.getenv("DUEWHEEL_BIN");
        Path directory = null;
        Process process = null;
        try {
            directory = Files.createTempDirectory("duewheel-test-");
            Path log = directory.resolve("log.txt");
            var words = new ArrayList<String>(List.of(folder == null ? "duewheeld" : Path.of(folder, "duewheeld").toString(), "--http", "127.0.0.1:0",
                "--test-clock", "--data", directory.resolve("data").toString()));
            words.addAll(Arrays.asList(arguments));
            try {
                process = new ProcessBuilder(words).redirectError(log.toFile()).start();
            } catch (IOException error) {
                throw new IOException("duewheeld did not start: install the package duewheel, or name its folder in DUEWHEEL_BIN", error);
            }
            Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
            String line = firstLine(process);
            Matcher ready = READY.matcher(Objects.requireNonNullElse(line, ""));
            if (!ready.matches()) {
                throw new IOException("duewheeld did not become ready; its log:\n" + Files.readString(log));
            }
            return new DuewheelServer(directory, process, "http://" + ready.group(1));
        } catch (IOException error) {
            end(process);
            remove(directory);
            throw new UncheckedIOException(error);
        }
    }

    /** null if it does not come in time, or the process has ended. */
    private static String firstLine(Process process) throws IOException {
        var reader = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        var line = CompletableFuture.supplyAsync(() -> {
            try {
                return reader.readLine();
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
        });
        try {
            return line.get(READY_WITHIN.toSeconds(), TimeUnit.SECONDS);
        } catch (TimeoutException late) {
            return null;
        } catch (ExecutionException error) {
            throw new IOException(error.getCause());
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new IOException(error);
        }
    }

    private static void end(Process process) {
        if (process != null) {
            process.destroyForcibly();
            try {
                process.waitFor();
            } catch (InterruptedException error) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static void remove(Path directory) {
        if (directory == null) {
            return;
        }
        try (var files = Files.walk(directory)) {
            for (Path each : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(each);
            }
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    public String url() {
        return url;
    }

    /** A client of this server. */
    public DuewheelClient client() {
        return client;
    }

    /** Starts a worker, and stops it when the server is closed. */
    public Worker run(Worker worker) {
        worker.start();
        workers.add(worker);
        return worker;
    }

    /** The time of the server. */
    public Instant now() {
        return client.now();
    }

    /** Moves the time of the server. Before that it waits until no message is leased, because the step would end the leases. */
    public void advance(Duration by) {
        await("no message is leased", stats -> stats.path("leased").asLong() == 0);
        client.advance(by);
    }

    /** Waits until the workers of the test have handled all messages that are due. */
    public void runUntilIdle() {
        await("no message is ready or leased", stats -> stats.path("ready").asLong() == 0 && stats.path("leased").asLong() == 0);
    }

    private void await(String what, Predicate<JsonNode> holds) {
        long end = System.nanoTime() + IDLE_WITHIN.toNanos();
        for (int quiet = 0; quiet < QUIET_POLLS;) {
            JsonNode stats = client.call("GET", "/stats", null);
            quiet = holds.test(stats) ? quiet + 1 : 0;
            if (quiet == 0 && System.nanoTime() - end > 0) {
                throw new AssertionError("after %s it does not hold that %s: %s ready, %s leased. Does a worker handle each queue, and do its handlers return?"
                    .formatted(IDLE_WITHIN, what, stats.path("ready"), stats.path("leased")));
            }
            try {
                Thread.sleep(POLL_EVERY_MS);
            } catch (InterruptedException error) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(error);
            }
        }
    }

    /** The unfinished messages of a queue by due time, with their content. */
    public List<Message> messages(String queue) {
        try {
            return client.list(queue).map(listed -> client.get(listed.id())).toList();
        } catch (DuewheelException.NotFound none) {
            return List.of();
        }
    }

    /** The first unfinished message of the queue with this data, as equals() decides. The test fails if there is none. */
    public Message assertPut(String queue, Object data) {
        var found = new StringBuilder();
        for (Message message : messages(queue)) {
            try {
                if (Objects.deepEquals(message.data(data.getClass()), data)) {
                    return message;
                }
            } catch (DuewheelException.Invalid other) {
                // data of another type
            }
            found.append("\n  ").append(message.data(Object.class));
        }
        throw new AssertionError(data + " is not in the queue " + queue + "; there is: " + found);
    }

    @Override
    public void close() {
        workers.forEach(each -> each.stop(STOPPED_WITHIN));
        workers.clear();
        end(process);
        remove(directory);
    }
}
