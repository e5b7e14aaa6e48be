/**
 * The thread that extends leases, so that a handler that computes holds up no extension. It has a client of its own. When the event
 * loop of the main thread does not answer, it says so on standard error: the main thread could not.
 */

import { writeSync } from 'node:fs'
import { clearTimeout, setTimeout, type Timer } from 'node:timers'
import { parentPort, workerData } from 'node:worker_threads'

import { Beats, type Extension, type Said } from './beats.js'
import { Duewheel, type ClientOptions } from './client.js'
import { Conflict, DuewheelError, isFinal } from './errors.js'

/** To the thread. */
export type Order = { add: string[]; leaseMs: number } | { remove: string[] } | { say: string; said: Said } | { flush: string } | { pong: true }
/** From the thread. */
export type Report = { ready: true } | { lost: string; detail: string } | { cancel: string } | { flushed: string } | { warning: string } | { ping: true }

const BLOCKED_AFTER_MS = 2000
const TIME_MIN_MS = 1000 // of an extension, if a third of the lease is less

const client = new Duewheel(workerData as ClientOptions)
const beats = new Beats()
const saying = new Map<string, Promise<void>>() // extensions with progress or checkpoint on their way
let timer: Timer | undefined
let timerMs = Infinity
let pingMs = 0 // when the main thread was asked for a sign of life that has not come yet
let saidBlocked = false

function report(message: Report): void {
  parentPort.postMessage(message)
}

/** Sets the timer, unless it comes early enough. */
function schedule(): void {
  const next = beats.nextMs()
  if (next === undefined || next >= timerMs) return
  clearTimeout(timer)
  timerMs = next
  timer = setTimeout(beat, Math.max(0, next - performance.now()))
}

function beat(): void {
  timerMs = Infinity
  for (const extension of beats.begin(performance.now())) void send(extension)
  if (beats.size) checkLoop()
  schedule()
}

function send(extension: Extension): Promise<void> {
  const sent = extend(extension)
  const [token] = extension.tokens
  if (extension.said) saying.set(token!, sent.finally(() => saying.delete(token!)))
  return sent
}

/** Sends the progress and checkpoint of a lease that is about to end, after an extension that is on its way. */
async function flush(token: string): Promise<void> {
  await saying.get(token)
  const extension = beats.take(token)
  if (extension) await send(extension)
  report({ flushed: token })
}

async function extend(extension: Extension): Promise<void> {
  const { tokens, leaseMs, said } = extension
  const lease = `${leaseMs}ms` as const
  try {
    const timeMs = Math.max(leaseMs / 3, TIME_MIN_MS) // then the next one is due, while the lease still lasts
    const results = await client.extendMany(tokens, { lease, ...said, timeMs })
    const [first] = results
    if (said && first instanceof DuewheelError && !(first instanceof Conflict)) throw first
    results.forEach((result, at) => extended(tokens[at]!, result))
    beats.finish(extension, true)
  } catch (error) {
    if (said && isFinal(error)) {
      report({ warning: `what a handler said of its work is dropped, because it was refused: ${String(error)}` })
      return extend({ tokens, leaseMs })
    }
    beats.finish(extension, false)
    report({ warning: `${tokens.length === 1 ? 'a lease was' : `${tokens.length} leases were`} not extended: ${String(error)}` })
  }
  schedule()
}

function extended(token: string, result: object): void {
  if (result instanceof Conflict) {
    beats.remove(token)
    report({ lost: token, detail: result.message })
  } else if (result instanceof DuewheelError) {
    report({ warning: `a lease was not extended: ${result.message}` })
  } else if ('cancel_requested' in result) {
    report({ cancel: token })
  }
}

/** Asks the main thread for a sign of life, and says so if it does not give one. */
function checkLoop(): void {
  const waitedMs = performance.now() - pingMs
  if (pingMs === 0) {
    pingMs = performance.now()
    report({ ping: true })
  } else if (waitedMs > BLOCKED_AFTER_MS && !saidBlocked) {
    saidBlocked = true
    writeSync(2, `duewheel: a handler has blocked the event loop for ${Math.round(waitedMs / 1000)} s. Leases are extended, but no other handler runs, `
      + 'and neither cancels nor a stop arrive: compute in a worker thread\n')
  }
}

parentPort.on('message', (order: Order) => {
  if ('add' in order) {
    for (const token of order.add) beats.add(token, order.leaseMs, performance.now())
  } else if ('remove' in order) {
    for (const token of order.remove) beats.remove(token)
  } else if ('say' in order) {
    beats.say(order.say, order.said, performance.now())
  } else if ('flush' in order) {
    void flush(order.flush)
  } else {
    pingMs = 0
    saidBlocked = false
  }
  schedule()
})
report({ ready: true })
