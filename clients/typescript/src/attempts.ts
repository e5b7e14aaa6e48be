/**
 * One call, from its first attempt to its last: until when it may try, where the next attempt goes, and how long to pause before it.
 * It only decides: it neither sends nor reads a clock. The rules are those of all clients (clients/conformance/README.md).
 */

import { DuewheelError, Unavailable } from './errors.js'

const BACKOFF_FIRST_MS = 50
const BACKOFF_MAX_MS = 2000
const REDIRECTS_MAX = 5
const REPEATED = new Set([429, 503, 507])

/** Whether a refusal with this status may have another answer later. */
export function mayRepeat(status: number): boolean {
  return REPEATED.has(status)
}

export class Attempts {
  private readonly home: URL
  private readonly deadlineMs: number
  private backoffMs = BACKOFF_FIRST_MS
  private redirects = 0
  /** The server that the next attempt goes to. */
  target: URL
  path: string

  /** `timeMs` is the time of the call, from `nowMs` on. */
  constructor(home: URL, path: string, nowMs: number, private readonly timeMs: number) {
    this.home = home
    this.target = home
    this.path = path
    this.deadlineMs = nowMs + timeMs
  }

  remainingMs(nowMs: number): number {
    return Math.max(1, this.deadlineMs - nowMs)
  }

  /** The next attempt goes to another node. Throws after too many. */
  redirect(location: string): void {
    this.redirects++
    const target = URL.canParse(location, this.target.href) ? new URL(location, this.target.href) : undefined
    if (this.redirects > REDIRECTS_MAX || !target || !/^https?:$/.test(target.protocol)) {
      throw new Unavailable('too_many_redirects', `${this.target.origin} redirects to ${location}, and there were ${this.redirects} redirects`)
    }
    this.target = target
    this.path = target.pathname + target.search
  }

  /** The pause after a refusal that is not final, in milliseconds. Throws the refusal if the pause would end after the deadline. */
  afterRefusal(nowMs: number, refusal: DuewheelError, retryAfterMs: number, random: number): number {
    return this.pause(nowMs, retryAfterMs, random) ?? raise(refusal)
  }

  /** The same after an attempt without a whole response. The next one goes to the server that the client knows. */
  afterLoss(nowMs: number, lost: Error, random: number): number {
    const last = `${this.target.origin}: ${lost.message}`
    this.target = this.home
    return this.pause(nowMs, 0, random)
      ?? raise(new Unavailable('deadline', `no response within ${this.timeMs / 1000} s; the last attempt: ${last}`, undefined, undefined, lost))
  }

  private pause(nowMs: number, atLeastMs: number, random: number): number | undefined {
    const pauseMs = Math.max(atLeastMs, this.backoffMs * (0.5 + random / 2))
    this.backoffMs = Math.min(this.backoffMs * 2, BACKOFF_MAX_MS)
    return nowMs + pauseMs >= this.deadlineMs ? undefined : pauseMs
  }
}

function raise(error: Error): never {
  throw error
}
