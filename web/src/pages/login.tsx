// Takes an access token, and begins a session with it; its id is in a cookie that scripts cannot read. The page forgets the token.
import { useState } from 'preact/hooks'
import { ApiError, request } from '../api/client'
import type { Session } from '../api/openapi'
import { loadSession, loginNeeded, refused, session } from '../api/session'
import { definePage } from '../app/page'
import { go } from '../app/router'
import { dictionary } from '../i18n/language'
import { Button, Field, Section } from '../ui/parts'
import { ProblemNote } from '../ui/problem'

const t = dictionary(
  {
    title: 'Sign in', token: 'Access token', hint: 'It begins with dw_.', signIn: 'Sign in', ended: 'The token is not valid any more. Sign in again.',
    how: 'An administrator creates one on the server:', about: 'This browser stays signed in until you sign out, or for 8 hours without an open page. It does not keep the token.',
  },
  {
    title: '登录', token: '访问令牌', hint: '以 dw_ 开头。', signIn: '登录', ended: '令牌已失效，请重新登录。',
    how: '管理员在服务器上创建令牌：', about: '此浏览器会保持登录，直到你退出，或 8 小时内没有打开页面。浏览器不保存令牌。',
  },
)

function Login() {
  const [token, setToken] = useState('')
  const [error, setError] = useState<Error | null>(null)
  const [working, setWorking] = useState(false)
  const ended = refused.value !== null && (session.value?.token ?? null) !== null
  const signIn = async () => {
    setWorking(true)
    setError(null)
    const wanted = loginNeeded.value && window.location.hash !== '#/login'
    try {
      session.value = await request<Session>('POST', '/v1/session', { body: { token: token.trim() } })
      refused.value = null
      // The page that led here is shown again.
      if (!wanted) go([])
    } catch (failure) {
      setError(failure as Error)
      if (failure instanceof ApiError) await loadSession()
    } finally {
      setWorking(false)
    }
  }
  return (
    <div class="login">
      <Section>
        <h1>{t.title}</h1>
        {ended && !error && <p class="about" role="status">{t.ended}</p>}
        <form onSubmit={(event) => { event.preventDefault(); void signIn() }}>
          {error && <ProblemNote error={error} />}
          <Field id="token" label={t.token} hint={t.hint}>
            {(id) => <input id={id} type="password" autocomplete="current-password" required value={token} aria-describedby={`${id}-hint`} onInput={(event) => setToken(event.currentTarget.value)} />}
          </Field>
          <Button type="submit" kind="primary" disabled={working}>{t.signIn}</Button>
        </form>
      </Section>
      <p class="muted">{t.about}</p>
      <p class="muted">{t.how}</p>
      <p><code>duewheel token add ann --scope read cancel put admin</code></p>
    </div>
  )
}

export default definePage({ route: 'login', title: () => t.title, view: Login, bare: true })
