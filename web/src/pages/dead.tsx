// Dead letters: which queues have some, why each died, and what can be done with them.
import { useSignal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { allOf } from '../api/all'
import { get, inNamespace, post } from '../api/client'
import { useContents } from '../api/contents'
import type { DiscardResponse, KickResponse, Message, MessagePage, Queue } from '../api/openapi'
import { useQuery } from '../api/query'
import { can } from '../api/session'
import { definePage } from '../app/page'
import { go, href, namespace, route } from '../app/router'
import { dictionary } from '../i18n/language'
import { terms } from '../i18n/terms'
import { ChosenActions, DeadActions } from '../ui/dead_actions'
import { act, confirm } from '../ui/dialog'
import { formatNumber as n } from '../ui/format'
import { Badge, Button, Figure, Figures, PageHead, SearchField, Section } from '../ui/parts'
import { Reason, reasonWords } from '../ui/message_parts'
import { reasonKind } from '../ui/reason'
import { Pager, Pending, Table, useLocalPages, usePages, type Pages } from '../ui/table'
import { Cut, Name, visible } from '../ui/text'
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
    reasons: 'Reasons', reasonsOf: (count: number) => `Reasons of these ${n(count)}`, lastDied: 'Last died', showAll: 'Show all reasons', onlyKind: 'Only this reason:',
    choose: 'Choose', chooseOne: (id: string) => `Choose message ${id}`, chooseAll: (count: number) => `All ${n(count)} of this list`, chosenCount: (count: number) => `${n(count)} chosen`,
    content: 'Content', noReason: 'without a reason',
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
    reasons: '原因', reasonsOf: (count: number) => `这 ${n(count)} 条的原因`, lastDied: '最近一次', showAll: '显示全部原因', onlyKind: '仅此原因：',
    choose: '选择', chooseOne: (id: string) => `选择消息 ${id}`, chooseAll: (count: number) => `此列表的全部 ${n(count)} 条`, chosenCount: (count: number) => `已选 ${n(count)} 条`,
    content: '内容', noReason: '无原因',
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

// The server's answers have this many dead letters, which are grouped; a page of the table has fewer.
const BATCH_SIZE = 1000
const PAGE_SIZE = 50
const KIND_MAX = 200

interface Kind {
  name: string
  count: number
  last_ms: number
}

function kindOf(message: Message): string {
  return reasonKind(message.reason ?? '')
}

/** How often each kind of reason occurs, the most frequent first. */
function kindsOf(messages: Message[]): Kind[] {
  const kinds = new Map<string, Kind>()
  for (const message of messages) {
    const name = kindOf(message)
    const kind = kinds.get(name) ?? { name, count: 0, last_ms: 0 }
    kinds.set(name, { name, count: kind.count + 1, last_ms: Math.max(kind.last_ms, diedAt(message)) })
  }
  return [...kinds.values()].sort((a, b) => b.count - a.count)
}

function diedAt(message: Message): number {
  return message.ended_ms ?? message.due_ms
}

function OneQueue({ queue }: { queue: string }) {
  const state = useQuery(['dead queue', queue, namespace.value], (signal) => get<Queue>(inNamespace('queues', queue), {}, signal), { every_ms: 5000 })
  const batches = usePages(
    ['dead letters', queue, namespace.value],
    (cursor, signal) => get<MessagePage>(inNamespace('queues', queue, 'messages'), { state: 'dead', limit: BATCH_SIZE, cursor }, signal),
    { every_ms: 15_000 },
  )
  const letters = batches.data?.messages
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
      {state.data && (letters ? <Letters letters={letters} batches={batches} /> : <Section title={t.messages}><Pending query={batches} /></Section>)}
    </>
  )
}

