/**
 * A real server for tests, with data in a temporary directory and a clock that only the test moves. Works with any test runner.
 *
 *     const server = await TestServer.start()
 *     after(() => server.stop())
 */

import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { clearTimeout, setTimeout } from 'node:timers'
import { isDeepStrictEqual } from 'node:util'

import { Duewheel, type ListOptions } from './client.js'
import { NotFound } from './errors.js'
import { encode } from './json.js'
import type { Message } from './messages.js'
import type * as api from './openapi.js'
import { pause } from './transport.js'
import type { Duration, Instant } from './wire.js'

const READY_WITHIN_MS = 60_000
const IDLE_WITHIN_MS = 30_000
const POLL_MS = 20
const QUIET_POLLS = 3

export interface TestServerOptions {
  /** The program of the server. By default `duewheeld` in the directory that DUEWHEEL_BIN names, or else in PATH. */
  program?: string
  /** More arguments of `duewheeld`. */
  arguments?: string[]
}

export class TestServer {
  /** A client of this server. */
  readonly client: Duewheel

  private readonly onExit = (): void => this.end() // of a test that does not stop it

  private constructor(readonly url: string, private readonly server: ChildProcess, private readonly directory: string) {
    this.client = new Duewheel({ url })
    process.on('exit', this.onExit)
  }

  /** Ends when the server is ready. Give each test, or each file of tests, a server of its own: its time never goes back. */
  static async start(options: TestServerOptions = {}): Promise<TestServer> {
    const program = options.program ?? (process.env['DUEWHEEL_BIN'] ? join(process.env['DUEWHEEL_BIN'], 'duewheeld') : 'duewheeld')
    const directory = mkdtempSync(join(tmpdir(), 'duewheel-test-'))
    const words = ['--data', join(directory, 'data'), '--http', '127.0.0.1:0', '--test-clock', ...(options.arguments ?? [])]
    const server = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'], env: { DUEWHEEL_STORE_SEGMENT_SIZE: '4MiB', ...process.env } })
    try {
      return new TestServer(await readyUrl(server, program), server, directory)
    } catch (error) {
      server.kill('SIGKILL')
      rmSync(directory, { recursive: true, force: true })
      throw error
    }
  }

  /** The time of the server. */
  async now(): Promise<Date> {
    const clock = await this.client.call('GET', '/clock') as api.Clock
    return new Date(clock.server_time_ms)
  }

  /** Moves the time of the server: "1d" later, or to an instant. Before that it waits until no message is leased, because the step would
   * end the leases. */
  async advance(by: Duration | { to: Instant }): Promise<void> {
    await this.until('no message is leased', async () => (await this.stats()).leased)
    await this.client.advance(by)
  }

  /** Waits until the workers of the test have handled all messages that are due, of one queue or of all. */
  async runUntilIdle(queue?: string): Promise<void> {
    await this.until('no message is ready or leased', async () => {
      const { ready, leased } = queue === undefined ? await this.stats() : await this.counts(queue)
      return ready + leased
    })
  }

  /** The unfinished messages of a queue by due time, with their content; with `state: "dead"` its dead letters. */
  async messages<T = unknown>(queue: string, options: ListOptions = {}): Promise<Message<T>[]> {
    const found: Message<T>[] = []
    for await (const { id } of this.client.list(queue, options)) found.push(await this.client.get<T>(id))
    return found
  }

  /** The first unfinished message of the queue with this data and these properties, such as `key` or `due`. Throws if there is none. */
  async assertPut<T>(queue: string, data: T, properties: Partial<Message<T>> = {}): Promise<Message<T>> {
    const messages = await this.messages<T>(queue)
    const found = messages.find((message) => isDeepStrictEqual(message.data, data)
      && Object.entries(properties).every(([name, value]) => isDeepStrictEqual(message[name as keyof Message], value)))
    if (found) return found
    const listed = messages.map((message) => `\n  ${encode(message.data ?? null)}, due ${message.due.toISOString()}`).join('')
    throw new Error(`no such message is in the queue ${queue}; there is:${listed || ' none'}`)
  }

  /** Ends the server and removes its data. */
  async stop(): Promise<void> {
    this.client.close()
    process.off('exit', this.onExit)
    const ended = new Promise<void>((resolve) => this.server.once('exit', resolve))
    const runs = this.server.exitCode === null && this.server.signalCode === null
    this.end()
    if (runs) await ended
    rmSync(this.directory, { recursive: true, force: true }) // of what it wrote meanwhile
  }

  private end(): void {
    this.server.kill('SIGKILL')
    rmSync(this.directory, { recursive: true, force: true })
  }

  private async stats(): Promise<api.Stats> {
    return await this.client.call('GET', '/stats') as api.Stats
  }

  private async counts(queue: string): Promise<{ ready: number; leased: number }> {
    try {
      return await this.client.queues.get(queue)
    } catch (error) {
      if (error instanceof NotFound) return { ready: 0, leased: 0 } // without messages and settings there is no queue
      throw error
    }
  }

  /** Until the count is 0. What a schedule creates may come a moment after an advance, so it must be 0 several times. */
  private async until(what: string, count: () => Promise<number>): Promise<void> {
    const endMs = performance.now() + IDLE_WITHIN_MS
    for (let quiet = 0; quiet < QUIET_POLLS;) {
      const left = await count()
      quiet = left ? 0 : quiet + 1
      if (left && performance.now() > endMs) {
        throw new Error(`after ${IDLE_WITHIN_MS / 1000} s it does not hold that ${what}: there are ${left}. Does a worker handle each queue, and do its handlers return?`)
      }
      await pause(POLL_MS)
    }
  }
}

/** The URL that the server prints when it is ready. */
function readyUrl(server: ChildProcess, program: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let printed = ''
    let log = ''
    const timer = setTimeout(() => reject(new Error(`${program} was not ready within a minute:\n${log}`)), READY_WITHIN_MS)
    server.stderr.on('data', (chunk) => {
      log = (log + new TextDecoder().decode(chunk)).slice(-10_000)
    })
    server.stdout.on('data', (chunk) => {
      printed += new TextDecoder().decode(chunk)
      const found = /^ready http=(\S+)/m.exec(printed)
      if (!found) return
      clearTimeout(timer)
      resolve(`http://${found[1]}`)
    })
    server.once('error', (error) => {
      clearTimeout(timer)
      reject(new Error(`${program} was not started: ${error.message}. Install duewheeld, or set DUEWHEEL_BIN to its directory`))
    })
    server.once('exit', () => {
      clearTimeout(timer)
      reject(new Error(`${program} ended before it was ready:\n${log}`))
    })
  })
}
