package duewheel.spring;

import duewheel.CheckBack;
import duewheel.DuewheelClient;
import duewheel.DuewheelException;
import duewheel.Put;
import duewheel.Receipt;
import java.lang.System.Logger.Level;
import org.springframework.context.event.EventListener;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Puts messages with the transaction of Spring that runs: prepared at once, committed after its commit, and rolled back with it. If the program dies in
 * between, the server asks in the queue `duewheel.transactions.check-queue`, which a listener that returns a {@link duewheel.Verdict} answers.
 */
public final class DuewheelTransactions {
    private static final System.Logger LOG = System.getLogger("duewheel");

    private final DuewheelClient client;
    private final DuewheelProperties.Transactions settings;

    DuewheelTransactions(DuewheelClient client, DuewheelProperties.Transactions settings) {
        this.client = client;
        this.settings = settings;
    }

    public Receipt put(String queue, Object data) {
        return put(queue, data, Put.now());
    }

    /** Without a transaction it is a put as any other. */
    public Receipt put(String queue, Object data, Put put) {
        if (!TransactionSynchronizationManager.isSynchronizationActive() || !TransactionSynchronizationManager.isActualTransactionActive()) {
            return client.put(queue, data, put);
        }
        if (settings.checkQueue() == null) {
            throw new IllegalStateException("a message in a transaction could be lost if the program dies: set duewheel.transactions.check-queue, and answer its "
                + "checks with a @DuewheelListener that returns a Verdict");
        }
        Receipt prepared = client.prepare(queue, data, CheckBack.to(settings.checkQueue()).after(settings.checkAfter()), put);
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public void afterCompletion(int status) {
                try {
                    if (status == STATUS_COMMITTED) {
                        client.commit(prepared.id());
                    } else if (status == STATUS_ROLLED_BACK) {
                        client.rollback(prepared.id());
                    }
                } catch (DuewheelException error) { // the transaction has ended as it has; so a check decides
                    LOG.log(Level.WARNING, "the server does not know yet how the transaction of message " + prepared.id() + " ended, and will ask: " + error);
                }
            }
        });
        return prepared;
    }

    @EventListener
    void published(DuewheelEvent event) {
        put(event.queue(), event.data(), event.put());
    }
}
