// What programs in Go do with beanstalkd, through the client library that they use:
//
//	go_client ADDRESS
//
// Prints OK, or the first difference from what the protocol promises, and then exits with 1.
package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/beanstalkd/go-beanstalk"
)

const (
	timeToRun = time.Minute
	wait      = 20 * time.Second // of a reserve: a slow machine must not fail the test
)

func expect(holds bool, format string, values ...any) {
	if holds {
		return
	}
	fmt.Printf(format+"\n", values...)
	os.Exit(1)
}

func done(err error) {
	expect(err == nil, "a command failed: %v", err)
}

func dial(address string) *beanstalk.Conn {
	conn, err := beanstalk.Dial("tcp", address)
	done(err)
	return conn
}

func put(tube *beanstalk.Tube, body string, priority uint32, delay time.Duration) uint64 {
	id, err := tube.Put([]byte(body), priority, delay, timeToRun)
	done(err)
	return id
}

func reserve(tubes *beanstalk.TubeSet, want string) uint64 {
	id, body, err := tubes.Reserve(wait)
	done(err)
	expect(string(body) == want, "reserved %q and not %q", body, want)
	return id
}

func main() {
	address := os.Args[1]
	conn := dial(address)
	mail := beanstalk.NewTube(conn, "mail")
	sms := beanstalk.NewTube(conn, "sms")
	both := beanstalk.NewTubeSet(conn, "mail", "sms")

	later := put(mail, "later", 10, time.Second)
	normal := put(mail, "normal", 10, 0)
	urgent := put(mail, "urgent", 1, 0)
	expect(reserve(both, "urgent") == urgent, "another id")
	done(conn.Touch(urgent))
	done(conn.Bury(urgent, 1))
	id, body, err := mail.PeekBuried()
	done(err)
	expect(id == urgent && string(body) == "urgent", "the buried job is %d %q", id, body)
	kicked, err := mail.Kick(10)
	done(err)
	expect(kicked == 1, "kicked %d jobs", kicked)
	expect(reserve(both, "urgent") == urgent, "another id")
	expect(reserve(both, "normal") == normal, "another id")
	expect(reserve(both, "later") == later, "another id")

	// A delay of a release; the job's statistics; a kick of one job.
	done(conn.Release(later, 10, time.Hour))
	stats, err := conn.StatsJob(later)
	done(err)
	expect(stats["state"] == "delayed" && stats["tube"] == "mail", "statistics of a job: %v", stats)
	done(conn.KickJob(later))
	expect(reserve(both, "later") == later, "another id")
	for _, job := range []uint64{urgent, normal, later} {
		done(conn.Delete(job))
	}
	err = conn.Delete(later)
	expect(errors.Is(err, beanstalk.ErrNotFound), "a job that is deleted: %v", err)

	// Both tubes are served, and other connections see the same.
	text := put(sms, "text", 5, 0)
	other := dial(address)
	tubes, err := other.ListTubes()
	done(err)
	expect(len(tubes) >= 2, "tubes: %v", tubes)
	stats, err = beanstalk.NewTube(other, "sms").Stats()
	done(err)
	expect(stats["current-jobs-ready"] == "1", "statistics of a tube: %v", stats)
	expect(reserve(both, "text") == text, "another id")

	// A job of a client that leaves is ready again.
	done(conn.Close())
	rest := beanstalk.NewTubeSet(other, "sms")
	expect(reserve(rest, "text") == text, "another id")
	done(other.Delete(text))
	_, _, err = rest.Reserve(0)
	expect(errors.Is(err, beanstalk.ErrTimeout), "an empty tube: %v", err)
	done(other.Close())
	fmt.Println("OK")
}
