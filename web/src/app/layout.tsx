// The frame of every page: navigation, header, the banner of a lost connection, notices and dialogs.
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { lost, retry } from '../api/connection'
import { source, stats } from '../api/live'
import { loginNeeded, session } from '../api/session'
import { LANGUAGES, dictionary, language, setLanguage, type Language } from '../i18n/language'
import { terms } from '../i18n/terms'
import { Dialog, Dialogs } from '../ui/dialog'
import { Name } from '../ui/text'
import { keysShown } from './keys'
import { GROUPS, find, navigation, pages } from './registry'
import { href, namespace, route } from './router'
import { switchTheme, theme } from './theme'

const t = dictionary(
  {
    skip: 'Skip to the content', menu: 'Menu', pages: 'Pages', language: 'Language', keys: 'Keyboard shortcuts',
    themeSystem: 'Colours: as the system', themeLight: 'Colours: light', themeDark: 'Colours: dark',
    lost: 'The connection to the server is lost. What you see may be out of date.', lostRetry: 'Trying again…', retryNow: 'Try now',
    live: 'Live', polling: 'Every 2 s', offline: 'Offline', liveAbout: 'The server reports changes as they happen',
    pollingAbout: 'The page requests the numbers every two seconds', account: 'Access', signIn: 'Sign in',
    work: 'Messages', plan: 'Planned', server: 'Server',
    notFound: 'There is no such page.', overview: 'Go to the overview', leaveNamespace: 'Show the namespace default',
    keySearch: 'Go to the search field', keyHelp: 'Show this list', keyClose: 'Close a dialog', docs: 'Documentation',
  },
  {
    skip: '跳到正文', menu: '菜单', pages: '页面', language: '语言', keys: '快捷键',
    themeSystem: '配色：跟随系统', themeLight: '配色：浅色', themeDark: '配色：深色',
    lost: '与服务器的连接已断开，所显示的内容可能已过时。', lostRetry: '正在重试…', retryNow: '立即重试',
    live: '实时', polling: '每 2 秒', offline: '离线', liveAbout: '服务器会实时推送变化',
    pollingAbout: '每两秒查询一次', account: '访问权限', signIn: '登录',
    work: '消息', plan: '计划', server: '服务器',
    notFound: '没有这个页面。', overview: '前往总览', leaveNamespace: '显示命名空间 default',
    keySearch: '定位到搜索框', keyHelp: '显示此列表', keyClose: '关闭对话框', docs: '文档',
  },
)

const THEME_ICONS = { system: '◐', light: '○', dark: '●' }

function ThemeSwitch() {
  const labels = { system: t.themeSystem, light: t.themeLight, dark: t.themeDark }
  return (
    <button type="button" class="icon-button" aria-label={labels[theme.value]} title={labels[theme.value]} onClick={switchTheme}>
      <span aria-hidden="true">{THEME_ICONS[theme.value]}</span>
    </button>
  )
}

function LanguageSwitch() {
  return (
    <select class="language" aria-label={t.language} value={language.value} onChange={(event) => setLanguage(event.currentTarget.value as Language)}>
      {LANGUAGES.map(({ code, name }) => (
        <option key={code} value={code} lang={code}>
          {name}
        </option>
      ))}
    </select>
  )
}

function LiveState() {
  if (lost.value) return <span class="live bad">{t.offline}</span>
  if (source.value === 'none') return null
  const events = source.value === 'events'
  return (
    <span class={`live ${events ? 'good' : ''}`} title={events ? t.liveAbout : t.pollingAbout}>
      {events ? t.live : t.polling}
    </span>
  )
}

function Account() {
  const token = session.value?.token
  if (token) return <a class="account" href={href(['access'])} title={t.account}>{token.id}</a>
  if (session.value?.tokens_required) return <a class="account" href={href(['login'])}>{t.signIn}</a>
  return null
}

function Navigation({ current, onFollow }: { current: string | undefined; onFollow: () => void }) {
  const section = current?.split('/')[0]
  return (
    <ul class="nav-groups">
      {GROUPS.map((group) => {
        const entries = navigation(group)
        if (entries.length === 0) return null
        return (
          <li key={group}>
            <span class="nav-group" id={`nav-${group}`}>{t[group]}</span>
            <ul aria-labelledby={`nav-${group}`}>
              {entries.map((page) => (
                <li key={page.route}>
                  <a
                    href={href(page.route === '' ? [] : page.route.split('/'))} onClick={onFollow}
                    aria-current={page.route === current ? 'page' : undefined}
                    class={page.route === section || page.route === current ? 'current' : ''}
                  >
                    {page.nav!.label()}
                    {page.route === 'dead' && (stats.value?.dead_letters ?? 0) > 0 && <span class="dot" aria-hidden="true" />}
                  </a>
                </li>
              ))}
            </ul>
          </li>
        )
      })}
    </ul>
  )
}

