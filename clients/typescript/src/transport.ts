/** Sends requests until they have an answer that another attempt does not improve, as Attempts decides. Connections are kept. */

import { Buffer } from 'node:buffer'
import * as http from 'node:http'
import * as https from 'node:https'
import { clearTimeout, setTimeout } from 'node:timers'

import { Attempts, mayRepeat } from './attempts.js'
import { DuewheelError, InvalidRequest, Unavailable, errorOf } from './errors.js'
import { decode } from './json.js'
import type { Problem } from './openapi.js'
import { checkVersion } from './versions.js'
import { lines } from './wire.js'

/** Where a server is and how to reach it. A plain object, so that the thread of the heartbeats can have a copy. */
export interface Address {
  url: string
  token?: string | undefined
  ca?: string | Uint8Array | undefined
  timeMs: number
}

/** How long a call may take, if it is not the time of the client. */
export interface Times {
  /** How long the server may wait by itself, in addition to the time of the call. */
  waitMs?: number | undefined
  /** The time of the call. */
  timeMs?: number | undefined
}

export interface Request extends Times {
  method: string
  path: string
  /** The text for an attempt that begins `passedMs` after the call. */
  body?: ((passedMs: number) => string) | undefined
  kind?: 'application/json' | 'application/x-ndjson'
  signal?: AbortSignal | undefined
  traceparent?: string | undefined
}

interface Response {
  status: number
  kind: string
  location: string | undefined
  retryAfterMs: number
  body: string
}

const CONNECTIONS_MAX = 64

export class Transport {
  private readonly home: URL
  private readonly waiting: Agents // for calls that wait at the server, which hold up no others
  private readonly others: Agents
  private isChecked = false // whether the server is one that this client understands

  constructor(private readonly address: Address) {
    const url = URL.canParse(address.url) ? new URL(address.url) : undefined
    if (!url || !/^https?:$/.test(url.protocol) || !url.hostname) {
      throw new InvalidRequest('bad_url', `\`${address.url}\` is no URL of a server: write it as http://127.0.0.1:7420`, 'url')
    }
    this.home = url
    this.waiting = agents(address.ca, Infinity)
    this.others = agents(address.ca, CONNECTIONS_MAX)
  }

  close(): void {
    for (const agent of [...Object.values(this.waiting), ...Object.values(this.others)]) agent.destroy()
  }

  /** The decoded answer. Throws DuewheelError, or the reason of the signal. */
  async send(request: Request): Promise<unknown> {
    const beganMs = performance.now()
    const timeMs = (request.timeMs ?? this.address.timeMs) + (request.waitMs ?? 0)
    const attempts = new Attempts(this.home, request.path, beganMs, timeMs)
    for (;;) {
      request.signal?.throwIfAborted()
      let pauseMs: number
      let response: Response
      try {
        if (!this.isChecked) {
          await this.check(new Attempts(this.home, '/readyz', beganMs, timeMs), request.signal)
        }
        response = await this.once(attempts, request, request.body?.(performance.now() - beganMs))
        if (response.status === 307 && response.location !== undefined) {
          attempts.redirect(response.location)
          continue
        }
        if (response.status < 300) return answerOf(response, attempts.target)
        const refusal = refusalOf(response, attempts.target)
        if (!mayRepeat(response.status)) throw refusal
        pauseMs = attempts.afterRefusal(performance.now(), refusal, response.retryAfterMs, Math.random())
      } catch (error) {
        if (!(error instanceof Lost)) throw error
        pauseMs = attempts.afterLoss(performance.now(), error, Math.random())
      }
      await pause(pauseMs, request.signal)
    }
  }

  private async check(page: Attempts, signal: AbortSignal | undefined): Promise<void> {
    const { body } = await this.once(page, { method: 'GET', path: page.path, signal }, undefined)
    checkVersion(body, this.home.origin)
    this.isChecked = true
  }