/** The dead letters of one answer of the server, by the kinds of their reasons. */
function Letters({ letters, batches }: { letters: Message[]; batches: Pages<MessagePage> }) {
  const [only, setOnly] = useState<string | null>(null)
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set())
  const kinds = kindsOf(letters)
  // A kind that is gone is not asked for any more.
  const kind = kinds.some(({ name }) => name === only) ? only : null
  const shown = kind === null ? letters : letters.filter((message) => kindOf(message) === kind)
  const local = useLocalPages(shown, PAGE_SIZE, [kind, batches.page])
  const contents = useContents(local.rows)
  const chosen = shown.filter(({ id }) => picked.has(id)).map(({ id }) => id)
  const pick = (ids: string[], add: boolean) => {
    const next = new Set(picked)
    for (const id of ids) add ? next.add(id) : next.delete(id)
    setPicked(next)
  }
  const kindName = (name: string) => <bdi class="free">{name === '' ? t.noReason : visible(reasonWords(name).slice(0, KIND_MAX))}</bdi>
  const pager = {
    page: (batches.page - 1) * (BATCH_SIZE / PAGE_SIZE) + local.page, previous: local.previous ?? batches.previous, next: local.next ?? batches.next,
  }
  return (
    <>
      {kinds.length > 1 && (
        <Section title={batches.next || batches.page > 1 ? t.reasonsOf(letters.length) : t.reasons}>
          <Table
            caption={t.reasons} rows={kinds.slice(0, PAGE_SIZE)} rowKey={(row) => row.name}
            columns={[
              { key: 'kind', heading: t.lastError, cell: (row) => <button type="button" class="link" aria-pressed={row.name === kind} onClick={() => setOnly(row.name === kind ? null : row.name)}>{kindName(row.name)}</button> },
              { key: 'count', heading: t.total, number: true, cell: (row) => n(row.count) },
              { key: 'last', heading: t.lastDied, cell: (row) => <Instant ms={row.last_ms} relative /> },
            ]}
          />
        </Section>
      )}
      <Section title={t.messages}>
        {kind !== null && <p>{t.onlyKind} {kindName(kind)} <button type="button" class="link" onClick={() => setOnly(null)}>{t.showAll}</button></p>}
        {can('cancel') && shown.length > 1 && (
          <div class="chosen-bar">
            <label class="choice">
              <input type="checkbox" checked={chosen.length === shown.length} onChange={(event) => pick(shown.map(({ id }) => id), event.currentTarget.checked)} />
              {t.chooseAll(shown.length)}
            </label>
            {chosen.length > 0 && <span class="muted">{t.chosenCount(chosen.length)}</span>}
            <ChosenActions chosen={chosen} />
          </div>
        )}
        <Table
          caption={t.messages} rows={local.rows} rowKey={(row) => row.id} empty={t.noneHere}
          columns={[
            {
              key: 'choose', heading: t.choose,
              cell: ({ id }) => can('cancel') && shown.length > 1
                && <input type="checkbox" aria-label={t.chooseOne(id)} checked={picked.has(id)} onChange={(event) => pick([id], event.currentTarget.checked)} />,
            },
            { key: 'id', heading: terms.id, cell: (row) => <a class="nowrap" href={href(['messages', row.id])}>{row.id}</a> },
            { key: 'died', heading: t.died, cell: (row) => <Instant ms={diedAt(row)} relative /> },
            { key: 'attempts', heading: terms.attempts, number: true, cell: (row) => n(row.attempts) },
            { key: 'reason', heading: t.lastError, text: true, cell: (row) => row.reason && <Reason text={row.reason} /> },
            { key: 'content', heading: t.content, cell: (row) => contents.get(row.id) && <bdi class="preview">{visible(contents.get(row.id)!)}</bdi> },
            { key: 'key', heading: terms.key, cell: (row) => row.key && <Cut text={row.key} max={60} /> },
            { key: 'actions', heading: terms.actions, cell: (row) => can('cancel') && <MessageActions message={row} /> },
          ]}
        />
        <Pager pages={pager} />
      </Section>
    </>
  )
}

function MessageActions({ message: { id } }: { message: Message }) {
  const path = inNamespace('messages', id)
  return (
    <span class="row-actions">
      <Button onClick={() => void act(() => post<KickResponse>(`${path}:kick`), () => t.kicked(id))}>{t.redrive}</Button>
      <Button
        kind="danger"
        onClick={() =>
          confirm({
            title: t.discardOneTitle, what: t.discardOneWhat(id), verb: t.discard, danger: true,
            run: () => post<DiscardResponse>(`${path}:discard`), done: () => t.discarded(id),
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
