// The list of schedules.
import type { Schedule } from '../api/openapi'
import { definePage } from '../app/page'
import { href } from '../app/router'
import { terms } from '../i18n/terms'
import { ruleInWords, ruleText, stateWords, t } from '../schedules/text'
import { NamedList } from '../ui/named_list'
import { Badge } from '../ui/parts'
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

function Rule({ schedule }: { schedule: Schedule }) {
  const { settings } = schedule
  return (
    <>
      <div>{ruleInWords(schedule)}{settings.zone && <span class="muted"> · {settings.zone}</span>}</div>
      {settings.cron !== undefined && <code class="muted"><Cut text={ruleText(settings)} max={80} /></code>}
    </>
  )
}

function Schedules() {
  return (
    <NamedList<Schedule>
      kind="schedules" nameOf={(row) => row.schedule} every_ms={10_000}
      texts={{ title: t.title, about: t.about, caption: t.list, create: { label: t.create, path: ['schedule-new'] }, empty: <><p>{t.none}</p><p>{t.noneHint}</p></> }}
      columns={[
        { key: 'schedule', heading: terms.schedule, cell: (row) => <a href={href(['schedules', row.schedule])}><Name>{row.schedule}</Name></a> },
        { key: 'state', heading: terms.state, cell: (row) => <StateBadge schedule={row} /> },
        { key: 'rule', heading: t.rule, cell: (row) => <Rule schedule={row} /> },
        { key: 'next', heading: t.next, cell: (row) => !row.paused && row.next_ms !== undefined && <Instant ms={row.next_ms} relative /> },
        { key: 'last', heading: t.lastRun, cell: (row) => row.last_run && <Instant ms={row.last_run.nominal_ms} relative /> },
        { key: 'queue', heading: terms.queue, cell: (row) => <a href={href(['queues', row.settings.queue])}><Name>{row.settings.queue}</Name></a> },
      ]}
    />
  )
}

export default definePage({
  route: 'schedules', title: () => t.title, view: Schedules, nav: { group: 'plan', order: 10, label: () => t.title, key: 's' },
})
