// Chooses a queue by its name, with suggestions of the server.
import { useEffect, useState } from 'preact/hooks'
import { get, inNamespace } from '../api/client'
import type { QueuePage } from '../api/openapi'
import { useQuery } from '../api/query'
import { namespace } from '../app/router'
import { dictionary } from '../i18n/language'
import { terms } from '../i18n/terms'
import { Field } from './parts'

const t = dictionary({ hint: 'Its name' }, { hint: '队列名称' })

const SUGGESTIONS = 50

/** `queue`: the chosen one, or empty. */
export function QueueField({ queue, placeholder = t.hint, onChoose }: { queue: string; placeholder?: string; onChoose: (name: string) => void }) {
  const [text, setText] = useState(queue)
  // A link may change the queue while the page stays.
  useEffect(() => setText(queue), [queue])
  const names = useQuery(
    ['names', namespace.value, text],
    (signal) => get<QueuePage>(inNamespace('queues'), { limit: SUGGESTIONS, prefix: text }, signal),
  )
  const choose = (value: string) => onChoose(value.trim())
  return (
    <form onSubmit={(event) => { event.preventDefault(); choose(text) }}>
      <Field id="queue" label={terms.queue}>
        {(id) => (
          <>
            <input
              id={id} list="queue-names" autocomplete="off" spellcheck={false} placeholder={placeholder} value={text}
              onInput={(event) => {
                const value = event.currentTarget.value
                setText(value)
                // A name of the list is a choice; anything else is being typed.
                if (names.data?.queues.some((one) => one.queue === value)) choose(value)
              }}
              onChange={(event) => choose(event.currentTarget.value)}
            />
            <datalist id="queue-names">{names.data?.queues.map((one) => <option key={one.queue} value={one.queue} />)}</datalist>
          </>
        )}
      </Field>
    </form>
  )
}
