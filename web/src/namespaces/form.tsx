// The form of the quotas of a namespace.
import { useState } from 'preact/hooks'
import { request } from '../api/client'
import type { NamespaceSettings } from '../api/openapi'
import { changed } from '../api/query'
import { go } from '../app/router'
import { notify } from '../ui/dialog'
import { Section } from '../ui/parts'
import { SaveForm, TextField, useSave } from '../ui/save_form'
import { t } from './text'

type Limit = keyof NonNullable<NamespaceSettings['limits']>
const LIMITS: Limit[] = ['pending', 'queues', 'schedules', 'watchdogs', 'put_rate']

type Draft = Record<Limit | 'weight', string>

function draftOf(settings: NamespaceSettings): Draft {
  const text = (value: number | undefined) => (value === undefined ? '' : String(value))
  return {
    pending: text(settings.limits?.pending), queues: text(settings.limits?.queues), schedules: text(settings.limits?.schedules),
    watchdogs: text(settings.limits?.watchdogs), put_rate: text(settings.limits?.put_rate), weight: text(settings.weight),
  }
}

/** `name`: null for a new namespace. */
export function QuotaForm({ name, settings }: { name: string | null; settings: NamespaceSettings }) {
  const before = draftOf(settings)
  const [draft, setDraft] = useState(before)
  const [newName, setNewName] = useState('')
  const labels: Draft = {
    pending: t.pendingLimit, queues: t.queuesLimit, schedules: t.schedulesLimit, watchdogs: t.watchdogsLimit, put_rate: t.putRateLimit, weight: t.weightLimit,
  }
  const saving = useSave(async () => {
    const target = name ?? newName.trim()
    if (!target) return notify(t.nameNeeded, true)
    const values: Partial<Record<keyof Draft, number | null>> = {}
    for (const member of [...LIMITS, 'weight'] as const) {
      const text = draft[member].trim()
      if (text === before[member]) continue
      if (text !== '' && !/^\d+$/.test(text)) return notify(t.number(labels[member]), true)
      values[member] = text === '' ? null : Number(text)
    }
    if (name !== null && Object.keys(values).length === 0) return notify(t.nothing)
    const { weight, ...limits } = values
    await request('PATCH', `/v1/namespaces/${encodeURIComponent(target)}`, {
      body: { ...(Object.keys(limits).length > 0 ? { limits } : {}), ...(weight !== undefined ? { weight } : {}) },
    })
    notify(t.saved(target))
    changed()
    go(['namespaces', target])
  })
  const field = (member: keyof Draft, hint?: string) => (
    <TextField
      id={`quota-${member}`} label={labels[member]} hint={hint} error={saving.problemOf(member, `limits.${member}`)} inputMode="numeric"
      value={draft[member]} onValue={(value) => setDraft({ ...draft, [member]: value })}
    />
  )
  return (
    <div class="narrow">
      <Section title={t.quotas}>
        <SaveForm saving={saving} label={name === null ? t.createButton : t.save}>
          <p class="muted form-about">{t.quotasHint}</p>
          {name === null && (
            <TextField id="quota-name" label={t.name} error={saving.problemOf('namespace')} value={newName} onValue={setNewName} />
          )}
          <div class="fields">
            {LIMITS.map((member) => field(member))}
            {field('weight', t.weightHint)}
          </div>
        </SaveForm>
      </Section>
    </div>
  )
}
