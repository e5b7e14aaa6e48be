package duewheel.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import duewheel.CheckBack;
import duewheel.Dead;
import duewheel.DuewheelClient;
import duewheel.DuewheelException;
import duewheel.Handling;
import duewheel.Job;
import duewheel.Lease;
import duewheel.Message;
import duewheel.MessageQueue;
import duewheel.Middleware;
import duewheel.Outgoing;
import duewheel.Put;
import duewheel.Receipt;
import duewheel.Result;
import duewheel.RetryLater;
import duewheel.RetryRule;
import duewheel.ScheduleSettings;
import duewheel.Verdict;
import duewheel.Worker;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(DuewheelExtension.class)
@Timeout(180)
class WorkerTest {
    record Email(String to) {}

    record Bill(int cents) {}

    private static final Duration SOON = Duration.ofSeconds(30);
    private static final Put ONCE = Put.now().retry(new RetryRule().attempts(1));

    private final BlockingQueue<String> seen = new LinkedBlockingQueue<>();

    private String next() throws InterruptedException {
        return seen.poll(30, TimeUnit.SECONDS);
    }

    @Test
    void severalTypesInOneQueueAreToldApartByTheirKind(DuewheelServer server) throws Exception {
        DuewheelClient client = server.client();
        MessageQueue<Email> mail = client.queue("inbox", Email.class).kind("email");
        MessageQueue<Bill> bills = client.queue("inbox", Bill.class).kind("bill");
        server.run(Worker.builder(client).handle(mail, job -> seen.add(job.data().to())).handle(bills, job -> seen.add("" + job.data().cents())).build());
        mail.put(new Email("ann"));
        assertEquals("ann", next());
        bills.putAsync(new Bill(700), Put.now()).get(30, TimeUnit.SECONDS);
        assertEquals("700", next());
        String odd = client.put("inbox", "what", ONCE.header("kind", "odd")).id();
        assertEquals("this worker has no handler for the kind `odd` of queue inbox", client.await(odd, SOON).reason());
        String misfit = client.put("inbox", Map.of("cents", "7"), ONCE.header("kind", "bill")).id();
        assertTrue(client.await(misfit, SOON).reason().contains("does not fit its type"));
    }

    @Test
    void anErrorAnExceptionWithoutTextAndAWrappedOutcomeEndTheAttempt(DuewheelServer server) {
        DuewheelClient client = server.client();
        MessageQueue<String> queue = client.queue("odd", String.class);
        server.run(Worker.builder(client).handle(queue, job -> {
            switch (job.data()) {
                case "error" -> throw new StackOverflowError();
                case "empty" -> throw new InterruptedException();
                case "long" -> throw new IllegalStateException("\ud800 begins" + "x".repeat(2_000_000) + "ends");
                case "mute" -> throw new IllegalStateException() {
                    @Override
                    public String getMessage() {
                        throw new StackOverflowError();
                    }
                };
                case "backwards" -> throw RetryLater.after(Duration.ofSeconds(-1));
                case "much later" -> throw RetryLater.after(Duration.ofDays(100_000));
                case "endless" -> throw RetryLater.after(Duration.ofSeconds(Long.MAX_VALUE));
                case "dead" -> throw new IllegalStateException("wrapped", Dead.because("no such address"));
                default -> throw RetryLater.after(Duration.ofHours(1), "the mail server is busy");
            }
        }, Handling.concurrency(3)).build());
        assertEquals("java.lang.StackOverflowError", client.await(queue.put("error", ONCE).id(), SOON).reason());
        assertEquals("java.lang.InterruptedException", client.await(queue.put("empty", ONCE).id(), SOON).reason());
        assertTrue(client.await(queue.put("long", ONCE).id(), SOON).reason().matches("\\? begins.*ends"));
        assertTrue(client.await(queue.put("endless", ONCE).id(), SOON).reason().startsWith("the outcome of the handler cannot be reported"));
        assertTrue(client.await(queue.put("backwards", ONCE).id(), SOON).reason().endsWith("is negative: PT-1S"));
        assertTrue(client.await(queue.put("much later", ONCE).id(), SOON).reason().startsWith("the fail was refused"));
        for (int i = 0; i < 4; ++i) { // one more than have a place
            assertTrue(client.await(queue.put("mute", ONCE).id(), SOON).reason().contains("WorkerTest"));
        }
        assertEquals("no such address", client.await(queue.put("dead").id(), SOON).reason());
        String later = queue.put("later").id();
        server.runUntilIdle();
        assertEquals("retrying", client.get(later).state());
        assertEquals(1, client.get(later).attempts());
    }

    private record Explosive() {
        public int getValue() {
            throw new AssertionError("a getter");
        }
    }

    private static Object nested(int levels) {
        Object made = 1;
        for (int i = 0; i < levels; ++i) {
            made = List.of(made);
        }
        return made;
    }

