// The pages on which a watchdog is created and edited.
import { get, inNamespace } from '../api/client'
import type { Watchdog } from '../api/openapi'
import { useQuery } from '../api/query'
import { definePage, type PageProps } from '../app/page'
import { namespace } from '../app/router'
import { FormPage } from '../ui/form_page'
import { Pending } from '../ui/table'
import { Name } from '../ui/text'
import { draftOf, NEW, WatchdogForm } from '../watchdogs/form'
import { t } from '../watchdogs/text'
import './plan.css'

function WatchdogNew() {
  return <FormPage back={{ path: ['watchdogs'], label: t.all }} title={t.newTitle}><WatchdogForm before={null} initial={NEW} /></FormPage>
}

function WatchdogEdit({ params }: PageProps) {
  const name = params.watchdog!
  // Loaded once: what the user types is not replaced.
  const query = useQuery(['watchdog to edit', name, namespace.value], (signal) => get<Watchdog>(inNamespace('watchdogs', name), {}, signal))
  const draft = query.data && draftOf(query.data)
  return (
    <FormPage back={{ path: ['watchdogs', name], label: <Name>{name}</Name> }} title={<>{t.editTitle} <Name>{name}</Name></>}>
      {draft ? <WatchdogForm before={draft} initial={draft} /> : <Pending query={query} />}
    </FormPage>
  )
}

export default [
  definePage({ route: 'watchdog-new', title: () => t.newTitle, view: WatchdogNew }),
  definePage({ route: 'watchdogs/:watchdog/edit', title: () => t.editTitle, view: WatchdogEdit }),
]
