// A schedule as the form has it, all text, and what it becomes: the body of a put for the preview, and for an existing
// schedule a patch with what has changed. Pure.
import type { Schedule, ScheduleSettings } from '../api/openapi'
import { durationText } from '../ui/format'

export type Kind = 'cron' | 'every' | 'iso' | 'at'
export const KINDS: Kind[] = ['cron', 'every', 'iso', 'at']

export interface Draft extends Required<Pick<ScheduleSettings, 'dst' | 'dst_repeat' | 'misfire' | 'overlap'>> {
  name: string
  queue: string
  kind: Kind
  cron: string
  every: string
  iso: string
  at: string
  zone: string
  closed: string
  start: string
  end: string
  times: string
  jitter: string
  misfire_window: string
  /** Undefined: the content stays as it is, which the form does not show. */
  body?: string
  content_type: string
}

export const NEW: Draft = {
  name: '', queue: '', kind: 'cron', cron: '0 9 * * MON-FRI', every: '10m', iso: '', at: '', zone: '', dst: 'shift', dst_repeat: 'first',
  closed: '', start: '', end: '', times: '', jitter: '', misfire: 'once', misfire_window: '', overlap: 'allow', body: '', content_type: '',
}

function duration(ms: number | undefined): string {
  return ms === undefined ? '' : durationText(ms)
}

export function draftOf(name: string, settings: Schedule['settings']): Draft {
  const kind = KINDS.find((one) => (one === 'every' ? settings.every_ms !== undefined : settings[one] !== undefined)) ?? 'cron'
  return {
    name, queue: settings.queue, kind, cron: settings.cron ?? '', every: duration(settings.every_ms), iso: settings.iso ?? '', at: settings.at ?? '',
    zone: settings.zone ?? '', dst: settings.dst ?? 'shift', dst_repeat: settings.dst_repeat ?? 'first', closed: settings.closed ?? '',
    start: settings.start ?? '', end: settings.end ?? '', times: settings.times === undefined ? '' : String(settings.times),
    jitter: duration(settings.jitter_ms), misfire: settings.misfire, misfire_window: duration(settings.misfire_window_ms), overlap: settings.overlap,
    content_type: settings.content_type ?? '',
  }
}

type Body = Record<string, unknown>

/** The settings as a put takes them, without content. */
export function settingsOf(draft: Draft): Body {
  const settings: Body = { queue: draft.queue.trim(), [draft.kind]: draft[draft.kind].trim(), misfire: draft.misfire, overlap: draft.overlap }
  for (const member of ['zone', 'closed', 'start', 'end', 'jitter', 'misfire_window'] as const) {
    const text = draft[member].trim()
    if (text !== '') settings[member] = text
  }
  if (draft.times.trim() !== '') settings.times = Number(draft.times)
  if (draft.kind === 'cron') {
    settings.dst = draft.dst
    settings.dst_repeat = draft.dst_repeat
  }
  return settings
}

/** The whole body of a put. */
export function putOf(draft: Draft): Body {
  const settings = settingsOf(draft)
  if (draft.body !== undefined) settings.body = draft.body
  if (draft.content_type.trim() !== '') settings.content_type = draft.content_type.trim()
  return settings
}

/** What has changed, as a merge patch; members that are empty now are removed. */
export function patchOf(before: Draft, after: Draft): Body {
  const patch: Body = {}
  const [old, now] = [settingsOf(before), settingsOf(after)]
  for (const member of new Set([...Object.keys(old), ...Object.keys(now)])) {
    if (old[member] === now[member]) continue
    // A rule of another kind replaces the rule, and what belonged to it.
    if (now[member] === undefined && (KINDS.includes(member as Kind) || member === 'dst' || member === 'dst_repeat')) continue
    patch[member] = now[member] ?? null
  }
  if (after.body !== undefined) {
    patch.body = after.body
    if (after.content_type.trim() !== '') patch.content_type = after.content_type.trim()
  } else if (after.content_type !== before.content_type) {
    patch.content_type = after.content_type.trim() || null
  }
  return patch
}
