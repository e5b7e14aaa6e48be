package duewheel.bench;

import duewheel.DuewheelClient;
import duewheel.Handling;
import duewheel.MessageQueue;
import duewheel.Worker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RBatch;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RedissonClient;
import org.redisson.codec.TypedJsonJacksonCodec;
import org.redisson.config.Config;

/** A process that puts COUNT messages and handles them, with Duewheel's client or Redisson: duewheel URL COUNT CONCURRENCY, or redisson URL ... */
final class Workers {
    private static final int BATCH = 500;
    private static final String PAD = "x".repeat(180); // about 200 bytes with the rest

    record Payload(int n, String pad) {}

    /** Checks that each message is handled once. */
    static final class Ledger {
        private final BitSet seen = new BitSet();
        private final CountDownLatch left;
        private int repeats;

        Ledger(int count) {
            left = new CountDownLatch(count);
        }

        synchronized void handled(int n) {
            if (seen.get(n)) {
                repeats++;
                return;
            }
            seen.set(n);
            left.countDown();
        }

        void await() throws InterruptedException {
            if (!left.await(2, TimeUnit.MINUTES)) throw new IllegalStateException(left.getCount() + " jobs were not handled within 120 s");
        }
    }

    private static double since(long start) {
        return (System.nanoTime() - start) / 1e9;
    }

    public static void main(String[] words) throws Exception {
        int count = Integer.parseInt(words[2]);
        int concurrency = Integer.parseInt(words[3]);
        List<Payload> all = new ArrayList<>();
        for (int n = 0; n < count; n++) all.add(new Payload(n, PAD));
        Ledger ledger = new Ledger(count);
        double[] times = words[0].equals("duewheel") ? duewheel(words[1], concurrency, all, ledger) : redisson(words[1], concurrency, all, ledger);
        System.out.printf("{\"put_s\": %f, \"all_s\": %f, \"repeats\": %d}%n", times[0], times[1], ledger.repeats);
        System.exit(0);
    }

    private static double[] duewheel(String url, int concurrency, List<Payload> all, Ledger ledger) throws Exception {
        DuewheelClient client = DuewheelClient.builder(url).build();
        MessageQueue<Payload> jobs = client.queue("jobs", Payload.class);
        Worker worker = Worker.builder(client)
                .handle(jobs, job -> ledger.handled(job.data().n()), Handling.concurrency(concurrency))
                .build();
        worker.start();
        long start = System.nanoTime();
        for (int first = 0; first < all.size(); first += BATCH) jobs.putAll(all.subList(first, Math.min(first + BATCH, all.size())));
        double put = since(start);
        ledger.await();
        worker.stop(Duration.ofMinutes(1)); // when all is acknowledged
        return new double[] {put, since(start)};
    }

    /** A blocking queue: what is taken from it is gone, so a worker that dies loses it. Redisson has no other one without a licence. */
    private static double[] redisson(String url, int concurrency, List<Payload> all, Ledger ledger) throws Exception {
        Config config = new Config();
        config.useSingleServer().setAddress(url).setConnectionPoolSize(concurrency + 8);
        RedissonClient client = Redisson.create(config);
        TypedJsonJacksonCodec codec = new TypedJsonJacksonCodec(Payload.class);
        RBlockingQueue<Payload> jobs = client.getBlockingQueue("jobs", codec);
        for (int i = 0; i < concurrency; i++) {
            Thread taker = new Thread(() -> {
                try {
                    while (true) ledger.handled(jobs.take().n());
                } catch (InterruptedException end) {
                    Thread.currentThread().interrupt();
                }
            });
            taker.setDaemon(true);
            taker.start();
        }
        long start = System.nanoTime();
        for (int first = 0; first < all.size(); first += BATCH) {
            RBatch batch = client.createBatch();
            for (Payload each : all.subList(first, Math.min(first + BATCH, all.size()))) batch.<Payload>getQueue("jobs", codec).offerAsync(each);
            batch.execute();
        }
        double put = since(start);
        ledger.await();
        return new double[] {put, since(start)};
    }

    private Workers() {}
}
