// A process that puts COUNT messages and handles them, with Duewheel's client or asynq: duewheel URL COUNT CONCURRENCY, or asynq ADDRESS ...
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	duewheel "duewheel.test/duewheel"
	"github.com/hibiken/asynq"
)

const (
	batch        = 500
	producersMax = 16
)

type payload struct {
	N   int    `json:"n"`
	Pad string `json:"pad"`
}

func payloads(count int) []payload {
	all := make([]payload, count)
	for n := range all {
		all[n] = payload{n, strings.Repeat("x", 180)} // about 200 bytes with the rest
	}
	return all
}

// ledger checks that each message is handled once.
type ledger struct {
	mu            sync.Mutex
	seen          []bool
	left, repeats int
	done          chan struct{}
}

func (l *ledger) handled(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen[n] {
		l.repeats++
		return
	}
	l.seen[n] = true
	if l.left--; l.left == 0 {
		close(l.done)
	}
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	server := os.Args[2]
	count, _ := strconv.Atoi(os.Args[3])
	concurrency, _ := strconv.Atoi(os.Args[4])
	l := &ledger{seen: make([]bool, count), left: count, done: make(chan struct{})}
	time.AfterFunc(2*time.Minute, func() { log.Fatal("not all jobs were handled within 120 s") })
	run := map[string]func(string, int, []payload, *ledger) (time.Duration, time.Duration){"duewheel": withDuewheel, "asynq": withAsynq}[os.Args[1]]
	put, all := run(server, concurrency, payloads(count), l)
	fmt.Printf("{\"put_s\": %f, \"all_s\": %f, \"repeats\": %d}\n", put.Seconds(), all.Seconds(), l.repeats)
}

func withDuewheel(url string, concurrency int, all []payload, l *ledger) (put, done time.Duration) {
	ctx := context.Background()
	client, err := duewheel.New(url)
	must(err)
	jobs := duewheel.NewQueue[payload](client, "jobs")
	worker := duewheel.NewWorker(client, duewheel.WorkerOptions{})
	duewheel.Handle(worker, jobs, func(_ context.Context, job *duewheel.Job[payload]) error {
		l.handled(job.Data.N)
		return nil
	}, duewheel.Concurrency(concurrency))
	must(worker.Start(ctx))
	start := time.Now()
	for first := 0; first < len(all); first += batch {
		_, err := jobs.PutAll(ctx, all[first:min(first+batch, len(all))])
		must(err)
	}
	put = time.Since(start)
	<-l.done
	worker.Stop(time.Minute) // when all is acknowledged
	return put, time.Since(start)
}

func withAsynq(address string, concurrency int, all []payload, l *ledger) (put, done time.Duration) {
	redis := asynq.RedisClientOpt{Addr: address}
	server := asynq.NewServer(redis, asynq.Config{Concurrency: concurrency, LogLevel: asynq.ErrorLevel})
	must(server.Start(asynq.HandlerFunc(func(_ context.Context, task *asynq.Task) error {
		var data payload
		if err := json.Unmarshal(task.Payload(), &data); err != nil {
			return err
		}
		l.handled(data.N)
		return nil
	})))
	client := asynq.NewClient(redis)
	start := time.Now()
	var producers sync.WaitGroup // it has no batches
	for first := 0; first < producersMax; first++ {
		producers.Add(1)
		go func() {
			defer producers.Done()
			for n := first; n < len(all); n += producersMax {
				text, _ := json.Marshal(all[n])
				_, err := client.Enqueue(asynq.NewTask("job", text))
				must(err)
			}
		}()
	}
	producers.Wait()
	put = time.Since(start)
	<-l.done
	server.Shutdown() // when all is acknowledged
	return put, time.Since(start)
}
