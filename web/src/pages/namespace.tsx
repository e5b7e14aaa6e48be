// One namespace: how much of its quotas is in use, and the quotas themselves.
import { ApiError, get, request } from '../api/client'
import type { Namespace, RemovedNamespace } from '../api/openapi'
import { useQuery } from '../api/query'
import { can } from '../api/session'
import { definePage, type PageProps } from '../app/page'
import { href } from '../app/router'
import { terms } from '../i18n/terms'
import { QuotaForm } from '../namespaces/form'
import { Quota } from '../namespaces/quota'
import { t } from '../namespaces/text'
import { confirm } from '../ui/dialog'
import { formatNumber as n } from '../ui/format'
import { Button, Facts, PageHead, Section } from '../ui/parts'
import { FormPage } from '../ui/form_page'
import { Pending } from '../ui/table'
import { Name } from '../ui/text'
import './plan.css'

function NamespaceView({ params }: PageProps) {
  const name = params.namespace!
  const path = `/v1/namespaces/${encodeURIComponent(name)}`
  const query = useQuery(['namespace', name], (signal) => get<Namespace>(path, {}, signal), { every_ms: 5000 })
  const unknown = query.error instanceof ApiError && query.error.problem.code === 'unknown_namespace'
  const found = query.data
  const limits = found?.settings.limits
  return (
    <>
      <p class="back"><a href={href(['namespaces'])}>← {t.all}</a></p>
      <PageHead title={<>{terms.namespace} <Name>{name}</Name></>}>
        <a class="button" href={href(['queues'], { ns: name })}>{t.switchTo}</a>
        {can('admin') && found && Object.keys(found.settings).length > 0 && (
          <Button
            kind="danger"
            onClick={() =>
              confirm({
                title: <>{t.removeTitle} <Name>{name}</Name></>, what: t.removeWhat, verb: t.remove, danger: true,
                run: () => request<RemovedNamespace>('DELETE', path), done: ({ removed }) => (removed ? t.removed : t.removedNot),
              })}
          >
            {t.remove}
          </Button>
        )}
      </PageHead>
      {unknown && <p class="note">{t.notYet}</p>}
      {found && (
        <Section title={t.use}>
          <Facts
            facts={[
              [terms.pending, <Quota name={terms.pending} use={found.pending} limit={limits?.pending} />],
              [terms.queues, <Quota name={terms.queues} use={found.queues} limit={limits?.queues} />],
              [t.schedules, <Quota name={t.schedules} use={found.schedules} limit={limits?.schedules} />],
              [t.watchdogs, <Quota name={t.watchdogs} use={found.watchdogs} limit={limits?.watchdogs} />],
              [t.putRate, limits?.put_rate === undefined ? t.unlimited : n(limits.put_rate)],
              [t.weight, n(found.settings.weight ?? 1)],
            ]}
          />
        </Section>
      )}
      {(found || unknown) && can('admin') && <QuotaForm key={JSON.stringify(found?.settings)} name={name} settings={found?.settings ?? {}} />}
      {!found && !unknown && <Pending query={query} />}
    </>
  )
}

function NamespaceNew() {
  return <FormPage back={{ path: ['namespaces'], label: t.all }} title={t.newTitle}><QuotaForm name={null} settings={{}} /></FormPage>
}

export default [
  definePage({ route: 'namespace-new', title: () => t.newTitle, view: NamespaceNew }),
  definePage({ route: 'namespaces/:namespace', title: ({ namespace }) => `${namespace} · ${t.title}`, view: NamespaceView }),
]
