// The pages on which a schedule is created and edited.
import { get, inNamespace } from '../api/client'
import type { Schedule } from '../api/openapi'
import { useQuery } from '../api/query'
import { definePage, type PageProps } from '../app/page'
import { namespace, route } from '../app/router'
import { draftOf, NEW } from '../schedules/draft'
import { ScheduleForm } from '../schedules/form'
import { t } from '../schedules/form_text'
import { t as words } from '../schedules/text'
import { FormPage } from '../ui/form_page'
import { Pending } from '../ui/table'
import { Name } from '../ui/text'
import './plan.css'

function ScheduleNew() {
  return (
    <FormPage back={{ path: ['schedules'], label: words.all }} title={t.newTitle}>
      <ScheduleForm before={null} initial={{ ...NEW, queue: route.value.query.get('queue') ?? '' }} />
    </FormPage>
  )
}

function ScheduleEdit({ params }: PageProps) {
  const name = params.schedule!
  // Loaded once: what the user types is not replaced.
  const query = useQuery(['schedule to edit', name, namespace.value], (signal) => get<Schedule>(inNamespace('schedules', name), {}, signal))
  const draft = query.data && draftOf(name, query.data.settings)
  return (
    <FormPage back={{ path: ['schedules', name], label: <Name>{name}</Name> }} title={<>{t.editTitle} <Name>{name}</Name></>}>
      {draft ? <ScheduleForm before={draft} initial={draft} /> : <Pending query={query} />}
    </FormPage>
  )
}

export default [
  definePage({ route: 'schedule-new', title: () => t.newTitle, view: ScheduleNew }),
  definePage({ route: 'schedules/:schedule/edit', title: () => t.editTitle, view: ScheduleEdit }),
]
