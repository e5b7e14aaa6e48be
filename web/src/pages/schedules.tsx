// The list of schedules.
import { useSignal } from '@preact/signals'
import { get, inNamespace } from '../api/client'
import { can } from '../api/session'
import { definePage } from '../app/page'
import { go, href, namespace } from '../app/router'
import { terms } from '../i18n/terms'
import { ruleInWords, ruleText, stateWords, t } from '../schedules/text'
import type { Schedule, SchedulePage } from '../schedules/types'
import { Badge, PageHead, SearchField, Section } from '../ui/parts'
import { Pager, Pending, Table, usePages } from '../ui/table'
import { Cut, Name } from '../ui/text'
import { Instant } from '../ui/time'
import './plan.css'

export function StateBadge({ schedule }: { schedule: Schedule }) {
  const tone = { active: 'good', paused: 'warn', ended: 'plain', invalid_zone: 'bad' } as const
  return (
    <>
      <Badge tone={tone[schedule.state]}>{stateWords(schedule.state)}</Badge>
      {schedule.blocked_by && <> <Badge tone="bad">{t.blocked(schedule.blocked_by)}</Badge></>}
    </>
  )
}

function Rule({ schedule: { settings } }: { schedule: Schedule }) {
  const words = ruleInWords(settings)
  return (
    <>
      {words && <div>{words}{settings.zone && <span class="muted"> · {settings.zone}</span>}</div>}
      {(settings.cron !== undefined || !words) && <code class="muted"><Cut text={ruleText(settings)} max={80} /></code>}
    </>
  )
}

function Schedules() {
  const pages = usePages(['schedules', namespace.value], (cursor, signal) => get<SchedulePage>(inNamespace('schedules'), { limit: 100, cursor }, signal), { every_ms: 10_000 })
  const search = useSignal('')
  const text = search.value.trim()
  const rows = pages.data?.schedules.filter((row) => row.schedule.includes(text)) ?? []
  return (
    <>
      <PageHead title={t.title} about={t.about}>
        {can('schedule') && <a class="button primary" href={href(['schedule-new'])}>{t.create}</a>}
      </PageHead>
      <Section title={t.list}>
        <form
          class="filters"
          onSubmit={(event) => {
            event.preventDefault()
            if (text) go(['schedules', text])
          }}
        >
          <SearchField id="schedule-search" label={t.search} placeholder={t.search} value={search.value} onInput={(value) => (search.value = value)} />
        </form>
        {pages.data ? (
          <Table
            caption={t.list} rows={rows} rowKey={(row) => row.schedule}
            empty={text ? <a href={href(['schedules', text])}>{t.open(text)}</a> : <><p>{t.none}</p><p>{t.noneHint}</p></>}
            columns={[
              { key: 'schedule', heading: terms.schedule, cell: (row) => <a href={href(['schedules', row.schedule])}><Name>{row.schedule}</Name></a> },
              { key: 'state', heading: terms.state, cell: (row) => <StateBadge schedule={row} /> },
              { key: 'rule', heading: t.rule, cell: (row) => <Rule schedule={row} /> },
              { key: 'next', heading: t.next, cell: (row) => (row.next_ms === undefined ? <span class="muted">{t.never}</span> : <Instant ms={row.next_ms} relative />) },
              { key: 'last', heading: t.lastRun, cell: (row) => row.last_run && <Instant ms={row.last_run.nominal_ms} relative /> },
              { key: 'queue', heading: terms.queue, cell: (row) => <a href={href(['queues', row.settings.queue])}><Name>{row.settings.queue}</Name></a> },
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
  route: 'schedules', title: () => t.title, view: Schedules, nav: { group: 'plan', order: 10, label: () => t.title, key: 's' },
})
