// One watchdog: when it fires, what it has done, its settings.
import type { Watchdog } from '../api/openapi'
import { useQuery } from '../api/query'
import { can } from '../api/session'
import { definePage, type PageProps } from '../app/page'
import { href, namespace } from '../app/router'
import { terms } from '../i18n/terms'
import { BodyView } from '../ui/body_view'
import { formatDuration, formatNumber as n } from '../ui/format'
import { loadNamed, RemoveButton } from '../ui/named_object'
import { Facts, Figure, Figures, PageHead, Section } from '../ui/parts'
import { Pending } from '../ui/table'
import { Name } from '../ui/text'
import { Instant } from '../ui/time'
import { FeedButton, StateBadge } from '../watchdogs/parts'
import { t } from '../watchdogs/text'
import './plan.css'

function WatchdogView({ params }: PageProps) {
  const name = params.watchdog!
  const query = useQuery(['watchdog', name, namespace.value], (signal) => loadNamed<Watchdog>('watchdogs', name, signal), { every_ms: 2000 })
  const watchdog = query.data?.object
  return (
    <>
      <p class="back"><a href={href(['watchdogs'])}>← {t.all}</a></p>
      <PageHead title={<>{terms.watchdog} <Name>{name}</Name></>}>{watchdog && <Actions name={name} />}</PageHead>
      {watchdog ? (
        <>
          <p class="page-line">
            <StateBadge watchdog={watchdog} />
            {watchdog.due_ms === undefined ? t.asleepAbout : <span>{t.fires}: <Instant ms={watchdog.due_ms} relative /></span>}
          </p>
          {watchdog.blocked_by && <p class="note warn">{t.blockedLong(watchdog.blocked_by)}</p>}
          {watchdog.overdue && <p class="note warn">{t.overdueLong}</p>}
          <Figures>
            <Figure name={t.feeds} value={n(watchdog.feeds)} />
            <Figure name={t.fired} value={n(watchdog.fired)} tone={watchdog.fired > 0 ? 'warn' : 'plain'} />
            <Figure name={t.merged} value={n(watchdog.merged)} hint={t.mergedHint} />
          </Figures>
          <div class="columns">
            <Section title={t.settings}>
              <Facts
                facts={[
                  [t.lastFed, <Instant ms={watchdog.last_fed_ms} relative />],
                  [t.lastFired, watchdog.last_fired && <><Instant ms={watchdog.last_fired.due_ms} relative /> <a href={href(['messages', watchdog.last_fired.id])}>{t.message} {watchdog.last_fired.id}</a></>],
                  [terms.queue, <a href={href(['queues', watchdog.settings.queue])}><Name>{watchdog.settings.queue}</Name></a>],
                  [t.timeout, formatDuration(watchdog.settings.timeout_ms)],
                  [t.max, watchdog.settings.max_ms !== undefined && formatDuration(watchdog.settings.max_ms)],
                  [t.repeat, watchdog.settings.repeat_every_ms !== undefined && formatDuration(watchdog.settings.repeat_every_ms)],
                  [t.created, <Instant ms={watchdog.created_ms} />],
                ]}
              />
            </Section>
            <Section title={t.content}>
              <BodyView body={{ text: query.data?.json ?? watchdog.settings.body, base64: watchdog.settings.body_base64, json: query.data?.json !== undefined }} />
            </Section>
          </div>
        </>
      ) : (
        <Pending query={query} />
      )}
    </>
  )
}

function Actions({ name }: { name: string }) {
  if (!can('schedule')) return null
  return (
    <>
      <FeedButton name={name} />
      <a class="button" href={href(['watchdogs', name, 'edit'])}>{t.edit}</a>
      <RemoveButton collection="watchdogs" name={name} t={t} />
    </>
  )
}

export default definePage({
  route: 'watchdogs/:watchdog', title: ({ watchdog }) => `${watchdog} · ${t.title}`, view: WatchdogView,
})
