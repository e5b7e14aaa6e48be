// The page on which a schedule is created.
import { definePage } from '../app/page'
import { href, route } from '../app/router'
import { NEW } from '../schedules/draft'
import { ScheduleForm } from '../schedules/form'
import { t } from '../schedules/form_text'
import { t as words } from '../schedules/text'
import { PageHead } from '../ui/parts'
import './plan.css'

function ScheduleNew() {
  return (
    <>
      <p class="back"><a href={href(['schedules'])}>← {words.all}</a></p>
      <PageHead title={t.newTitle} />
      <ScheduleForm before={null} initial={{ ...NEW, queue: route.value.query.get('queue') ?? '' }} />
    </>
  )
}

export default definePage({ route: 'schedule-new', title: () => t.newTitle, view: ScheduleNew })
