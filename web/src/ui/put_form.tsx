// Puts a message by hand, to try out a queue.
import { useState } from 'preact/hooks'
import { post, inNamespace } from '../api/client'
import type { PutResponse } from '../api/openapi'
import { href } from '../app/router'
import { dictionary } from '../i18n/language'
import { terms } from '../i18n/terms'
import { act } from './dialog'
import { numberOf } from './format'
import { Button, Field } from './parts'
import { Instant } from './time'

const t = dictionary(
  {
    content: 'Content', delay: 'Due in', delayHint: 'Such as 10s or 2h; empty: now', contentType: 'Media type', contentTypeHint: 'Such as application/json',
    key: 'Idempotency key', groupHint: 'Such as a customer; optional', put: 'Put message', done: 'Put', dueAt: 'due',
  },
  {
    content: '内容', delay: '延迟', delayHint: '例如 10s 或 2h；留空：立即', contentType: '媒体类型', contentTypeHint: '例如 application/json',
    key: '幂等键', groupHint: '例如客户名；可选', put: '放入消息', done: '已放入', dueAt: '到期',
  },
)

export function PutForm({ queue }: { queue: string }) {
  const [body, setBody] = useState('')
  const [delay, setDelay] = useState('')
  const [type, setType] = useState('')
  const [key, setKey] = useState('')
  const [group, setGroup] = useState('')
  const [priority, setPriority] = useState('')
  const [working, setWorking] = useState(false)
  const put = async () => {
    const message: Record<string, unknown> = { body }
    if (delay.trim()) message.delay = delay.trim()
    if (type.trim()) message.content_type = type.trim()
    if (key) message.key = key
    if (group) message.group = group
    if (priority.trim()) message.priority = numberOf(priority)
    setWorking(true)
    await act(
      () => post<PutResponse>(inNamespace('queues', queue, 'messages'), message),
      (answer) => <>{t.done}: <a href={href(['messages', answer.id])}>{answer.id}</a>, {t.dueAt} <Instant ms={answer.due_ms} /></>,
    )
    setWorking(false)
  }
  return (
    <form onSubmit={(event) => { event.preventDefault(); void put() }}>
      <Field id="put-body" label={t.content}>
        {(id) => <textarea id={id} rows={4} value={body} spellcheck={false} onInput={(event) => setBody(event.currentTarget.value)} />}
      </Field>
      <div class="fields">
        <Field id="put-delay" label={t.delay} hint={t.delayHint}>
          {(id) => <input id={id} value={delay} aria-describedby={`${id}-hint`} autocomplete="off" onInput={(event) => setDelay(event.currentTarget.value)} />}
        </Field>
        <Field id="put-type" label={t.contentType} hint={t.contentTypeHint}>
          {(id) => <input id={id} value={type} aria-describedby={`${id}-hint`} autocomplete="off" onInput={(event) => setType(event.currentTarget.value)} />}
        </Field>
        <Field id="put-priority" label={terms.priority} hint={terms.optional}>
          {(id) => <input id={id} type="number" step={1} value={priority} aria-describedby={`${id}-hint`} onInput={(event) => setPriority(event.currentTarget.value)} />}
        </Field>
        <Field id="put-group" label={terms.group} hint={t.groupHint}>
          {(id) => <input id={id} value={group} aria-describedby={`${id}-hint`} autocomplete="off" onInput={(event) => setGroup(event.currentTarget.value)} />}
        </Field>
        <Field id="put-key" label={t.key} hint={terms.optional}>
          {(id) => <input id={id} value={key} aria-describedby={`${id}-hint`} autocomplete="off" onInput={(event) => setKey(event.currentTarget.value)} />}
        </Field>
      </div>
      <Button kind="primary" type="submit" disabled={working}>{t.put}</Button>
    </form>
  )
}