  /** One attempt. Rejects with Lost if there is no whole response. */
  private once(attempts: Attempts, request: Request, body: string | undefined): Promise<Response> {
    const { target } = attempts
    const bytes = body === undefined ? undefined : Buffer.from(body)
    const headers: Record<string, string | number> = bytes ? { 'Content-Type': request.kind ?? 'application/json' } : {}
    if (bytes || request.method === 'POST') headers['Content-Length'] = bytes?.length ?? 0
    if (request.traceparent !== undefined) headers['traceparent'] = request.traceparent
    if (this.address.token) headers['Authorization'] = `Bearer ${this.address.token}`
    return new Promise<Response>((resolve, reject) => {
      const sent = (target.protocol === 'https:' ? https : http).request({
        protocol: target.protocol, hostname: target.hostname.replace(/^\[|\]$/g, ''), port: target.port, path: attempts.path,
        method: request.method, headers, agent: (request.waitMs ? this.waiting : this.others)[target.protocol]!,
      })
      const end = (): void => {
        clearTimeout(timer)
        request.signal?.removeEventListener('abort', abort)
      }
      const lose = (error: Error & { code?: string }): void => {
        end()
        reject(isCertificate(error.code) ? new Unavailable('bad_certificate', `${target.origin}: ${error.message}`) : new Lost(error.message || String(error.code)))
      }
      const abort = (): void => {
        end()
        sent.destroy()
        reject(request.signal!.reason)
      }
      const timer = setTimeout(() => sent.destroy(new Error('no whole response in time')), attempts.remainingMs(performance.now()))
      request.signal?.addEventListener('abort', abort)
      sent.on('error', lose)
      sent.on('response', (response) => {
        const chunks: Uint8Array[] = []
        response.on('data', (chunk) => chunks.push(chunk))
        response.on('error', lose)
        response.on('aborted', () => lose(new Error('the response ended in the middle')))
        response.on('end', () => {
          end()
          const seconds = response.headers['retry-after'] ?? ''
          resolve({
            status: response.statusCode ?? 0, kind: response.headers['content-type'] ?? '', location: response.headers['location'],
            retryAfterMs: /^\d+$/.test(seconds) ? Number(seconds) * 1000 : 0, body: Buffer.concat(chunks).toString('utf8'),
          })
        })
      })
      sent.end(bytes)
    })
  }
}

type Agents = Record<string, http.Agent>

/** Kept connections for each protocol, up to `maxSockets` at once to a server. */
function agents(ca: Address['ca'], maxSockets: number): Agents {
  const options = { keepAlive: true, maxSockets, maxFreeSockets: CONNECTIONS_MAX, scheduling: 'lifo' as const }
  return { 'http:': new http.Agent(options), 'https:': new https.Agent(ca === undefined ? options : { ...options, ca }) }
}

/** An attempt without a whole response. Whether the server carried the call out is not known. */
class Lost extends Error {}

function isCertificate(code: string | undefined): boolean {
  return code !== undefined && /CERT|UNABLE_TO_(GET|VERIFY)|HOSTNAME_MISMATCH/.test(code)
}

function answerOf(response: Response, from: URL): unknown {
  try {
    if (response.kind.startsWith('application/json')) return decode(response.body)
    if (response.kind.startsWith('application/x-ndjson')) return lines(response.body)
  } catch {
    // no JSON after all
  }
  throw notDuewheel(response, from)
}

function refusalOf(response: Response, from: URL): DuewheelError {
  try {
    const problem = decode(response.body) as Problem
    if (typeof problem.code === 'string' && typeof problem.detail === 'string') return errorOf(problem)
  } catch {
    // a page of another program
  }
  return notDuewheel(response, from)
}

function notDuewheel(response: Response, from: URL): Unavailable {
  return new Unavailable('not_duewheel',
    `${from.origin} answered with status ${response.status} and \`${response.kind}\`: check the URL, it is no Duewheel server`)
}

/** Ends after this time. Rejects with the reason of the signal. */
export function pause(timeMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }
    const timer = setTimeout(end, timeMs)
    const abort = (): void => {
      clearTimeout(timer)
      reject(signal!.reason)
    }
    if (signal?.aborted) abort()
    else signal?.addEventListener('abort', abort, { once: true })
  })
}
