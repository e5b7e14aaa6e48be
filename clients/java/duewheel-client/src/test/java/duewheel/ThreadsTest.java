package duewheel;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ThreadsTest {
    @Test
    void threadsAreVirtualFromJava21OnAndKeepNoProgramRunning() throws Exception {
        Thread thread = Threads.executor("test").submit(Thread::currentThread).get(30, TimeUnit.SECONDS);
        assertTrue(thread.isDaemon());
        if (Runtime.version().feature() >= 21) {
            assertTrue((Boolean) Thread.class.getMethod("isVirtual").invoke(thread));
        }
    }
}
