// Requests to the server. An answer other than 2xx becomes an ApiError with the server's problem document. A request that
// gets no answer at all marks the connection as lost (connection.ts), and a 401 leads to the login page.
import { namespace } from '../app/router'
import { connectionLost, connectionWorks } from './connection'
import type * as Api from './openapi'
import { tokenRefused } from './session'

/** A problem of the server, or of a proxy in front of it. A server that is not ready gives a reason. */
export type Problem = Omit<Api.Problem, 'type' | 'code'> & Pick<Api.Readiness, 'reason'> & { code: Api.Problem['code'] | `http_${number}` }

export class ApiError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail)
  }
}

/** No answer: the server is down or cannot be reached. The page tries again by itself. */
export class NoConnection extends Error {}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface Options {
  body?: unknown
  signal?: AbortSignal
  query?: Record<string, string | number | undefined | null>
}

/** `/v1`, or the prefix of another namespace than `default`. */
export function prefix(ns: string = namespace.value): string {
  return ns === 'default' ? '/v1' : `/v1/namespaces/${encodeURIComponent(ns)}`
}

/** A path in a namespace: `inNamespace('queues', name)`. A verb is appended by the caller: `... + ':pause'`. */
export function inNamespace(...segments: string[]): string {
  return [prefix(), ...segments.map(encodeURIComponent)].join('/')
}

function withQuery(path: string, query: Options['query']): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== null && value !== '') parameters.set(name, String(value))
  }
  const text = parameters.toString()
  return text ? `${path}?${text}` : path
}

async function problemOf(response: Response, text: string): Promise<Problem> {
  const fallback: Problem = { title: response.statusText, status: response.status, code: `http_${response.status}`, detail: '' }
  try {
    return { ...fallback, ...(JSON.parse(text) as Problem) }
  } catch {
    return { ...fallback, detail: text.slice(0, 500) }
  }
}

/** The text of a 2xx answer. */
export async function requestText(method: Method, path: string, options: Options = {}): Promise<string> {
  const init: RequestInit = { method, cache: 'no-store', credentials: 'same-origin', signal: options.signal }
  if (options.body !== undefined) {
    init.body = JSON.stringify(options.body)
    init.headers = { 'Content-Type': 'application/json' }
  }
  let response: Response
  let text: string
  try {
    response = await fetch(withQuery(path, options.query), init)
    text = await response.text()
  } catch (error) {
    if (options.signal?.aborted) throw error
    connectionLost()
    throw new NoConnection()
  }
  // A proxy in front of a server that is down answers for it.
  if (response.status === 502 || response.status === 504) {
    connectionLost()
    throw new NoConnection()
  }
  connectionWorks()
  if (!response.ok) {
    const problem = await problemOf(response, text)
    if (response.status === 401) tokenRefused(problem)
    throw new ApiError(problem)
  }
  return text
}

export async function request<T>(method: Method, path: string, options: Options = {}): Promise<T> {
  const text = await requestText(method, path, options)
  return (text === '' ? undefined : JSON.parse(text)) as T
}

export function get<T>(path: string, query?: Options['query'], signal?: AbortSignal): Promise<T> {
  return request<T>('GET', path, { query, signal })
}

export function post<T>(path: string, body?: unknown): Promise<T> {
  return request<T>('POST', path, { body })
}

/** Whether there is something of this name; `unknown` is the code of the server's refusal. */
export async function exists(path: string, unknown: Problem['code']): Promise<boolean> {
  try {
    await get(path)
    return true
  } catch (error) {
    if (error instanceof ApiError && error.problem.code === unknown) return false
    throw error
  }
}
