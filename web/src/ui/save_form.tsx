// A form that creates or changes something: its text fields, its buttons, and the error of the last attempt.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { ApiError } from '../api/client'
import { terms } from '../i18n/terms'
import { Button, Field } from './parts'
import { ProblemNote } from './problem'

export interface Saving {
  error: Error | null
  saving: boolean
  run: () => Promise<void>
  /** What the server says about this member; undefined if its refusal names another one, or there is none. */
  problemOf: (...members: string[]) => string | undefined
}

/** `save` returns without an error if there is nothing to save; then it has said why. */
export function useSave(save: () => Promise<void>): Saving {
  const [error, setError] = useState<Error | null>(null)
  const [saving, setSaving] = useState(false)
  const run = async () => {
    setError(null)
    setSaving(true)
    try {
      await save()
    } catch (caught) {
      setError(caught as Error)
    } finally {
      setSaving(false)
    }
  }
  const problem = error instanceof ApiError ? error.problem : null
  const problemOf = (...members: string[]) => (problem?.field && members.includes(problem.field) ? problem.detail : undefined)
  return { error, saving, run, problemOf }
}

export function TextField({ id, label, hint, error, value, onValue, placeholder, list, inputMode }: {
  id: string
  label: string
  hint?: string
  error?: string
  value: string
  onValue: (value: string) => void
  placeholder?: string
  /** The datalist of suggestions. */
  list?: string
  inputMode?: 'numeric'
}) {
  return (
    <Field id={id} label={label} hint={hint} error={error}>
      {(inner) => (
        <input
          id={inner} value={value} placeholder={placeholder} spellcheck={false} autocomplete="off" aria-describedby={hint || error ? `${inner}-hint` : undefined}
          list={list} inputMode={inputMode} onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  )
}

/** `onCancel`: without it there is no button that cancels. */
export function SaveForm({ class: name, saving, label, onCancel, children }: {
  class?: string
  saving: Saving
  label: string
  onCancel?: () => void
  children: ComponentChildren
}) {
  return (
    <form
      class={name}
      onSubmit={(event) => {
        event.preventDefault()
        void saving.run()
      }}
    >
      {children}
      {saving.error && <ProblemNote error={saving.error} />}
      <div class="form-actions">
        <Button type="submit" kind="primary" disabled={saving.saving}>{label}</Button>
        {onCancel && <Button onClick={onCancel}>{terms.cancel}</Button>}
      </div>
    </form>
  )
}
