// One schedule: its rule in words, its next and past runs, its settings, and what can be done with it.
import { useSignal } from '@preact/signals'
import { ApiError, get, inNamespace, post } from '../api/client'
import type { Message, Preview, PutResponse, Schedule, ScheduleSettings } from '../api/openapi'
import { useQuery } from '../api/query'
import { can } from '../api/session'
import { definePage, type PageProps } from '../app/page'
import { href, namespace } from '../app/router'
import { terms } from '../i18n/terms'
import { PREVIEW_COUNT, PreviewTable } from '../schedules/preview'
import { ruleInWords, ruleText, skippedReason, t } from '../schedules/text'
import { BodyView } from '../ui/body_view'
import { act, confirm } from '../ui/dialog'
import { formatDuration, formatInstant, formatNumber as n } from '../ui/format'
import { loadNamed, RemoveButton } from '../ui/named_object'
import { Badge, Button, Facts, Figure, Figures, PageHead, Section } from '../ui/parts'
import { Pending } from '../ui/table'
import { Cut, Name } from '../ui/text'
import { Instant } from '../ui/time'
import { StateBadge } from './schedules'
import './plan.css'

const SHOWN = 10
const SHOWN_MORE = 50

function SchedulePageView({ params }: PageProps) {
  const name = params.schedule!
  const query = useQuery(['schedule', name, namespace.value], (signal) => loadNamed<Schedule>('schedules', name, signal), { every_ms: 5000 })
  const schedule = query.data?.object
  return (
    <>
      <p class="back"><a href={href(['schedules'])}>← {t.all}</a></p>
      <PageHead title={<>{terms.schedule} <Name>{name}</Name></>} about={schedule ? <>{ruleInWords(schedule)}{schedule.settings.zone && ` · ${schedule.settings.zone}`}</> : undefined}>
        {schedule && <Actions schedule={schedule} />}
      </PageHead>
      {schedule ? (
        <>
          <p class="page-line">
            <StateBadge schedule={schedule} />
            {!schedule.paused && schedule.next_ms !== undefined && <span>{t.next}: <Instant ms={schedule.next_ms} relative /></span>}
            <a href={href(['queues', schedule.settings.queue])}>{terms.queue} <Name>{schedule.settings.queue}</Name></a>
          </p>
          {schedule.blocked_by && <p class="note warn">{t.blockedLong(schedule.blocked_by)}</p>}
          {schedule.state === 'invalid_zone' ? <p class="note bad">{t.zoneGone}</p> : <NextRuns schedule={schedule} />}
          <PastRuns schedule={schedule} />
          <div class="columns">
            <Section title={t.settings}><Settings schedule={schedule} /></Section>
            <Section title={t.content}><Content settings={schedule.settings} json={query.data?.json} /></Section>
          </div>
        </>
      ) : (
        <Pending query={query} />
      )}
    </>
  )
}

function Actions({ schedule }: { schedule: Schedule }) {
  if (!can('schedule')) return null
  const name = schedule.schedule
  const path = inNamespace('schedules', name)
  return (
    <>
      {schedule.paused
        ? <Button onClick={() => void act(() => post(`${path}:resume`), () => t.resumedDone(name))}>{t.resume}</Button>
        : <Button onClick={() => void act(() => post(`${path}:pause`), () => t.pausedDone(name))}>{t.pause}</Button>}
      <Button
        onClick={() =>
          confirm({
            title: t.fireTitle, what: t.fireWhat(schedule.settings.queue), verb: t.fire,
            run: () => post<PutResponse>(`${path}:fire`), done: ({ id }) => <a href={href(['messages', id])}>{t.firedDone(id)}</a>,
          })}
      >
        {t.fire}
      </Button>
      <a class="button" href={href(['schedules', name, 'edit'])}>{t.edit}</a>
      <RemoveButton collection="schedules" name={name} t={t} />
    </>
  )
}

function NextRuns({ schedule }: { schedule: Schedule }) {
  const shown = useSignal(SHOWN)
  const query = useQuery(
    ['preview', schedule.schedule, schedule.revision, namespace.value],
    (signal) => get<Preview>(`${inNamespace('schedules', schedule.schedule)}:preview`, { count: PREVIEW_COUNT }, signal),
    { skip: schedule.state === 'ended' },
  )
  const more = query.data && query.data.times.length > SHOWN && shown.value === SHOWN
  return (
    <Section title={t.nextRuns}>
      {schedule.paused && <p class="muted">{t.ofPause}</p>}
      {schedule.state === 'ended' ? <p class="empty">{t.noTimes}</p> : query.data ? <PreviewTable preview={query.data} shown={shown.value} /> : <Pending query={query} />}
      {more && <p><Button onClick={() => (shown.value = SHOWN_MORE)}>{t.more}</Button></p>}
    </Section>
  )
}

