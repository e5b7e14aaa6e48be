package duewheel;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Handles the messages of queues. Each call of a handler has its own thread, a virtual one if the Java runtime has them. One more for each queue
 * leases messages, one extends their leases at a third of their length, and two report outcomes, many with one request. It is built, started
 * and stopped once.
 */
public final class Worker implements AutoCloseable {
    /** Returns: the message is done. Throws: see {@link Builder#handle}. */
    @FunctionalInterface
    public interface Handler<T> {
        void handle(Job<T> job) throws Exception;
    }

    /** The same; what it returns is the result of the message: any JSON of up to 64 KiB, or null for none. */
    @FunctionalInterface
    public interface ResultHandler<T> {
        Object handle(Job<T> job) throws Exception;
    }

    /** Says what became of the transaction of a prepared message, which has the data of the job. */
    @FunctionalInterface
    public interface Checker<T> {
        Verdict check(Job<T> job) throws Exception;
    }

    /** Runs at the times of a schedule. */
    @FunctionalInterface
    public interface Task {
        void run() throws Exception;
    }

    private static final System.Logger LOG = System.getLogger("duewheel");
    private static final Duration POLL = Duration.ofSeconds(20);
    private static final Duration STOP = Duration.ofSeconds(25);
    private static final Duration CANCELLED_WITHIN = Duration.ofSeconds(1); // how long handlers have to notice their cancel at the end of a stop
    private static final long ERROR_PAUSE_MS = 1000; // after a call that failed for another reason than that there is no message
    private static final long SAID_PAUSE_MS = 100; // between two extensions that only carry progress
    private static final int REPORTERS = 2;

    private final DuewheelClient client;
    private final String name;
    private final Duration stopTimeout;
    private final Map<String, Route> routes;
    private final List<Runnable> schedules;
    private final ExecutorService handlers = Threads.executor("duewheel-handler");
    private final Outbox outbox = new Outbox();
    private final Set<Held> held = ConcurrentHashMap.newKeySet(); // leased and not yet reported
    private final Object reported = new Object(); // notified when a message is held no longer
    private final List<Thread> pollers = new ArrayList<>();
    private final AtomicBoolean isStarted = new AtomicBoolean();
    private final AtomicBoolean isStopped = new AtomicBoolean();
    private final CountDownLatch stopAsked = new CountDownLatch(1);
    private final CountDownLatch ended = new CountDownLatch(1); // nothing is left to do
    private volatile boolean isStopping;
    private volatile boolean isHurried; // the stop does not wait for handlers

    private Worker(Builder builder) {
        client = builder.client;
        name = builder.name;
        stopTimeout = builder.stopTimeout;
        routes = Map.copyOf(builder.routes);
        schedules = List.copyOf(builder.schedules);
    }

    public static Builder builder(DuewheelClient client) {
        return new Builder(client);
    }

    /** The settings of a worker, and what it handles. */
    public static final class Builder {
        private final DuewheelClient client;
        private final Map<String, Route> routes = new LinkedHashMap<>();
        private final List<Runnable> schedules = new ArrayList<>();
        private String name;
        private Duration stopTimeout = STOP;

        private Builder(DuewheelClient client) {
            this.client = client;
        }

        /** A name that is shown with the messages that the worker has. */
        public Builder name(String name) {
            this.name = name;
            return this;
        }

        /** How long running handlers have to finish when the worker stops, 25 s by default. */
        public Builder stopTimeout(Duration timeout) {
            stopTimeout = timeout;
            return this;
        }

        public <T> Builder handle(MessageQueue<T> queue, Handler<? super T> handler) {
            return handle(queue, handler, Handling.usual());
        }

        /**
         * Makes a function handle the messages of a queue. It returns: the message is done. It throws {@link RetryLater}, {@link Snooze} or
         * {@link Dead}, or anything else: the attempt has failed, and the message is delivered again by its retry rule. Its thread is interrupted when
         * the lease is lost, a cancel of the running work is requested, or the time of a stop is over. Several handlers of one queue have different
         * kinds ({@link MessageQueue#kind}); a message whose kind has none fails its attempt.
         */
        public <T> Builder handle(MessageQueue<T> queue, Handler<? super T> handler, Handling handling) {
            return handleResult(queue, (Job<T> job) -> {
                @SuppressWarnings("unchecked") // a job gives data, and takes none
                var given = (Job<Object>) (Job<?>) job;
                @SuppressWarnings("unchecked") // it takes any data that is a T
                var called = (Handler<Object>) handler;
                called.handle(given);
                return null;
            }, handling);
        }

