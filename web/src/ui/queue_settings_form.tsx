// Changes the settings of a queue: the lease, the retry rule, the limits of the queue and of its groups, and a webhook. A patch leaves all others as they are.
import { useState } from 'preact/hooks'
import { inNamespace, request } from '../api/client'
import type { Queue } from '../api/openapi'
import { changed } from '../api/query'
import { dictionary } from '../i18n/language'
import { terms } from '../i18n/terms'
import { Dialog, notify } from './dialog'
import { durationText } from './format'
import { Field } from './parts'
import { TEXTS, draftOf, patchOf, type Header, type QueueDraft, type TextMember } from './queue_draft'
import { RateFields } from './rate'
import { SaveForm, useSave } from './save_form'

const t = dictionary(
  {
    change: 'Change', title: (name: string) => `Settings of ${name}`, retries: 'Lease and retries', limits: 'Limits',
    lease: 'Lease', attempts: 'Attempts', first: 'First backoff', factor: 'Growth', max: 'Longest backoff', jitter: 'Jitter',
    pending: 'Limit of unfinished messages', leased: 'Leased at once', groupLeased: 'Leased at once', groups: 'Limits of each group',
    target: 'Target', pull: 'Consumers lease the messages', webhook: 'The server posts them to a webhook', kafka: 'The server sends them to Kafka',
    url: 'Address', secrets: 'Secrets', timeout: 'Timeout', concurrency: 'Posts at once', rate: 'Posts per second',
    leaseHint: 'Such as 30s or 5m', growthHint: '2 doubles it with each failure', jitterHint: '0.2: up to 20 % shorter or longer', secretsHint: 'Names, with commas between them',
    headers: 'Headers of each post', headersHint: 'The server never shows the values.', name: 'Name', value: 'Value', unchanged: 'unchanged', add: 'Add a header', remove: (name: string) => `Remove the header ${name}`,
    asServer: 'Empty: as set for the server', noLimit: 'Empty: no limit', saved: 'The settings were changed.', nothing: 'Nothing has changed.',
  },
  {
    change: '修改', title: (name: string) => `${name} 的设置`, retries: '租期与重试', limits: '上限',
    lease: '租期', attempts: '投递次数', first: '首次退避', factor: '增长倍数', max: '最长退避', jitter: '抖动',
    pending: '未完成消息数上限', leased: '同时租出', groupLeased: '同时租出', groups: '每个分组的上限',
    target: '目标', pull: '由消费者租取', webhook: '由服务器投递到 webhook', kafka: '由服务器发送到 Kafka',
    url: '地址', secrets: '密钥', timeout: '超时', concurrency: '并发', rate: '每秒投递数',
    leaseHint: '例如 30s 或 5m', growthHint: '2 表示每次失败后加倍', jitterHint: '0.2：最多缩短或延长 20 %', secretsHint: '名称，以逗号分隔',
    headers: '每次投递的头', headersHint: '服务器从不显示其值。', name: '名称', value: '值', unchanged: '不变', add: '添加头', remove: (name: string) => `删除头 ${name}`,
    asServer: '留空：使用服务器设置', noLimit: '留空：无上限', saved: '设置已修改。', nothing: '没有更改。',
  },
)

/** What applies where a field is empty. */
function inherited({ in_force }: Queue): Partial<Record<TextMember, string>> {
  if (!in_force) return {}
  const { lease_ms, retry } = in_force
  return {
    lease: durationText(lease_ms), attempts: String(retry.attempts), first: durationText(retry.first_ms), factor: String(retry.factor),
    max: durationText(retry.max_ms), jitter: String(retry.jitter),
  }
}