function Keys() {
  const jumps = pages.filter((page) => page.nav).sort((a, b) => GROUPS.indexOf(a.nav!.group) - GROUPS.indexOf(b.nav!.group) || a.nav!.order - b.nav!.order)
  return (
    <Dialog title={t.keys} onClose={() => (keysShown.value = false)}>
      <dl class="keys">
        <div><dt><kbd>/</kbd></dt><dd>{t.keySearch}</dd></div>
        {jumps.map((page) => (
          <div key={page.route}><dt><kbd>g</kbd> <kbd>{page.nav!.key}</kbd></dt><dd>{page.nav!.label()}</dd></div>
        ))}
        <div><dt><kbd>?</kbd></dt><dd>{t.keyHelp}</dd></div>
        <div><dt><kbd>Esc</kbd></dt><dd>{t.keyClose}</dd></div>
      </dl>
      <div class="dialog-actions">
        <button type="button" class="button" onClick={() => (keysShown.value = false)}>{terms.close}</button>
        <a class="button" href="/docs/" target="_blank">{t.docs}</a>
      </div>
    </Dialog>
  )
}

function LostBanner() {
  if (!lost.value) return null
  return (
    <div class="banner" role="alert">
      <span>{t.lost} {t.lostRetry}</span>
      <button type="button" class="button" onClick={() => void retry()}>{t.retryNow}</button>
    </div>
  )
}

function NotFound() {
  return (
    <div class="empty">
      <h1>{t.notFound}</h1>
      <p><a href={href([])}>{t.overview}</a></p>
    </div>
  )
}

export function Layout() {
  const menu = useSignal(false)
  const main = useRef<HTMLElement>(null)
  const wanted = loginNeeded.value ? { path: ['login'], query: route.value.query } : route.value
  const found = find(wanted)
  const bare = found?.page.bare ?? false
  const address = wanted.path.join('/')
  const title = found ? found.page.title(found.params) : t.notFound
  const first = useRef(true)

  useEffect(() => {
    document.title = title === 'Duewheel' ? title : `${title} · Duewheel`
  }, [title])
  useEffect(() => {
    document.documentElement.lang = language.value === 'zh' ? 'zh-CN' : 'en'
  }, [language.value])
  // A new page begins at its top, and screen readers and the keyboard go on there.
  useEffect(() => {
    if (!first.current) {
      window.scrollTo(0, 0)
      main.current?.focus({ preventScroll: true })
    }
    first.current = false
    menu.value = false
  }, [address])

  const View = found?.page.view ?? NotFound
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); main.current?.focus() }}>{t.skip}</a>
      <header class="top">
        <a class="brand" href={href([])}>
          <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="3" stroke-linecap="round">
            <circle cx="16" cy="16" r="12.5" />
            <path d="M16 16V8.5M16 16l5.5 3.5" />
          </svg>
          Duewheel
        </a>
        {namespace.value !== 'default' && !bare && (
          <span class="namespace">
            {terms.namespace} <Name>{namespace.value}</Name>
            {!session.value?.token?.namespaces && <a href={href([], { ns: null })} aria-label={t.leaveNamespace} title={t.leaveNamespace}>×</a>}
          </span>
        )}
        <div class="top-end">
          {!bare && <LiveState />}
          <Account />
          <LanguageSwitch />
          <ThemeSwitch />
          <button type="button" class="icon-button keys-button" aria-label={t.keys} title={t.keys} onClick={() => (keysShown.value = true)}>
            <span aria-hidden="true">?</span>
          </button>
          {!bare && (
            <button type="button" class="button menu-button" aria-expanded={menu.value} aria-controls="pages" onClick={() => (menu.value = !menu.value)}>
              {t.menu}
            </button>
          )}
        </div>
      </header>
      <LostBanner />
      <div class={`frame ${bare ? 'bare' : ''}`}>
        {!bare && (
          <nav id="pages" class={`side ${menu.value ? 'open' : ''}`} aria-label={t.pages}>
            <Navigation current={found?.page.route} onFollow={() => (menu.value = false)} />
          </nav>
        )}
        <main id="main" ref={main} tabIndex={-1}>
          <View key={`${found?.page.route} ${address} ${namespace.value}`} params={found?.params ?? {}} />
        </main>
      </div>
      <Dialogs />
      {keysShown.value && <Keys />}
    </>
  )
}
