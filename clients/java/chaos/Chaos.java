import duewheel.DuewheelClient;
import duewheel.Handling;
import duewheel.MessageQueue;
import duewheel.Worker;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

/** What clients/chaos.py starts: `put URL COUNT` prints the ids of so many messages, `work URL LOG` appends those that it handles. */
public final class Chaos {
    private static final int AT_ONCE = 10;

    public static void main(String[] words) throws Exception {
        Logger.getLogger("").setLevel(Level.OFF);
        DuewheelClient client = DuewheelClient.builder(words[1]).timeout(Duration.ofMinutes(1)).build();
        MessageQueue<String> queue = client.queue("chaos", String.class);
        if (words[0].equals("put")) {
            put(queue, Integer.parseInt(words[2]));
        } else {
            work(client, queue, words[2]);
        }
    }

    private static void put(MessageQueue<String> queue, int count) throws InterruptedException {
        var producers = Executors.newFixedThreadPool(AT_ONCE);
        System.out.println("ready");
        for (int i = 0; i < count; ++i) {
            producers.execute(() -> System.out.println(queue.put("x").id()));
        }
        producers.shutdown();
        if (!producers.awaitTermination(5, TimeUnit.MINUTES)) {
            throw new IllegalStateException("the messages were not put");
        }
    }

    private static void work(DuewheelClient client, MessageQueue<String> queue, String log) throws IOException {
        try (var handled = new FileOutputStream(log, true)) {
            Worker worker = Worker.builder(client).handle(queue, job -> {
                Thread.sleep(ThreadLocalRandom.current().nextInt(20));
                handled.write((job.id() + "\n").getBytes(StandardCharsets.UTF_8));
            }, Handling.concurrency(AT_ONCE).lease(Duration.ofSeconds(2))).build();
            System.out.println("ready");
            worker.run();
        }
    }
}
