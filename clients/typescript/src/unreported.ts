/**
 * Says that outcomes wait to be reported, with few lines however many they are: at once, again after 1, 2, 4 ... and up to 60 s, and when
 * none waits any more. It reads no clock.
 */

const PAUSE_FIRST_MS = 1000
const PAUSE_MAX_MS = 60_000

export class Unreported {
  private readonly tokens = new Set<string>()
  private pauseMs = PAUSE_FIRST_MS
  private nextMs = -Infinity

  constructor(private readonly log: (text: string) => void) {}

  /** An attempt to report this outcome has failed. */
  add(token: string, error: unknown, nowMs: number): void {
    this.tokens.add(token)
    if (nowMs < this.nextMs) return
    this.log(`${this.tokens.size === 1 ? 'an outcome is' : `${this.tokens.size} outcomes are`} not reported yet: ${String(error)}`)
    this.nextMs = nowMs + this.pauseMs
    this.pauseMs = Math.min(2 * this.pauseMs, PAUSE_MAX_MS)
  }

  /** It waits no longer. */
  remove(token: string): void {
    if (!this.tokens.delete(token) || this.tokens.size) return
    this.log('no outcome waits to be reported any more')
    this.pauseMs = PAUSE_FIRST_MS
    this.nextMs = -Infinity
  }
}
