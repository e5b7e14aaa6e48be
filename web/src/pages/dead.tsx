// Dead letters: which queues have some, why each died, and what can be done with them.
import { useSignal } from '@preact/signals'
import { allOf } from '../api/all'
import { get, inNamespace, post } from '../api/client'
import { useQuery } from '../api/query'
import { can } from '../api/session'
import type { Message, MessagePage, Outcome, Queue } from '../api/types'
import { definePage } from '../app/page'
import { go, href, namespace, route } from '../app/router'
import { dictionary } from '../i18n/language'
import { terms } from '../i18n/terms'
import { DeadActions } from '../ui/dead_actions'
import { act, confirm } from '../ui/dialog'
import { formatNumber as n } from '../ui/format'
import { Badge, Button, Figure, Figures, PageHead, SearchField, Section } from '../ui/parts'
import { Pager, Pending, Table, usePages } from '../ui/table'
import { Cut, Name } from '../ui/text'
import { Instant } from '../ui/time'
import './plan.css'

const t = dictionary(
  {
    title: 'Dead letters',
    about: 'Messages that failed in all of their attempts. They are kept for 30 days by default, and are delivered again only if they are redriven.',
    of: 'Dead letters of', all: 'All queues', inQueues: 'Queues with dead letters', total: 'Dead letters',
    list: 'Queues by the number of their dead letters', messages: 'Dead letters, oldest first',
    none: 'No dead letters.', noneHere: 'This queue has no dead letters.', noneMatch: 'No queue with dead letters has this text in its name.',
    some: (queues: number) => `The first ${n(queues)} queues were searched. Open another queue by its whole name in the search field.`,
    filter: 'Search queues by name', open: (queue: string) => `Open the queue ${queue}`,
    died: 'Died', lastError: 'Last error', queuePage: 'Settings of the queue',
    redrive: 'Redrive', discard: 'Discard',
    discardProgress: (count: number) => `Discarding: ${n(count)} so far`,
    kicked: (id: string) => `Message ${id} returned to its queue.`,
    discardOneTitle: 'Discard this dead letter?',
    discardOneWhat: (id: string) => `One dead letter, message ${id}, ends for good. Its content is deleted. This cannot be undone.`,
    discarded: (id: string) => `Message ${id} was discarded.`,
    leaseLost: 'The lease ended without a response.',
  },
  {
    title: '死信',
    about: '所有投递次数都已失败的消息。默认保留 30 天，只有重新投递后才会再次送达。',
    of: '死信，队列', all: '全部队列', inQueues: '有死信的队列', total: '死信',
    list: '按死信数量排列的队列', messages: '死信，最早的在前',
    none: '没有死信。', noneHere: '此队列没有死信。', noneMatch: '没有名称包含该文字且有死信的队列。',
    some: (queues: number) => `已搜索前 ${n(queues)} 个队列。要打开其他队列，请在搜索框中输入完整名称。`,
    filter: '按名称搜索队列', open: (queue: string) => `打开队列 ${queue}`,
    died: '进入死信时间', lastError: '最后错误', queuePage: '队列设置',
    redrive: '重新投递', discard: '丢弃',
    discardProgress: (count: number) => `正在丢弃：已完成 ${n(count)}`,
    kicked: (id: string) => `消息 ${id} 已返回队列。`,
    discardOneTitle: '丢弃这条死信？',
    discardOneWhat: (id: string) => `一条死信（消息 ${id}）将永久结束，内容会被删除，无法撤销。`,
    discarded: (id: string) => `消息 ${id} 已丢弃。`,
    leaseLost: '租约在没有响应的情况下结束。',
  },
)

/** Queues with dead letters, those with the most first. */
async function queuesWithDead(signal: AbortSignal) {
  const { rows, more } = await allOf<Queue>('queues', signal)
  return { queues: rows.filter((queue) => queue.dead > 0).sort((a, b) => b.dead - a.dead), searched: rows.length, more }
}

function DeadPage() {
  const queue = route.value.query.get('queue')
  return queue === null ? <AllQueues /> : <OneQueue key={queue} queue={queue} />
}

