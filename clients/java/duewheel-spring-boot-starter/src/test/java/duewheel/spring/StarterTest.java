package duewheel.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import duewheel.CheckBack;
import duewheel.Dead;
import duewheel.DuewheelClient;
import duewheel.Job;
import duewheel.Message;
import duewheel.Put;
import duewheel.RetryRule;
import duewheel.Verdict;
import duewheel.test.DuewheelServer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

@SpringBootTest(properties = {"mail.queue=mail", "duewheel.transactions.check-queue=checks", "duewheel.worker.name=starter"})
class StarterTest {
    private static final DuewheelServer SERVER = DuewheelServer.start();
    private static final Duration SOON = Duration.ofSeconds(30);

    @DynamicPropertySource
    static void properties(DynamicPropertyRegistry registry) {
        registry.add("duewheel.url", SERVER::url);
    }

    record Email(String to) {}

    record Sent(String to, long attempt) {}

    static class Shop {
        final BlockingQueue<String> seen = new LinkedBlockingQueue<>();

        @DuewheelListener(value = "${mail.queue}", concurrency = "5", lease = "10s")
        Sent send(Email email, Job<Email> job) {
            if (email.to().equals("nobody")) {
                throw Dead.because("there is no such address");
            }
            return new Sent(email.to(), job.attempt());
        }

        @DuewheelListener("lists")
        void many(List<Email> emails) {
            seen.add(emails.get(0).to());
        }

        @DuewheelSchedule(value = "tidy-up", cron = "0 3 * * *", zone = "Europe/Oslo")
        void tidy() {
            seen.add("tidy");
        }

        @DuewheelListener("checks")
        Verdict check(String data) {
            seen.add("check " + data);
            return Verdict.COMMITTED;
        }
    }

    /** A database whose transactions say how they ended. */
    static class Database extends AbstractPlatformTransactionManager {
        private static final long serialVersionUID = 1;

        @Override
        protected Object doGetTransaction() {
            return new Object();
        }

        @Override
        protected void doBegin(Object transaction, TransactionDefinition definition) {}

        @Override
        protected void doCommit(DefaultTransactionStatus status) {}

        @Override
        protected void doRollback(DefaultTransactionStatus status) {}
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {
        @Bean
        Shop shop() {
            return new Shop();
        }

        @Bean
        Database database() {
            return new Database();
        }

        @Bean
        MeterRegistry registry() {
            return new SimpleMeterRegistry();
        }
    }

    @Autowired private DuewheelClient client;
    @Autowired private Shop shop;
    @Autowired private DuewheelTransactions transactions;
    @Autowired private ApplicationEventPublisher publisher;
    @Autowired private Database database;
    @Autowired private MeterRegistry registry;
    @Autowired private DuewheelHealthIndicator health;

    @AfterAll
    static void end() {
        SERVER.close();
    }

    private String next() throws InterruptedException {
        return shop.seen.poll(30, TimeUnit.SECONDS);
    }

    @Test
    void listenersGetTheirTypesAndGiveResults() throws Exception {
        Message done = client.await(client.put("mail", new Email("ann")).id(), SOON);
        assertEquals("{\"to\":\"ann\",\"attempt\":1}", done.result().toString());
        Message dead = client.await(client.put("mail", new Email("nobody")).id(), SOON);
        assertEquals("there is no such address", dead.reason());
        client.put("lists", List.of(new Email("ben")));
        assertEquals("ben", next());
        assertEquals(1, registry.get("duewheel.worker.duration").tags("queue", "mail", "outcome", "dead").timer().count());
        assertTrue(registry.get("duewheel.puts").counters().stream().mapToDouble(each -> each.count()).sum() >= 3);
        assertEquals(Status.UP, health.health(true).getStatus());
        assertEquals(true, health.health(true).getDetails().get("works"));
    }

    @Test
    void aScheduleRunsAtItsTime() throws Exception {
        assertTrue(client.getSchedule("tidy-up").toString().contains("\"0 3 * * *\""));
        SERVER.advance(Duration.ofDays(1));
        assertEquals("tidy", next());
    }

    @Test
    void aMessageEndsAsItsTransactionDoes() throws Exception {
        var transaction = new TransactionTemplate(database);
        transaction.executeWithoutResult(status -> {
            String id = transactions.put("orders", "whole").id();
            assertEquals("prepared", client.get(id).state());
            publisher.publishEvent(new DuewheelEvent("orders", "event"));
        });
        assertThrows(IllegalStateException.class, () -> transaction.executeWithoutResult(status -> {
            transactions.put("orders", "broken");
            throw new IllegalStateException("the database refuses it");
        }));
        assertEquals("ready", SERVER.assertPut("orders", "whole").state());
        assertEquals("ready", SERVER.assertPut("orders", "event").state());
        assertEquals(2, SERVER.messages("orders").size());
        assertEquals("ready", client.get(transactions.put("orders", "without a transaction").id()).state());

        client.prepare("orders", "forgotten", CheckBack.to("checks").after(Duration.ofMinutes(1)), Put.now());
        SERVER.advance(Duration.ofMinutes(1));
        assertEquals("check forgotten", next());
    }

    @Test
    void aTransactionWithoutAQueueForItsChecksIsRefusedAndNoServerIsDown() {
        new ApplicationContextRunner().withUserConfiguration(Application.class).withPropertyValues("duewheel.url=http://127.0.0.1:1", "duewheel.worker.enabled=false")
            .run(context -> {
                var refused = assertThrows(IllegalStateException.class, () -> new TransactionTemplate(context.getBean(Database.class))
                    .executeWithoutResult(status -> context.getBean(DuewheelTransactions.class).put("orders", "x", Put.now().retry(new RetryRule().attempts(1)))));
                assertTrue(refused.getMessage().contains("duewheel.transactions.check-queue"));
                assertEquals(Status.DOWN, context.getBean(DuewheelHealthIndicator.class).health(true).getStatus());
            });
    }
}