function Headers({ headers, onHeaders }: { headers: Header[]; onHeaders: (headers: Header[]) => void }) {
  const change = (index: number, part: Partial<Header>) => onHeaders(headers.map((one, at) => (at === index ? { ...one, ...part } : one)))
  return (
    <fieldset class="header-fields">
      <legend>{t.headers} <span class="muted">{t.headersHint}</span></legend>
      {headers.map(({ name, value, kept }, index) => (
        <div key={index} class="header-row">
          <input aria-label={t.name} placeholder={t.name} value={name} readOnly={kept} spellcheck={false} autocomplete="off" onInput={(event) => change(index, { name: event.currentTarget.value })} />
          <input aria-label={`${t.value} ${name}`} placeholder={kept ? t.unchanged : t.value} value={value} spellcheck={false} autocomplete="off" onInput={(event) => change(index, { value: event.currentTarget.value })} />
          <button type="button" class="icon-button" aria-label={t.remove(name)} onClick={() => onHeaders(headers.filter((_, at) => at !== index))}>×</button>
        </div>
      ))}
      <button type="button" class="link" onClick={() => onHeaders([...headers, { name: '', value: '', kept: false }])}>{t.add}</button>
    </fieldset>
  )
}

function Form({ queue, onClose }: { queue: Queue; onClose: () => void }) {
  const [before] = useState(() => draftOf(queue))
  const [draft, setDraft] = useState(before)
  const set = (part: Partial<QueueDraft>) => setDraft({ ...draft, ...part })
  const saving = useSave(async () => {
    const patch = patchOf(before, draft)
    if (Object.keys(patch).length === 0) notify(t.nothing)
    else {
      await request('PATCH', inNamespace('queues', queue.queue), { body: patch })
      notify(t.saved)
      changed()
    }
    onClose()
  })
  const placeholders = inherited(queue)
  const field = (member: TextMember, hint?: string) => (
    <Field id={`settings-${member}`} label={t[member]} hint={hint}>
      {(id) => (
        <input
          id={id} value={draft[member]} placeholder={placeholders[member]} autocomplete="off" spellcheck={false} aria-describedby={hint && `${id}-hint`}
          inputMode={(TEXTS as readonly string[]).includes(member) ? 'text' : 'decimal'}
          onInput={(event) => set({ [member]: event.currentTarget.value })}
        />
      )}
    </Field>
  )
  return (
    <Dialog title={t.title(queue.queue)} onClose={onClose}>
      <SaveForm class="settings-form" saving={saving} label={terms.save} onCancel={onClose}>
        <h3>{t.retries} <span class="muted">{t.asServer}</span></h3>
        <div class="fields">
          {field('lease', t.leaseHint)}{field('attempts')}{field('first')}{field('factor', t.growthHint)}{field('max')}{field('jitter', t.jitterHint)}
        </div>
        <h3>{t.limits} <span class="muted">{t.noLimit}</span></h3>
        <div class="fields">
          {field('pending')}{field('leased')}
          <RateFields id="settings-rate" draft={draft.pace} onDraft={(pace) => set({ pace })} />
        </div>
        <h3 id="settings-groups">{t.groups} <span class="muted">{t.noLimit}</span></h3>
        <div class="fields" role="group" aria-labelledby="settings-groups">
          {field('groupLeased')}
          <RateFields id="settings-groups-rate" draft={draft.groupPace} onDraft={(groupPace) => set({ groupPace })} />
        </div>
        <h3>{t.target}</h3>
        <div class="field">
          <label class="hidden" for="settings-target">{t.target}</label>
          <select id="settings-target" value={draft.target} onChange={(event) => set({ target: event.currentTarget.value as QueueDraft['target'] })}>
            {(['pull', 'webhook', 'kafka'] as const).map((kind) => (kind !== 'kafka' || before.target === 'kafka') && <option key={kind} value={kind}>{t[kind]}</option>)}
          </select>
        </div>
        {draft.target === 'webhook' && (
          <>
            {field('url')}
            <div class="fields">{field('secrets', t.secretsHint)}{field('timeout')}{field('concurrency')}{field('rate')}</div>
            <Headers headers={draft.headers} onHeaders={(headers) => set({ headers })} />
          </>
        )}
      </SaveForm>
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
