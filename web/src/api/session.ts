// Who uses the dashboard: the token in the browser's cookie, and what it allows. The cookie is HttpOnly, so only the server
// reads it. A server without required tokens allows everything.
import { computed, signal } from '@preact/signals'
import type { Problem } from './client'
import type { Scopes, Session } from './openapi'

export type Scope = Scopes[number]

export const session = signal<Session | null>(null)
/** Set when the server has refused the token: the login page opens and shows why. */
export const refused = signal<Problem | null>(null)

export const loginNeeded = computed(
  () => refused.value !== null || (session.value !== null && session.value.tokens_required && !session.value.token),
)

/** Whether the token has the scope. Buttons for which it is false are not shown. */
export function can(scope: Scope): boolean {
  const known = session.value
  if (!known) return false
  if (!known.token) return !known.tokens_required
  return known.token.scopes.includes(scope)
}

/** Whether the token is for some queues or namespaces only. Figures of the whole server are refused to it. */
export const limited = computed(() => {
  const token = session.value?.token
  return token !== null && token !== undefined && (token.queues !== undefined || token.namespaces !== undefined)
})

/** Two scopes allow some calls, such as cancel. */
export function canAny(...scopes: Scope[]): boolean {
  return scopes.some(can)
}

export function tokenRefused(problem: Problem) {
  refused.value = problem
}

/** Asks the server again. A server without `/v1/session` has no login: everything is shown, and it refuses by itself. */
export async function loadSession(): Promise<void> {
  const response = await fetch('/v1/session', { cache: 'no-store', credentials: 'same-origin' })
  session.value = response.ok ? ((await response.json()) as Session) : { tokens_required: false, token: null }
}
