// The form of a watchdog.
import { useState } from 'preact/hooks'
import { exists, inNamespace, request } from '../api/client'
import type { Watchdog } from '../api/openapi'
import { go } from '../app/router'
import { notify } from '../ui/dialog'
import { durationText } from '../ui/format'
import { Button, Field, Section } from '../ui/parts'
import { SaveForm, TextField, useSave } from '../ui/save_form'
import { t } from './text'

interface Draft {
  name: string
  queue: string
  timeout: string
  max: string
  repeat_every: string
  /** Undefined: the content stays as it is, which the form does not show. */
  body?: string
}

export const NEW: Draft = { name: '', queue: '', timeout: '', max: '', repeat_every: '', body: '' }

export function draftOf({ watchdog, settings }: Watchdog): Draft {
  const duration = (ms: number | undefined) => (ms === undefined ? '' : durationText(ms))
  return {
    name: watchdog, queue: settings.queue, timeout: duration(settings.timeout_ms), max: duration(settings.max_ms),
    repeat_every: duration(settings.repeat_every_ms),
  }
}

const MEMBERS = ['queue', 'timeout', 'max', 'repeat_every', 'body'] as const

/** The members that differ from `before`; those that are empty now are null. */
function changes(before: Draft, after: Draft): Record<string, string | null> {
  const changed: Record<string, string | null> = {}
  for (const member of MEMBERS) {
    const value = member === 'body' ? after.body : after[member].trim()
    if (value !== undefined && value !== before[member]) changed[member] = value === '' && member !== 'body' ? null : value
  }
  return changed
}

/** `before`: the watchdog as it is; null for a new one. */
export function WatchdogForm({ before, initial }: { before: Draft | null; initial: Draft }) {
  const [draft, setDraft] = useState(initial)
  const saving = useSave(async () => {
    const name = draft.name.trim()
    if (!name) return notify(t.nameNeeded, true)
    const path = inNamespace('watchdogs', name)
    const body = changes(before ?? { ...NEW, body: undefined }, draft)
    if (!before && (await exists(path, 'unknown_watchdog'))) return notify(t.nameTaken, true)
    if (before && Object.keys(body).length === 0) {
      notify(t.nothing)
    } else {
      await request(before ? 'PATCH' : 'PUT', path, { body })
      notify(t.saved(name))
    }
    go(['watchdogs', name])
  })
  const text = (member: 'name' | 'queue' | 'timeout' | 'max' | 'repeat_every', label: string, hint?: string) => (
    <TextField
      id={`watchdog-${member}`} label={label} hint={hint} error={saving.problemOf(member === 'name' ? 'watchdog' : member)}
      value={draft[member]} onValue={(value) => setDraft({ ...draft, [member]: value })}
    />
  )
  return (
    <SaveForm class="narrow" saving={saving} label={before ? t.save : t.createButton} onCancel={() => go(before ? ['watchdogs', before.name] : ['watchdogs'])}>
      <Section title={t.settings}>
        <div class="fields">
          {!before && text('name', t.name)}
          {text('queue', t.queue, t.queueHint)}
          {text('timeout', t.timeout, t.timeoutHint)}
          {text('max', t.max, t.maxHint)}
          {text('repeat_every', t.repeat, t.repeatHint)}
        </div>
        {draft.body === undefined ? (
          <p>{t.keepContent} <Button onClick={() => setDraft({ ...draft, body: '' })}>{t.replaceContent}</Button></p>
        ) : (
          <Field id="watchdog-body" label={t.body} hint={t.bodyHint}>
            {(id) => (
              <textarea
                id={id} value={draft.body} spellcheck={false} aria-describedby={`${id}-hint`}
                onInput={(event) => setDraft({ ...draft, body: event.currentTarget.value })}
              />
            )}
          </Field>
        )}
        {!before && <p class="muted">{t.createHint}</p>}
      </Section>
    </SaveForm>
  )
}
