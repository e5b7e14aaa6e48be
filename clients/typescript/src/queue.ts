/** A queue whose messages have one type. */

import type { CallOptions, Duewheel, LeaseOptions, ListOptions, PutOptions } from './client.js'
import type { DuewheelError } from './errors.js'
import type { Lease, Message, Receipt } from './messages.js'
import { checked, type StandardSchema } from './schema.js'

export class Queue<T = unknown> {
  constructor(readonly client: Duewheel, readonly name: string, readonly schema?: StandardSchema<T>) {}

  /** As Duewheel.put(). */
  async put(data: T, options?: PutOptions & CallOptions): Promise<Receipt> {
    return this.client.put(this.name, await checked(this.schema, data), options)
  }

  /** As Duewheel.putMany(). */
  async putMany(puts: Iterable<PutOptions & { data: T }>, options?: CallOptions): Promise<(Receipt | DuewheelError)[]> {
    const all = await Promise.all(Array.from(puts, async (put) => ({ ...put, data: await checked(this.schema, put.data) })))
    return this.client.putMany(this.name, all, options)
  }

  /** As Duewheel.lease(); the data is not checked. */
  lease(options?: LeaseOptions): Promise<Lease<T>[]> {
    return this.client.lease<T>(this.name, options)
  }

  /** As Duewheel.list(). */
  list(options?: ListOptions): AsyncGenerator<Message<T>, void, undefined> {
    return this.client.list<T>(this.name, options)
  }
}
