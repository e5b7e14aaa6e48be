/** What runs around each put and each handler of a client: logs, traces, defaults of options. */

import type { PutOptions } from './client.js'
import type { Context } from './context.js'
import { DuewheelError } from './errors.js'
import type { Receipt } from './messages.js'

/** A message on its way to the server. */
export interface Outgoing { queue: string; data: unknown; options: PutOptions }

export interface Middleware {
  /** Returns what next() returns. It may give next() another message, or throw instead. Messages of a batch come one by one. */
  put?(put: Outgoing, next: (put: Outgoing) => Promise<Receipt>): Promise<Receipt>
  /** The same around a handler, whose data it may replace. An error passes through: it throws the same, or another one. */
  handle?(context: Context, data: unknown, next: (data: unknown) => Promise<unknown>): Promise<unknown>
  /** Called when the server says that a failed message is a dead letter now. */
  dead?(context: Context, reason: string): void
}

type Put = (put: Outgoing) => Promise<Receipt>

/** The put with all middleware around it, the first one outermost. */
export function aroundPut(middleware: readonly Middleware[], last: Put): Put {
  return middleware.reduceRight<Put>((next, { put }) => (put ? (message) => put(message, next) : next), last)
}

/** The handler with all middleware around it, the first one outermost. */
export function aroundHandler(middleware: readonly Middleware[], context: Context, last: (data: unknown) => Promise<unknown>): (data: unknown) => Promise<unknown> {
  return middleware.reduceRight((next, { handle }) => (handle ? (data) => handle(context, data, next) : next), last)
}

interface Waiting { put: Outgoing; resolve: (receipt: Receipt) => void; reject: (error: unknown) => void }

/**
 * Puts messages with middleware around each, and those that pass with one request: it is sent when each message has passed or has been
 * refused. `single` puts a message that middleware puts later, or into another queue.
 */
export async function aroundBatch(
  middleware: readonly Middleware[], puts: Outgoing[], single: Put, batch: (puts: Outgoing[]) => Promise<(Receipt | DuewheelError)[]>,
): Promise<(Receipt | DuewheelError)[]> {
  const waiting: (Waiting | undefined)[] = puts.map(() => undefined)
  let open = puts.length
  let sent = false
  const send = async (): Promise<void> => {
    sent = true
    const passed = waiting.filter((each) => each !== undefined)
    try {
      const results = passed.length ? await batch(passed.map(({ put }) => put)) : []
      passed.forEach(({ resolve, reject }, at) => {
        const result = results[at]!
        if (result instanceof DuewheelError) reject(result)
        else resolve(result)
      })
    } catch (error) {
      for (const { reject } of passed) reject(error)
    }
  }
  const all = puts.map(async (message, at) => {
    let counted = false
    const count = (): void => {
      if (!counted && --open === 0) void send()
      counted = true
    }
    const last: Put = (put) => {
      if (sent || waiting[at] || put.queue !== message.queue) return single(put)
      return new Promise((resolve, reject) => {
        waiting[at] = { put, resolve, reject }
        count()
      })
    }
    try {
      return await aroundPut(middleware, last)(message)
    } catch (error) {
      if (error instanceof DuewheelError) return error
      throw error
    } finally {
      count()
    }
  })
  return Promise.all(all)
}