    /** A whole request is refused for one of them. */
    @Test
    void aResultThatIsRefusedFailsAlone(DuewheelServer server) {
        DuewheelClient client = server.client();
        MessageQueue<Integer> queue = client.queue("numbers", Integer.class);
        List<Object> odd = List.of(JsonNodeFactory.instance.pojoNode(new Explosive()), new Explosive(), "\ud800", "x".repeat(100_000),
            nested(99));
        List<Receipt> receipts = queue.putAll(IntStream.range(0, 100).boxed().toList(), ONCE).stream().map(Result::get).toList();
        server.run(Worker.builder(client).handleResult(queue, job -> job.data() < odd.size() ? odd.get(job.data()) : job.data(), Handling.concurrency(100)).build());
        for (int i = 0; i < 100; ++i) {
            Message ended = client.await(receipts.get(i).id(), SOON);
            assertEquals(i < odd.size() ? "dead" : "done", ended.state(), i + " " + ended.reason());
            assertTrue(i < odd.size() ? !ended.reason().isEmpty() : ended.result().asInt() == i);
        }
    }

    /** A progress of more than 1 KiB, and one that is too deep for the whole request, were refused with the extension that carried them. */
    @Test
    void aProgressThatIsRefusedDoesNotCostTheLease(DuewheelServer server) {
        DuewheelClient client = server.client();
        MessageQueue<String> queue = client.queue("q", String.class);
        server.run(Worker.builder(client).handle(queue, job -> {
            Object progress = job.data().equals("deep") ? nested(40) : "x".repeat(2000);
            for (long end = System.nanoTime() + 2_500_000_000L; System.nanoTime() < end; Thread.sleep(20)) {
                job.progress(progress);
            }
        }, Handling.concurrency(3).lease(Duration.ofSeconds(1))).build());
        for (String id : Stream.of("deep", "long", "deep").map(data -> queue.put(data, ONCE).id()).toList()) {
            assertEquals("done", client.await(id, SOON).state());
        }
    }

    @Test
    void middlewareRunsAroundPutsAndHandlersAndHearsOfFailures(DuewheelServer server) throws Exception {
        var around = new Middleware() {
            @Override
            public List<Result<Receipt>> put(String queue, List<Outgoing> messages, PutNext next) {
                return next.put(queue, messages.stream().map(each -> new Outgoing(each.data() + "!", each.put())).toList());
            }

            @Override
            public Object handle(Job<?> job, HandleNext next) throws Exception {
                seen.add("before " + job.data());
                return next.handle() + "?";
            }

            @Override
            public void failed(Lease lease, Throwable failure) {
                seen.add("failed " + failure.getMessage());
                throw new IllegalStateException("a hook that fails changes nothing");
            }

            @Override
            public void dead(Lease lease, String reason) {
                seen.add("dead " + reason);
            }
        };
        DuewheelClient client = DuewheelClient.builder(server.url()).middleware(around).build();
        MessageQueue<String> queue = client.queue("around", String.class);
        server.run(Worker.builder(client).handleResult(queue, job -> {
            if (job.data().equals("fail!")) {
                throw new IllegalStateException("why");
            }
            return job.data().length();
        }).build());
        assertEquals("3?", client.await(queue.putAll(List.of("hi")).get(0).get().id(), SOON).result().asText());
        assertEquals("before hi!", next());
        queue.put("fail", ONCE);
        assertEquals(List.of("before fail!", "failed why", "dead why"), List.of(next(), next(), next()));
    }

    @Test
    void schedulesAreThereOnceAndChecksAreAnswered(DuewheelServer server) throws Exception {
        DuewheelClient client = server.client();
        MessageQueue<Integer> parcels = client.queue("parcels", Integer.class);
        MessageQueue<Integer> checks = client.queue("parcel-checks", Integer.class);
        for (int i = 0; i < 2; ++i) {
            server.run(Worker.builder(client).schedule("daily", new ScheduleSettings().cron("0 3 * * *").zone("Europe/Oslo"), () -> seen.add("ran"))
                .checker(checks, job -> job.data() == 7 ? Verdict.COMMITTED : Verdict.ROLLED_BACK)
                .handle(parcels, job -> seen.add("parcel " + job.data())).build());
        }
        CheckBack check = CheckBack.to("parcel-checks").after(Duration.ofMinutes(1));
        String committed = parcels.prepare(7, check).id();
        String rolledBack = parcels.prepare(8, check).id();
        assertEquals("prepared", client.get(committed).state());
        server.advance(Duration.ofMinutes(1));
        assertEquals("parcel 7", next());
        server.runUntilIdle();
        assertEquals("done", client.get(committed).state());
        assertEquals("cancelled", client.get(rolledBack).state());
        server.advance(Duration.ofDays(1));
        assertEquals("ran", next());
        assertNull(seen.poll());
    }

