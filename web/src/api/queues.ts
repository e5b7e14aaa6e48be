// Which queues are late, on a server with up to 100,000 of them.
import { get, inNamespace } from './client'
import { serverNow } from './live'
import type { MessagePage, QueueStats, Stats } from './openapi'
import { useQuery, type Query } from './query'
import { can, limited } from './session'

/** From here on, the oldest due message counts as late. */
export const LATE_MS = 10_000

const BUSIEST_MAX = 1000

export interface Busiest {
  queues: QueueStats[]
  at_ms: number
  /** Dead letters of all queues. */
  dead_letters: number
  /** Whether queues with due messages may be missing, because more than these have some. */
  more: boolean
}

/** The queues of the whole server with the most ready and leased messages. Tokens for some queues do not get them. */
export function useBusiest(): Query<Busiest> {
  return useQuery(
    ['busiest'],
    async (signal) => {
      const { queues, queue_count, dead_letters, server_time_ms } = await get<Stats>('/v1/stats', { queues: BUSIEST_MAX }, signal)
      const last = queues.at(-1)
      return { queues, at_ms: server_time_ms, dead_letters, more: queue_count > queues.length && last !== undefined && last.ready + last.leased > 0 }
    },
    { every_ms: 10_000, skip: limited.value || !can('read') },
  )
}

/** How long the oldest due message had been due at the time of the statistics; 0 if none was. */
export function ageOf(queue: { oldest_due_ms?: number }, at_ms: number): number {
  return queue.oldest_due_ms === undefined ? 0 : Math.max(0, at_ms - queue.oldest_due_ms)
}

/** How long the oldest message of one queue has been due that has not ended; 0 if none is due. */
export function useAge(namespace: string, queue: string): Query<number> {
  return useQuery(
    ['age', namespace, queue],
    async (signal) => {
      const at_ms = serverNow()
      const due = { state: 'ready,leased', due_before: new Date(at_ms).toISOString(), limit: 1 }
      const { messages } = await get<MessagePage>(inNamespace('queues', queue, 'messages'), due, signal)
      return ageOf({ oldest_due_ms: messages[0]?.due_ms }, at_ms)
    },
    { every_ms: 5000 },
  )
}
