// The form of the quotas of a namespace.
import { useState } from 'preact/hooks'
import { ApiError, request } from '../api/client'
import { changed } from '../api/query'
import { go } from '../app/router'
import { notify } from '../ui/dialog'
import { Button, Field, Section } from '../ui/parts'
import { ProblemNote } from '../ui/problem'
import { t } from './text'
import { LIMITS, type Namespace } from './types'

type Draft = Record<(typeof LIMITS)[number] | 'weight', string>

function draftOf(settings: Namespace['settings']): Draft {
  const text = (value: number | undefined) => (value === undefined ? '' : String(value))
  return {
    pending: text(settings.limits?.pending), queues: text(settings.limits?.queues), schedules: text(settings.limits?.schedules),
    watchdogs: text(settings.limits?.watchdogs), put_rate: text(settings.limits?.put_rate), weight: text(settings.weight),
  }
}

/** `name`: null for a new namespace. */
export function QuotaForm({ name, settings }: { name: string | null; settings: Namespace['settings'] }) {
  const before = draftOf(settings)
  const [draft, setDraft] = useState(before)
  const [newName, setNewName] = useState('')
  const [error, setError] = useState<Error | null>(null)
  const problem = error instanceof ApiError ? error.problem : null
  const labels: Draft = {
    pending: t.pendingLimit, queues: t.queuesLimit, schedules: t.schedulesLimit, watchdogs: t.watchdogsLimit, put_rate: t.putRateLimit, weight: t.weightLimit,
  }
  const field = (member: keyof Draft, hint?: string) => {
    const fault = problem?.field?.endsWith(member) ? problem.detail : undefined
    return (
      <Field id={`quota-${member}`} label={labels[member]} hint={hint} error={fault}>
        {(id) => (
          <input
            id={id} inputMode="numeric" autocomplete="off" value={draft[member]} aria-describedby={hint || fault ? `${id}-hint` : undefined}
            onInput={(event) => setDraft({ ...draft, [member]: event.currentTarget.value })}
          />
        )}
      </Field>
    )
  }
  const save = async () => {
    setError(null)
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
    try {
      await request('PATCH', `/v1/namespaces/${encodeURIComponent(target)}`, {
        body: { ...(Object.keys(limits).length > 0 ? { limits } : {}), ...(weight !== undefined ? { weight } : {}) },
      })
      notify(t.saved(target))
      changed()
      go(['namespaces', target])
    } catch (caught) {
      setError(caught as Error)
    }
    return undefined
  }
  return (
    <form
      class="narrow"
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <Section title={t.quotas}>
        <p class="muted form-about">{t.quotasHint}</p>
        {name === null && (
          <Field id="quota-name" label={t.name} error={problem?.field === 'namespace' ? problem.detail : undefined}>
            {(id) => <input id={id} value={newName} autocomplete="off" spellcheck={false} onInput={(event) => setNewName(event.currentTarget.value)} />}
          </Field>
        )}
        <div class="fields">
          {LIMITS.map((member) => field(member))}
          {field('weight', t.weightHint)}
        </div>
        {error && <ProblemNote error={error} />}
        <div class="form-actions"><Button type="submit" kind="primary">{name === null ? t.createButton : t.save}</Button></div>
      </Section>
    </form>
  )
}
