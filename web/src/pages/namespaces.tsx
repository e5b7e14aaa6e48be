// The list of namespaces, with the use of their quotas.
import { get } from '../api/client'
import type { NamespacePage } from '../api/openapi'
import { can, session } from '../api/session'
import { definePage } from '../app/page'
import { href } from '../app/router'
import { terms } from '../i18n/terms'
import { Quota } from '../namespaces/quota'
import { t } from '../namespaces/text'
import { formatNumber as n } from '../ui/format'
import { PageHead, Section } from '../ui/parts'
import { Pager, Pending, Table, usePages } from '../ui/table'
import { Name } from '../ui/text'
import './plan.css'

function Namespaces() {
  const pages = usePages(['namespaces'], (cursor, signal) => get<NamespacePage>('/v1/namespaces', { limit: 100, cursor }, signal), { every_ms: 5000 })
  return (
    <>
      <PageHead title={t.title} about={t.about}>
        {can('admin') && <a class="button primary" href={href(['namespace-new'])}>{t.create}</a>}
      </PageHead>
      <Section title={t.list}>
        {pages.data ? (
          <Table
            caption={t.list} rows={pages.data.namespaces} rowKey={(row) => row.namespace} empty={t.none}
            columns={[
              { key: 'namespace', heading: terms.namespace, cell: (row) => <a href={href(['namespaces', row.namespace])}><Name>{row.namespace}</Name></a> },
              { key: 'pending', heading: terms.pending, cell: (row) => <Quota name={terms.pending} use={row.pending} limit={row.settings.limits?.pending} /> },
              { key: 'queues', heading: terms.queues, cell: (row) => <Quota name={terms.queues} use={row.queues} limit={row.settings.limits?.queues} /> },
              { key: 'schedules', heading: t.schedules, cell: (row) => <Quota name={t.schedules} use={row.schedules} limit={row.settings.limits?.schedules} /> },
              { key: 'watchdogs', heading: t.watchdogs, cell: (row) => <Quota name={t.watchdogs} use={row.watchdogs} limit={row.settings.limits?.watchdogs} /> },
              { key: 'rate', heading: t.putRate, cell: (row) => row.settings.limits?.put_rate !== undefined && terms.perSecond(n(row.settings.limits.put_rate)) },
              { key: 'weight', heading: t.weight, number: true, cell: (row) => n(row.settings.weight ?? 1) },
              { key: 'show', heading: terms.actions, cell: (row) => <a href={href(['queues'], { ns: row.namespace })}>{t.showQueues}</a> },
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
  route: 'namespaces', title: () => t.title, view: Namespaces, nav: { group: 'server', order: 20, label: () => t.title, key: 'n', shown: () => session.value?.token?.queues === undefined },
})
