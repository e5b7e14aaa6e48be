package duewheel;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/** Where handlers and asynchronous calls run. */
final class Threads {
    private Threads() {}

    /** A virtual thread for each task if the Java runtime has them (21 and newer), otherwise kept threads, which do not keep a program running. */
    static ExecutorService executor(String name) {
        try {
            return (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        } catch (ReflectiveOperationException none) {
            var numbers = new AtomicLong();
            return Executors.newCachedThreadPool(task -> {
                var thread = new Thread(task, name + "-" + numbers.incrementAndGet());
                thread.setDaemon(true);
                return thread;
            });
        }
    }
}
