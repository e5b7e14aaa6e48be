// The token of this browser, and what it allows.
import { request } from '../api/client'
import { loadSession, session, type Scope } from '../api/session'
import { definePage } from '../app/page'
import { go } from '../app/router'
import { dictionary } from '../i18n/language'
import { act } from '../ui/dialog'
import { Badge, Button, Facts, PageHead, Section } from '../ui/parts'
import { Cut, Name } from '../ui/text'
import { Instant } from '../ui/time'

const t = dictionary(
  {
    title: 'Access', token: 'Token', description: 'Description', scopes: 'Scopes', namespaces: 'Namespaces', queues: 'Queues', prefix: (text: string) => `names that begin with ${text}`,
    expires: 'Expires', never: 'never', all: 'all', signOut: 'Sign out', signedOut: 'Signed out.', open: 'This server requires no tokens: every client that reaches it may do everything.',
    none: 'You are not signed in.', allows: 'What it allows', yes: 'yes', no: 'no',
    read: 'See queues, messages, schedules and the state of the server', put: 'Put messages', cancel: 'Cancel, move, fire, hold, kick and discard single messages',
    consume: 'Lease messages', schedule: 'Change schedules and watchdogs', admin: 'Change queues, namespaces and tokens; accept the clock',
  },
  {
    title: '访问权限', token: '令牌', description: '说明', scopes: '权限范围', namespaces: '命名空间', queues: '队列', prefix: (text: string) => `名称以 ${text} 开头`,
    expires: '过期时间', never: '永不', all: '全部', signOut: '退出登录', signedOut: '已退出登录。', open: '此服务器不要求令牌：能访问它的人可以执行所有操作。',
    none: '尚未登录。', allows: '允许的操作', yes: '是', no: '否',
    read: '查看队列、消息、定时任务和服务器状态', put: '放入消息', cancel: '取消、改期、立即投递、扣留、放回和丢弃单条消息',
    consume: '租取消息', schedule: '修改定时任务和看门狗', admin: '修改队列、命名空间和令牌；接受时钟',
  },
)

const SCOPES: Scope[] = ['read', 'put', 'cancel', 'schedule', 'admin', 'consume']

function Access() {
  const known = session.value
  const token = known?.token
  const signOut = async () => {
    if (await act(() => request('DELETE', '/v1/session'), () => t.signedOut)) {
      await loadSession()
      go([])
    }
  }
  return (
    <>
      <PageHead title={t.title}>{token && <Button onClick={() => void signOut()}>{t.signOut}</Button>}</PageHead>
      {!token ? (
        <Section title={t.token}><p>{known?.tokens_required ? t.none : t.open}</p></Section>
      ) : (
        <div class="columns">
          <Section title={t.token}>
            <Facts
              facts={[
                [t.token, <code>{token.id}</code>],
                [t.description, token.description && <Cut text={token.description} />],
                [t.namespaces, token.namespaces ? token.namespaces.map((name, index) => <>{index > 0 && ', '}<Name>{name}</Name></>) : t.all],
                [t.queues, token.queues ? t.prefix(token.queues) : t.all],
                [t.expires, token.expires_ms === undefined ? t.never : <Instant ms={token.expires_ms} relative />],
              ]}
            />
          </Section>
          <Section title={t.allows}>
            <Facts
              facts={SCOPES.map((scope) => [
                scope,
                <><Badge tone={token.scopes.includes(scope) ? 'good' : 'plain'}>{token.scopes.includes(scope) ? t.yes : t.no}</Badge> {t[scope]}</>,
              ])}
            />
          </Section>
        </div>
      )}
    </>
  )
}

export default definePage({ route: 'access', title: () => t.title, view: Access, nav: { group: 'server', order: 90, label: () => t.title, key: 'a' } })
