// Timers of the Java world under the workloads of bench/wheel/workload.h. agrona's wheel is told the time and runs all
// rows; netty's wheel, Kafka's SystemTimer and the ScheduledThreadPoolExecutor only know the system's clock, so they run
// A0, in which time stands still. Processor time is that of all threads, as some of them do the work elsewhere.
//
//     Peers SUBJECT WORKLOAD N [--quick] [--check]
package duewheel;

import com.sun.management.OperatingSystemMXBean;
import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import java.lang.management.ManagementFactory;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.agrona.DeadlineTimerWheel;
import org.apache.kafka.server.util.timer.SystemTimer;
import org.apache.kafka.server.util.timer.TimerTask;

public final class Peers {
    static final int TIMEOUT_MAX = 60_000;
    static final long REFRESH = 30_000;

    interface Subject extends AutoCloseable {
        void start(int id, long deadline);

        void stop(int id);

        default void advance(long now) {}

        @Override
        default void close() {}
    }

    static long mixed(long value) {
        value = (value ^ (value >>> 30)) * 0xbf58476d1ce4e5b9L;
        value = (value ^ (value >>> 27)) * 0x94d049bb133111ebL;
        return value ^ (value >>> 31);
    }

    final int n;
    final long[] deadlines;
    long random = 1;
    long now = 0;
    long again = 0;
    long fired = 0;
    long sum = 0;
    long early = 0;
    long latest = 0;
    Subject subject;

    Peers(int n) {
        this.n = n;
        this.deadlines = new long[n];
    }

    int below(int bound) {
        random += 0x9e3779b97f4a7c15L;
        return (int) ((mixed(random) >>> 32) * bound >>> 32);
    }

    long timeout() {
        return 1 + below(TIMEOUT_MAX);
    }

    void start(int id, long delay) {
        deadlines[id] = now + delay;
        subject.start(id, now + delay);
    }

    void fired(int id) {
        ++fired;
        sum += mixed(id + now);
        if (deadlines[id] > now) ++early;
        latest = Math.max(latest, now - deadlines[id]);
        if (again == 0) return;
        start(id, again == TIMEOUT_MAX
            ? 1 + Long.remainderUnsigned(mixed(id * 0x9e3779b97f4a7c15L + now), TIMEOUT_MAX) : again);
    }

    final class Agrona implements Subject {
        // As many slots as suit it best: more are quicker with many timers, and slower with few.
        final DeadlineTimerWheel wheel =
            new DeadlineTimerWheel(TimeUnit.MILLISECONDS, 0, 1, n >= 100_000 ? 65_536 : 1024, 16);
        final long[] timers = new long[n];
        final org.agrona.collections.Long2LongHashMap owners = new org.agrona.collections.Long2LongHashMap(-1);

        public void start(int id, long deadline) {
            timers[id] = wheel.scheduleTimer(deadline);
            owners.put(timers[id], id);
        }

        public void stop(int id) {
            wheel.cancelTimer(timers[id]);
            owners.remove(timers[id]);
        }

        // A poll looks at one slot, and moves on when that has nothing more that is due.
        public void advance(long time) {
            while (wheel.currentTickTime() <= time) {
                wheel.poll(time, (unit, at, timer) -> {
                    fired((int) owners.remove(timer));
                    return true;
                }, Integer.MAX_VALUE);
            }
        }
    }

    final class Netty implements Subject {
        final HashedWheelTimer timer = new HashedWheelTimer(1, TimeUnit.MILLISECONDS, 65_536);
        final Timeout[] timeouts = new Timeout[n];

        public void start(int id, long deadline) {
            timeouts[id] = timer.newTimeout(timeout -> {}, deadline, TimeUnit.MILLISECONDS);
        }

        public void stop(int id) {
            timeouts[id].cancel();
        }

        public void close() {
            timer.stop();
        }
    }

    final class Kafka implements Subject {
        final SystemTimer timer = new SystemTimer("bench", 1, 20, System.nanoTime() / 1_000_000);
        final TimerTask[] tasks = new TimerTask[n];

        public void start(int id, long deadline) {
            tasks[id] = new TimerTask(deadline) {
                public void run() {}
            };
            timer.add(tasks[id]);
        }

        public void stop(int id) {
            tasks[id].cancel();
        }
    }

    final class Executor implements Subject {
        final ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1);
        final ScheduledFuture<?>[] futures = new ScheduledFuture<?>[n];

        Executor() {
            executor.setRemoveOnCancelPolicy(true);
        }

