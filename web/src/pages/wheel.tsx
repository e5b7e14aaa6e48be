// The wheel: how timers are stored and move down the levels, of this server or in a demonstration.
import { definePage } from '../app/page'
import { route, setQuery } from '../app/router'
import { can, limited } from '../api/session'
import { PageHead, Section } from '../ui/parts'
import { WheelDemo } from '../wheel/demo'
import { LiveWheel } from '../wheel/live'
import { DEMO_SHAPE } from '../wheel/model'
import { t } from '../wheel/text'
import '../wheel/wheel.css'

function WheelPage() {
  const mayShow = can('read') && !limited.value
  const live = route.value.query.get('show') === 'server' && mayShow
  const choice = (label: string, chosen: boolean, show: string | null) => (
    <button type="button" role="tab" aria-selected={chosen} onClick={() => setQuery({ show })}>{label}</button>
  )
  return (
    <>
      <PageHead title={t.title} about={t.about}>
        <div class="tabs" role="tablist" aria-label={t.mode}>
          {choice(t.demo, !live, null)}
          {mayShow && choice(t.live, live, 'server')}
        </div>
      </PageHead>
      {live ? <LiveWheel /> : <WheelDemo />}
      <Section title={t.howTitle} class="wheel-how">
        <ul>
          <li>{t.howLevels(live ? 64 : DEMO_SHAPE.base)}</li>
          <li>{t.howPlace}</li>
          <li>{t.howMove}</li>
          <li>{t.howAhead(live ? 62 : DEMO_SHAPE.strip)}</li>
          <li>{t.howCancel}</li>
          {!live && <li>{t.howServer}</li>}
        </ul>
      </Section>
    </>
  )
}

export default definePage({
  route: 'wheel',
  title: () => t.title,
  view: WheelPage,
  nav: { group: 'server', order: 90, label: () => t.title, key: 'l' },
})
