//! tokio's timer wheel, through tokio_util's DelayQueue, under the workloads of bench/wheel/workload.h. The clock of the
//! runtime is paused and told the time.
//!
//!     PROGRAM tokio A0|A1|B|CU|D3 N [--quick] [--check]

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::time::delay_queue::Key;
use tokio_util::time::DelayQueue;

const TIMEOUT_MAX: u32 = 60_000;
const REFRESH: u64 = 30_000;
const FAR_TIMER: u64 = 350_000;

fn mixed(mut value: u64) -> u64 {
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d049bb133111eb);
    value ^ (value >> 31)
}

struct Run {
    n: u32,
    again: u64,
    now: u64,
    random: u64,
    start: Instant,
    queue: DelayQueue<u32>,
    keys: Vec<Option<Key>>,
    deadlines: Vec<u64>,
    fired: u64,
    sum: u64,
    early: u64,
    latest: u64,
}

impl Run {
    fn below(&mut self, n: u32) -> u32 {
        self.random = self.random.wrapping_add(0x9e3779b97f4a7c15);
        ((mixed(self.random) >> 32) * u64::from(n) >> 32) as u32
    }

    fn timeout(&mut self) -> u64 {
        1 + u64::from(self.below(TIMEOUT_MAX))
    }

    fn instant(&self, deadline: u64) -> Instant {
        self.start + Duration::from_millis(deadline)
    }

    fn arm(&mut self, id: u32, delay: u64) {
        let deadline = self.now + delay;
        self.deadlines[id as usize] = deadline;
        self.keys[id as usize] = Some(self.queue.insert_at(id, self.instant(deadline)));
    }

    fn stop(&mut self, id: u32) {
        if let Some(key) = self.keys[id as usize].take() {
            self.queue.remove(&key);
        }
    }

    async fn tick(&mut self) {
        self.now += 1;
        tokio::time::advance(Duration::from_millis(1)).await;
        loop {
            let expired = poll_fn(|context| match self.queue.poll_expired(context) {
                Poll::Ready(expired) => Poll::Ready(expired),
                Poll::Pending => Poll::Ready(None),
            })
            .await;
            let Some(expired) = expired else { break };
            let id = expired.into_inner();
            self.keys[id as usize] = None;
            self.fired += 1;
            self.sum = self.sum.wrapping_add(mixed(u64::from(id) + self.now));
            let deadline = self.deadlines[id as usize];
            self.early += u64::from(deadline > self.now);
            self.latest = self.latest.max(self.now.saturating_sub(deadline));
            let delay = match self.again {
                0 => continue,
                again if again == u64::from(TIMEOUT_MAX) => {
                    let seed = u64::from(id).wrapping_mul(0x9e3779b97f4a7c15).wrapping_add(self.now);
                    1 + mixed(seed) % u64::from(TIMEOUT_MAX)
                }
                again => again,
            };
            self.arm(id, delay);
        }
    }

    /// Waits for what expires until no timer is left; how often the waiting task was woken up, not counting what the
    /// runtime's own timers do. A paused clock goes on by itself when there is nothing to do but to wait.
    async fn sleep_and_wake(&mut self) -> u64 {
        let mut wake_ups = 0;
        loop {
            let expired = poll_fn(|context| {
                let polled = self.queue.poll_expired(context);
                wake_ups += u64::from(polled.is_pending());
                polled
            })
            .await;
            let Some(expired) = expired else { return wake_ups };
            self.keys[expired.into_inner() as usize] = None;
            self.fired += 1;
            self.now = self.start.elapsed().as_millis() as u64;
        }
    }

    async fn wake_ups(&mut self) -> [u64; 2] {
        self.arm(0, FAR_TIMER);
        let until_it_fires = self.sleep_and_wake().await;
        assert!(self.fired == 1 && self.now == FAR_TIMER, "the timer did not fire, or not in its tick: {}", self.now);
        self.arm(0, FAR_TIMER);
        self.stop(0);
        let after_its_cancel = self.sleep_and_wake().await;
        assert!(self.fired == 1, "a cancelled timer fired");
        [until_it_fires, after_its_cancel]
    }

