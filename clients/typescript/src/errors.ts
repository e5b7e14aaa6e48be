/** What a call may throw: one class for each family of failures, with the server's code, the member at fault and what to do. */

import type { Problem } from './openapi.js'

/** The codes of the server, and those of the client itself. A newer server may have more. */
export type Code = Problem['code'] | 'bad_url' | 'bad_data' | 'bad_certificate' | 'deadline' | 'not_duewheel' | 'not_json' | 'too_many_redirects' | 'unsupported_server' | (string & {})

/** A call that had no success. `code` is stable and for programs; `detail` is for people and says what to do. */
export class DuewheelError extends Error {
  readonly code: Code
  readonly detail: string
  /** The member of the request that is at fault. */
  readonly field: string | undefined
  /** What became of the message, if the call came too late. */
  readonly outcome: string | undefined

  constructor(code: Code, detail: string, field?: string, outcome?: string, cause?: unknown) {
    super(`${code}: ${detail}`, cause === undefined ? undefined : { cause })
    this.name = new.target.name
    this.code = code
    this.detail = detail
    this.field = field
    this.outcome = outcome
  }
}

/** The request is wrong and stays wrong: correct the member that `field` names. */
export class InvalidRequest extends DuewheelError {}

/** The token is missing, invalid, or does not allow the call. */
export class Unauthorized extends DuewheelError {}

/** There is no such message, queue, schedule or watchdog, or it ended longer ago than outcomes are kept. */
export class NotFound extends DuewheelError {}

/** The call came too late or contradicts another one. `outcome` says what became of the message. */
export class Conflict extends DuewheelError {}

/** A limit or a full queue, until the deadline of the call. */
export class Throttled extends DuewheelError {}

/** The server could not answer until the deadline of the call. Whether it carried the call out is not known if the code is
 * `deadline`; the same put with the same key can be repeated. */
export class Unavailable extends DuewheelError {}

/** Whether the same request would be refused again: it is not only for now, and it is not about the token, which may become valid. */
export function isFinal(error: unknown): boolean {
  return !(error instanceof Unavailable || error instanceof Throttled || error instanceof Unauthorized)
}

const FAMILIES: Record<number, typeof DuewheelError> = {
  400: InvalidRequest, 401: Unauthorized, 403: Unauthorized, 404: NotFound, 409: Conflict, 410: NotFound, 413: InvalidRequest,
  414: InvalidRequest, 415: InvalidRequest, 429: Throttled,
}

/** The error for a problem document of the server. */
export function errorOf(problem: Problem): DuewheelError {
  const family = FAMILIES[problem.status] ?? Unavailable
  return new family(problem.code, problem.detail, problem.field, problem.outcome)
}

/** Whether one item of the answer to a batch is a refusal. */
export function isProblem(item: object): item is Problem {
  return 'code' in item
}
