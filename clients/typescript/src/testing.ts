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

import { Duewheel } from './client.js'
import type { Message } from './messages.js'
import { pause } from './transport.js'
import { milliseconds, type Duration, type Instant } from './wire.js'

const READY_WITHIN_MS = 60_000
const POLL_MS = 20

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

  /** Moves the time of the server: "1d" later, or to an instant. */
  async advance(by: Duration | { to: Instant }): Promise<void> {
    await this.client.advance(by)
  }

  /** Waits until no message of the queue is due or at work, up to `timeout` of real time, 10 s by default. */
  async idle(queue: string, options: { timeout?: Duration } = {}): Promise<void> {
    const timeout = options.timeout ?? '10s'
    const endMs = performance.now() + milliseconds(timeout, 'timeout')
    for (;;) {
      const { ready, leased } = await this.counts(queue)
      if (ready + leased === 0) return
      if (performance.now() > endMs) throw new Error(`queue ${queue} is not idle after ${timeout}: ${ready} messages are ready, ${leased} are leased`)
      await pause(POLL_MS)
    }
  }

  /** The unfinished messages of a queue by due time. */
  async messages<T = unknown>(queue: string): Promise<Message<T>[]> {
    const found: Message<T>[] = []
    for await (const message of this.client.list<T>(queue)) found.push(message)
    return found
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

  private async counts(queue: string): Promise<{ ready: number; leased: number }> {
    for await (const found of this.client.queues.list()) if (found.queue === queue) return found
    return { ready: 0, leased: 0 }
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
