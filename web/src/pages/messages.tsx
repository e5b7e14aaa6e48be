// The messages of a queue by due time: of some states, and due in a window. The search goes straight to a message, by its id,
// or by its idempotency key in the chosen queue.
import { useState } from 'preact/hooks'
import { get, inNamespace, prefix } from '../api/client'
import type { Message, MessagePage, State } from '../api/openapi'
import { definePage } from '../app/page'
import { go, href, namespace, route, setQuery } from '../app/router'
import { dictionary } from '../i18n/language'
import { terms } from '../i18n/terms'
import { GroupName, Reason, StateBadge, WaitsFor } from '../ui/message_parts'
import { StopRequested } from '../ui/message_work'
import { formatNumber, fromLocalInput, toLocalInput } from '../ui/format'
import { Button, Field, PageHead, SearchField, Section } from '../ui/parts'
import { ProblemNote } from '../ui/problem'
import { QueueField } from '../ui/queue_field'
import { Pager, Pending, Table, usePages, type Column } from '../ui/table'
import { Cut } from '../ui/text'
import { Instant } from '../ui/time'

const t = dictionary(
  {
    title: 'Messages', find: 'Find a message', findHint: 'Id, or key in the chosen queue', findButton: 'Find', needQueue: 'Choose a queue to search for a key.',
    states: 'States', from: 'Due from', to: 'Due before', diedFrom: 'Died from', diedTo: 'Died before', all: 'All unfinished',
    choose: 'Choose a queue to see its messages.', none: 'No message matches.', emptyPage: 'The search continues on the next page.', details: 'Details', window: 'Local time',
  },
  {
    title: '消息', find: '查找消息', findHint: 'ID，或所选队列中的键', findButton: '查找', needQueue: '按键查找前请先选择队列。',
    states: '状态', from: '到期不早于', to: '到期早于', diedFrom: '成为死信不早于', diedTo: '成为死信早于', all: '全部未完成',
    choose: '选择一个队列以查看其消息。', none: '没有符合条件的消息。', emptyPage: '下一页继续搜索。', details: '详情', window: '本地时间',
  },
)

const PAGE_SIZE = 50

function Finder({ queue }: { queue: string }) {
  const [text, setText] = useState('')
  const [error, setError] = useState<Error | string | null>(null)
  const find = async () => {
    const wanted = text.trim()
    setError(null)
    if (!wanted) return
    try {
      if (queue) {
        // A key may look like an id, so the key of the chosen queue goes first.
        const found = await get<Message>(`${prefix()}/messages`, { queue, key: wanted }).catch((failure: Error) => {
          if (/^\d+$/.test(wanted)) return null
          throw failure
        })
        if (found) return go(['messages', found.id])
      }
      if (/^\d+$/.test(wanted)) return go(['messages', wanted])
      setError(t.needQueue)
    } catch (failure) {
      setError(failure as Error)
    }
  }
  return (
    <form class="finder" onSubmit={(event) => { event.preventDefault(); void find() }}>
      <div class="row">
        <SearchField id="find" label={t.find} placeholder={t.findHint} value={text} onInput={setText} />
        <Button type="submit">{t.findButton}</Button>
      </div>
      {typeof error === 'string' && <p class="field-error" role="alert">{error}</p>}
      {error instanceof Error && <ProblemNote error={error} />}
    </form>
  )
}

const STATES: State[] = ['prepared', 'scheduled', 'ready', 'leased', 'retrying', 'held', 'dead']

function StateChoice({ chosen }: { chosen: State[] }) {
  const toggle = (state: State) => {
    const without = chosen.filter((one) => one !== state)
    // Dead letters are listed alone.
    const next = without.length < chosen.length ? without : state === 'dead' ? ['dead'] : [...without.filter((one) => one !== 'dead'), state]
    setQuery({ state: next.join(',') })
  }
  return (
    <fieldset class="choices">
      <legend>{t.states}</legend>
      <label class="choice">
        <input type="checkbox" checked={chosen.length === 0} onChange={() => setQuery({ state: null })} />
        {t.all}
      </label>
      {STATES.map((state) => (
        <label key={state} class="choice">
          <input type="checkbox" checked={chosen.includes(state)} onChange={() => toggle(state)} />
          {terms[state]}
        </label>
      ))}
    </fieldset>
  )
}

function TimeField({ name, label }: { name: 'after' | 'before'; label: string }) {
  const value = route.value.query.get(name)
  const ms = value === null ? NaN : Date.parse(value)
  return (
    <Field id={`due-${name}`} label={label}>
      {(id) => (
        <input
          id={id} type="datetime-local" step={1} value={Number.isNaN(ms) ? '' : toLocalInput(ms)} title={t.window}
          onChange={(event) => setQuery({ [name]: fromLocalInput(event.currentTarget.value) ?? null })}
        />
      )}
    </Field>
  )
}

function List({ queue, states }: { queue: string; states: State[] }) {
  const after = route.value.query.get('after') ?? undefined
  const before = route.value.query.get('before') ?? undefined
  const state = states.join(',')
  const pages = usePages<MessagePage>(
    ['messages', namespace.value, queue, state, after, before],
    (cursor, signal) => get(inNamespace('queues', queue, 'messages'), { state, due_after: after, due_before: before, limit: PAGE_SIZE, cursor }, signal),
    { every_ms: 5000 },
  )
  const columns: Column<Message>[] = [
    { key: 'id', heading: terms.id, cell: (message) => <a href={href(['messages', message.id])}>{message.id}</a> },
    { key: 'state', heading: terms.state, cell: (message) => <><StateBadge state={message.state} /> <StopRequested message={message} /></> },
    { key: 'due', heading: terms.due, cell: (message) => <Instant ms={message.answer_by_ms ?? message.due_ms} relative /> },
    { key: 'group', heading: terms.group, cell: (message) => message.group !== undefined && <GroupName message={message} /> },
    { key: 'attempts', heading: terms.attempts, number: true, cell: (message) => formatNumber(message.attempts) },
    { key: 'priority', heading: terms.priority, number: true, cell: (message) => formatNumber(message.priority) },
    {
      key: 'details', heading: t.details, text: true,
      cell: (message) => {
        if (message.reason) return <Reason text={message.reason} />
        if (message.blocked_by) return <WaitsFor message={message} />
        const text = message.key ?? message.order_key
        return text && <Cut text={text} max={80} />
      },
    },
  ]
  return (
    <Section>
      <Pending query={pages} />
      {pages.data && (
        <Table caption={t.title} columns={columns} rows={pages.data.messages} rowKey={(message) => message.id} empty={pages.next ? t.emptyPage : t.none} />
      )}
      <Pager pages={pages} />
    </Section>
  )
}

function Messages() {
  const query = route.value.query
  const queue = query.get('queue') ?? ''
  const states = (query.get('state') ?? '').split(',').filter((state): state is State => STATES.includes(state as State))
  const dead = states.includes('dead')
  return (
    <>
      <PageHead title={t.title}><Finder queue={queue} /></PageHead>
      <div class="filters">
        <QueueField queue={queue} onChoose={(name) => setQuery({ queue: name })} />
        <TimeField name="after" label={dead ? t.diedFrom : t.from} />
        <TimeField name="before" label={dead ? t.diedTo : t.to} />
        <StateChoice chosen={states} />
      </div>
      {queue ? <List queue={queue} states={states} /> : <Section><p class="empty">{t.choose}</p></Section>}
    </>
  )
}

export default definePage({ route: 'messages', title: () => t.title, view: Messages, nav: { group: 'work', order: 30, label: () => t.title, key: 'm' } })
