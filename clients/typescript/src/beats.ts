/**
 * Decides when which leases are extended: each at a third of its length, many with one request, and soon if its handler has said
 * something. It neither sends nor reads a clock.
 */

/** What an extension takes along. */
export interface Said { progress?: unknown; checkpoint?: unknown }

/** One request: leases of one length. With `said` it is about one lease. */
export interface Extension { tokens: string[]; leaseMs: number; said?: Said }

interface Beat { leaseMs: number; nextMs: number; said: Said | undefined; inProgress: boolean }

const BATCH_MAX = 1000
const SAID_WITHIN_MS = 1000

export class Beats {
  private readonly beats = new Map<string, Beat>()

  get size(): number {
    return this.beats.size
  }

  add(token: string, leaseMs: number, nowMs: number): void {
    this.beats.set(token, { leaseMs, nextMs: nowMs + leaseMs / 3, said: undefined, inProgress: false })
  }

  remove(token: string): void {
    this.beats.delete(token)
  }

  /** The next extension takes this along; it is at most a second away. */
  say(token: string, said: Said, nowMs: number): void {
    const beat = this.beats.get(token)
    if (!beat) return
    beat.said = { ...beat.said, ...said }
    beat.nextMs = Math.min(beat.nextMs, nowMs + SAID_WITHIN_MS)
  }

  /** When to call begin() next; undefined if there is nothing to extend. */
  nextMs(): number | undefined {
    let next: number | undefined
    for (const beat of this.beats.values()) {
      if (!beat.inProgress && (next === undefined || beat.nextMs < next)) next = beat.nextMs
    }
    return next
  }

  /** The extensions to send now, if there is one due: those that are nearly due come along. Each is ended with finish(). */
  begin(nowMs: number): Extension[] {
    const extensions: Extension[] = []
    const silent = new Map<number, Extension>()
    for (const [token, beat] of this.beats) {
      if (beat.inProgress || beat.nextMs > nowMs + beat.leaseMs / 12) continue
      beat.inProgress = true
      beat.nextMs = nowMs + beat.leaseMs / 3
      if (beat.said) {
        extensions.push({ tokens: [token], leaseMs: beat.leaseMs, said: beat.said })
        beat.said = undefined
        continue
      }
      let batch = silent.get(beat.leaseMs)
      if (!batch || batch.tokens.length === BATCH_MAX) {
        batch = { tokens: [], leaseMs: beat.leaseMs }
        silent.set(beat.leaseMs, batch)
        extensions.push(batch)
      }
      batch.tokens.push(token)
    }
    return extensions
  }

  /** The extension with the progress and checkpoint of a lease that is about to end, if there are any. It is ended with finish(). */
  take(token: string): Extension | undefined {
    const beat = this.beats.get(token)
    if (!beat?.said) return undefined
    const { leaseMs, said } = beat
    beat.said = undefined
    beat.inProgress = true
    return { tokens: [token], leaseMs, said }
  }

  /** Ends an extension. One that failed is said again, unless there is newer to say. */
  finish(extension: Extension, succeeded: boolean): void {
    for (const token of extension.tokens) {
      const beat = this.beats.get(token)
      if (!beat) continue
      beat.inProgress = false
      if (!succeeded && extension.said) beat.said = { ...extension.said, ...beat.said }
    }
  }
}