        public <T> Builder handleResult(MessageQueue<T> queue, ResultHandler<T> handler) {
            return handleResult(queue, handler, Handling.usual());
        }

        /** {@link #handle} for a function whose value is the result of the message, which the producer gets with {@link DuewheelClient#await}. */
        public <T> Builder handleResult(MessageQueue<T> queue, ResultHandler<T> handler, Handling handling) {
            Route route = routes.computeIfAbsent(queue.name(), each -> new Route(each, handling));
            if (!route.handling.equals(handling)) {
                throw new IllegalArgumentException("the handlers of the queue " + queue.name() + " have different settings: " + route.handling + " and " + handling);
            }
            List<Middleware> around = client.middleware();
            route.add(queue.kind(), one -> {
                Job<T> job = new Job<>(one, one.lease.wire.data(one.lease.raw(), one.lease.wire.typeOf(queue.type())));
                Middleware.HandleNext next = () -> handler.handle(job);
                for (int i = around.size() - 1; i >= 0; i--) {
                    Middleware each = around.get(i);
                    Middleware.HandleNext inner = next;
                    next = () -> each.handle(job, inner);
                }
                return next.handle();
            });
            return this;
        }

        /** Makes a function answer the checks of a queue ({@link CheckBack}): what became of a transaction whose producer did not say it. */
        public <T> Builder checker(MessageQueue<T> queue, Checker<T> checker) {
            return handle(queue, job -> {
                Check check = job.lease().check();
                if (check == null) {
                    throw Dead.because("this message is no check of a transaction");
                }
                switch (checker.check(job)) {
                    case COMMITTED -> client.commit(check.message());
                    case ROLLED_BACK -> client.rollback(check.message());
                    case UNKNOWN -> throw new IllegalStateException("what became of the transaction is not known yet");
                }
            });
        }

        /**
         * Makes a function run at the times of the settings, in one of all workers that declare it. The schedule is put by this name when the worker
         * starts, and so is its queue.
         */
        public Builder schedule(String name, ScheduleSettings settings, Task task) {
            schedules.add(() -> client.setSchedule(name, null, settings.queue(name)));
            return handle(client.queue(name, Object.class), job -> task.run());
        }

        public Worker build() {
            return new Worker(this);
        }
    }

    /**
     * Works until SIGTERM, SIGINT, {@link #stop} or an interrupt of this thread, and then stops in order. A second signal stops at once.
     *
     * @throws DuewheelException if the server refuses a schedule
     */
    public void run() {
        var signals = new Signals(this::signalled, () -> await(ended));
        try {
            start();
            await(stopAsked);
            stop(stopTimeout);
        } finally {
            signals.restore();
        }
    }

    private void signalled() {
        isHurried = stopAsked.getCount() == 0;
        stopAsked.countDown();
        synchronized (reported) {
            reported.notifyAll();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException asked) {
            // ends in order
        }
    }

    /** Puts the schedules, begins to work, and returns. The worker keeps the program running until it is stopped; one that was stopped before does
     * nothing. */
    public void start() {
        if (!isStarted.compareAndSet(false, true)) {
            throw new IllegalStateException("a worker is started once");
        }
        if (isStopping) {
            ended.countDown();
            return;
        }
        schedules.forEach(Runnable::run);
        for (Route route : routes.values()) {
            pollers.add(thread("duewheel-poll-" + route.queue, false, () -> poll(route)));
            thread("duewheel-beat-" + route.queue, true, () -> beat(route)).start();
        }
        for (int i = 0; i < REPORTERS; ++i) {
            thread("duewheel-report", true, this::reportAll).start();
        }
        pollers.forEach(Thread::start);
    }

