// Actions: `act` does something at once and reports the answer; `confirm` first says what the action will touch, asks once,
// and then shows in the same dialog what happened. A dialog belongs to its page: it closes when the page is left, and what
// happens after that is a notice.
import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { changed } from '../api/query'
import { dictionary } from '../i18n/language'
import { terms } from '../i18n/terms'
import { problemText, ProblemNote } from './problem'

const t = dictionary(
  { working: 'Working…', dismiss: 'Dismiss the notice' },
  { working: '处理中…', dismiss: '关闭通知' },
)

interface Notice {
  id: number
  text: ComponentChildren
  bad: boolean
}

const notices = signal<Notice[]>([])
let nextNotice = 1
const NOTICE_MS = 8000

export function notify(text: ComponentChildren, bad = false) {
  const notice = { id: nextNotice++, text, bad }
  notices.value = [...notices.value, notice].slice(-4)
  // Errors stay until they are dismissed.
  if (!bad) window.setTimeout(() => dismiss(notice.id), NOTICE_MS)
}

function dismiss(id: number) {
  notices.value = notices.value.filter((notice) => notice.id !== id)
}

/** Runs an action that needs no question; `done` says what happened. Resolves to whether it succeeded. */
export async function act<T>(run: () => Promise<T>, done: (answer: T) => ComponentChildren): Promise<boolean> {
  try {
    notify(done(await run()))
    return true
  } catch (error) {
    notify(problemText(error as Error), true)
    return false
  } finally {
    changed()
  }
}

export interface Question<T> {
  title: ComponentChildren
  /** What the action touches, and how many. */
  what: ComponentChildren
  /** The label of the button: the verb. */
  verb: string
  run: () => Promise<T>
  done: (answer: T) => ComponentChildren
  danger?: boolean
}

interface Asking {
  question: Question<unknown>
  phase: 'asking' | 'working' | 'done' | 'failed'
  answer?: ComponentChildren
  error?: Error
}

const asking = signal<Asking | null>(null)

export function confirm<T>(question: Question<T>) {
  asking.value = { question: question as Question<unknown>, phase: 'asking' }
}

async function run() {
  const { question } = asking.value!
  asking.value = { question, phase: 'working' }
  const isOpen = () => asking.value?.question === question
  try {
    const answer = question.done(await question.run())
    if (isOpen()) asking.value = { question, phase: 'done', answer }
    else notify(answer)
  } catch (error) {
    if (isOpen()) asking.value = { question, phase: 'failed', error: error as Error }
    else notify(problemText(error as Error), true)
  } finally {
    changed()
  }
}

function ConfirmDialog({ state }: { state: Asking }) {
  const { question, phase } = state
  const over = phase === 'done' || phase === 'failed'
  const close = useRef<HTMLButtonElement>(null)
  // The button that had the focus is gone.
  useEffect(() => {
    if (over) close.current?.focus()
  }, [over])
  return (
    <Dialog title={question.title} onClose={() => (asking.value = null)}>
      {!over && <div class="dialog-body">{question.what}</div>}
      {phase === 'done' && <div class="dialog-body outcome" role="status">{state.answer}</div>}
      {phase === 'failed' && <ProblemNote error={state.error!} />}
      <div class="dialog-actions">
        <button ref={close} type="button" class="button" onClick={() => (asking.value = null)}>
          {over ? terms.close : terms.cancel}
        </button>
        {!over && (
          <button type="button" class={`button ${question.danger ? 'danger' : 'primary'}`} disabled={phase === 'working'} onClick={run}>
            {phase === 'working' ? t.working : question.verb}
          </button>
        )}
      </div>
    </Dialog>
  )
}

/** A modal dialog; Escape and another page close it, and the focus returns to where it was. */
export function Dialog({ title, onClose, children }: { title: ComponentChildren; onClose: () => void; children: ComponentChildren }) {
  const element = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const before = document.activeElement
    element.current?.showModal()
    return () => {
      // What opened the dialog may be gone, such as the button of a purge.
      const after = before instanceof HTMLElement && before.isConnected ? before : document.getElementById('main')
      after?.focus({ preventScroll: true })
    }
  }, [])
  const close = useRef(onClose)
  close.current = onClose
  useEffect(() => {
    const left = () => close.current()
    window.addEventListener('hashchange', left)
    return () => window.removeEventListener('hashchange', left)
  }, [])
  return (
    <dialog ref={element} class="dialog" aria-labelledby="dialog-title" onClose={onClose}>
      <h2 id="dialog-title">{title}</h2>
      {children}
    </dialog>
  )
}

/** Where notices and the question appear; once, in the layout. */
export function Dialogs() {
  return (
    <>
      <div class="notices" aria-live="polite">
        {notices.value.map((notice) => (
          <div key={notice.id} class={`notice ${notice.bad ? 'bad' : ''}`}>
            <span>{notice.text}</span>
            <button type="button" class="icon-button" aria-label={t.dismiss} onClick={() => dismiss(notice.id)}>
              ×
            </button>
          </div>
        ))}
      </div>
      {asking.value && <ConfirmDialog state={asking.value} />}
    </>
  )
}
