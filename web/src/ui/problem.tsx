// An error as the server explains it: what is wrong, and what to do.
import { ApiError, NoConnection } from '../api/client'
import { dictionary } from '../i18n/language'
import { terms } from '../i18n/terms'
import { visible } from './text'

const t = dictionary(
  {
    noConnection: 'The server does not answer. The page tries again by itself.',
    forbidden: 'The token does not allow this.',
    field: 'Member',
    unexpected: 'The page has an error of its own.',
  },
  {
    noConnection: '服务器没有响应，页面会自动重试。',
    forbidden: '此令牌没有权限。',
    field: '字段',
    unexpected: '页面自身出错。',
  },
)

function sentence(text: string): string {
  const whole = text.charAt(0).toUpperCase() + text.slice(1)
  return /[.!?。]$/.test(whole) ? whole : `${whole}.`
}

/** The same as one line of text, for answers of actions. */
export function problemText(error: Error): string {
  if (error instanceof NoConnection) return t.noConnection
  if (error instanceof ApiError) return `${error.problem.title}: ${sentence(error.problem.detail)}`
  return `${t.unexpected} ${error.message}`
}

export function ProblemNote({ error, retry }: { error: Error; retry?: () => void }) {
  const problem = error instanceof ApiError ? error.problem : null
  return (
    <div class="note bad" role="alert">
      <p class="note-title">
        {problem ? problem.title : error instanceof NoConnection ? t.noConnection : t.unexpected}
        {problem && <a href={`/docs/errors#${problem.code}`} target="_blank"><code class="chip">{problem.code}</code></a>}
      </p>
      {problem?.status === 403 && <p>{t.forbidden}</p>}
      {problem ? problem.detail && <p>{visible(sentence(problem.detail))}</p> : !(error instanceof NoConnection) && <p>{visible(error.message)}</p>}
      {problem?.field && (
        <p class="muted">
          {t.field}: <code>{visible(problem.field)}</code>
        </p>
      )}
      {retry && (
        <button type="button" class="button" onClick={retry}>
          {terms.tryAgain}
        </button>
      )}
    </div>
  )
}