function PastRuns({ schedule }: { schedule: Schedule }) {
  const { runs, last_run: last, waiting_run: waiting, last_skipped: skipped } = schedule
  return (
    <Section title={t.lastAndSkipped}>
      <Figures>
        <Figure name={t.made} value={n(runs.made)} hint={t.madeHint} />
        <Figure name={t.late} value={n(runs.late)} tone={runs.late > 0 ? 'warn' : 'plain'} />
        <Figure name={t.manual} value={n(runs.manual)} />
        <Figure name={t.skipped} value={n(runs.skipped)} tone={runs.skipped > 0 ? 'warn' : 'plain'} />
        <Figure name={t.merged} value={n(runs.merged)} hint={t.mergedHint} />
      </Figures>
      <Facts
        facts={[
          [t.lastRun, last ? <LastRun id={last.id} nominal_ms={last.nominal_ms} /> : <span class="muted">{t.noneYet}</span>],
          [t.waitingRun, waiting && <><Instant ms={waiting.nominal_ms} relative /> <span class="muted">{t.waitingRunAbout}</span></>],
          [t.lastSkipped, skipped && (
            <>
              {t.skippedWhat(skipped.count)}{' '}
              {skipped.count === 1
                ? formatInstant(skipped.from_ms)
                : `${t.from} ${formatInstant(skipped.from_ms)} ${t.to} ${formatInstant(skipped.to_ms)}`}
              : {skippedReason(skipped.reason)}
            </>
          )],
        ]}
      />
    </Section>
  )
}

function LastRun({ id, nominal_ms }: { id: string; nominal_ms: number }) {
  const query = useQuery(['last run', id, namespace.value], (signal) => get<Message>(inNamespace('messages', id), {}, signal), { every_ms: 10_000 })
  const gone = query.error instanceof ApiError && [404, 410].includes(query.error.problem.status)
  return (
    <>
      <Instant ms={nominal_ms} relative /> <a href={href(['messages', id])}>{id}</a>{' '}
      {query.data && <Badge tone={query.data.state === 'dead' ? 'bad' : query.data.state === 'done' ? 'good' : 'plain'}>{terms[query.data.state]}</Badge>}
      {gone && <span class="muted">{t.gone}</span>}
    </>
  )
}

function Settings({ schedule: { settings, created_ms, zone_data } }: { schedule: Schedule }) {
  const misfire = { once: t.misfireOnce, all: t.misfireAll, skip: t.misfireSkip }[settings.misfire]
  const overlap = { allow: t.overlapAllow, skip: t.overlapSkip, queue_one: t.overlapQueueOne }[settings.overlap]
  const cron = settings.cron !== undefined
  return (
    <Facts
      facts={[
        [t.rule, <code><Cut text={ruleText(settings)} max={200} /></code>],
        [t.zone, settings.zone ?? 'UTC'],
        [t.dst, cron && (settings.dst === 'skip' ? t.dstSkip : t.dstShift)],
        [t.dstRepeat, cron && (settings.dst_repeat === 'both' ? t.repeatBoth : t.repeatFirst)],
        [t.closed, settings.closed && <Cut text={settings.closed} />],
        [t.start, settings.start && <Instant ms={Date.parse(settings.start)} />],
        [t.end, settings.end && <Instant ms={Date.parse(settings.end)} />],
        [t.times, settings.times !== undefined && n(settings.times)],
        [t.jitter, settings.jitter_ms !== undefined && formatDuration(settings.jitter_ms)],
        [t.misfire, misfire],
        [t.window, settings.misfire_window_ms !== undefined && formatDuration(settings.misfire_window_ms)],
        [t.overlap, overlap],
        [t.created, <Instant ms={created_ms} />],
        [t.zoneData, zone_data],
      ]}
    />
  )
}

function Content({ settings, json }: { settings: ScheduleSettings; json: string | undefined }) {
  return (
    <>
      <BodyView body={{ text: json ?? settings.body, base64: settings.body_base64, json: json !== undefined }} />
      <Facts
        facts={[
          [t.contentType, settings.content_type],
          [terms.priority, settings.priority !== undefined && n(settings.priority)],
          [t.expiresIn, settings.expires_in_ms !== undefined && formatDuration(settings.expires_in_ms)],
        ]}
      />
    </>
  )
}

export default definePage({
  route: 'schedules/:schedule', title: ({ schedule }) => `${schedule} · ${t.title}`, view: SchedulePageView,
})
