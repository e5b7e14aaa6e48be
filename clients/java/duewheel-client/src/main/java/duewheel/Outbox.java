package duewheel;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What is to be reported to the server. What comes while a request is on its way is the next one. */
final class Outbox {
    /** The call that ends the lease of a message. */
    record Item(Held held, String verb, ObjectNode members) {}

    private static final int REQUEST_MAX = 200; // so many results of 64 KiB are not too much for a request

    private final Map<String, List<Item>> items = new LinkedHashMap<>(); // by verb; guarded by this
    private boolean isClosed;

    synchronized void add(Item item) {
        items.computeIfAbsent(item.verb(), verb -> new ArrayList<>()).add(item);
        notifyAll();
    }

    /** The oldest ones with the same verb, up to what one request may have; null when the outbox is closed and empty. */
    synchronized List<Item> take() throws InterruptedException {
        while (items.isEmpty()) {
            if (isClosed) {
                return null;
            }
            wait();
        }
        var oldest = items.entrySet().iterator();
        List<Item> all = oldest.next().getValue();
        oldest.remove();
        if (all.size() > REQUEST_MAX) { // the rest comes after the other verbs
            items.put(all.get(0).verb(), new ArrayList<>(all.subList(REQUEST_MAX, all.size())));
            return all.subList(0, REQUEST_MAX);
        }
        return all;
    }

    synchronized void close() {
        isClosed = true;
        notifyAll();
    }
}
