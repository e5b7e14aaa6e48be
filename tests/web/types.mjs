// The types of the dashboard and of the TypeScript client for documents of the API are those of the schemas in the server's OpenAPI
// document. With DUEWHEEL_RECORD=1 their file is written again. Descriptions stay in the document: the file changes only when a type does.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { Daemon } from './daemon.mjs'

const packages = fileURLToPath(new URL('../../build/web/', import.meta.url))
if (!existsSync(`${packages}node_modules/openapi-typescript`)) {
  console.log('skipped: openapi-typescript is not in build/web: run ./dev packages')
  process.exit(77)
}
const { default: typesOf, astToString } = createRequire(packages)('openapi-typescript')

const HEADER = `// Written by tests/web/types.mjs from the OpenAPI document of the server. Do not edit: see "Types of the API" in web/README.md.
`
const NAME = 'clients/typescript/src/openapi.ts'
const TEXTS = ['description', 'examples', 'default']

/** A schema without its texts, and without choices between sets of required members: all of them are optional. */
function typesOnly(value) {
  if (Array.isArray(value)) return value.map(typesOnly)
  if (value === null || typeof value !== 'object') return value
  const { properties, ...rest } = value
  const kept = Object.entries(rest).filter(([name, each]) =>
    !TEXTS.includes(name) && !(name === 'oneOf' && each.every((choice) => Object.keys(choice).join() === 'required')))
  const members = properties && Object.entries(properties).map(([name, each]) => [name, typesOnly(each)])
  return { ...Object.fromEntries(kept.map(([name, each]) => [name, typesOnly(each)])), ...(members && { properties: Object.fromEntries(members) }) }
}

async function written({ openapi, info, components: { schemas } }) {
  const named = Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, typesOnly(schema)]))
  const tree = await typesOf(
    { openapi, info, paths: {}, components: { schemas: named } },
    { defaultNonNullable: false, rootTypes: true, rootTypesNoSchemaPrefix: true, silent: true },
  )
  return HEADER + astToString(tree)
}

const daemon = new Daemon()
try {
  await daemon.start()
  const text = await written(await (await fetch(`${daemon.url}/openapi.json`)).json())
  const file = fileURLToPath(new URL(`../../${NAME}`, import.meta.url))
  if (process.env.DUEWHEEL_RECORD === '1') {
    writeFileSync(file, text)
  } else if (readFileSync(file, 'utf8') !== text) {
    console.error(`${NAME} differs from the OpenAPI document: run DUEWHEEL_RECORD=1 ctest --preset test -R dashboard_types`)
    process.exitCode = 1
  }
} finally {
  await daemon.remove()
}