    @Test
    void aTransactionCommitsOrRollsBack(DuewheelServer server) throws Exception {
        MessageQueue<String> parcels = server.client().queue("parcels", String.class);
        CheckBack check = CheckBack.to("parcel-checks").after(Duration.ofMinutes(1));
        assertEquals(5, parcels.transaction("whole", check, () -> 5));
        assertEquals("order 7", assertThrows(IllegalStateException.class, () -> parcels.transaction("broken", check, () -> {
            throw new IllegalStateException("order 7");
        })).getMessage());
        assertEquals(1, server.messages("parcels").size());
        assertEquals("ready", server.assertPut("parcels", "whole").state());
        assertThrows(AssertionError.class, () -> server.assertPut("parcels", "broken"));
    }

    @Test
    void aWorkerIsStartedOnceAndStopsInOrder(DuewheelServer server) throws Exception {
        DuewheelClient client = server.client();
        MessageQueue<String> queue = client.queue("slow", String.class);
        var begun = new CountDownLatch(1);
        var released = new CountDownLatch(1);
        Worker worker = Worker.builder(client).handleResult(queue, job -> {
            begun.countDown();
            released.await();
            return "whole";
        }).build();
        worker.start();
        assertThrows(IllegalStateException.class, worker::start);
        String id = queue.put("x").id();
        begun.await();
        assertEquals(1, worker.busy());
        var stopped = new Thread(worker::close);
        stopped.start();
        released.countDown();
        stopped.join();
        assertEquals("done", client.get(id).state());
        assertFalse(worker.isWorking());
        worker.close(); // again
    }

    private static void signal() throws Exception {
        assertEquals(0, new ProcessBuilder("kill", "-TERM", Long.toString(ProcessHandle.current().pid())).start().waitFor());
    }

    @Test
    void aSignalDrainsAndASecondOneGivesBackAtOnce(DuewheelServer server) throws Exception {
        DuewheelClient client = server.client();
        MessageQueue<String> queue = client.queue("slow", String.class);
        var released = new CountDownLatch(1);
        Worker worker = Worker.builder(client).stopTimeout(Duration.ofMinutes(10)).handle(queue, job -> {
            seen.add("begun");
            if (job.data().equals("soon")) {
                released.await();
                return;
            }
            try {
                Thread.sleep(600_000);
            } finally {
                seen.add("" + job.cancelCause());
            }
        }, Handling.concurrency(2)).build();
        String soon = queue.put("soon").id();
        String late = queue.put("late").id();
        var running = new Thread(worker::run);
        running.start();
        assertEquals("begun", next());
        assertEquals("begun", next());
        signal();
        while (worker.isWorking()) {
            Thread.sleep(10);
        }
        released.countDown();
        assertEquals("done", client.await(soon, SOON).state());
        signal();
        running.join();
        assertEquals("STOPPING", next());
        Message back = client.get(late);
        assertEquals("ready", back.state());
        assertEquals("released", back.timeline().get(0).outcome());
    }

    @Test
    void aWorkerThatIsStoppedBeforeItStartsHandlesNothing(DuewheelServer server) {
        Worker worker = Worker.builder(server.client()).handle(server.client().queue("q", String.class), job -> seen.add(job.data())).build();
        worker.stop(Duration.ofSeconds(5));
        worker.run();
        assertFalse(worker.isWorking());
    }

    @Test
    void anInterruptEndsACall(DuewheelServer server) throws Exception {
        String id = server.client().put("never", "x").id();
        var ended = new LinkedBlockingQueue<DuewheelException>();
        var waits = new Thread(() -> {
            try {
                server.client().await(id, Duration.ofMinutes(10));
            } catch (DuewheelException error) {
                ended.add(error);
            }
        });
        waits.start();
        waits.interrupt();
        assertEquals("interrupted", ended.poll(30, TimeUnit.SECONDS).code());
    }

    @Test
    void errorsHaveFamiliesAndSayWhatIsWrong(DuewheelServer server) {
        DuewheelClient client = server.client();
        var negative = assertThrows(DuewheelException.Invalid.class, () -> client.put("q", "x", Put.in(Duration.ofSeconds(-1))));
        assertEquals("delay", negative.field());
        assertEquals("unknown_id", assertThrows(DuewheelException.NotFound.class, () -> client.get("123456")).code());
        String id = client.put("q", "x").id();
        client.cancel(id);
        var late = assertThrows(DuewheelException.Conflict.class, () -> client.fire(id));
        assertEquals("already_cancelled", late.code());
        assertThrows(DuewheelException.Unauthorized.class, () -> DuewheelClient.builder(server.url()).token("dw_wrong").build().put("q", "x"));
    }
}
