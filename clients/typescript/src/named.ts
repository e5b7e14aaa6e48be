/** Queues, schedules and watchdogs: what has a name and settings. Documents are those of the HTTP API, with its names. */

import type { CallOptions, Duewheel } from './client.js'
import type * as api from './openapi.js'
import { members, segment, type Duration, type OptionsOf } from './wire.js'

type Kind = 'queues' | 'schedules' | 'watchdogs'
/** Settings of a patch: absent ones stay as they are, and null removes one. */
export type Changes<Settings> = { [K in keyof Settings]?: Settings[K] | null }

export class Named<Settings extends object, Document> {
  constructor(protected readonly client: Duewheel, protected readonly kind: Kind) {}

  /** Creates it, or replaces all its settings. */
  set(name: string, settings: Settings, options?: CallOptions): Promise<Document> {
    return this.client.call('PUT', this.path(name), members(settings), {}, options) as Promise<Document>
  }

  /** Changes some settings, and leaves the others. */
  change(name: string, settings: Changes<Settings>, options?: CallOptions): Promise<Document> {
    return this.client.call('PATCH', this.path(name), members(settings), {}, options) as Promise<Document>
  }

  get(name: string, options?: CallOptions): Promise<Document> {
    return this.client.call('GET', this.path(name), undefined, {}, options) as Promise<Document>
  }

  /** `removed` says whether it existed. */
  delete(name: string, options?: CallOptions): Promise<{ removed: boolean }> {
    return this.client.call('DELETE', this.path(name), undefined, {}, options) as Promise<{ removed: boolean }>
  }

  /** All of them by name, page by page. */
  async *list(options: CallOptions & { page?: number } = {}): AsyncGenerator<Document, void, undefined> {
    let cursor = {}
    for (;;) {
      const answer = await this.client.call('GET', `/${this.kind}`, undefined, { limit: options.page ?? 100, ...cursor }, options) as Record<string, unknown>
      yield* answer[this.kind] as Document[]
      if (answer['cursor'] === undefined) return
      cursor = { cursor: answer['cursor'] }
    }
  }

  protected path(name: string): string {
    return `/${this.kind}/${segment(name)}`
  }

  protected act(name: string, verb: string, settings?: object, options?: CallOptions): Promise<unknown> {
    return this.client.call('POST', `${this.path(name)}:${verb}`, settings && members(settings), {}, options)
  }
}

export class Queues extends Named<OptionsOf<api.QueueSettings>, api.Queue> {
  /** Consumers wait until the queue is resumed. */
  pause(name: string, options?: CallOptions): Promise<api.Queue> { return this.act(name, 'pause', undefined, options) as Promise<api.Queue> }
  resume(name: string, options?: CallOptions): Promise<api.Queue> { return this.act(name, 'resume', undefined, options) as Promise<api.Queue> }
  /** Delivers nothing of a group of the queue for this time, such as after a 429 of a customer's API. "0s" ends it. */
  backOffGroup(name: string, group: string, time: Duration, options?: CallOptions): Promise<api.Group> {
    return this.client.call('POST', `${this.path(name)}/groups/${segment(group)}:backoff`, { for: time }, {}, options) as Promise<api.Group>
  }
  /** Cancels all messages that the queue has now. */
  purge(name: string, options?: CallOptions): Promise<api.Queue> { return this.act(name, 'purge', undefined, options) as Promise<api.Queue> }
  /** Returns dead letters to the queue. */
  redrive(name: string, settings: OptionsOf<api.Redrive> & CallOptions = {}): Promise<api.RedriveResponse> {
    return this.act(name, 'redrive', settings, settings) as Promise<api.RedriveResponse>
  }
  /** Ends the dead letters of the queue for good. */
  discard(name: string, settings: OptionsOf<api.Discard> & CallOptions = {}): Promise<api.Queue> {
    return this.act(name, 'discard', settings, settings) as Promise<api.Queue>
  }
}

export type ScheduleSettings = OptionsOf<api.ScheduleSettings> & { data?: unknown }

export class Schedules extends Named<ScheduleSettings, api.Schedule> {
  pause(name: string, options?: CallOptions): Promise<api.Schedule> { return this.act(name, 'pause', undefined, options) as Promise<api.Schedule> }
  resume(name: string, options?: CallOptions): Promise<api.Schedule> { return this.act(name, 'resume', undefined, options) as Promise<api.Schedule> }
  /** Creates a run now. A response that was lost may mean two runs: its repetition creates another one. */
  fire(name: string, options?: CallOptions): Promise<api.PutResponse> { return this.act(name, 'fire', undefined, options) as Promise<api.PutResponse> }
  /** Its next times, with explanations. */
  preview(name: string, options: CallOptions & { count?: number } = {}): Promise<api.Preview> {
    return this.client.call('GET', `${this.path(name)}:preview`, undefined, members({ count: options.count }), options) as Promise<api.Preview>
  }
}

export class Watchdogs extends Named<OptionsOf<api.WatchdogPut> & { data?: unknown }, api.Watchdog> {
  /** Says that all is well; the watchdog fires `timeout` after the last feed. */
  feed(name: string, options?: CallOptions): Promise<api.FeedResponse> { return this.act(name, 'feed', undefined, options) as Promise<api.FeedResponse> }
}
