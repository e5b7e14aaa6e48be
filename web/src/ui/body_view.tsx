// The content of a message: as text, as indented JSON, or as bytes. It is only ever text on the page: markup in it is not
// interpreted, marks for right-to-left text cannot reorder what is around it, and long content is cut at first.
import { useState } from 'preact/hooks'
import { prettyJson } from '../api/json_text'
import { dictionary } from '../i18n/language'
import { notify } from './dialog'
import { formatBytes } from './format'
import { visible } from './text'

const t = dictionary(
  {
    text: 'Text', json: 'JSON', hex: 'Bytes', views: 'How to show the content',
    cut: (shown: string, all: string) => `The first ${shown} of ${all}.`, whole: 'Show all', empty: 'The content is empty.', copy: 'Copy', copied: 'Copied', notCopied: 'The browser did not allow copying. Select the content instead.',
  },
  {
    text: '文本', json: 'JSON', hex: '字节', views: '内容显示方式',
    cut: (shown: string, all: string) => `共 ${all}，仅显示前 ${shown}。`, whole: '显示全部', empty: '内容为空。', copy: '复制', copied: '已复制', notCopied: '浏览器不允许复制，请直接选择内容。',
  },
)

export interface Body {
  /** The content as text, if it is UTF-8. */
  text?: string
  base64?: string
  /** Whether `text` is JSON. */
  json?: boolean
}

const CUT_CHARACTERS = 20_000
const CUT_BYTES = 4096

function bytesOf(body: Body): Uint8Array {
  if (body.base64 === undefined) return new TextEncoder().encode(body.text ?? '')
  return Uint8Array.from(atob(body.base64), (character) => character.charCodeAt(0))
}

/** Offset, sixteen bytes, and the same as ASCII. */
function hexDump(bytes: Uint8Array): string {
  const lines: string[] = []
  for (let offset = 0; offset < bytes.length; offset += 16) {
    const row = bytes.subarray(offset, offset + 16)
    const hex = Array.from(row, (byte) => byte.toString(16).padStart(2, '0')).join(' ')
    const ascii = Array.from(row, (byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '.')).join('')
    lines.push(`${offset.toString(16).padStart(8, '0')}  ${hex.padEnd(47)}  ${ascii}`)
  }
  return lines.join('\n')
}

type View = 'text' | 'json' | 'hex'

export function BodyView({ body }: { body: Body }) {
  const views: View[] = body.base64 !== undefined ? ['hex'] : body.json ? ['json', 'text', 'hex'] : ['text', 'hex']
  const [chosen, setChosen] = useState<View>(views[0]!)
  const [whole, setWhole] = useState(false)
  const [copied, setCopied] = useState(false)
  const view = views.includes(chosen) ? chosen : views[0]!
  const bytes = bytesOf(body)
  if (bytes.length === 0) return <p class="empty">{t.empty}</p>

  const full = view === 'hex' ? '' : view === 'json' ? prettyJson(body.text!) : body.text!
  const long = view === 'hex' ? bytes.length > CUT_BYTES : full.length > CUT_CHARACTERS
  const shown = view === 'hex' ? hexDump(whole ? bytes : bytes.subarray(0, CUT_BYTES)) : whole ? full : full.slice(0, CUT_CHARACTERS)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(view === 'hex' ? hexDump(bytes) : full)
    } catch {
      return notify(t.notCopied, true)
    }
    setCopied(true)
    window.setTimeout(() => setCopied(false), 2000)
  }
  return (
    <div class="body-view">
      <div class="tabs" role="tablist" aria-label={t.views}>
        {views.map((name) => (
          <button
            key={name} type="button" role="tab" aria-selected={name === view} aria-controls="body-content" id={`body-${name}`}
            onClick={() => setChosen(name)}
          >
            {t[name]}
          </button>
        ))}
      </div>
      <pre id="body-content" role="tabpanel" aria-labelledby={`body-${view}`} tabIndex={0} dir={view === 'text' ? 'auto' : 'ltr'} class={view === 'hex' ? 'hex' : ''}>
        {view === 'hex' ? shown : visible(shown)}
      </pre>
      <div class="body-foot">
        <span>{formatBytes(bytes.length)}</span>
        {long && !whole && (
          <span>
            {t.cut(view === 'hex' ? formatBytes(CUT_BYTES) : formatBytes(new TextEncoder().encode(shown).length), formatBytes(bytes.length))}{' '}
            <button type="button" class="link" onClick={() => setWhole(true)}>{t.whole}</button>
          </span>
        )}
        <button type="button" class="link" onClick={() => void copy()}>{copied ? t.copied : t.copy}</button>
      </div>
    </div>
  )
}
