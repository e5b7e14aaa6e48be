/**
 * Acknowledges messages in batches. A batch goes out as soon as fewer than four are in progress, with all that has finished until then, so
 * that a single ack waits for nothing, and many share a request and a sync of the server's disk.
 */

import { setImmediate } from 'node:timers'

import type { Duewheel, Token } from './client.js'
import { DuewheelError } from './errors.js'
import type { AckEach } from './openapi.js'

const BATCH_MAX = 1000
const BODY_MAX = 1 << 20 // of the results in a request of several acks, in UTF-16 units
const IN_PROGRESS_MAX = 4

interface Ack { lease: Token | AckEach; size: number; resolve: () => void; reject: (error: unknown) => void }

export class Acks {
  private waiting: Ack[] = []
  private inProgress = 0
  private scheduled = false

  constructor(private readonly client: Duewheel) {}

  /** `size` is that of the result as JSON; 0 if there is none. */
  ack(token: string, result: unknown, size: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ lease: size ? { token, result } : token, size, resolve, reject })
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
    for (const { size } of this.waiting) {
      if (count === BATCH_MAX || (room -= size) < 0 && count) break
      count++
    }
    return this.waiting.splice(0, count)
  }

  private async send(batch: Ack[]): Promise<void> {
    this.inProgress++
    try {
      const results = await this.client.ackMany(batch.map((ack) => ack.lease))
      batch.forEach((ack, at) => {
        const found = results[at]
        if (found instanceof DuewheelError) ack.reject(found)
        else ack.resolve()
      })
    } catch (error) {
      for (const ack of batch) ack.reject(error)
    }
    this.inProgress--
    this.schedule()
  }
}
