// The list of watchdogs.
import type { Watchdog } from '../api/openapi'
import { can } from '../api/session'
import { definePage } from '../app/page'
import { href } from '../app/router'
import { terms } from '../i18n/terms'
import { formatDuration, formatNumber as n } from '../ui/format'
import { NamedList } from '../ui/named_list'
import { Name } from '../ui/text'
import { Instant } from '../ui/time'
import { FeedButton, StateBadge } from '../watchdogs/parts'
import { t } from '../watchdogs/text'
import './plan.css'

function Watchdogs() {
  return (
    <NamedList<Watchdog>
      kind="watchdogs" nameOf={(row) => row.watchdog} every_ms={5000}
      texts={{ title: t.title, about: t.about, caption: t.list, create: { label: t.create, path: ['watchdog-new'] }, empty: <><p>{t.none}</p><p>{t.noneHint}</p></> }}
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
  )
}

export default definePage({
  route: 'watchdogs', title: () => t.title, view: Watchdogs, nav: { group: 'plan', order: 20, label: () => t.title, key: 'w' },
})
