// Clients that list the messages, dead letters and history of a queue page by page, with cursors that outlive the
// server; and request forecasts.
#include <algorithm>

#include "simulation/workload.h"

namespace duewheel {

// ---- listings

void Workload::list() {
    if (random_.chance(350'000)) return read_history();
    // A cursor outlives the server: a page that was lost with it is asked for again.
    for (auto& [query, page] : pages_) {
        if (page.asked_in_run == oracle_.run() || !random_.chance(850'000)) continue;
        page.asked_in_run = oracle_.run();
        return surroundings_.submit(page.command);
    }
    if (random_.chance(400'000) && list_dead()) return;
    const QueueOf queue = queue_name(options_, static_cast<std::uint32_t>(random_.below(options_.queues)));
    ListCommand first;
    first.name_space = queue.name_space;
    first.queue = queue.queue;
    first.limit = static_cast<std::uint32_t>(random_.chance(700'000) ? 1 + random_.below(6) : 1000);
    if (random_.chance(150'000)) first.states = {State::ready};
    if (random_.chance(150'000)) first.states = {State::scheduled, State::retrying};
    if (random_.chance(100'000)) first.states = {State::leased};
    if (random_.chance(100'000)) first.states = {State::dead};
    if (random_.chance(200'000)) first.from.due_ms = surroundings_.clock() - draw_delay();
    if (random_.chance(200'000)) {
        first.until_ms = surroundings_.clock() + draw_delay();
        first.until_ms += random_.between(0, 1);
    }
    first.query = ++listings_;
    pages_[first.query] = {first, oracle_.run()};
    surroundings_.submit(std::move(first));
}

// The dead of a queue that has some, all of them: who stays dead meanwhile has to be met.
bool Workload::list_dead() {
    const MessageModel* message = pick_aside_or_dead();
    if (message == nullptr || !message->may_be(World::Phase::dead)) return false;
    ListCommand first;
    first.name_space = message->put.name_space;
    first.queue = message->put.queue;
    first.states = {State::dead};
    first.limit = static_cast<std::uint32_t>(1 + random_.below(6));
    first.query = ++listings_;
    pages_[first.query] = {first, oracle_.run()};
    surroundings_.submit(std::move(first));
    return true;
}

void Workload::take_page(const ListAnswer& answer) {
    const auto page = pages_.find(answer.query);
    if (page == pages_.end()) return;
    if (!answer.next) return void(pages_.erase(page));
    page->second.asked_in_run = 0;
    page->second.command.from = *answer.next;
    if (random_.chance(200'000)) page->second.command.limit = static_cast<std::uint32_t>(1 + random_.below(20));
}

// ---- queues

void Workload::list_queues() {
    const QueueOf queue = queue_name(options_, static_cast<std::uint32_t>(random_.below(options_.queues)));
    ListQueuesCommand list;
    list.name_space = queue.name_space;
    if (random_.chance(400'000))
        list.after = queue_name(options_, static_cast<std::uint32_t>(random_.below(options_.queues))).queue;
    list.limit = static_cast<std::uint32_t>(random_.chance(500'000) ? 1 + random_.below(3) : 100);
    surroundings_.submit(std::move(list));
}

// ---- forecasts

void Workload::forecast() {
    const QueueOf queue = queue_name(options_, static_cast<std::uint32_t>(random_.below(options_.queues)));
    ForecastCommand command{queue.name_space, {}, 0};
    if (random_.chance(600'000)) command.queue = queue.queue;
    const auto usual = static_cast<std::uint64_t>(std::min<DueMs>(options_.due_scale_ms / 60'000, 25) + 2);
    command.minutes =
        static_cast<std::uint32_t>(random_.chance(900'000) ? 1 + random_.below(usual) : random_.below(2'000));
    if (command.minutes > 30 && random_.chance(900'000)) command.minutes = 30;
    surroundings_.submit(std::move(command));
}

// ---- history

void Workload::read_history() {
    for (auto& [query, page] : history_pages_) {
        if (page.asked_in_run == oracle_.run()) continue;
        page.asked_in_run = oracle_.run();
        return surroundings_.submit(page.command);
    }
    const QueueOf queue = queue_name(options_, static_cast<std::uint32_t>(random_.below(options_.queues)));
    HistoryCommand first;
    first.name_space = queue.name_space;
    first.queue = queue.queue;
    first.limit = static_cast<std::uint32_t>(random_.chance(500'000) ? 1 + random_.below(6) : 1000);
    first.query = ++listings_;
    history_pages_[first.query] = {first, oracle_.run()};
    surroundings_.submit(std::move(first));
}

void Workload::take_page(const HistoryAnswer& answer) {
    const auto page = history_pages_.find(answer.query);
    if (page == history_pages_.end()) return;
    if (!answer.next) return void(history_pages_.erase(page));
    page->second.asked_in_run = 0;
    page->second.command.from = *answer.next;
}

}  // namespace duewheel
