// Go's runtime timers, under the workload A0 of bench/wheel/workload.h. They cannot be told the time, so rows in which time
// passes are not for them. A timer is a time.Timer made by AfterFunc; a pair is Stop and Reset of the same.
//
//	PROGRAM go A0 N [--quick]
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

const timeoutMax = 60_000

type splitmix struct{ state uint64 }

func (random *splitmix) below(n uint32) uint32 {
	random.state += 0x9e3779b97f4a7c15
	mixed := random.state
	mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9
	mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb
	mixed ^= mixed >> 31
	return uint32((mixed >> 32) * uint64(n) >> 32)
}

func (random *splitmix) timeout() time.Duration {
	return time.Duration(1+random.below(timeoutMax)) * time.Millisecond
}

// Of all threads, as the runtime may work on timers in any.
func cpuNanoseconds() int64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return usage.Utime.Nano() + usage.Stime.Nano()
}

func main() {
	if len(os.Args) < 4 || os.Args[1] != "go" || os.Args[2] != "A0" {
		fmt.Fprintln(os.Stderr, "usage: go A0 N [--quick]")
		os.Exit(2)
	}
	size, _ := strconv.Atoi(os.Args[3])
	n := uint32(size)
	pairs := 2_000_000
	if len(os.Args) > 4 {
		pairs = 200_000
	}
	random := splitmix{1}
	var fired atomic.Uint64
	timers := make([]*time.Timer, n)
	for id := range timers {
		timers[id] = time.AfterFunc(random.timeout(), func() { fired.Add(1) })
	}
	pair := func() {
		id := random.below(n)
		timers[id].Stop()
		timers[id].Reset(random.timeout())
	}
	for i := uint32(0); i < n; i++ {
		pair()
	}
	wall, cpu := time.Now(), cpuNanoseconds()
	for i := 0; i < pairs; i++ {
		pair()
	}
	cpuEach := float64(cpuNanoseconds()-cpu) / float64(pairs)
	wallEach := float64(time.Since(wall).Nanoseconds()) / float64(pairs)
	fmt.Printf("{\"subject\": \"go\", \"workload\": \"A0\", \"n\": %d, \"wall_ns\": %.4f, \"cpu_ns\": %.4f, \"fired\": %d}\n",
		n, wallEach, cpuEach, fired.Load())
}
