// Routes are in the fragment of the address (`#/queues/mail?ns=team`), so that the server only serves files. A segment is
// percent-encoded: names contain slashes and letters of any script. The namespace of a page is its parameter `ns`.
import { computed, signal } from '@preact/signals'

export interface Route {
  path: string[]
  query: URLSearchParams
}

export type Query = Record<string, string | number | undefined | null>

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

export function parse(fragment: string): Route {
  const text = fragment.replace(/^#\/?/, '')
  const mark = text.indexOf('?')
  const path = mark < 0 ? text : text.slice(0, mark)
  return {
    path: path.split('/').filter((segment) => segment !== '').map(decode),
    query: new URLSearchParams(mark < 0 ? '' : text.slice(mark + 1)),
  }
}

export const route = signal<Route>(parse(window.location.hash))
window.addEventListener('hashchange', () => {
  route.value = parse(window.location.hash)
})

/** The namespace that the page shows. */
export const namespace = computed(() => route.value.query.get('ns') || 'default')

/** The address of a page: `href(['queues', name], { state: 'ready' })`. It stays in the namespace unless `ns` is given. */
export function href(path: string[], query: Query = {}): string {
  const parameters = new URLSearchParams()
  const ns = query.ns === undefined ? namespace.value : query.ns
  if (ns && ns !== 'default') parameters.set('ns', String(ns))
  for (const [name, value] of Object.entries(query)) {
    if (name !== 'ns' && value !== undefined && value !== null && value !== '') parameters.set(name, String(value))
  }
  const text = parameters.toString()
  return `#/${path.map(encodeURIComponent).join('/')}${text ? `?${text}` : ''}`
}

export function go(path: string[], query: Query = {}) {
  window.location.hash = href(path, query)
}

/** Changes parameters of the present page without a new entry in the browser's history. */
export function setQuery(changes: Query) {
  const query: Query = Object.fromEntries(route.value.query)
  const next = href(route.value.path, { ...query, ...changes })
  if (next === window.location.hash) return
  window.history.replaceState(null, '', next)
  route.value = parse(next)
}

/** The values of a pattern such as `queues/:queue`, or null if the path does not match it. */
export function match(pattern: string, path: string[]): Record<string, string> | null {
  const segments = pattern.split('/').filter((segment) => segment !== '')
  if (segments.length !== path.length) return null
  const values: Record<string, string> = {}
  for (const [index, segment] of segments.entries()) {
    const value = path[index]!
    if (segment.startsWith(':')) values[segment.slice(1)] = value
    else if (segment !== value) return null
  }
  return values
}
