// Small parts that all pages are made of.
import { toChildArray, type ComponentChildren } from 'preact'
import { terms } from '../i18n/terms'

export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'accent'

// Up to this length, the text of a badge stays on one line.
const BADGE_LINE_MAX = 24

/** A word that stands for a state. */
export function Badge({ tone = 'plain', children, title }: { tone?: Tone; children: ComponentChildren; title?: string }) {
  const short = typeof children === 'string' && children.length <= BADGE_LINE_MAX
  return <span class={`badge ${tone} ${short ? 'line' : ''}`} title={title}>{children}</span>
}

/** A part of a page, usually with a heading, and what can be done with it on the right. */
export function Section(props: { title?: ComponentChildren; aside?: ComponentChildren; children: ComponentChildren; class?: string }) {
  return (
    <section class={`section ${props.class ?? ''}`}>
      {(props.title || props.aside) && (
        <div class="section-head">
          {props.title && <h2>{props.title}</h2>}
          {props.aside && <div class="section-aside">{props.aside}</div>}
        </div>
      )}
      {props.children}
    </section>
  )
}

/** The first line of a page: its heading and its actions. */
export function PageHead(props: { title: ComponentChildren; about?: ComponentChildren; children?: ComponentChildren }) {
  return (
    <div class="page-head">
      <div>
        <h1>{props.title}</h1>
        {props.about && <p class="about">{props.about}</p>}
      </div>
      {props.children && <div class="page-actions">{props.children}</div>}
    </div>
  )
}

/** One number with its name; the hint below it is small. */
export function Figure(props: { name: string; value: ComponentChildren; hint?: ComponentChildren; tone?: Tone; link?: string }) {
  const value = <span class={`figure-value ${props.tone ?? ''}`}>{props.value}</span>
  return (
    <div class="figure">
      <dt class="figure-name">{props.name}</dt>
      <dd>
        {props.link ? <a href={props.link}>{value}</a> : value}
        {props.hint && <span class="figure-hint">{props.hint}</span>}
      </dd>
    </div>
  )
}

/** In one row if there is room, otherwise in two rows of about the same length, so that none stands alone. */
export function Figures({ children }: { children: ComponentChildren }) {
  const count = toChildArray(children).length
  return <dl class="figures" style={{ '--count': count, '--half': Math.ceil(count / 2) }}>{children}</dl>
}

/** Names and values, one a line. Values that are undefined or null are omitted. */
export function Facts({ facts }: { facts: [string, ComponentChildren][] }) {
  const shown = facts.filter(([, value]) => value !== undefined && value !== null && value !== false)
  return (
    <dl class="facts">
      {shown.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

export function Button(props: {
  children: ComponentChildren
  onClick?: () => void
  kind?: 'plain' | 'primary' | 'danger'
  type?: 'button' | 'submit'
  disabled?: boolean
}) {
  return (
    <button type={props.type ?? 'button'} class={`button ${props.kind ?? ''}`} disabled={props.disabled} onClick={props.onClick}>
      {props.children}
    </button>
  )
}

/** A labelled input, with an explanation or an error below it. */
export function Field(props: { label: string; hint?: ComponentChildren; error?: string; children: (id: string) => ComponentChildren; id: string }) {
  return (
    <div class="field">
      <label for={props.id}>{props.label}</label>
      {props.children(props.id)}
      {props.error ? (
        <p class="field-error" id={`${props.id}-hint`} role="alert">{props.error}</p>
      ) : (
        props.hint && <p class="field-hint" id={`${props.id}-hint`}>{props.hint}</p>
      )}
    </div>
  )
}

/** The search field of a page: `/` goes to it. */
export function SearchField(props: { id: string; label: string; value: string; onInput: (text: string) => void; placeholder?: string }) {
  return (
    <div class="search">
      <label class="hidden" for={props.id}>{props.label}</label>
      <input
        id={props.id} type="search" data-search="" autocomplete="off" spellcheck={false} value={props.value}
        placeholder={props.placeholder ?? terms.search} onInput={(event) => props.onInput(event.currentTarget.value)}
      />
      <kbd aria-hidden="true">/</kbd>
    </div>
  )
}

/** A share of a limit. */
export function Meter({ label, value, max }: { label: string; value: number; max: number }) {
  return <meter aria-label={label} min={0} max={max} low={max * 0.75} high={max * 0.9} optimum={0} value={Math.min(value, max)} />
}