    fn fill(&mut self) {
        for id in 0..self.n {
            let delay = self.timeout();
            self.arm(id, delay);
        }
    }

    async fn pairs(&mut self, workload: &str, count: u64) {
        let each = u64::from(self.n / 1000).max(1);
        for i in 1..=count {
            let id = self.below(self.n);
            if workload == "B" {
                let deadline = self.now + REFRESH;
                self.deadlines[id as usize] = deadline;
                let at = self.instant(deadline);
                if let Some(key) = &self.keys[id as usize] {
                    self.queue.reset_at(key, at);
                }
            } else {
                self.stop(id);
                let delay = self.timeout();
                self.arm(id, delay);
            }
            if workload != "A0" && (i % each == 0 || i == count) {
                self.tick().await;
            }
        }
    }
}

fn cpu_seconds() -> f64 {
    // One thread: what the process has used, in ticks of the kernel's accounting, is too coarse; the scheduler's is not.
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds: f64 = text.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0.0);
    nanoseconds * 1e-9
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    if words.len() < 4 || words[1] != "tokio" || !["A0", "A1", "B", "CU", "D3"].contains(&words[2].as_str()) {
        eprintln!("usage: tokio A0|A1|B|CU|D3 N [--quick] [--check]");
        std::process::exit(2);
    }
    let workload = words[2].clone();
    let n: u32 = words[3].parse().expect("a number of timers");
    let quick = words[4..].iter().any(|word| word == "--quick");
    let checks = words[4..].iter().any(|word| word == "--check");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let mut run = Run {
            n,
            again: match workload.as_str() {
                "B" => REFRESH,
                "CU" => 0,
                _ => u64::from(TIMEOUT_MAX),
            },
            now: 0,
            random: 1,
            start: Instant::now(),
            queue: DelayQueue::with_capacity(n as usize),
            keys: (0..n).map(|_| None).collect(),
            deadlines: vec![0; n as usize],
            fired: 0,
            sum: 0,
            early: 0,
            latest: 0,
        };
        if workload == "D3" {
            let wake_ups = run.wake_ups().await;
            println!("{{\"subject\": \"tokio\", \"workload\": \"D3\", \"n\": {n}, \"wake_ups\": {wake_ups:?}}}");
            return;
        }
        let operations;
        let (mut wall, mut cpu) = (std::time::Instant::now(), cpu_seconds());
        if workload == "CU" {
            operations = u64::from(n);
            let delays: Vec<u64> = (0..n).map(|_| run.timeout()).collect();
            (wall, cpu) = (std::time::Instant::now(), cpu_seconds());
            for (id, delay) in delays.into_iter().enumerate() {
                run.arm(id as u32, delay);
            }
            while run.now < u64::from(TIMEOUT_MAX) {
                run.tick().await;
            }
        } else {
            operations = if quick { 200_000 } else { 2_000_000 };
            run.fill();
            if !checks {
                run.pairs(&workload, u64::from(n)).await;
                (wall, cpu) = (std::time::Instant::now(), cpu_seconds());
            }
            run.pairs(&workload, operations).await;
        }
        let cpu_ns = (cpu_seconds() - cpu) * 1e9 / operations as f64;
        let wall_ns = wall.elapsed().as_secs_f64() * 1e9 / operations as f64;
        println!(
            "{{\"subject\": \"tokio\", \"workload\": \"{workload}\", \"n\": {n}, \"wall_ns\": {wall_ns:.4}, \"cpu_ns\": \
             {cpu_ns:.4}, \"fired\": {}, \"sum\": \"{:016x}\", \"early\": {}, \"latest\": {}}}",
            run.fired, run.sum, run.early, run.latest
        );
    });
}
