// The queues of a namespace. By name, the server pages and searches them, because there may be 100,000. Sorted by another
// column, or searched inside the names, they are those of up to 10,000 queues, which are all loaded.
import { allOf } from '../api/all'
import { get, inNamespace } from '../api/client'
import type { Queue, QueuePage } from '../api/openapi'
import { useQuery } from '../api/query'
import { ageOf, LATE_MS, useBusiest } from '../api/queues'
import { limited } from '../api/session'
import { definePage } from '../app/page'
import { href, namespace, route, setQuery } from '../app/router'
import { dictionary } from '../i18n/language'
import { terms } from '../i18n/terms'
import { formatDuration, formatNumber } from '../ui/format'
import { Badge, PageHead, SearchField, Section } from '../ui/parts'
import { TargetBadge, healthOf, targetOf } from '../ui/queue_health'
import { Pager, Pending, Table, useLocalPages, usePages, type Column, type Sort } from '../ui/table'
import { Name } from '../ui/text'

const t = dictionary(
  {
    title: 'Queues', search: 'Search queues by name', overdue: 'Overdue',
    none: 'No queue yet. A queue exists from its first message or its settings.', noMatch: 'No queue has this text in its name.',
    noMatchBegin: 'No queue has a name that begins like this.',
    some: (count: number) => `There are more than ${formatNumber(count)} queues. They are searched by the beginning of the name, and sorted within the page.`,
    pull: 'consumers', webhook: 'webhook', kafka: 'Kafka', status: 'State',
  },
  {
    title: '队列', search: '按名称搜索队列', overdue: '逾期',
    none: '还没有队列。收到第一条消息或设置后队列即存在。', noMatch: '没有名称包含该文字的队列。',
    noMatchBegin: '没有名称以此开头的队列。',
    some: (count: number) => `队列超过 ${formatNumber(count)} 个：只能按名称开头搜索，并仅在本页内排序。`,
    pull: '消费者', webhook: 'webhook', kafka: 'Kafka', status: '状态',
  },
)

const PAGE_SIZE = 50
const SORT_KEYS = ['queue', 'pending', 'ready', 'leased', 'dead', 'waiters', 'age'] as const
type SortKey = (typeof SORT_KEYS)[number]

/** Numbers begin with the largest, names with the first; `-` turns it round. */
function readSort(text: string | null): Sort | undefined {
  const key = text?.replace(/^-/, '')
  if (!text || !SORT_KEYS.includes(key as SortKey)) return undefined
  return { key: key!, descending: (key !== 'queue') !== text.startsWith('-') }
}

function sorted(rows: Queue[], sort: Sort | undefined, value: (queue: Queue, key: SortKey) => number | string): Queue[] {
  if (!sort) return rows
  const key = sort.key as SortKey
  const sign = sort.descending ? -1 : 1
  return [...rows].sort((a, b) => {
    const [left, right] = [value(a, key), value(b, key)]
    return sign * (left < right ? -1 : left > right ? 1 : 0)
  })
}

function Queues() {
  const search = route.value.query.get('search') ?? ''
  const sortText = route.value.query.get('sort')
  const sort = readSort(sortText)
  const busiest = useBusiest().data
  const ages = new Map(busiest?.queues.filter((row) => (row.namespace ?? 'default') === namespace.value).map((row) => [row.queue, ageOf(row, busiest.at_ms)]))
  const age = (queue: Queue) => ages.get(queue.queue) ?? 0

  const wantsAll = search !== '' || (sort !== undefined && sortText !== 'queue')
  const all = useQuery(['all queues', namespace.value], (signal) => allOf<Queue>('queues', signal), { every_ms: 10_000, skip: !wantsAll })
  const here = wantsAll && all.data?.more === false
  const byName = usePages<QueuePage>(
    ['queues', namespace.value, search],
    (cursor, signal) => get(inNamespace('queues'), { prefix: search, limit: PAGE_SIZE, cursor }, signal),
    { every_ms: 5000, skip: wantsAll && !all.data?.more },
  )
  const value = (queue: Queue, key: SortKey) => (key === 'age' ? age(queue) : queue[key])
  const found = here ? all.data!.rows.filter((row) => row.queue.includes(search)) : []
  const local = useLocalPages(sorted(found, sort, value), PAGE_SIZE, [namespace.value, search, sortText])
  const pages = here ? local : byName
  const rows = here ? local.rows : byName.data && sorted(byName.data.queues, sort, value)

  const columns: Column<Queue>[] = [
    { key: 'queue', heading: terms.queue, sortable: true, cell: (queue) => <a href={href(['queues', queue.queue])}><Name>{queue.queue}</Name></a> },
    {
      key: 'state', heading: t.status,
      cell: (queue) => {
        const health = healthOf(queue, busiest ? age(queue) : undefined)
        return health.tone === 'good' ? null : <Badge tone={health.tone}>{health.reason}</Badge>
      },
    },
    { key: 'pending', heading: terms.pending, number: true, sortable: true, cell: (queue) => formatNumber(queue.pending) },
    { key: 'ready', heading: terms.ready, number: true, sortable: true, cell: (queue) => <>{formatNumber(queue.ready)}{queue.backlog_on_disk && '+'}</> },
    { key: 'leased', heading: terms.leased, number: true, sortable: true, cell: (queue) => formatNumber(queue.leased) },
    {
      key: 'dead', heading: terms.dead, number: true, sortable: true,
      cell: (queue) => (queue.dead > 0 ? <a href={href(['dead'], { queue: queue.queue })}>{formatNumber(queue.dead)}</a> : '0'),
    },
    { key: 'waiters', heading: terms.consumers, number: true, sortable: true, cell: (queue) => formatNumber(queue.waiters) },
    {
      key: 'age', heading: t.overdue, number: true, sortable: true,
      cell: (queue) => {
        const late = age(queue)
        return late >= LATE_MS ? <Badge tone="bad">{formatDuration(late)}</Badge> : late >= 1000 ? formatDuration(late) : null
      },
    },
    {
      key: 'target', heading: terms.target,
      cell: (queue) => {
        const state = queue.webhook ?? queue.kafka
        return <>{t[targetOf(queue)]} {state && <TargetBadge state={state} />}</>
      },
    },
  ]
  // The second click turns the order round, the third ends it.
  const setSortKey = (key: string) => setQuery({ sort: sortText === key ? `-${key}` : sortText === `-${key}` ? null : key })
  return (
    <>
      <PageHead title={t.title} />
      <div class="filters">
        <SearchField id="search" label={t.search} placeholder={t.search} value={search} onInput={(text) => setQuery({ search: text })} />
      </div>
      <Section>
        {wantsAll && all.data?.more && <p class="muted">{t.some(all.data.rows.length)}</p>}
        {rows ? (
          <Table
            caption={t.title} columns={columns.filter(({ key }) => key !== 'age' || !limited.value)} rows={rows} rowKey={(queue) => queue.queue} sort={sort} onSort={setSortKey}
            empty={!search ? t.none : here ? t.noMatch : t.noMatchBegin}
          />
        ) : (
          <Pending query={wantsAll && !all.data ? all : byName} />
        )}
        <Pager pages={pages} />
      </Section>
    </>
  )
}

export default definePage({ route: 'queues', title: () => t.title, view: Queues, nav: { group: 'work', order: 20, label: () => t.title, key: 'q' } })
