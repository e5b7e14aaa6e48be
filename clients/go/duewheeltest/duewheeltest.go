// Package duewheeltest runs a real server for a test, in a temporary directory and with a clock that the test moves.
//
//	server := duewheeltest.Start(t)
//	server.Client.Put(ctx, "mail", "hello", duewheel.In(24*time.Hour))
//	server.Advance(24 * time.Hour)
//
// The program duewheeld is found in the folder that DUEWHEEL_BIN names, or on the PATH.
package duewheeltest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"testing"
	"time"

	"duewheel.test/duewheel"
)

const (
	readyWithin = time.Minute
	idleWithin  = 30 * time.Second
	pollEvery   = 20 * time.Millisecond
	quietPolls  = 3 // in a row: what a schedule creates may come a moment after an advance
)

var ready = regexp.MustCompile(`^ready http=([\d.]+:\d+)`)

// Server is a server of one test. Its methods end the test if something fails.
type Server struct {
	URL    string
	Client *duewheel.Client
	t      testing.TB
}

// Start starts a server, which ends with the test. arguments are more arguments of duewheeld. Without the program the test fails.
func Start(t testing.TB, arguments ...string) *Server {
	t.Helper()
	program := "duewheeld"
	if folder := os.Getenv("DUEWHEEL_BIN"); folder != "" {
		program = filepath.Join(folder, program)
	}
	directory := t.TempDir()
	command := exec.Command(program, append([]string{"--http", "127.0.0.1:0", "--test-clock", "--data", filepath.Join(directory, "data")}, arguments...)...)
	var log bytes.Buffer
	command.Stderr = &log
	output, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		t.Fatalf("duewheeld did not start: install the package duewheel, or name its folder in DUEWHEEL_BIN: %v", err)
	}
	t.Cleanup(func() {
		command.Process.Kill()
		command.Wait()
	})
	line := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(output).ReadString('\n')
		line <- text
	}()
	var found []string
	select {
	case text := <-line:
		found = ready.FindStringSubmatch(text)
	case <-time.After(readyWithin):
	}
	if found == nil {
		command.Process.Kill()
		command.Wait()
		t.Fatalf("duewheeld did not become ready; its log:\n%s", log.String())
	}
	s := &Server{URL: "http://" + found[1], t: t}
	s.Client, err = duewheel.New(s.URL)
	s.check(err)
	t.Cleanup(s.Client.Close)
	return s
}

func (s *Server) check(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// Run starts a worker, and stops it at the end of the test.
func (s *Server) Run(worker *duewheel.Worker) {
	s.t.Helper()
	s.check(worker.Start(context.Background()))
	s.t.Cleanup(func() { worker.Stop(5 * time.Second) })
}

// Now is the time of the server.
func (s *Server) Now() time.Time {
	s.t.Helper()
	now, err := s.Client.Now(context.Background())
	s.check(err)
	return now
}

// Advance moves the time of the server. Before that it waits until no message is leased, because the step would end the leases.
func (s *Server) Advance(by time.Duration) {
	s.t.Helper()
	s.waitUntil("no message is leased", func(stats stats) bool { return stats.Leased == 0 })
	_, err := s.Client.Advance(context.Background(), by)
	s.check(err)
}

// RunUntilIdle waits until the workers of the test have handled all messages that are due.
func (s *Server) RunUntilIdle() {
	s.t.Helper()
	s.waitUntil("no message is ready or leased", func(stats stats) bool { return stats.Ready == 0 && stats.Leased == 0 })
}

type stats struct{ Ready, Leased int64 }

func (s *Server) waitUntil(what string, holds func(stats) bool) {
	s.t.Helper()
	deadline := time.Now().Add(idleWithin)
	for quiet := 0; quiet < quietPolls; time.Sleep(pollEvery) {
		var now stats
		s.check(s.Client.Call(context.Background(), http.MethodGet, "/stats", nil, &now))
		if quiet++; !holds(now) {
			if quiet = 0; time.Now().After(deadline) {
				s.t.Fatalf("after %v it does not hold that %s: %d ready, %d leased. Does a worker handle each queue, and do its handlers return?",
					idleWithin, what, now.Ready, now.Leased)
			}
		}
	}
}

// Messages are the unfinished messages of a queue by due time, with their content.
func (s *Server) Messages(queue string) []*duewheel.Message {
	s.t.Helper()
	all := []*duewheel.Message{}
	s.Client.List(context.Background(), queue, duewheel.ListOptions{})(func(listed *duewheel.Message, err error) bool {
		s.check(err)
		message, err := s.Client.Get(context.Background(), listed.ID)
		s.check(err)
		all = append(all, message)
		return true
	})
	return all
}

// AssertPut is the first unfinished message of the queue with this data. The test fails if there is none.
func AssertPut[T any](s *Server, queue string, data T) *duewheel.Message {
	s.t.Helper()
	listed := ""
	for _, message := range s.Messages(queue) {
		if found, err := duewheel.Data[T](message); err == nil && reflect.DeepEqual(found, data) {
			return message
		}
		var text []byte
		message.Decode(&text)
		listed += "\n  " + string(text)
	}
	wanted, _ := json.Marshal(data)
	s.t.Fatalf("%s is not in the queue %s; there is: %s", wanted, queue, listed)
	return nil
}
