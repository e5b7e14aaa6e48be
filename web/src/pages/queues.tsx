// All queues of a namespace: paged and searched by the server, because there may be 100,000.
import { useState } from 'preact/hooks'
import { get, inNamespace } from '../api/client'
import { useMetrics } from '../api/metrics'
import type { Queue, QueuePage } from '../api/types'
import { definePage } from '../app/page'
import { href, namespace, route, setQuery } from '../app/router'
import { dictionary } from '../i18n/language'
import { terms } from '../i18n/terms'
import { formatDuration, formatNumber } from '../ui/format'
import { Badge, PageHead, SearchField, Section } from '../ui/parts'
import { LATE_MS, TargetBadge, healthOf, targetOf } from '../ui/queue_health'
import { Pager, Pending, Table, usePages, type Column, type Sort } from '../ui/table'
import { Name } from '../ui/text'

const t = dictionary(
  {
    title: 'Queues', searchLabel: 'Search queues by the beginning of their names', searchHint: 'Beginning of a name', overdue: 'Overdue',
    none: 'No queue yet. A queue exists from its first message or its settings.', noMatch: 'No queue has a name that begins like this.',
    pageSorted: 'Sorted within this page',
    pull: 'consumers', webhook: 'webhook', kafka: 'Kafka', status: 'State',
  },
  {
    title: '队列', searchLabel: '按名称开头搜索队列', searchHint: '名称开头', overdue: '逾期',
    none: '还没有队列。收到第一条消息或设置后队列即存在。', noMatch: '没有名称以此开头的队列。',
    pageSorted: '仅在本页内排序',
    pull: '消费者', webhook: 'webhook', kafka: 'Kafka', status: '状态',
  },
)

const PAGE_SIZE = 50

type SortKey = 'queue' | 'pending' | 'ready' | 'leased' | 'dead' | 'waiters' | 'age'

function Queues() {
  const search = route.value.query.get('search') ?? ''
  const [sort, setSort] = useState<Sort | undefined>(undefined)
  const metrics = useMetrics()
  const pages = usePages<QueuePage>(
    ['queues', namespace.value, search],
    (cursor, signal) => get(inNamespace('queues'), { prefix: search, limit: PAGE_SIZE, cursor }, signal),
    { every_ms: 5000 },
  )
  const age = (queue: Queue): number =>
    metrics.data?.oldest.find((one) => one.queue === queue.queue && one.namespace === namespace.value)?.age_ms ?? 0

  const value = (queue: Queue, key: SortKey) => (key === 'age' ? age(queue) : queue[key])
  const rows = [...(pages.data?.queues ?? [])]
  if (sort) {
    const key = sort.key as SortKey
    const sign = sort.descending ? -1 : 1
    rows.sort((a, b) => {
      const [left, right] = [value(a, key), value(b, key)]
      return sign * (left < right ? -1 : left > right ? 1 : 0)
    })
  }
  const columns: Column<Queue>[] = [
    { key: 'queue', heading: terms.queue, sortable: true, cell: (queue) => <a href={href(['queues', queue.queue])}><Name>{queue.queue}</Name></a> },
    {
      key: 'state', heading: t.status,
      cell: (queue) => {
        const health = healthOf(queue, metrics.data ? age(queue) : undefined)
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
  const setSortKey = (key: string) => {
    // Names begin with the first, numbers with the largest; the second click turns it round, the third ends it.
    const first = { key, descending: key !== 'queue' }
    if (sort?.key !== key) setSort(first)
    else setSort(sort.descending === first.descending ? { key, descending: !first.descending } : undefined)
  }
  const several = pages.previous !== null || pages.next !== null
  return (
    <>
      <PageHead title={t.title} />
      <div class="filters">
        <SearchField id="search" label={t.searchLabel} placeholder={t.searchHint} value={search} onInput={(text) => setQuery({ search: text })} />
      </div>
      <Section aside={sort && several ? t.pageSorted : undefined}>
        <Pending query={pages} />
        {pages.data && (
          <Table
            caption={t.title} columns={columns} rows={rows} rowKey={(queue) => queue.queue} sort={sort} onSort={setSortKey}
            empty={search ? t.noMatch : t.none}
          />
        )}
        <Pager pages={pages} />
      </Section>
    </>
  )
}

export default definePage({ route: 'queues', title: () => t.title, view: Queues, nav: { group: 'work', order: 20, label: () => t.title, key: 'q' } })
