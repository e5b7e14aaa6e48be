// A page with a form, and the way back.
import type { ComponentChildren } from 'preact'
import { href } from '../app/router'
import { PageHead } from './parts'

export function FormPage(props: { back: { path: string[]; label: ComponentChildren }; title: ComponentChildren; children: ComponentChildren }) {
  return (
    <>
      <p class="back"><a href={href(props.back.path)}>← {props.back.label}</a></p>
      <PageHead title={props.title} />
      {props.children}
    </>
  )
}
