/**
 * Acknowledges messages in batches. A batch goes out as soon as fewer than four are in progress, with all that has finished until then, so
 * that a single ack waits for nothing, and many share a request and a sync of the server's disk. Acks with different results cannot
 * share a request.
 */

import { setImmediate } from 'node:timers'

import type { Duewheel } from './client.js'
import { DuewheelError } from './errors.js'

const BATCH_MAX = 1000
const IN_PROGRESS_MAX = 4

interface Ack { token: string; resolve: () => void; reject: (error: unknown) => void }
interface Group { result: unknown; acks: Ack[] }

export class Acks {
  private readonly waiting = new Map<string, Group>() // by the text of the result
  private inProgress = 0
  private scheduled = false

  constructor(private readonly client: Duewheel) {}

  /** `text` is the result as JSON, and tells whether two results are the same; it is empty if there is none. */
  ack(token: string, result: unknown, text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const group = this.waiting.get(text)
      const ack = { token, resolve, reject }
      if (group) group.acks.push(ack)
      else this.waiting.set(text, { result, acks: [ack] })
      this.schedule()
    })
  }

  private schedule(): void {
    if (this.scheduled || this.inProgress >= IN_PROGRESS_MAX || !this.waiting.size) return
    this.scheduled = true
    setImmediate(() => {
      this.scheduled = false
      for (const [text, { result, acks }] of this.waiting) {
        if (this.inProgress >= IN_PROGRESS_MAX) return
        const batch = acks.splice(0, BATCH_MAX)
        if (!acks.length) this.waiting.delete(text)
        void this.send(batch, result)
      }
    })
  }

  private async send(batch: Ack[], result: unknown): Promise<void> {
    this.inProgress++
    try {
      const results = await this.client.ackMany(batch.map((ack) => ack.token), result)
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
