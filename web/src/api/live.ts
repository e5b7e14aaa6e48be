// What the server reports by itself: server-sent events of `/v1/events`, or, where they are not available (a proxy that
// buffers, too many listeners), `/v1/stats` every two seconds. Rates are differences of the counters.
import { effect, signal } from '@preact/signals'
import { get } from './client'
import { epoch, lost } from './connection'
import type { LatenessRow, Stats } from './openapi'
import { can, limited, loginNeeded, session } from './session'

/** A line of the server's log: its members beside these four are the details. */
export interface LogLine {
  time_ms: number
  level: string
  event: string
  message?: string
  [member: string]: unknown
}

export const stats = signal<Stats | null>(null)
/** The newest row of lateness, every five seconds; null while polling. */
export const lateness = signal<LatenessRow | null>(null)
/** The newest lines of the server's log, newest first. */
export const logLines = signal<LogLine[]>([])
export const source = signal<'none' | 'events' | 'polling'>('none')

/** Counters at a time of the browser's monotonic clock. */
export interface Sample {
  at_ms: number
  server_time_ms: number
  accepted: number
  delivered: number
  done: number
  failed: number
  pending: number
  ready: number
}
export const samples = signal<Sample[]>([])

const POLL_MS = 2000
const EVENTS_AGAIN_MS = 60_000
const SAMPLES_MS = 15 * 60_000
const LOG_MAX = 200

let events: EventSource | null = null
let pollTimer = 0
let eventsTimer = 0
/** Server time minus the browser's clock, so that "in 5 minutes" is right on a machine with another clock. */
let offset_ms = 0

export function serverNow(): number {
  return Date.now() + offset_ms
}

function accept(next: Stats) {
  const before = stats.value
  offset_ms = next.server_time_ms - Date.now()
  // Another process counts from zero again.
  const restarted = before !== null && (before.instance !== next.instance || next.accepted < before.accepted || next.delivered < before.delivered)
  const sample: Sample = {
    at_ms: performance.now(),
    server_time_ms: next.server_time_ms,
    accepted: next.accepted,
    delivered: next.delivered,
    done: next.done,
    failed: next.failed,
    pending: next.pending,
    ready: next.ready,
  }
  const kept = restarted ? [] : samples.value
  const first = kept.findIndex(({ at_ms }) => at_ms >= sample.at_ms - SAMPLES_MS)
  samples.value = first < 0 ? [sample] : [...kept.slice(first), sample]
  stats.value = next
}

/** Events a second of a counter over the last `window_ms`; null until there are two samples. */
export function rate(counter: 'accepted' | 'delivered' | 'done' | 'failed', window_ms = 10_000): number | null {
  const all = samples.value
  const last = all.at(-1)
  if (!last) return null
  const first = all.find((sample) => sample.at_ms >= last.at_ms - window_ms)
  if (!first || first === last) return null
  return ((last[counter] - first[counter]) * 1000) / (last.at_ms - first.at_ms)
}

async function poll() {
  window.clearTimeout(pollTimer)
  if (source.value !== 'polling') return
  try {
    accept(await get<Stats>('/v1/stats'))
  } catch {
    // A lost connection and a refused token are shown by themselves.
  }
  pollTimer = window.setTimeout(poll, POLL_MS)
}

function startPolling() {
  source.value = 'polling'
  void poll()
  window.clearTimeout(eventsTimer)
  eventsTimer = window.setTimeout(start, EVENTS_AGAIN_MS)
}

function listen<T>(name: string, take: (value: T) => void) {
  events!.addEventListener(name, (event) => take(JSON.parse((event as MessageEvent<string>).data) as T))
}

function start() {
  stop()
  // A new stream begins with the newest lines.
  logLines.value = []
  events = new EventSource('/v1/events?only=stats,lateness,log')
  const opened = events
  opened.onopen = () => {
    window.clearTimeout(pollTimer)
    window.clearTimeout(eventsTimer)
    source.value = 'events'
  }
  opened.onerror = () => {
    if (events !== opened) return
    // EventSource tries again by itself after a broken connection, but not after an answer such as 404 or 503. Meanwhile a
    // poll finds out why: the server is down, or the token has expired.
    if (opened.readyState === EventSource.CLOSED) {
      opened.close()
      events = null
    }
    startPolling()
  }
  listen<Stats>('stats', accept)
  listen<LatenessRow>('lateness', (row) => (lateness.value = row))
  listen<LogLine>('log', (line) => (logLines.value = [line, ...logLines.value].slice(0, LOG_MAX)))
}

function stop() {
  events?.close()
  events = null
  window.clearTimeout(pollTimer)
  window.clearTimeout(eventsTimer)
}

// A browser has six connections to a server for all of its tabs, so a tab in the background keeps none.
const shown = signal(document.visibilityState === 'visible')
document.addEventListener('visibilitychange', () => (shown.value = document.visibilityState === 'visible'))

/** Runs as long as the page is open: starts with the session, again after the connection was lost. */
export function runLive() {
  effect(() => {
    // Each of these begins or ends the stream.
    const open = shown.value && session.value !== null && !loginNeeded.value && !limited.value && can('read') && !lost.value && epoch.value >= 0
    stop()
    if (open) start()
    else source.value = 'none'
  })
}
