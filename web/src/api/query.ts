// Loads data for a component: `const queue = useQuery([name], (signal) => get<Queue>(path, {}, signal), { every_ms: 2000 })`.
// The data of an earlier key is never shown under a later one. It loads again every `every_ms` while the page is visible,
// when the connection is back, and after an action.
import { signal } from '@preact/signals'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, NoConnection } from './client'
import { epoch } from './connection'

/** Increases with each action of this page; what is shown is loaded again. */
export const actions = signal(0)

export function changed() {
  actions.value += 1
}

// One refusal by a server that is busy, or starts, does not replace what is shown; this many in a row do.
const REFUSALS_MAX = 3

function isTransient(error: Error): boolean {
  return error instanceof ApiError && (error.problem.status === 429 || error.problem.status >= 500)
}

export interface Query<T> {
  data: T | null
  error: Error | null
  loading: boolean
  reload: () => void
}

export function useQuery<T>(
  key: unknown[],
  load: (signal: AbortSignal) => Promise<T>,
  options: { every_ms?: number; skip?: boolean } = {},
): Query<T> {
  const text = JSON.stringify(key)
  const [state, setState] = useState<{ key: string; data: T | null; error: Error | null; loading: boolean }>({
    key: text, data: null, error: null, loading: true,
  })
  const loader = useRef(load)
  loader.current = load
  const running = useRef<AbortController | null>(null)
  const busy = useRef(false)
  const refusals = useRef(0)

  const reload = useCallback(() => {
    if (options.skip) return
    running.current?.abort()
    const controller = new AbortController()
    running.current = controller
    busy.current = true
    setState((old) => (old.key === text ? { ...old, loading: true } : { key: text, data: null, error: null, loading: true }))
    loader.current(controller.signal).then(
      (data) => {
        if (controller.signal.aborted) return
        busy.current = false
        refusals.current = 0
        setState({ key: text, data, error: null, loading: false })
      },
      (error: Error) => {
        if (controller.signal.aborted) return
        busy.current = false
        // While the connection is lost, the banner says so and the old data stays.
        if (error instanceof NoConnection) return setState((old) => ({ ...old, loading: false }))
        refusals.current += 1
        const kept = isTransient(error) && refusals.current < REFUSALS_MAX
        setState((old) => (kept && old.data !== null ? { ...old, loading: false } : { key: text, data: null, error, loading: false }))
      },
    )
  }, [text, options.skip])

  useEffect(() => {
    reload()
    return () => running.current?.abort()
  }, [reload, epoch.value, actions.value])

  useEffect(() => {
    if (!options.every_ms) return undefined
    const timer = window.setInterval(() => {
      // While an answer is slow, no second request is sent.
      if (document.visibilityState === 'visible' && !busy.current) reload()
    }, options.every_ms)
    return () => window.clearInterval(timer)
  }, [reload, options.every_ms])

  const fresh = state.key === text
  return { data: fresh ? state.data : null, error: fresh ? state.error : null, loading: fresh ? state.loading : !options.skip, reload }
}
