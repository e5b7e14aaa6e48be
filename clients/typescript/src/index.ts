/** Client and workers of Duewheel, a durable server for delayed and recurring messages. */

export { Duewheel } from './client.js'
export type {
  CallOptions, ClientOptions, ExtendOptions, FailOptions, LeaseOptions, ListOptions, MoveOptions, PutOptions, ReleaseOptions, Token, Which,
} from './client.js'
export type { Codec } from './codec.js'
export { Conflict, DuewheelError, InvalidRequest, NotFound, Throttled, Unauthorized, Unavailable, type Code } from './errors.js'
export { Lease, Message, Receipt } from './messages.js'
export type { Middleware, Outgoing } from './middleware.js'
export { Queue } from './queue.js'
export type { StandardSchema } from './schema.js'
export { Json, type Duration, type Instant } from './wire.js'
export type * as api from './openapi.js'
export type { Context } from './context.js'
export { Cancelled, Dead, Retry, Snooze, type CancelReason } from './outcomes.js'
export { Worker, type Handler, type Handlers, type WorkerOptions } from './worker.js'
export { checker } from './checker.js'
