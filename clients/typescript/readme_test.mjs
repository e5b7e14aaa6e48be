// Makes the package, installs it into an empty project, and runs the examples of README.md there, from top to bottom in one program that
// the compiler checks, against a server with a test clock. The compiler checks types.ts, too.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compiled, compiler } from './build.mjs'

const here = fileURLToPath(new URL('.', import.meta.url))
const { TestServer } = await import(join(compiled(), 'testing.js'))
const SAID = [/ scheduled /, /^cancelled$/m, /already_cancelled/, /done \{ sentTo: 'ben' \}/, /\[ 'ready', 'ready' \]/, /\{ sentTo: 'dora' \}/]
// A program of CommonJS, with a worker, whose heartbeats are in a thread of their own.
const OLD = `
import duewheel = require('duewheel')
import telemetry = require('duewheel/opentelemetry')
import testing = require('duewheel/testing')
declare const process: { argv: string[] }

async function main(): Promise<void> {
  const client = new duewheel.Duewheel({ url: process.argv[2] ?? '' })
  const queue = client.queue<string>('old')
  const code = await client.get('7').catch((error: unknown) => (error instanceof duewheel.NotFound ? error.code : error))
  const worker = new duewheel.Worker(queue, async (name) => {
    await new Promise((resolve) => setTimeout(resolve, 1500))
    return name.toUpperCase()
  }, { lease: '1s' })
  await worker.start()
  const { id } = await queue.put('ann')
  const message = await client.wait(id, { timeout: '30s' })
  await worker.stop()
  client.close()
  console.log(code, message.attempts === 1 ? message.state : message.attempts, message.result, typeof telemetry.openTelemetry, typeof testing.TestServer)
}
void main()
`

function run(program, words, options) {
  const done = spawnSync(program, words, { encoding: 'utf8', timeout: 120_000, ...options })
  if (done.status !== 0) throw new Error(`${program} ${words.join(' ')}: exit code ${done.status}\n${done.error ?? ''}${done.stdout}${done.stderr}`)
  return done.stdout
}

if (spawnSync('npm', ['--version']).status !== 0) {
  console.log('skipped: npm is not installed')
  process.exit(77)
}
const wanted = JSON.parse(readFileSync(join(here, 'package.json'))).devDependencies.typescript
const tested = JSON.parse(readFileSync(join(compiler, '../../package.json'))).version
if (wanted !== tested) throw new Error(`package.json names TypeScript ${wanted}, and the tests run with ${tested}: name that`)
const place = mkdtempSync(join(tmpdir(), 'duewheel-npm-'))
const server = await TestServer.start()
try {
  // A copy, because `prepack` writes into the folder.
  const source = join(place, 'source')
  cpSync(here, source, { recursive: true, filter: (path) => !/node_modules|\/dist/.test(path.slice(here.length)) })
  mkdirSync(join(source, 'node_modules'))
  symlinkSync(join(compiler, '../..'), join(source, 'node_modules/typescript'))
  const environment = { ...process.env, npm_config_cache: join(place, 'cache'), npm_config_update_notifier: 'false' }
  const tarball = run('npm', ['pack', '--silent', '--pack-destination', place], { cwd: source, env: environment }).trim().split('\n').at(-1)

  const project = join(place, 'project')
  mkdirSync(project)
  const examples = [...readFileSync(join(here, 'README.md'), 'utf8').matchAll(/^```ts\n(.*?)^```/gms)].map(([, text]) => text)
  if (examples.length < 7) throw new Error(`there are ${examples.length} examples`)
  writeFileSync(join(project, 'package.json'), '{"name": "empty", "private": true, "type": "module"}')
  writeFileSync(join(project, 'readme.ts'), examples.join('\n').replaceAll('http://127.0.0.1:7420', server.url))
  cpSync(join(here, 'types.ts'), join(project, 'types.ts'))
  writeFileSync(join(project, 'old.cts'), OLD)
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({
    compilerOptions: { strict: true, target: 'es2022', lib: ['es2023', 'dom'], module: 'nodenext', types: [] }, files: ['readme.ts', 'types.ts', 'old.cts'],
  }))
  run('npm', ['install', '--offline', '--silent', '--no-audit', '--no-fund', join(place, tarball)], { cwd: project, env: environment })
  if (existsSync(join(project, 'node_modules/duewheel/src'))) throw new Error('the package has the sources')
  run(process.execPath, [compiler, '--project', project])
  const said = run(process.execPath, ['readme.js'], { cwd: project })
  const missing = SAID.filter((each) => !each.test(said))
  if (missing.length) throw new Error(`${said}\nmissing: ${missing.join(' ')}`)
  const old = run(process.execPath, ['old.cjs', server.url], { cwd: project, stdio: ['ignore', 'pipe', 'pipe'] }).trim()
  if (old !== 'unknown_id done ANN function function') throw new Error(`a program of CommonJS does something else: ${old}`)
} finally {
  await server.stop()
  rmSync(place, { recursive: true, force: true })
}