        public void start(int id, long deadline) {
            futures[id] = executor.schedule(() -> {}, deadline, TimeUnit.MILLISECONDS);
        }

        public void stop(int id) {
            futures[id].cancel(false);
        }

        public void close() {
            executor.shutdownNow();
        }
    }

    void pairs(String workload, long count) {
        final long each = Math.max(1, n / 1000);
        for (long i = 1; i <= count; ++i) {
            final int id = below(n);
            subject.stop(id);
            start(id, workload.equals("B") ? REFRESH : timeout());
            if (!workload.equals("A0") && (i % each == 0 || i == count)) subject.advance(++now);
        }
    }

    void scheduleAndExpire(long[] delays) {
        final long end = now + TIMEOUT_MAX;
        for (int id = 0; id < n; ++id) start(id, delays[id]);
        while (now < end) subject.advance(++now);
    }

    /** Two threads with half of the timers each, which lie ten minutes and more ahead. */
    void twoProducers(long count) throws InterruptedException {
        final Thread[] threads = new Thread[2];
        for (int half = 0; half < 2; ++half) {
            final int own = half;
            threads[half] = new Thread(() -> {
                final java.util.SplittableRandom random = new java.util.SplittableRandom(own + 1);
                for (long i = 0; i < count; ++i) {
                    final int id = random.nextInt(n / 2) * 2 + own;
                    subject.stop(id);
                    subject.start(id, 600_000 + 1 + random.nextInt(TIMEOUT_MAX));
                }
            });
        }
        for (Thread thread : threads) thread.start();
        for (Thread thread : threads) thread.join();
    }

    static long cpuNanoseconds() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    Subject make(String name, String workload) {
        if (name.equals("agrona")) return new Agrona();
        if (!workload.equals("A0") && !workload.equals("F")) throw new IllegalArgumentException(name + " runs A0 and F only");
        switch (name) {
            case "netty": return new Netty();
            case "kafka": return new Kafka();
            case "executor": return new Executor();
            default: throw new IllegalArgumentException("no subject " + name);
        }
    }

    void run(String name, String workload, boolean quick, boolean checks) throws Exception {
        subject = make(name, workload);
        long operations = quick ? 200_000 : 2_000_000;
        long wall = System.nanoTime();
        long cpu = cpuNanoseconds();
        if (workload.equals("F")) {
            for (int id = 0; id < n; ++id) subject.start(id, 600_000 + timeout());
            twoProducers(operations / 2);
            wall = System.nanoTime();
            cpu = cpuNanoseconds();
            twoProducers(operations / 2);
        } else if (workload.equals("CU")) {
            // The clock of processor time steps by 10 ms here: a round of few timers is timed with others of its kind.
            final long rounds = checks ? 1 : Math.max(1, operations / n);
            operations = rounds * n;
            final long[] delays = new long[n];
            for (int id = 0; id < n; ++id) delays[id] = timeout();
            if (!checks) scheduleAndExpire(delays);
            wall = System.nanoTime();
            cpu = cpuNanoseconds();
            for (long round = 0; round < rounds; ++round) scheduleAndExpire(delays);
        } else {
            again = workload.equals("B") ? REFRESH : TIMEOUT_MAX;
            for (int id = 0; id < n; ++id) start(id, timeout());
            if (!checks) {
                pairs(workload, n);
                wall = System.nanoTime();
                cpu = cpuNanoseconds();
            }
            pairs(workload, operations);
        }
        final double cpuEach = (double) (cpuNanoseconds() - cpu) / operations;
        final double wallEach = (double) (System.nanoTime() - wall) / operations;
        System.out.printf("{\"subject\": \"%s\", \"workload\": \"%s\", \"n\": %d, \"wall_ns\": %.4f, \"cpu_ns\": %.4f, "
            + "\"fired\": %d, \"sum\": \"%016x\", \"early\": %d, \"latest\": %d}%n",
            name, workload, n, wallEach, cpuEach, fired, sum, early, latest);
        subject.close();
    }

    public static void main(String[] words) throws Exception {
        if (words.length < 3) {
            System.err.println("usage: Peers SUBJECT WORKLOAD N [--quick] [--check]");
            System.exit(2);
        }
        boolean quick = false;
        boolean checks = false;
        for (int i = 3; i < words.length; ++i) {
            quick |= words[i].equals("--quick");
            checks |= words[i].equals("--check");
        }
        new Peers(Integer.parseInt(words[2])).run(words[0], words[1], quick, checks);
        System.exit(0);
    }
}
