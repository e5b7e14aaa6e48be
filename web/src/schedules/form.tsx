// The form of a schedule, with a preview that follows each change.
import { useEffect, useState } from 'preact/hooks'
import { exists, inNamespace, request } from '../api/client'
import type { Preview } from '../api/openapi'
import { useQuery } from '../api/query'
import { go, namespace } from '../app/router'
import { notify } from '../ui/dialog'
import { Button, Field, Section } from '../ui/parts'
import { ProblemNote } from '../ui/problem'
import { SaveForm, TextField, useSave } from '../ui/save_form'
import { KINDS, patchOf, putOf, settingsOf, type Draft } from './draft'
import { t } from './form_text'
import { PREVIEW_COUNT, PreviewTable } from './preview'
import { ruleInWords } from './text'

const PREVIEW_AFTER_MS = 250

let zones: string[] | null = null

function zoneNames(): string[] {
  zones ??= Intl.supportedValuesOf('timeZone')
  return zones
}

/** `before`: the schedule as it is; null for a new one. */
export function ScheduleForm({ before, initial }: { before: Draft | null; initial: Draft }) {
  const [draft, setDraft] = useState(initial)
  const set = (changes: Partial<Draft>) => setDraft((old) => ({ ...old, ...changes }))
  const saving = useSave(async () => {
    const name = draft.name.trim()
    if (!name) return notify(t.nameNeeded, true)
    const path = inNamespace('schedules', name)
    if (before) {
      const patch = patchOf(before, draft)
      if (Object.keys(patch).length === 0) notify(t.nothing)
      else {
        await request('PATCH', path, { body: patch })
        notify(t.saved(name))
      }
    } else {
      if (await exists(path, 'unknown_schedule')) return notify(t.nameTaken, true)
      await request('PUT', path, { body: putOf(draft) })
      notify(t.saved(name))
    }
    go(['schedules', name])
  })

  const text = (member: keyof Draft, label: string, hint?: string, members: string[] = [member]) => (
    <TextField
      id={`schedule-${member}`} label={label} hint={hint} error={saving.problemOf(...members)} value={String(draft[member] ?? '')}
      list={member === 'zone' ? 'zones' : undefined} onValue={(value) => set({ [member]: value })}
    />
  )
  const choice = <K extends keyof Draft>(member: K, label: string, options: [Draft[K], string][]) => (
    <Field id={`schedule-${member}`} label={label} error={saving.problemOf(member)}>
      {(id) => (
        <select id={id} value={String(draft[member])} onChange={(event) => set({ [member]: event.currentTarget.value })}>
          {options.map(([value, words]) => <option key={String(value)} value={String(value)}>{words}</option>)}
        </select>
      )}
    </Field>
  )

  const fieldsOfRule = { cron: [t.cronField, t.cronHint], every: [t.everyField, t.everyHint], iso: [t.isoField, t.isoHint], at: [t.atField, t.atHint] } as const
  return (
    <SaveForm class="schedule-form" saving={saving} label={before ? t.save : t.create} onCancel={() => go(before ? ['schedules', before.name] : ['schedules'])}>
      <div class="columns">
        <div>
          <Section title={t.rule}>
            <div class="fields">
              {!before && text('name', t.name, t.nameHint, ['schedule'])}
              {text('queue', t.queue, t.queueHint)}
            </div>
            <fieldset class="choices">
              <legend>{t.rule}</legend>
              {KINDS.map((kind) => (
                <label key={kind} class="choice">
                  <input type="radio" name="kind" value={kind} checked={draft.kind === kind} onChange={() => set({ kind })} /> {t[kind]}
                </label>
              ))}
            </fieldset>
            {text(draft.kind, ...fieldsOfRule[draft.kind])}
            {draft.kind !== 'every' && text('zone', t.zone, t.zoneHint)}
            <datalist id="zones">{zoneNames().map((zone) => <option key={zone} value={zone} />)}</datalist>
            {draft.kind === 'cron' && (
              <div class="fields">
                {choice('dst', t.dst, [['shift', t.dstShift], ['skip', t.dstSkip]])}
                {choice('dst_repeat', t.dstRepeat, [['first', t.repeatFirst], ['both', t.repeatBoth]])}
              </div>
            )}
          </Section>
          <details class="section" open={before !== null}>
            <summary>{t.more}</summary>
            <div class="fields">
              {text('closed', t.closed, t.closedHint)}
              {text('times', t.times, t.timesHint)}
              {text('start', t.start, t.instantHint)}
              {text('end', t.end, t.instantHint)}
              {text('jitter', t.jitter, t.jitterHint)}
              {choice('misfire', t.misfire, [['once', t.misfireOnce], ['all', t.misfireAll], ['skip', t.misfireSkip]])}
              {text('misfire_window', t.window, t.windowHint)}
              {choice('overlap', t.overlap, [['allow', t.overlapAllow], ['skip', t.overlapSkip], ['queue_one', t.overlapQueueOne]])}
            </div>
          </details>
          <Section title={t.content}>
            {draft.body === undefined ? (
              <p>{t.keepContent} <Button onClick={() => set({ body: '' })}>{t.replaceContent}</Button></p>
            ) : (
              <Field id="schedule-body" label={t.content} hint={t.contentHint} error={saving.problemOf('body')}>
                {(id) => <textarea id={id} value={draft.body} spellcheck={false} aria-describedby={`${id}-hint`} onInput={(event) => set({ body: event.currentTarget.value })} />}
              </Field>
            )}
            {draft.body !== undefined && text('content_type', t.contentType, t.contentTypeHint)}
          </Section>
        </div>
        <LivePreview draft={draft} />
      </div>
    </SaveForm>
  )
}

/** The times of the settings in the form, a moment after the last key. The last preview stays while the next is calculated. */
function LivePreview({ draft }: { draft: Draft }) {
  const settings = settingsOf(draft)
  const text = JSON.stringify([draft.name.trim(), settings])
  const [settled, setSettled] = useState(text)
  const [shown, setShown] = useState<Preview | null>(null)
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(text), PREVIEW_AFTER_MS)
    return () => window.clearTimeout(timer)
  }, [text])
  const [name, body] = JSON.parse(settled) as [string, Record<string, unknown>]
  const ready = body.queue !== '' && body[draft.kind] !== ''
  const query = useQuery(
    ['preview of settings', settled, namespace.value],
    (signal) => request<Preview>('POST', `${inNamespace('schedules', name || 'new')}:preview`, { body, query: { count: PREVIEW_COUNT }, signal }),
    { skip: !ready },
  )
  useEffect(() => {
    if (query.data) setShown(query.data)
  }, [query.data])
  return (
    <Section title={t.preview} aside={query.loading && ready && t.checking} class="schedule-preview">
      <div aria-live="polite">
        {!ready ? <p class="empty">{t.previewHint}</p> : query.error ? <ProblemNote error={query.error} /> : shown && (
          <>
            <p class="rule-words">{t.words}: <strong>{ruleInWords(shown)}</strong></p>
            <PreviewTable preview={shown} narrow />
          </>
        )}
      </div>
    </Section>
  )
}
