// The beginnings of the contents of listed messages, one line each, and the size of binary ones: lists come without contents. What was loaded is kept
// while the page is shown.
import { useEffect, useState } from 'preact/hooks'
import { namespace } from '../app/router'
import { formatBytes } from '../ui/format'
import { inNamespace, requestText } from './client'
import { memberText } from './json_text'
import type { Message } from './openapi'

const AT_ONCE = 4
const SHOWN_MAX = 120

function beginning(text: string): string {
  const { body, body_base64 } = JSON.parse(text) as Message
  if (body_base64 !== undefined) return formatBytes(Math.floor((body_base64.length * 3) / 4))
  return (memberText(text, 'json') ?? body ?? '').slice(0, SHOWN_MAX).replace(/\s+/g, ' ')
}

/** By id; those that are not loaded yet, or have ended, are missing. */
export function useContents(messages: { id: string }[]): ReadonlyMap<string, string> {
  const [contents, setContents] = useState<ReadonlyMap<string, string>>(new Map())
  const wanted = messages.map(({ id }) => id)
  useEffect(() => {
    const left = wanted.filter((id) => !contents.has(id))
    const controller = new AbortController()
    const loadNext = async () => {
      for (let id = left.shift(); id !== undefined && !controller.signal.aborted; id = left.shift()) {
        const key = id
        const text = await requestText('GET', inNamespace('messages', key), { signal: controller.signal }).then(beginning, () => null)
        if (text !== null) setContents((old) => new Map(old).set(key, text))
      }
    }
    for (let count = 0; count < AT_ONCE; count++) void loadNext()
    return () => controller.abort()
  }, [wanted.join(), namespace.value])
  return contents
}