    /** How many handlers run. */
    public int busy() {
        return routes.values().stream().mapToInt(Route::running).sum();
    }

    /** Whether it has started, and was not asked to stop. */
    public boolean isWorking() {
        return isStarted.get() && !isStopping;
    }

    private interface Step {
        void run() throws InterruptedException;
    }

    private static Thread thread(String name, boolean isDaemon, Step step) {
        var made = new Thread(() -> {
            try {
                step.run();
            } catch (InterruptedException asked) {
                Thread.currentThread().interrupt();
            }
        }, name);
        made.setDaemon(isDaemon);
        return made;
    }

    /** Stops in order, within the stop timeout. */
    @Override
    public void close() {
        stop(stopTimeout);
    }

    /**
     * Stops in order, and returns when this worker holds no message any more: it leases no more, waits for running handlers, cancels those that are
     * late, and releases what is left without counting the attempt.
     *
     * @param timeout how long running handlers have
     */
    public void stop(Duration timeout) {
        stopAsked.countDown();
        isStopping = true;
        if (!isStarted.get() || !isStopped.compareAndSet(false, true)) {
            if (isStarted.get()) {
                await(ended);
            }
            return;
        }
        for (Thread each : pollers) {
            each.interrupt();
        }
        boolean wasInterrupted = Thread.interrupted(); // a stop goes on
        for (Thread each : pollers) { // for a message that came at the last moment
            wasInterrupted |= !joined(each);
        }
        wasInterrupted |= !awaitReported(timeout, true);
        held.forEach(each -> each.cancel(CancelCause.STOPPING));
        wasInterrupted |= timeout.isZero() || !awaitReported(CANCELLED_WITHIN, true);
        for (Held each : held) {
            if (each.disown()) {
                outbox.add(new Outbox.Item(each, "release", Wire.object()));
            }
        }
        wasInterrupted |= !awaitReported(client.timeout(), false);
        ended.countDown();
        outbox.close();
        routes.values().forEach(Route::wake);
        handlers.shutdown();
        if (wasInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static boolean joined(Thread thread) {
        try {
            thread.join();
            return true;
        } catch (InterruptedException asked) {
            return false;
        }
    }

    /** Waits until no message is held, for up to this time; false if the thread was interrupted, which ends the wait. */
    private boolean awaitReported(Duration timeout, boolean mayHurry) {
        long end = System.nanoTime() + timeout.toNanos();
        try {
            synchronized (reported) {
                for (long left; !held.isEmpty() && !(mayHurry && isHurried) && (left = end - System.nanoTime()) > 0;) {
                    TimeUnit.NANOSECONDS.timedWait(reported, left);
                }
            }
            return true;
        } catch (InterruptedException asked) {
            return false;
        }
    }

    /** Leases as many messages as handlers are free, until the worker stops. */
    private void poll(Route route) throws InterruptedException {
        for (int free; (free = route.awaitRoom(() -> isStopping)) > 0;) {
            List<Lease> leases;
            try {
                leases = client.lease(route.queue, options(route, free));
            } catch (RuntimeException error) {
                if (isStopping) {
                    return;
                }
                LOG.log(levelOf(error), "no messages were leased from " + route.queue + ": " + error);
                Thread.sleep(ERROR_PAUSE_MS);
                continue;
            }
            for (Lease lease : leases) {
                var one = new Held(lease, route);
                held.add(one);
                route.began();
                if (isStopping) { // it came at the last moment
                    finished(one, new Outbox.Item(one, "release", Wire.object()));
                } else {
                    begin(one);
                }
            }
        }
    }

    private void begin(Held one) {
        try {
            handlers.execute(() -> {
                Outbox.Item outcome = failed(one, "the outcome of the handler cannot be reported");
                try {
                    outcome = handled(one);
                } catch (Throwable error) { // such as a time that no number holds, or a result that contains itself
                    outcome = failed(one, "the outcome of the handler cannot be reported: " + textOf(error));
                    log(Level.ERROR, "what a handler of " + one.route.queue + " returned or threw is no outcome, message " + one.lease.id(), error);
                    said(each -> each.failed(one.lease, error));
                } finally {
                    finished(one, outcome);
                }
            });
        } catch (OutOfMemoryError error) { // the system has no more threads
            LOG.log(Level.ERROR, "a handler of " + one.route.queue + " has no thread: use a smaller concurrency, or Java 21", error);
            finished(one, new Outbox.Item(one, "release", client.releaseMembers(Duration.ofMillis(ERROR_PAUSE_MS))));
        }
    }

    private LeaseOptions options(Route route, int free) {
        var options = new LeaseOptions().max(Math.min(free, DuewheelClient.MANY_MAX)).lease(route.handling.lease()).wait(POLL);
        return name == null ? options : options.worker(name);
    }

    /** Calls the handler, and gives what is to be reported. */
    private Outbox.Item handled(Held one) {
        Object result;
        one.enter();
        try {
            result = one.route.handlerOf(one.lease).handle(one);
        } catch (Throwable thrown) {
            one.leave();
            HandlerOutcome outcome = HandlerOutcome.of(thrown);
            if (outcome != null) {
                return new Outbox.Item(one, outcome.verb(), outcome.members(client));
            }
            if (one.cause() == CancelCause.STOPPING) {
                return new Outbox.Item(one, "release", Wire.object());
            }
            if (one.cause() == null) {
                log(Level.WARNING, "a handler of " + one.route.queue + " failed, message " + one.lease.id() + ", attempt " + one.lease.attempt(), thrown);
            }
            said(each -> each.failed(one.lease, thrown));
            return failed(one, textOf(thrown));
        }
        one.leave();
        try {
            return new Outbox.Item(one, "ack", client.ackMembers(result));
        } catch (DuewheelException error) {
            log(Level.ERROR, "the result of a handler of " + one.route.queue + " is no JSON, message " + one.lease.id(), error);
            said(each -> each.failed(one.lease, error));
            return failed(one, "the result is no JSON: " + error.detail());
        }
    }

    private Outbox.Item failed(Held one, String reason) {
        return new Outbox.Item(one, "fail", client.failMembers(reason, new FailOptions()));
    }

    /** The message of what a handler threw, or else its class: its methods are those of the user, and may throw too. */
    private static String textOf(Throwable thrown) {
        try {
            return thrown.getMessage() == null ? thrown.toString() : thrown.getMessage();
        } catch (Throwable odd) {
            return thrown.getClass().getName();
        }
    }

    /** Logs what a handler threw, which need not be able to say what it is. */
    private static void log(Level level, String text, Throwable thrown) {
        try {
            LOG.log(level, text, thrown);
        } catch (Throwable odd) {
            LOG.log(level, text + ": " + thrown.getClass().getName());
        }
    }

    /** Tells the middleware, whose failures change nothing. */
    private void said(Consumer<Middleware> hook) {
        for (Middleware each : client.middleware()) {
            try {
                hook.accept(each);
            } catch (Throwable error) {
                log(Level.ERROR, "a hook failed", error);
            }
        }
    }

    /** Makes room for another message; the outcome is reported by another thread. */
    private void finished(Held one, Outbox.Item outcome) {
        if (one.disown()) {
            outbox.add(outcome);
        }
        one.route.ended();
    }

    /** Ends what this worker has to do with the message. */
    private void forget(Held one) {
        held.remove(one);
        one.route.reported();
        synchronized (reported) {
            reported.notifyAll();
        }
    }

    private void reportAll() throws InterruptedException {
        for (List<Outbox.Item> items; (items = outbox.take()) != null;) {
            try {
                report(items);
            } catch (RuntimeException | Error error) {
                log(Level.ERROR, "outcomes were not reported", error);
            }
            items.forEach(each -> forget(each.held()));
        }
    }

    /**
     * Tells the server the outcome of messages. While the server cannot be reached, the leases are extended as soon as it is back, so the outcome is
     * not given up until the worker ends.
     */
    private void report(List<Outbox.Item> items) throws InterruptedException {
        for (List<Outbox.Item> left = items; !left.isEmpty();) {
            if (!left.get(0).verb().equals("ack")) {
                sayLast(left.stream().map(Outbox.Item::held).toList());
            }
            left = reportOnce(left);
            if (!left.isEmpty() && ended.await(ERROR_PAUSE_MS, TimeUnit.MILLISECONDS)) {
                return;
            }
        }
    }

    /** Sends what handlers have said before their leases end, so that the next attempts get it. It is tried once, and no outcome waits for more. */
    private void sayLast(List<Held> works) {
        works.forEach(each -> each.saying.lock()); // an extension may be on its way
        works.stream().collect(Collectors.groupingBy(each -> each.route)).forEach((route, those) -> extend(route, those, false));
        works.forEach(each -> each.saying.unlock());
    }

    /** Gives those to be reported again later. */
    private List<Outbox.Item> reportOnce(List<Outbox.Item> items) throws InterruptedException {
        String verb = items.get(0).verb();
        var endings = items.stream().map(each -> new DuewheelClient.Ending(each.held().lease.token(), each.members())).toList();
        List<Result<Outcome>> results;
        try {
            results = many(verb, endings, Wire.object(), null);
        } catch (DuewheelException error) {
            if (error.isForNow()) {
                LOG.log(levelOf(error), items.size() + " outcomes (" + verb + ") are not reported yet: " + error);
                return items;
            }
            int middle = items.size() / 2;
            if (middle > 0) { // one of them is the reason
                var left = new ArrayList<>(reportOnce(items.subList(0, middle)));
                left.addAll(reportOnce(items.subList(middle, items.size())));
                return left;
            }
            results = List.of(new Result<>(null, error));
        }
        var left = new ArrayList<Outbox.Item>();
        for (int i = 0; i < items.size(); ++i) {
            DuewheelException refusal = results.get(i).failure();
            if (refusal != null && refusal.isForNow()) {
                LOG.log(levelOf(refusal), "an outcome (" + verb + ") is not reported yet, message " + items.get(i).held().lease.id() + ": " + refusal);
                left.add(items.get(i));
            } else {
                answered(items.get(i), results.get(i));
            }
        }
        return left;
    }

    private List<Result<Outcome>> many(String verb, List<DuewheelClient.Ending> endings, ObjectNode common, Duration within) {
        try {
            return client.many(verb, endings, common, within);
        } catch (DuewheelException error) {
            throw error;
        } catch (RuntimeException | Error odd) { // of an object in a JsonNode of the user
            throw DuewheelException.badData("what a handler returned or said cannot be written as JSON: " + textOf(odd), odd);
        }
    }

    private static Level levelOf(RuntimeException error) {
        return error instanceof DuewheelException.Unauthorized ? Level.ERROR : Level.WARNING;
    }

    private void answered(Outbox.Item item, Result<Outcome> result) throws InterruptedException {
        Lease lease = item.held().lease;
        DuewheelException refusal = result.failure();
        if (refusal == null) {
            if ("dead".equals(result.value().outcome())) {
                said(each -> each.dead(lease, item.members().path("reason").asText()));
            }
        } else if (refusal.code().equals("lease_ended")) {
            LOG.log(Level.WARNING, "an outcome (" + item.verb() + ") came too late, the lease had ended: message " + lease.id());
        } else {
            log(Level.ERROR, "an outcome (" + item.verb() + ") was refused, message " + lease.id(), refusal);
            said(each -> each.failed(lease, refusal));
            if (!item.verb().equals("fail") || item.members().has("retry_in")) { // fail visibly, instead of being repeated for ever
                report(List.of(failed(item.held(), "the " + item.verb() + " was refused: " + refusal.getMessage())));
            }
        }
    }

    /** Extends the leases of a queue at a third of their length, and at once those of handlers that have said something. */
    private void beat(Route route) throws InterruptedException {
        long everyNs = Math.max(route.handling.lease().toNanos() / 3, 1_000_000);
        long dueNs = System.nanoTime() + everyNs;
        while (ended.getCount() > 0) {
            boolean hasSaid = route.awaitSaid(dueNs, () -> ended.getCount() == 0);
            boolean isDue = System.nanoTime() - dueNs >= 0;
            if (isDue) {
                dueNs = System.nanoTime() + everyNs;
            }
            if (isDue || hasSaid) {
                extend(route, held.stream().filter(each -> each.route == route).toList(), isDue);
            }
            if (hasSaid && ended.await(SAID_PAUSE_MS, TimeUnit.MILLISECONDS)) {
                return;
            }
        }
    }

    /** Extends, with one request, the leases of handlers that have said something, or all of them. */
    private void extend(Route route, List<Held> among, boolean all) {
        var works = new ArrayList<Held>();
        var endings = new ArrayList<DuewheelClient.Ending>();
        for (Held each : among) {
            ObjectNode said = each.saying.tryLock() ? each.takeSaid() : Wire.object();
            if (all || !said.isEmpty()) {
                works.add(each);
                endings.add(new DuewheelClient.Ending(each.lease.token(), said));
            }
        }
        Duration third = route.handling.lease().dividedBy(3); // then the next beat is due
        Duration within = Collections.min(List.of(Collections.max(List.of(third, Duration.ofSeconds(1))), client.timeout()));
        try {
            for (int from = 0; from < works.size(); from += DuewheelClient.MANY_MAX) {
                int to = Math.min(works.size(), from + DuewheelClient.MANY_MAX);
                extend(route, works.subList(from, to), endings.subList(from, to), within);
            }
        } catch (RuntimeException error) {
            LOG.log(Level.ERROR, "leases of " + route.queue + " were not extended", error);
        } finally {
            among.stream().filter(each -> each.saying.isHeldByCurrentThread()).forEach(each -> each.saying.unlock());
        }
    }

    /** With one request. What a handler has said and the server refuses is dropped, and never costs a lease. */
    private void extend(Route route, List<Held> works, List<DuewheelClient.Ending> endings, Duration within) {
        List<Result<Outcome>> results;
        try {
            results = many("extend", endings, Wire.object().put("lease", Wire.text(route.handling.lease())), within);
        } catch (DuewheelException error) {
            if (error.isForNow()) {
                for (int i = 0; i < works.size(); ++i) {
                    works.get(i).sayAgain(endings.get(i).members());
                }
                LOG.log(levelOf(error), works.size() + " leases of " + route.queue + " were not extended: " + error);
                return;
            }
            int middle = works.size() / 2;
            if (middle > 0) { // one of them is the reason
                extend(route, works.subList(0, middle), endings.subList(0, middle), within);
                extend(route, works.subList(middle, works.size()), endings.subList(middle, works.size()), within);
                return;
            }
            results = List.of(new Result<>(null, error));
        }
        var refused = new ArrayList<Held>();
        for (int i = 0; i < works.size(); ++i) {
            DuewheelException refusal = results.get(i).failure();
            boolean isForNow = refusal != null && refusal.isForNow();
            if (isForNow) {
                works.get(i).sayAgain(endings.get(i).members());
            }
            if (refusal != null && !isForNow && !refusal.code().equals("lease_ended") && !endings.get(i).members().isEmpty()) {
                LOG.log(Level.WARNING, "a progress or checkpoint was refused, the lease is extended without, message " + works.get(i).lease.id() + ": " + refusal);
                refused.add(works.get(i));
            } else {
                extended(works.get(i), results.get(i));
            }
        }
        if (!refused.isEmpty()) {
            extend(route, refused, refused.stream().map(each -> new DuewheelClient.Ending(each.lease.token(), Wire.object())).toList(), within);
        }
    }

    private void extended(Held one, Result<Outcome> result) {
        DuewheelException refusal = result.failure();
        if (refusal == null) {
            if (result.value().cancelRequested()) {
                one.cancel(CancelCause.CANCEL_REQUESTED);
            }
        } else if (!refusal.code().equals("lease_ended")) {
            LOG.log(Level.WARNING, "a lease of " + one.route.queue + " was not extended, message " + one.lease.id() + ": " + refusal);
        } else if (one.disown()) {
            LOG.log(Level.WARNING, "a lease of " + one.route.queue + " was lost, its handler is cancelled: message " + one.lease.id());
            one.cancel(CancelCause.LEASE_LOST);
            forget(one);
        }
    }
}
