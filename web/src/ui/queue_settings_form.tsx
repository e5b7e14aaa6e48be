// Changes the settings of a queue that operators change most: the lease, the attempts and the limits. A patch leaves all
// others as they are.
import { useState } from 'preact/hooks'
import { inNamespace, request } from '../api/client'
import { changed } from '../api/query'
import type { Queue } from '../api/types'
import { dictionary } from '../i18n/language'
import { terms } from '../i18n/terms'
import { Dialog, notify } from './dialog'
import { durationText, numberOf } from './format'
import { Button, Field } from './parts'
import { ProblemNote } from './problem'

const t = dictionary(
  {
    change: 'Change', title: (name: string) => `Settings of ${name}`, lease: 'Lease', leaseHint: 'Such as 30s or 5m', attempts: 'Attempts',
    pending: 'Limit of unfinished messages', perSecond: 'Limit of messages due per second', asServer: 'Empty: as set for the server', noLimit: 'Empty: no limit', saved: 'The settings were changed.',
  },
  {
    change: '修改', title: (name: string) => `${name} 的设置`, lease: '租期', leaseHint: '例如 30s 或 5m', attempts: '投递次数',
    pending: '未完成消息数上限', perSecond: '每秒到期消息数上限', asServer: '留空：使用服务器设置', noLimit: '留空：无上限', saved: '设置已修改。',
  },
)

const FIELDS = ['lease', 'attempts', 'pending', 'perSecond'] as const
type Values = Record<(typeof FIELDS)[number], string>

function valuesOf({ settings }: Queue): Values {
  const text = (value: number | undefined) => (value === undefined ? '' : String(value))
  return {
    lease: settings.lease_ms === undefined ? '' : durationText(settings.lease_ms),
    attempts: text(settings.retry?.attempts),
    pending: text(settings.limits?.pending),
    perSecond: text(settings.limits?.per_second),
  }
}

/** Only what was changed; an emptied field removes the setting. */
function patchOf(before: Values, after: Values): Record<string, unknown> {
  const value = (name: keyof Values) => (after[name].trim() === '' ? null : name === 'lease' ? after[name].trim() : numberOf(after[name]))
  const isChanged = (name: keyof Values) => before[name] !== after[name].trim()
  const patch: Record<string, unknown> = {}
  if (isChanged('lease')) patch.lease = value('lease')
  if (isChanged('attempts')) patch.retry = { attempts: value('attempts') }
  const limits: Record<string, unknown> = {}
  if (isChanged('pending')) limits.pending = value('pending')
  if (isChanged('perSecond')) limits.per_second = value('perSecond')
  if (Object.keys(limits).length > 0) patch.limits = limits
  return patch
}

function Form({ queue, onClose }: { queue: Queue; onClose: () => void }) {
  const [before] = useState(() => valuesOf(queue))
  const [values, setValues] = useState(before)
  const [error, setError] = useState<Error | null>(null)
  const save = async () => {
    try {
      await request('PATCH', inNamespace('queues', queue.queue), { body: patchOf(before, values) })
      notify(t.saved)
      changed()
      onClose()
    } catch (failure) {
      setError(failure as Error)
    }
  }
  const hints = { lease: t.leaseHint, attempts: t.asServer, pending: t.noLimit, perSecond: t.noLimit }
  return (
    <Dialog title={t.title(queue.queue)} onClose={onClose}>
      <form onSubmit={(event) => { event.preventDefault(); void save() }}>
        {error && <ProblemNote error={error} />}
        <div class="fields">
          {FIELDS.map((name) => (
            <Field key={name} id={`settings-${name}`} label={t[name]} hint={hints[name]}>
              {(id) => (
                <input
                  id={id} value={values[name]} autocomplete="off" aria-describedby={`${id}-hint`} inputMode={name === 'lease' ? 'text' : 'numeric'}
                  onInput={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
                />
              )}
            </Field>
          ))}
        </div>
        <div class="dialog-actions">
          <Button onClick={onClose}>{terms.cancel}</Button>
          <Button kind="primary" type="submit">{terms.save}</Button>
        </div>
      </form>
    </Dialog>
  )
}

export function QueueSettingsForm({ queue }: { queue: Queue }) {
  const [open, setOpen] = useState(false)
  return (
    <>
      <button type="button" class="link" onClick={() => setOpen(true)}>{t.change}</button>
      {open && <Form queue={queue} onClose={() => setOpen(false)} />}
    </>
  )
}
