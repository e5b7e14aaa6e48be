/** The heartbeats of all workers of a client: this side of their thread. */

import { clearTimeout, setImmediate, setTimeout } from 'node:timers'
import { Worker as Thread } from 'node:worker_threads'

import type { Said } from './beats.js'
import type { Duewheel } from './client.js'
import type { Order, Report } from './heart_thread.js'
import { moduleUrl } from './location.js'

/** A message at work, as far as its heartbeat is concerned. */
export interface Beating {
  readonly token: string
  /** The lease has ended, and its message is no longer this worker's. */
  lost(detail: string): void
  cancelRequested(): void
}

export class Heart {
  private static readonly hearts = new WeakMap<Duewheel, Heart>()

  /** The one of this client. */
  static of(client: Duewheel): Heart {
    let heart = this.hearts.get(client)
    if (!heart) this.hearts.set(client, heart = new Heart(client))
    return heart
  }

  private readonly beating = new Map<string, { job: Beating; leaseMs: number; hasSaid?: boolean }>()
  private readonly flushed = new Map<string, () => void>()
  private thread: Thread | undefined
  private ready: Promise<void> | undefined
  private workers = 0
  private removed: string[] = []
  private warn: (text: string) => void = () => undefined

  private constructor(private readonly client: Duewheel) {}

  /** Starts the thread for the first worker, and ends when it is ready. */
  async begin(warn: (text: string) => void): Promise<void> {
    this.workers++
    this.warn = warn
    try {
      await (this.ready ??= this.startThread())
    } catch (error) {
      this.end()
      throw error
    }
  }

  /** Ends the thread with the last worker. */
  end(): void {
    if (--this.workers > 0) return
    void this.thread?.terminate()
    this.thread = this.ready = undefined
  }

  add(jobs: Beating[], leaseMs: number): void {
    for (const job of jobs) this.beating.set(job.token, { job, leaseMs })
    this.order({ add: jobs.map((job) => job.token), leaseMs })
  }

  /** The lease has ended, or is about to. Many removals are one message. */
  remove(job: Beating): void {
    if (!this.beating.delete(job.token)) return
    if (this.removed.push(job.token) > 1) return
    setImmediate(() => {
      this.order({ remove: this.removed })
      this.removed = []
    })
  }

  say(job: Beating, said: Said): void {
    const beat = this.beating.get(job.token)
    if (beat) beat.hasSaid = true
    this.order({ say: job.token, said })
  }

  /** Sends what the job has said, before its lease ends. Ends without success, too, and after the time of a call. */
  async flush(job: Beating): Promise<void> {
    if (!this.thread || !this.beating.get(job.token)?.hasSaid) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, this.client.timeMs)
      this.flushed.set(job.token, () => {
        clearTimeout(timer)
        resolve()
      })
      this.order({ flush: job.token })
    })
    this.flushed.delete(job.token)
  }

  private order(order: Order): void {
    this.thread?.postMessage(order)
  }

  private startThread(): Promise<void> {
    const thread = new Thread(new URL('./heart_thread.js', moduleUrl), { workerData: { ...this.client.options }, execArgv: [] })
    this.thread = thread
    thread.unref()
    return new Promise((resolve, reject) => {
      thread.on('message', (report: Report) => {
        if ('ready' in report) resolve()
        else this.hear(report)
      })
      thread.on('error', (error) => {
        reject(error)
        if (this.thread === thread) this.restart(error)
      })
    })
  }

  private hear(report: Exclude<Report, { ready: true }>): void {
    if ('ping' in report) this.order({ pong: true })
    else if ('warning' in report) this.warn(report.warning)
    else if ('flushed' in report) this.flushed.get(report.flushed)?.()
    else if ('cancel' in report) this.beating.get(report.cancel)?.job.cancelRequested()
    else {
      const found = this.beating.get(report.lost)
      this.beating.delete(report.lost)
      found?.job.lost(report.detail)
    }
  }

  /** A thread that has ended by an error of its own is replaced. */
  private restart(error: Error): void {
    this.warn(`the thread of the heartbeats has failed and is started again: ${String(error)}`)
    this.ready = this.startThread()
    this.ready.then(() => {
      for (const [token, { leaseMs }] of this.beating) this.order({ add: [token], leaseMs })
    }, () => undefined)
  }
}
