/**
 * Acknowledges messages in batches. A batch goes out as soon as fewer than four are in progress, with all that has finished until then, so
 * that a single ack waits for nothing, and many share a request and a sync of the server's disk.
 */

import { setImmediate } from 'node:timers'

import type { Duewheel } from './client.js'
import { DuewheelError, isFinal } from './errors.js'

const BATCH_MAX = 1000
const BODY_MAX = 1 << 20 // of a request of several acks, in UTF-16 units
const IN_PROGRESS_MAX = 4

interface Ack { text: string; resolve: () => void; reject: (error: unknown) => void }

export class Acks {
  private waiting: Ack[] = []
  private inProgress = 0
  private scheduled = false

  constructor(private readonly client: Duewheel) {}

  /** The result is JSON. */
  ack(token: string, result: string | undefined): Promise<void> {
    const lease = JSON.stringify(token)
    return new Promise((resolve, reject) => {
      this.waiting.push({ text: result === undefined ? lease : `{"token":${lease},"result":${result}}`, resolve, reject })
      this.schedule()
    })
  }

  private schedule(): void {
    if (this.scheduled || this.inProgress >= IN_PROGRESS_MAX || !this.waiting.length) return
    this.scheduled = true
    setImmediate(() => {
      this.scheduled = false
      while (this.waiting.length && this.inProgress < IN_PROGRESS_MAX) void this.send(this.take())
    })
  }

  /** What one request may have. A result that is too large is refused alone. */
  private take(): Ack[] {
    let room = BODY_MAX
    let count = 0
    for (const { text } of this.waiting) {
      if (count === BATCH_MAX || (room -= text.length) < 0 && count) break
      count++
    }
    return this.waiting.splice(0, count)
  }

  private async send(batch: Ack[]): Promise<void> {
    this.inProgress++
    await this.report(batch)
    this.inProgress--
    this.schedule()
  }

  /** A request that is refused as a whole is sent again in two halves, until the ack that is the reason stands alone. */
  private async report(batch: Ack[]): Promise<void> {
    try {
      const results = await this.client.ackTexts(batch.map((ack) => ack.text))
      batch.forEach((ack, at) => {
        const found = results[at]
        if (found instanceof DuewheelError) ack.reject(found)
        else ack.resolve()
      })
    } catch (error) {
      if (batch.length > 1 && isFinal(error)) {
        const half = batch.length >> 1
        await Promise.all([this.report(batch.slice(0, half)), this.report(batch.slice(half))])
      } else {
        for (const ack of batch) ack.reject(error)
      }
    }
  }
}
