// Runs the tests beside the sources of the dashboard, web/src/**/*.test.ts: Vite bundles them for node, which runs them. They
// need the packages that `npm ci` installs in web/, and are skipped without them. unit.mjs DIR: of a copy of web/.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const web = join(process.argv[2] ?? fileURLToPath(new URL('../../web/', import.meta.url)), '/')
if (!existsSync(join(web, 'node_modules', 'vite'))) {
  console.log('skipped: the packages of web/ are not installed: run `npm ci` there')
  process.exit(77)
}

// The dictionaries ask the browser for its language.
const GLOBALS = `globalThis.localStorage = { getItem: () => null }
globalThis.navigator = { language: 'en', languages: ['en'] }
`

const build = fileURLToPath(new URL('../../build/', import.meta.url))
mkdirSync(build, { recursive: true })
const out = mkdtempSync(join(build, 'web-unit-'))
try {
  const vite = await import(pathToFileURL(createRequire(web).resolve('vite')).href)
  const tests = readdirSync(join(web, 'src'), { recursive: true }).filter((file) => file.endsWith('.test.ts'))
  await vite.build({
    root: web, configFile: false, logLevel: 'error', ssr: { noExternal: true },
    build: { ssr: true, outDir: out, rollupOptions: { input: tests.map((file) => join(web, 'src', file)) } },
  })
  writeFileSync(join(out, 'globals.mjs'), GLOBALS)
  const files = readdirSync(out).filter((file) => /\.test\.m?js$/.test(file))
  if (files.length !== tests.length) throw new Error(`${tests.length} tests were built as ${files}`)
  const run = spawnSync(process.execPath, ['--import', pathToFileURL(join(out, 'globals.mjs')).href, '--test', '--test-reporter=spec', ...files.map((file) => join(out, file))], { stdio: 'inherit' })
  process.exitCode = run.status ?? 1
} finally {
  rmSync(out, { recursive: true, force: true })
}
