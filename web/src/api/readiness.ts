// Whether the server is ready. One that is not answers 503, and says why.
import { ApiError, get } from './client'
import type { Readiness as Page } from './openapi'
import { useQuery } from './query'

export type Readiness = Pick<Page, 'ready' | 'reason'>

export function useReadiness() {
  return useQuery(['readyz'], async (signal): Promise<Readiness> => {
    try {
      return await get<Page>('/readyz', {}, signal)
    } catch (error) {
      if (error instanceof ApiError && error.problem.status === 503) return { ready: false, reason: error.problem.reason ?? error.problem.detail }
      throw error
    }
  }, { every_ms: 5000 })
}
