// Text from users: names, keys, reasons. It is always text, never markup; it is isolated, so that letters written from
// right to left do not reorder what is around it; control characters are shown; and it is cut when long.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { dictionary } from '../i18n/language'
import { terms } from '../i18n/terms'
import { formatNumber } from './format'

const t = dictionary(
  { showWhole: (n: number) => `Show all ${formatNumber(n)} characters` },
  { showWhole: (n: number) => `显示全部 ${formatNumber(n)} 个字符` },
)

// Control characters except tab and line break, marks that change the direction of text, separators, and all that is drawn
// as nothing, except the choice of an emoji's style.
const INVISIBLE = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]--[\t\n\ufe0e\ufe0f]]/gv
const MARKS_MAX = 500

function code(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
}

/** The text with invisible characters as visible marks. Beyond 500 marks they become plain text. */
export function visible(text: string): ComponentChildren {
  const parts: ComponentChildren[] = []
  let begin = 0
  let marks = 0
  for (const match of text.matchAll(INVISIBLE)) {
    if (marks >= MARKS_MAX) break
    parts.push(text.slice(begin, match.index), <span class="mark">{code(match[0])}</span>)
    begin = match.index + match[0].length
    marks += 1
  }
  if (marks === 0) return text
  parts.push(text.slice(begin).replace(INVISIBLE, (character) => `[${code(character)}]`))
  return parts
}

// A name up to this length stays on one line of a table.
const LINE_MAX = 28

/** A name of a queue, schedule or the like. */
export function Name({ children }: { children: string }) {
  return <bdi class={children.length > LINE_MAX ? 'name long' : 'name'}>{visible(children)}</bdi>
}

/** Text of any length; what is beyond `max` characters is shown on request. */
export function Cut({ text, max = 160 }: { text: string; max?: number }) {
  const [whole, setWhole] = useState(false)
  if (text.length <= max) return <bdi class="free">{visible(text)}</bdi>
  return (
    <>
      <bdi class="free">{visible(whole ? text : text.slice(0, max))}</bdi>
      {whole ? ' ' : '… '}
      <button type="button" class="link" onClick={() => setWhole(!whole)}>
        {whole ? terms.showLess : t.showWhole(text.length)}
      </button>
    </>
  )
}