function AllQueues() {
  const query = useQuery(['dead queues', namespace.value], queuesWithDead, { every_ms: 30_000 })
  const search = useSignal('')
  const text = search.value.trim()
  const rows = query.data?.queues.filter((row) => row.queue.includes(text)) ?? []
  return (
    <>
      <PageHead title={t.title} about={t.about} />
      {query.data && (
        <Figures>
          <Figure name={t.total} value={n(query.data.queues.reduce((sum, row) => sum + row.dead, 0))} tone={query.data.queues.length > 0 ? 'bad' : 'good'} />
          <Figure name={t.inQueues} value={n(query.data.queues.length)} />
        </Figures>
      )}
      <Section title={t.inQueues}>
        <form
          class="filters"
          onSubmit={(event) => {
            event.preventDefault()
            if (text) go(['dead'], { queue: text })
          }}
        >
          <SearchField id="dead-search" label={t.filter} placeholder={t.filter} value={search.value} onInput={(value) => (search.value = value)} />
        </form>
        {query.data?.more && <p class="muted">{t.some(query.data.searched)}</p>}
        {query.data ? (
          <Table
            caption={t.list} rows={rows} rowKey={(row) => row.queue}
            empty={text ? <><p>{t.noneMatch}</p><p><a href={href(['dead'], { queue: text })}>{t.open(text)}</a></p></> : t.none}
            columns={[
              { key: 'queue', heading: terms.queue, cell: (row) => <a href={href(['dead'], { queue: row.queue })}><Name>{row.queue}</Name></a> },
              { key: 'dead', heading: t.total, number: true, cell: (row) => n(row.dead) },
              { key: 'pending', heading: terms.pending, number: true, cell: (row) => n(row.pending) },
              { key: 'actions', heading: terms.actions, cell: (row) => <span class="row-actions"><DeadActions queue={row} /></span> },
            ]}
          />
        ) : (
          <Pending query={query} />
        )}
      </Section>
    </>
  )
}

function OneQueue({ queue }: { queue: string }) {
  const state = useQuery(['dead queue', queue, namespace.value], (signal) => get<Queue>(inNamespace('queues', queue), {}, signal), { every_ms: 5000 })
  const pages = usePages(
    ['dead letters', queue, namespace.value],
    (cursor, signal) => get<MessagePage>(inNamespace('queues', queue, 'messages'), { state: 'dead', limit: 50, cursor }, signal),
    { every_ms: 10_000 },
  )
  return (
    <>
      <p class="back"><a href={href(['dead'])}>← {t.all}</a></p>
      <PageHead title={<>{t.of} <Name>{queue}</Name></>}>
        {state.data && <DeadActions queue={state.data} old />}
      </PageHead>
      {state.data ? (
        <p class="page-line">
          {terms.countDead(state.data.dead)}
          {state.data.discard && <Badge tone="warn">{t.discardProgress(state.data.discard.discarded)}</Badge>}
          <a href={href(['queues', queue])}>{t.queuePage}</a>
        </p>
      ) : (
        <Pending query={state} />
      )}
      {state.data && (
        <Section title={t.messages}>
          {pages.data ? (
            <Table
              caption={t.messages} rows={pages.data.messages} rowKey={(row) => row.id} empty={t.noneHere}
              columns={[
                { key: 'id', heading: terms.id, cell: (row) => <a class="nowrap" href={href(['messages', row.id])}>{row.id}</a> },
                { key: 'died', heading: t.died, cell: (row) => <Instant ms={row.ended_ms ?? row.due_ms} relative /> },
                { key: 'attempts', heading: terms.attempts, number: true, cell: (row) => n(row.attempts) },
                { key: 'reason', heading: t.lastError, cell: (row) => <Reason message={row} /> },
                { key: 'key', heading: terms.key, cell: (row) => row.key && <Cut text={row.key} max={60} /> },
                { key: 'actions', heading: terms.actions, cell: (row) => <MessageActions message={row} /> },
              ]}
            />
          ) : (
            <Pending query={pages} />
          )}
          <Pager pages={pages} />
        </Section>
      )}
    </>
  )
}

function Reason({ message }: { message: Message }) {
  if (!message.reason) return <span class="muted">{terms.none}</span>
  return message.reason === 'lease lost' ? <>{t.leaseLost}</> : <Cut text={message.reason} />
}

function MessageActions({ message: { id } }: { message: Message }) {
  if (!can('cancel')) return null
  const path = inNamespace('messages', id)
  return (
    <span class="row-actions">
      <Button onClick={() => void act(() => post<Outcome>(`${path}:kick`), () => t.kicked(id))}>{t.redrive}</Button>
      <Button
        kind="danger"
        onClick={() =>
          confirm({
            title: t.discardOneTitle, what: t.discardOneWhat(id), verb: t.discard, danger: true,
            run: () => post<Outcome>(`${path}:discard`), done: () => t.discarded(id),
          })}
      >
        {t.discard}
      </Button>
    </span>
  )
}

export default definePage({
  route: 'dead',
  title: () => {
    const queue = route.value.query.get('queue')
    return queue === null ? t.title : `${t.title} · ${queue}`
  },
  view: DeadPage,
  nav: { group: 'work', order: 40, label: () => t.title, key: 'd' },
})
