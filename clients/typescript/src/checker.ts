/** Answers the checks of transactions: messages in which the server asks for the outcome of a prepared one. */

import type { Context } from './context.js'
import { Conflict } from './errors.js'
import { Dead } from './outcomes.js'
import type { Queue } from './queue.js'
import { Worker, type WorkerOptions } from './worker.js'

/** A worker for the queue of checks. `decide` gets the data of the prepared message; undefined leaves it prepared until the next check. */
export function checker<T>(queue: Queue<T>, decide: (data: T, context: Context<T>) => Promise<'commit' | 'rollback' | undefined>, options?: WorkerOptions): Worker<T, string | undefined> {
  return new Worker(queue, async (data, context) => {
    const { check } = context.lease
    if (!check) throw new Dead('this message is no check of a transaction')
    const outcome = await decide(data, context)
    try {
      if (outcome) await queue.client[outcome](check.message, { signal: context.signal })
    } catch (error) {
      if (!(error instanceof Conflict)) throw error
      return `came too late: ${error.code}`
    }
    return outcome
  }, options)
}
