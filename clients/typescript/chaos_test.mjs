// Messages are put and handled while workers and the server are stopped or killed in turns. Afterwards each message has been handled. It
// may have been handled twice only if its worker or the server was killed (C5 of docs/promises.md).
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { compiled } from './build.mjs'

const MESSAGES = 500
const CONCURRENCY = 10
const library = pathToFileURL(`${compiled()}/index.js`).href
const { Duewheel, Worker } = await import(library)

if (process.argv[2] === 'work') {
  const [, , , url, log] = process.argv
  const queue = new Duewheel({ url }).queue('chaos')
  const worker = new Worker(queue, async (_, { id }) => {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 20))
    appendFileSync(log, `${id}\n`)
  }, { concurrency: CONCURRENCY, lease: '2s', log: () => {} })
  process.stdout.write('ready\n')
  await worker.run()
  process.exit()
}

/** Starts a program, and ends when it has printed a line that begins with `ready`. */
async function begin(program, words) {
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, DUEWHEEL_STORE_SEGMENT_SIZE: '4MiB' } })
  child.ended = new Promise((resolve) => child.once('exit', resolve))
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('ready')) return Object.assign(child, { line })
  }
  throw new Error(`${program} did not start`)
}

async function end(child, signal) {
  child.kill(signal)
  await child.ended
}

/** Puts and handles messages, while what `signals` names is ended and started again, in turns. Returns how many were handled twice, and the
 * number of signals. */
async function disturbed(t, signals) {
  const directory = mkdtempSync(join(tmpdir(), 'duewheel-chaos-'))
  const log = join(directory, 'handled')
  writeFileSync(log, '')
  let port = 0
  const serve = async () => {
    const child = await begin(join(process.env.DUEWHEEL_BIN, 'duewheeld'), ['--data', join(directory, 'data'), '--http', `127.0.0.1:${port}`, '--log-level', 'error'])
    port = /http=127\.0\.0\.1:(\d+)/.exec(child.line)[1]
    return child
  }
  const work = () => begin(process.execPath, [fileURLToPath(import.meta.url), 'work', `http://127.0.0.1:${port}`, log])
  const running = { server: await serve() }
  running.one = await work()
  running.two = await work()
  t.after(async () => {
    await Promise.all(Object.values(running).map((child) => end(child, 'SIGKILL')))
    rmSync(directory, { recursive: true, force: true })
  })

  const client = new Duewheel({ url: `http://127.0.0.1:${port}` })
  const ids = new Set()
  let putting = true
  const put = async () => {
    while (ids.size < MESSAGES) ids.add((await client.put('chaos', 'x')).id)
  }
  const puts = Promise.all(Array.from({ length: 5 }, put)).finally(() => (putting = false))
  let round = 0
  for (; putting || round < signals.length; round++) {
    const [name, signal] = signals[round % signals.length]
    await end(running[name], signal)
    running[name] = await (name === 'server' ? serve : work)()
    await new Promise((resolve) => setTimeout(resolve, 300))
  }
  await puts
  const deadline = Date.now() + 60_000
  const pending = async () => (await client.call('GET', '/stats')).pending
  while (await pending()) {
    assert.ok(Date.now() < deadline, 'the messages are not handled after a minute')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  const handled = readFileSync(log, 'utf8').trim().split('\n')
  const once = new Set(handled)
  assert.deepEqual([...ids].filter((id) => !once.has(id)), [])
  return { repeated: handled.length - once.size, signalled: round }
}

test('stops of workers and of the server lose and repeat nothing', async (t) => {
  const { repeated } = await disturbed(t, [['one', 'SIGTERM'], ['server', 'SIGTERM'], ['two', 'SIGTERM'], ['server', 'SIGTERM']])
  assert.equal(repeated, 0)
})

test('kills of workers and of the server lose nothing, and repeat at most what was at work', async (t) => {
  const { repeated, signalled } = await disturbed(t, [['one', 'SIGKILL'], ['server', 'SIGKILL'], ['two', 'SIGKILL'], ['server', 'SIGKILL']])
  assert.ok(repeated <= signalled * 2 * CONCURRENCY, `${repeated} messages were handled twice after ${signalled} kills`)
})
