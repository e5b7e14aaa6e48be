/**
 * A codec changes the bytes of payloads on their way out and in: encryption, or compression. An encoded message has the header `codec`,
 * the name of the codec and what is inside: "aes-2027/json", "aes-2027/text" or "aes-2027/bytes", as in the clients of all languages.
 */

import { Buffer } from 'node:buffer'

import { decode, encode } from './json.js'
import type { Members } from './wire.js'

/** What decode() throws becomes the failure of the attempt that reads the message. If encode() does not return the same bytes for the
 * same data, then the same put with the same key of the caller is a `key_conflict`. */
export interface Codec {
  /** Stays with the messages: change it when old messages cannot be decoded any more. */
  readonly name: string
  encode(data: Uint8Array): Uint8Array
  decode(data: Uint8Array): Uint8Array
}

const HEADER = 'codec'
const LEVELS_MAX = 100 // the server does not see them, and so few are enough for the stack
const KINDS: Record<string, string> = { json: 'json', body: 'text', body_base64: 'bytes' } // members, and what they are called in the header

/** The members of a request, with the content encoded if they have one. */
export function sealed(value: Members, codec: Codec | undefined): Members {
  const member = Object.keys(KINDS).find((name) => name in value)
  if (!codec || member === undefined) return value
  const { [member]: content, ...others } = value
  const data = member === 'json' ? Buffer.from(encode(content, 'data', LEVELS_MAX)) : Buffer.from(content as string, member === 'body' ? 'utf8' : 'base64')
  return {
    ...others, body_base64: Buffer.from(codec.encode(data)).toString('base64'),
    headers: { ...value['headers'] as Members | undefined, [HEADER]: `${codec.name}/${KINDS[member]}` },
  }
}

interface Shown { id?: string; headers?: Record<string, string>; json?: unknown; body?: string; body_base64?: string; undecodable?: string }

/** Decodes the content of a message that the server shows, or of all those that it delivers, in place. */
export function openAll(answer: unknown, codec: Codec | undefined): void {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return
  const { messages } = answer as { messages?: unknown }
  if (Array.isArray(messages)) for (const each of messages) open(each as Shown, codec)
  open(answer, codec)
}

/** A content that cannot be decoded is replaced by the reason: the other messages of the answer are none the worse for it. */
function open(message: Shown, codec: Codec | undefined): void {
  const header = message.headers?.[HEADER]
  if (header === undefined || !Object.keys(KINDS).some((name) => name in message)) return
  const { body, body_base64: base64, id } = message
  delete message.json
  delete message.body
  delete message.body_base64
  try {
    const at = header.lastIndexOf('/')
    const name = header.slice(0, Math.max(0, at))
    if (codec?.name !== name) throw new Error(`it was encoded by the codec \`${name}\`, and this client has ${codec ? `\`${codec.name}\`` : 'none'}`)
    if (base64 === undefined && body === undefined) throw new Error('it is JSON, which no codec returns')
    const data = codec.decode(base64 === undefined ? Buffer.from(body!) : new Uint8Array(Buffer.from(base64, 'base64')))
    Object.assign(message, contentOf(header.slice(at + 1), data))
  } catch (error) {
    message.undecodable = `the content of message ${id} cannot be decoded: ${String(error)}`
  }
}

function contentOf(kind: string, data: Uint8Array): Shown {
  switch (kind) {
    case 'json': return { json: decode(textOf(data)) }
    case 'text': return { body: textOf(data) }
    case 'bytes': return { body_base64: Buffer.from(data).toString('base64') }
  }
  throw new Error(`\`${kind}\` is no kind of content`)
}

function textOf(data: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(data)
}
