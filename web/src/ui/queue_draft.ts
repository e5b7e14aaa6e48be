// The settings of a queue as the form has them, all text, and the patch that they become: what has changed, and null for what
// is empty now. Pure.
import type { Queue } from '../api/openapi'
import { durationText, numberOf } from './format'

export const DURATIONS = ['lease', 'first', 'max', 'timeout'] as const
export const NUMBERS = ['attempts', 'factor', 'jitter', 'pending', 'concurrency', 'rate'] as const
export type TextMember = (typeof DURATIONS)[number] | (typeof NUMBERS)[number] | 'url' | 'secrets'

/** A header of the webhook. The server shows no values: `kept` is one that it has, and an empty value leaves it as it is. */
export interface Header {
  name: string
  value: string
  kept: boolean
}

export type QueueDraft = Record<TextMember, string> & { target: 'pull' | 'webhook' | 'kafka'; headers: Header[] }

export function draftOf({ settings }: Pick<Queue, 'settings'>): QueueDraft {
  const text = (value: number | undefined) => (value === undefined ? '' : String(value))
  const duration = (ms: number | undefined) => (ms === undefined ? '' : durationText(ms))
  const { lease_ms, retry, limits, target } = settings
  const webhook = typeof target === 'object' && 'webhook' in target ? target.webhook : undefined
  return {
    lease: duration(lease_ms),
    attempts: text(retry?.attempts), first: duration(retry?.first_ms), factor: text(retry?.factor), max: duration(retry?.max_ms), jitter: text(retry?.jitter),
    pending: text(limits?.pending),
    target: webhook ? 'webhook' : typeof target === 'object' ? 'kafka' : 'pull',
    url: webhook?.url ?? '', secrets: webhook?.secrets?.join(', ') ?? '', timeout: duration(webhook?.timeout_ms),
    concurrency: text(webhook?.concurrency), rate: text(webhook?.rate),
    headers: Object.keys(webhook?.headers ?? {}).map((name) => ({ name, value: '', kept: true })),
  }
}

type Body = Record<string, unknown>

function valueOf(draft: QueueDraft, member: TextMember): unknown {
  const text = draft[member].trim()
  if (text === '') return null
  if (member === 'secrets') return text.split(/[\s,]+/)
  if (!(NUMBERS as readonly string[]).includes(member)) return text
  return /^\d{1,9}\.\d{1,3}$/.test(text) ? Number(text) : numberOf(text)
}

/** The members of one object of the settings that have changed, by their names in the API; undefined if none has. */
function changes(before: QueueDraft, after: QueueDraft, names: Partial<Record<TextMember, string>>): Body | undefined {
  const body: Body = {}
  for (const [member, name] of Object.entries(names) as [TextMember, string][]) {
    if (before[member] !== after[member].trim()) body[name] = valueOf(after, member)
  }
  return Object.keys(body).length > 0 ? body : undefined
}

function headerChanges(before: QueueDraft, after: QueueDraft): Body | undefined {
  const body: Body = {}
  for (const { name } of before.headers) if (!after.headers.some((one) => one.name === name)) body[name] = null
  for (const { name, value, kept } of after.headers) if (name.trim() !== '' && !(kept && value === '')) body[name.trim()] = value
  return Object.keys(body).length > 0 ? body : undefined
}

function targetChanges(before: QueueDraft, after: QueueDraft): unknown {
  if (after.target !== 'webhook') return after.target === before.target ? undefined : after.target
  const headers = headerChanges(before, after)
  const webhook = changes(before, after, { url: 'url', secrets: 'secrets', timeout: 'timeout', concurrency: 'concurrency', rate: 'rate' })
  if (after.target === before.target && !webhook && !headers) return undefined
  return { ...(before.target === 'kafka' ? { kafka: null } : {}), webhook: { ...webhook, ...(headers ? { headers } : {}) } }
}

/** A JSON merge patch of the settings; empty if nothing has changed. */
export function patchOf(before: QueueDraft, after: QueueDraft): Body {
  const patch: Body = {
    ...changes(before, after, { lease: 'lease' }),
    retry: changes(before, after, { attempts: 'attempts', first: 'first', factor: 'factor', max: 'max', jitter: 'jitter' }),
    limits: changes(before, after, { pending: 'pending' }),
    target: targetChanges(before, after),
  }
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined))
}
