// The settings of a queue and of a group as the forms have them, all text, and the patch that they become: what has changed, and
// null for what is empty now. Pure.
import type { Group, Queue, Rate } from '../api/openapi'
import { durationText, numberOf } from './format'

/** Members that are no numbers. */
export const TEXTS = ['lease', 'first', 'max', 'timeout', 'per', 'url', 'secrets'] as const
export type TextMember =
  | Exclude<(typeof TEXTS)[number], 'per'> | 'attempts' | 'factor' | 'jitter' | 'pending' | 'leased' | 'groupLeased' | 'concurrency' | 'rate'
export type RateDraft = Record<'count' | 'per' | 'burst', string>

/** A header of the webhook. The server shows no values: `kept` is one that it has, and an empty value leaves it as it is. */
export interface Header {
  name: string
  value: string
  kept: boolean
}

export type QueueDraft = Record<TextMember, string> & {
  target: 'pull' | 'webhook' | 'kafka'
  headers: Header[]
  /** The rate of its deliveries, and that of each group. */
  pace: RateDraft
  groupPace: RateDraft
}
export type GroupDraft = { leased: string; weight: string; pace: RateDraft }

function text(value: number | undefined): string {
  return value === undefined ? '' : String(value)
}

function duration(ms: number | undefined): string {
  return ms === undefined ? '' : durationText(ms)
}

function rateDraftOf(rate: Rate | undefined): RateDraft {
  return { count: text(rate?.count), per: duration(rate?.per_ms), burst: text(rate?.burst) }
}

export function draftOf({ settings }: Pick<Queue, 'settings'>): QueueDraft {
  const { lease_ms, retry, limits, rate, groups, target } = settings
  const webhook = typeof target === 'object' && 'webhook' in target ? target.webhook : undefined
  return {
    lease: duration(lease_ms),
    attempts: text(retry?.attempts), first: duration(retry?.first_ms), factor: text(retry?.factor), max: duration(retry?.max_ms), jitter: text(retry?.jitter),
    pending: text(limits?.pending), leased: text(limits?.leased), groupLeased: text(groups?.leased),
    pace: rateDraftOf(rate), groupPace: rateDraftOf(groups?.rate),
    target: webhook ? 'webhook' : typeof target === 'object' ? 'kafka' : 'pull',
    url: webhook?.url ?? '', secrets: webhook?.secrets?.join(', ') ?? '', timeout: duration(webhook?.timeout_ms),
    concurrency: text(webhook?.concurrency), rate: text(webhook?.rate),
    headers: Object.keys(webhook?.headers ?? {}).map((name) => ({ name, value: '', kept: true })),
  }
}

export function groupDraftOf({ settings }: Pick<Group, 'settings'>): GroupDraft {
  return { leased: text(settings.leased), weight: text(settings.weight), pace: rateDraftOf(settings.rate) }
}

type Body = Record<string, unknown>

function valueOf(typed: string, member: string): unknown {
  const text = typed.trim()
  if (text === '') return null
  if (member === 'secrets') return text.split(/[\s,]+/)
  if ((TEXTS as readonly string[]).includes(member)) return text
  return /^\d{1,9}\.\d{1,3}$/.test(text) ? Number(text) : numberOf(text)
}

/** The members of one object of the settings that have changed, by their names in the API; undefined if none has. */
function changes<Names extends Record<string, string>>(before: Record<keyof Names, string>, after: Record<keyof Names, string>, names: Names): Body | undefined {
  const body: Body = {}
  for (const [member, name] of Object.entries(names)) {
    if (before[member] !== after[member]!.trim()) body[name] = valueOf(after[member]!, member)
  }
  return Object.keys(body).length > 0 ? body : undefined
}

/** A rate without a count is none. */
function rateChanges(before: RateDraft, after: RateDraft): Body | null | undefined {
  if (before.count !== '' && after.count.trim() === '') return null
  return changes(before, after, { count: 'count', per: 'per', burst: 'burst' })
}

function defined(body: Body): Body {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
}

function groupsChanges(before: QueueDraft, after: QueueDraft): Body | undefined {
  const body = defined({ ...changes(before, after, { groupLeased: 'leased' }), rate: rateChanges(before.groupPace, after.groupPace) })
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
  return defined({
    ...changes(before, after, { lease: 'lease' }),
    retry: changes(before, after, { attempts: 'attempts', first: 'first', factor: 'factor', max: 'max', jitter: 'jitter' }),
    limits: changes(before, after, { pending: 'pending', leased: 'leased' }),
    rate: rateChanges(before.pace, after.pace),
    groups: groupsChanges(before, after),
    target: targetChanges(before, after),
  })
}

export function groupPatchOf(before: GroupDraft, after: GroupDraft): Body {
  return defined({ ...changes(before, after, { leased: 'leased', weight: 'weight' }), rate: rateChanges(before.pace, after.pace) })
}
