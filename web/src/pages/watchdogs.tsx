// The list of watchdogs.
import { useSignal } from '@preact/signals'
import { get, inNamespace } from '../api/client'
import { can } from '../api/session'
import { definePage } from '../app/page'
import { go, href, namespace } from '../app/router'
import { terms } from '../i18n/terms'
import { formatDuration, formatNumber as n } from '../ui/format'
import { PageHead, SearchField, Section } from '../ui/parts'
import { Pager, Pending, Table, usePages } from '../ui/table'
import { Name } from '../ui/text'
import { Instant } from '../ui/time'
import { FeedButton, StateBadge } from '../watchdogs/parts'
import { t } from '../watchdogs/text'
import type { WatchdogPage } from '../watchdogs/types'
import './plan.css'

function Watchdogs() {
  const pages = usePages(['watchdogs', namespace.value], (cursor, signal) => get<WatchdogPage>(inNamespace('watchdogs'), { limit: 100, cursor }, signal), { every_ms: 5000 })
  const search = useSignal('')
  const text = search.value.trim()
  const rows = pages.data?.watchdogs.filter((row) => row.watchdog.includes(text)) ?? []
  return (
    <>
      <PageHead title={t.title} about={t.about}>
        {can('schedule') && <a class="button primary" href={href(['watchdog-new'])}>{t.create}</a>}
      </PageHead>
      <Section title={t.list}>
        <form
          class="filters"
          onSubmit={(event) => {
            event.preventDefault()
            if (text) go(['watchdogs', text])
          }}
        >
          <SearchField id="watchdog-search" label={t.search} placeholder={t.search} value={search.value} onInput={(value) => (search.value = value)} />
        </form>
        {pages.data ? (
          <Table
            caption={t.list} rows={rows} rowKey={(row) => row.watchdog}
            empty={text ? <a href={href(['watchdogs', text])}>{t.open(text)}</a> : <><p>{t.none}</p><p>{t.noneHint}</p></>}
            columns={[
              { key: 'watchdog', heading: terms.watchdog, cell: (row) => <a href={href(['watchdogs', row.watchdog])}><Name>{row.watchdog}</Name></a> },
              { key: 'state', heading: terms.state, cell: (row) => <StateBadge watchdog={row} /> },
              { key: 'fires', heading: t.fires, cell: (row) => (row.due_ms === undefined ? <span class="muted">{t.never}</span> : <Instant ms={row.due_ms} relative />) },
              { key: 'fed', heading: t.lastFed, cell: (row) => <Instant ms={row.last_fed_ms} relative /> },
              { key: 'timeout', heading: t.timeout, cell: (row) => formatDuration(row.settings.timeout_ms) },
              { key: 'fired', heading: t.fired, number: true, cell: (row) => n(row.fired) },
              { key: 'queue', heading: terms.queue, cell: (row) => <a href={href(['queues', row.settings.queue])}><Name>{row.settings.queue}</Name></a> },
              { key: 'actions', heading: terms.actions, cell: (row) => can('schedule') && <span class="row-actions"><FeedButton name={row.watchdog} /></span> },
            ]}
          />
        ) : (
          <Pending query={pages} />
        )}
        <Pager pages={pages} />
      </Section>
    </>
  )
}

export default definePage({
  route: 'watchdogs', title: () => t.title, view: Watchdogs, nav: { group: 'plan', order: 20, label: () => t.title, key: 'w' },
})
