// Figures that only `/metrics` has: the log, the store, and how much of each limit is in use.
import { requestText } from './client'
import { parseMetrics, type Metrics } from './metrics_text'
import { useQuery, type Query } from './query'
import { limited } from './session'

export function useMetrics(): Query<Metrics> {
  return useQuery(['metrics'], async (signal) => parseMetrics(await requestText('GET', '/metrics', { signal })), { every_ms: 10_000, skip: limited.value })
}
