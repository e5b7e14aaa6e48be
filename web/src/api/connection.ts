// Whether the server answers. After a request without an answer, `/healthz` is called until there is one; then `epoch`
// changes, and everything that is shown is loaded again.
import { signal } from '@preact/signals'

export const lost = signal(false)
/** Increases each time the connection is back. */
export const epoch = signal(0)

const RETRY_FIRST_MS = 500
const RETRY_MAX_MS = 5000
let delay = RETRY_FIRST_MS

let timer = 0

export function connectionLost() {
  if (lost.value) return
  lost.value = true
  delay = RETRY_FIRST_MS
  timer = window.setTimeout(retry, delay)
}

export function connectionWorks() {
  if (!lost.value) return
  lost.value = false
  epoch.value += 1
}

export async function retry() {
  if (!lost.value) return
  window.clearTimeout(timer)
  try {
    const response = await fetch('/healthz', { cache: 'no-store' })
    if (response.ok) return connectionWorks()
  } catch {
    // Still no answer.
  }
  delay = Math.min(delay * 2, RETRY_MAX_MS)
  window.clearTimeout(timer)
  timer = window.setTimeout(retry, delay)
}
