// JSON as text. Bodies of messages are shown as they were written: numbers of any length, repeated members and their order
// stay, which they would not through JSON.parse.

/** The end of the string that begins at `begin`, which is a quote. */
function afterString(text: string, begin: number): number {
  let index = begin + 1
  while (index < text.length && text[index] !== '"') index += text[index] === '\\' ? 2 : 1
  return index + 1
}

/** The text of a member of the outermost object, exactly as it is written; undefined if there is none. */
export function memberText(text: string, name: string): string | undefined {
  let depth = 0
  let key: string | null = null
  let begin = -1
  let index = 0
  while (index < text.length) {
    const character = text[index]!
    if (character === '"') {
      const end = afterString(text, index)
      if (depth === 1 && key === null) {
        key = JSON.parse(text.slice(index, end)) as string
      }
      index = end
      continue
    }
    if (depth === 1 && character === ':' && begin < 0) begin = index + 1
    else if (depth === 1 && (character === ',' || character === '}')) {
      if (key === name && begin >= 0) return text.slice(begin, index).trim()
      key = null
      begin = -1
      if (character === '}') depth -= 1
    } else if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') depth -= 1
    index += 1
  }
  return undefined
}

/** The same JSON with line breaks and two spaces a level. Text that is not JSON comes out with odd indentation, unharmed. */
export function prettyJson(text: string): string {
  const parts: string[] = []
  let depth = 0
  let index = 0
  const lineBreak = () => parts.push('\n', '  '.repeat(Math.max(depth, 0)))
  while (index < text.length) {
    const character = text[index]!
    if (character === '"') {
      const end = afterString(text, index)
      parts.push(text.slice(index, end))
      index = end
      continue
    }
    index += 1
    if (character === '{' || character === '[') {
      parts.push(character)
      const close = character === '{' ? '}' : ']'
      let next = index
      while (/\s/.test(text[next] ?? '')) next += 1
      if (text[next] === close) {
        parts.push(close)
        index = next + 1
      } else {
        depth += 1
        lineBreak()
      }
    } else if (character === '}' || character === ']') {
      depth -= 1
      lineBreak()
      parts.push(character)
    } else if (character === ',') {
      parts.push(character)
      lineBreak()
    } else if (character === ':') parts.push(': ')
    else if (!/\s/.test(character)) parts.push(character)
  }
  return parts.join('')
}
