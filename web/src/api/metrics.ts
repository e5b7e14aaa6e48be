// Figures that only `/metrics` has: free disk space, and the age of the oldest due message of each of the busiest queues.
// They are asked for every ten seconds while a page shows them.
import { useQuery, type Query } from './query'
import { requestText } from './client'
import { limited } from './session'

export interface Metrics {
  /** Metrics without labels. */
  values: Map<string, number>
  version: string | null
  /** Seconds since the due time of the oldest message that is due and has not ended; by `namespace/queue`. */
  oldest: { namespace: string; queue: string; age_ms: number }[]
}

const LINE = /^(\w+)(?:\{(.*)\})? (\S+)$/
const LABEL = /(\w+)="((?:\\.|[^"\\])*)"/g

function labelsOf(text: string): Record<string, string> {
  const labels: Record<string, string> = {}
  for (const [, name, value] of text.matchAll(LABEL)) {
    labels[name!] = value!.replace(/\\(.)/g, (_, character: string) => (character === 'n' ? '\n' : character))
  }
  return labels
}

export function parseMetrics(text: string): Metrics {
  const metrics: Metrics = { values: new Map(), version: null, oldest: [] }
  for (const line of text.split('\n')) {
    const [, name, labels, value] = LINE.exec(line) ?? []
    if (!name) continue
    if (!labels) metrics.values.set(name, Number(value))
    else if (name === 'duewheel_build_info') metrics.version = labelsOf(labels).version ?? null
    else if (name === 'duewheel_queue_oldest_due_age_seconds') {
      const { namespace, queue } = labelsOf(labels)
      if (queue !== undefined) metrics.oldest.push({ namespace: namespace ?? 'default', queue, age_ms: Number(value) * 1000 })
    }
  }
  return metrics
}

export function useMetrics(): Query<Metrics> {
  return useQuery(['metrics'], async (signal) => parseMetrics(await requestText('GET', '/metrics', { signal })), { every_ms: 10_000, skip: limited.value })
}
