// A daemon of this build, with data in a temporary directory, on a free port of loopback. It keeps its port over a restart,
// so that an open page finds it again.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const BIN = process.env.DUEWHEEL_BIN
const READY_WITHIN_MS = 60_000

export class Daemon {
  constructor(argumentList = []) {
    this.directory = mkdtempSync(join(tmpdir(), 'duewheel-web-'))
    this.argumentList = argumentList
    this.port = 0
    this.process = null
    this.log = ''
    this.token = null
  }

  get url() {
    return `http://127.0.0.1:${this.port}`
  }

  async start() {
    const daemon = spawn(
      join(BIN, 'duewheeld'),
      ['--data', join(this.directory, 'data'), '--http', `127.0.0.1:${this.port}`, ...this.argumentList],
      { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, DUEWHEEL_STORE_SEGMENT_SIZE: '4MiB' } },
    )
    this.process = daemon
    daemon.stderr.on('data', (text) => (this.log += text))
    const ready = new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`the daemon was not ready within a minute:\n${this.log}`)), READY_WITHIN_MS)
      createInterface({ input: daemon.stdout }).on('line', (line) => {
        const found = /^ready http=127\.0\.0\.1:(\d+)/.exec(line)
        if (!found) return
        clearTimeout(timer)
        resolve(Number(found[1]))
      })
      daemon.once('exit', () => {
        clearTimeout(timer)
        reject(new Error(`the daemon ended before it was ready:\n${this.log}`))
      })
    })
    this.port = await ready
    return this
  }

  /** Ends the process; its data stays. */
  async stop(signal = 'SIGTERM') {
    const daemon = this.process
    if (!daemon) return
    this.process = null
    const ended = new Promise((resolve) => daemon.once('exit', resolve))
    daemon.kill(signal)
    await ended
  }

  async remove() {
    await this.stop('SIGKILL')
    rmSync(this.directory, { recursive: true, force: true })
  }

  /** The answer as JSON; an error if the status is not 2xx. */
  async call(method, path, body) {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(this.token ? { Authorization: `Bearer ${this.token}` } : {}),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return JSON.parse(text)
  }

  put(queue, members) {
    return this.call('POST', `/v1/queues/${encodeURIComponent(queue)}/messages`, members)
  }

  /** Puts a message, and lets its only attempt fail. */
  async putDead(queue, body = 'broken', reason = 'the printer is on fire') {
    const { id } = await this.put(queue, { body, retry: { attempts: 1 } })
    const path = `/v1/queues/${encodeURIComponent(queue)}:lease`
    const { messages } = await this.call('POST', path, { wait: '20s' })
    await this.call('POST', `/v1/leases/${messages[0].lease}:fail`, { reason })
    return id
  }
}
