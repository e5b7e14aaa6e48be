/** Schemas of data: those of zod, valibot, arktype and others that implement Standard Schema (standardschema.dev), version 1. */

import { InvalidRequest } from './errors.js'

export interface StandardSchema<T = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => Checked<T> | Promise<Checked<T>>
    readonly types?: { readonly input: unknown; readonly output: T } | undefined
  }
}

type Checked<T> = { readonly value: T; readonly issues?: undefined } | { readonly issues: readonly Issue[] }
interface Issue { readonly message: string; readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined }

/** The data as the schema makes it. Throws InvalidRequest with the code `bad_data` and the place as field. */
export async function checked<T>(schema: StandardSchema<T> | undefined, data: unknown): Promise<T> {
  if (!schema) return data as T
  const found = await schema['~standard'].validate(data)
  if (!found.issues) return found.value
  const texts = found.issues.map((issue) => `${placeOf(issue)}: ${issue.message}`)
  throw new InvalidRequest('bad_data', `the data does not match its schema: ${texts.join('; ')}`, found.issues[0] && placeOf(found.issues[0]))
}

function placeOf(issue: Issue): string {
  return ['data', ...(issue.path ?? []).map((part) => String(typeof part === 'object' ? part.key : part))].join('.')
}
