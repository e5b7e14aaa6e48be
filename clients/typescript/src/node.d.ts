// The parts of Node that the client uses. The package has no dependency, not even for types; what it exports names only what the
// types of Node and of browsers have in common.

declare module 'node:http' {
  export interface IncomingMessage {
    statusCode?: number
    headers: Record<string, string | undefined>
    on(event: 'data', listener: (chunk: Uint8Array) => void): this
    on(event: 'end' | 'aborted', listener: () => void): this
    on(event: 'error', listener: (error: Error) => void): this
  }
  export interface ClientRequest {
    on(event: 'response', listener: (response: IncomingMessage) => void): this
    on(event: 'error', listener: (error: Error & { code?: string }) => void): this
    destroy(error?: Error): void
    end(text?: Uint8Array): void
  }
  export interface AgentOptions { keepAlive?: boolean; maxSockets?: number; maxFreeSockets?: number; scheduling?: 'lifo' | 'fifo'; ca?: string | Uint8Array }
  export class Agent {
    constructor(options: AgentOptions)
    destroy(): void
  }
  export interface RequestOptions {
    protocol: string
    hostname: string
    port: string
    path: string
    method: string
    agent: Agent
    headers: Record<string, string | number>
  }
  export function request(options: RequestOptions): ClientRequest
}

declare module 'node:https' {
  export { Agent, request } from 'node:http'
}

declare module 'node:buffer' {
  export interface Buffer extends Uint8Array<ArrayBuffer> { toString(encoding?: 'utf8' | 'base64'): string }
  export const Buffer: {
    from(value: string | Uint8Array, encoding?: 'utf8' | 'base64'): Buffer
    concat(parts: Uint8Array[]): Buffer
  }
}

declare module 'node:timers' {
  export interface Timer { unref(): Timer }
  export function setTimeout(callback: () => void, delayMs: number): Timer
  export function setImmediate(callback: () => void): Timer
  export function clearTimeout(timer: Timer | undefined): void
}

declare module 'node:worker_threads' {
  export class Worker {
    constructor(file: URL, options: { workerData: unknown; stdout?: boolean; execArgv?: string[] })
    postMessage(value: unknown): void
    on(event: 'message', listener: (value: never) => void): this
    on(event: 'error', listener: (error: Error) => void): this
    once(event: 'message', listener: (value: never) => void): this
    unref(): void
    terminate(): Promise<number>
  }
  export const parentPort: { postMessage(value: unknown): void; on(event: 'message', listener: (value: never) => void): void; close(): void }
  export const workerData: unknown
}

declare module 'node:child_process' {
  export interface Readable { on(event: 'data', listener: (chunk: Uint8Array) => void): this }
  export interface ChildProcess {
    stdout: Readable
    stderr: Readable
    exitCode: number | null
    signalCode: string | null
    kill(signal: string): boolean
    once(event: 'exit', listener: () => void): this
    once(event: 'error', listener: (error: Error) => void): this
  }
  export function spawn(program: string, words: string[], options: { stdio: string[]; env?: Record<string, string | undefined> }): ChildProcess
}

declare module 'node:fs' {
  export function writeSync(file: number, text: string): number
  export function mkdtempSync(prefix: string): string
  export function rmSync(path: string, options: { recursive: boolean; force: boolean }): void
}

declare module 'node:os' {
  export function tmpdir(): string
}

declare module 'node:path' {
  export function join(...parts: string[]): string
}

// What only CommonJS has.
declare const __filename: string

declare module 'node:url' {
  export function pathToFileURL(path: string): URL
}

declare module 'node:process' {
  const process: {
    env: Record<string, string | undefined>
    on(event: string, listener: () => void): void
    off(event: string, listener: () => void): void
  }
  export default process
}

declare module 'node:crypto' {
  export function randomUUID(): string
}

declare module 'node:util' {
  export function isDeepStrictEqual(one: unknown, other: unknown): boolean
}
