// Tests of the parts that do no I/O, and of what workers do with odd handlers, against a real server.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { compiled } from './build.mjs'

const library = pathToFileURL(`${compiled()}/`).href
const load = (name) => import(library + name)
const { Acks } = await load('acks.js')
const { Attempts } = await load('attempts.js')
const { Beats } = await load('beats.js')
const { Conflict, Dead, Duewheel, InvalidRequest, Retry, Snooze, Unauthorized, Unavailable, Worker, checker } = await load('index.js')
const { decode, encode } = await load('json.js')
const { openTelemetry } = await load('opentelemetry.js')
const { shortened } = await load('outcomes.js')
const { Unreported } = await load('unreported.js')
const { members, milliseconds } = await load('wire.js')
const { TestServer } = await load('testing.js')

const refused = (code, field) => (error) => error.code === code && error.field === field

test('long integers survive, and texts that look like them stay texts', () => {
  const text = '{"a":9007199254740993,"b":-123456789012345678901234567890,"c":[0.1,1e+21],"d":"x, 12345678901234567890 \\" :1","e":12}'
  const value = decode(text)
  assert.deepEqual(value, { a: 9007199254740993n, b: -123456789012345678901234567890n, c: [0.1, 1e21], d: 'x, 12345678901234567890 " :1', e: 12 })
  assert.equal(encode(value), text)
  const large = { id: 12345678901234567n, text: 'long "text" \\ '.repeat(200_000) }
  assert.deepEqual(decode(encode(large)), large)
})

test('what is no JSON is refused with its place', () => {
  const self = {}
  self.me = [self]
  for (const [value, place] of [[undefined, 'data'], [{ a: [1, () => 1] }, 'data.a[1]'], [new Map(), 'data'], [{ p: Promise.resolve() }, 'data.p'], [NaN, 'data'],
    [{ bytes: new Uint8Array(1) }, 'data.bytes'], [new Date(NaN), 'data'], [Symbol('s'), 'data'], [self, 'data.me[0]']]) {
    assert.throws(() => encode(value), refused('not_json', place))
  }
  const nested = (levels) => (levels ? [nested(levels - 1)] : 1)
  assert.equal(encode(nested(32)).length, 65)
  assert.throws(() => encode(nested(33)), (error) => error.code === 'too_deep' && /is at level 33 of the data, and 32 are the limit/.test(error.detail))
  assert.equal(encode({ at: new Date(0), left: undefined, none: null }), '{"at":"1970-01-01T00:00:00.000Z","none":null}')
})

test('options become members, and names that the user chose stay', () => {
  const options = { delay: '1m', due: new Date(0), onKey: 'keep', headers: { aB: 'c' }, retry: { first: '1s' }, transaction: { checkBack: { after: '1m' } }, data: { orderId: 7 }, key: undefined }
  assert.deepEqual(members(options), {
    delay: '1m', due: '1970-01-01T00:00:00.000Z', on_key: 'keep', headers: { aB: 'c' }, retry: { first: '1s' }, transaction: { check_back: { after: '1m' } }, json: { orderId: 7 },
  })
  assert.deepEqual(members({ data: 'text' }), { body: 'text' })
  assert.deepEqual(members({ data: new Uint8Array([0, 255]) }), { body_base64: 'AP8=' })
  assert.throws(() => members({ due: new Date(NaN) }), refused('bad_instant', 'due'))
})

test('durations are read as the server reads them', () => {
  for (const [text, wanted] of [['250ms', 250], ['1.5s', 1500], ['3d12h', 302_400_000], ['PT1.5S', 1500], ['P1DT1M', 86_460_000], ['P2W', 1_209_600_000], ['1w', 604_800_000]]) assert.equal(milliseconds(text, 'wait'), wanted)
  for (const text of ['10', '', 'soon', '10 s', '-5s', 'P', undefined, null, 5, Symbol('s')]) assert.throws(() => milliseconds(text, 'wait'), refused('bad_duration', 'wait'))
})

test('attempts pause longer each time, and not beyond the deadline', () => {
  const attempts = new Attempts(new URL('http://a'), '/v1', 0, 10_000)
  const lost = new Error('reset')
  assert.deepEqual([1, 2, 3, 4, 5, 6, 7, 8].map(() => attempts.afterLoss(0, lost, 1)), [50, 100, 200, 400, 800, 1600, 2000, 2000])
  assert.equal(attempts.afterLoss(0, lost, 0), 1000)
  assert.equal(attempts.afterRefusal(0, lost, 5000, 0), 5000)
  const refusal = new Conflict('in_flight', 'later')
  assert.throws(() => attempts.afterRefusal(6000, refusal, 5000, 0), refusal)
  assert.throws(() => attempts.afterLoss(9500, lost, 0), (error) => error instanceof Unavailable && error.code === 'deadline' && /http:\/\/a: reset/.test(error.detail))
  assert.equal(attempts.remainingMs(4000), 6000)
})

test('redirects are followed to another node, but not for ever, and not to another scheme', () => {
  const attempts = new Attempts(new URL('http://a'), '/v1', 0, 1000)
  attempts.redirect('http://b:1/v1/x?y=z')
  assert.deepEqual([attempts.target.host, attempts.path], ['b:1', '/v1/x?y=z'])
  attempts.afterLoss(0, new Error('reset'), 0)
  assert.equal(attempts.target.host, 'a')
  assert.throws(() => attempts.redirect('file:///etc'), refused('too_many_redirects', undefined))
  assert.throws(() => { for (let n = 0; n < 5; n++) attempts.redirect('http://b') }, refused('too_many_redirects', undefined))
})

test('leases are extended together at a third of their length', () => {
  const beats = new Beats()
  beats.add('a', 30_000, 0)
  beats.add('b', 30_000, 1000)
  beats.add('c', 60_000, 0)
  assert.equal(beats.nextMs(), 10_000)
  assert.deepEqual(beats.begin(7000), [])
  const [extension, ...others] = beats.begin(10_000)
  assert.deepEqual([extension, others], [{ tokens: ['a', 'b'], leaseMs: 30_000 }, []])
  assert.equal(beats.nextMs(), 20_000) // of c: the others are in progress
  beats.remove('b')
  beats.finish(extension, true)
  assert.equal(beats.size, 2)
  for (let n = 0; n < 1001; n++) beats.add(`many ${n}`, 1000, 0)
  assert.deepEqual(beats.begin(334).map(({ tokens }) => tokens.length), [1000, 1])
})

test('what a handler says goes out within a second, and again after a failure, unless there is newer', () => {
  const beats = new Beats()
  beats.add('a', 30_000, 0)
  beats.say('a', { progress: 0.1, checkpoint: 1 }, 100)
  beats.say('a', { progress: 0.2 }, 200)
  beats.say('ended', { progress: 1 }, 200)
  assert.equal(beats.nextMs(), 1100)
  const [first] = beats.begin(1100)
  assert.deepEqual(first, { tokens: ['a'], leaseMs: 30_000, said: { progress: 0.2, checkpoint: 1 } })
  beats.say('a', { progress: 0.3 }, 1200)
  beats.finish(first, false)
  assert.deepEqual(beats.begin(2200)[0].said, { progress: 0.3, checkpoint: 1 })
})

// A worker without a valid token logged a line a second for each of up to a thousand messages.
test('outcomes that wait are said once, then less often, and when they are reported', () => {
  const lines = []
  const unreported = new Unreported((line) => lines.push(line))
  for (let second = 0; second < 8; second++) {
    for (const token of ['a', 'b', 'c']) unreported.add(token, 'forbidden', second * 1000)
  }
  assert.deepEqual(lines.splice(0), ['an outcome is not reported yet: forbidden', ...[1, 3, 7].map(() => '3 outcomes are not reported yet: forbidden')])
  for (const token of ['a', 'other', 'b', 'c', 'c']) unreported.remove(token)
  assert.deepEqual(lines.splice(0), ['no outcome waits to be reported any more'])
  unreported.add('a', 'busy', 8000)
  assert.deepEqual(lines, ['an outcome is not reported yet: busy'])
})

let server
before(async () => { server = await TestServer.start() })
after(() => server.stop())

const quiet = { log: () => {} }

/** The message after it was handled once by this handler. */
async function handled(handler, options = {}, data = {}, put = {}) {
  const queue = server.client.queue('odd', options.queue)
  const { id } = await server.client.put('odd', data, { retry: { attempts: 1 }, ...put })
  const worker = new Worker(queue, handler, { ...quiet, ...options })
  await worker.start()
  const message = await server.client.wait(id, { timeout: '20s' })
  await worker.stop({ timeout: '0s' })
  return message
}

test('whatever a handler throws is a reason', async () => {
  for (const [thrown, reason] of [[undefined, /threw undefined/], [null, /threw null/], ['no luck', /threw no luck/], [Symbol('odd'), /Symbol\(odd\)/], [{ status: 7 }, /\{"status":7\}/],
    [Object.create(null, { toJSON: { get() { throw new Error('trap') } } }), /no text/], [new RangeError('too far'), /RangeError: too far/]]) {
    assert.match((await handled(() => { throw thrown })).reason, reason)
  }
})

// A Proxy whose traps throw ended the process: it threw again where the worker looked at what was thrown.
test('nothing that a handler throws or returns ends the worker', async () => {
  const trap = () => { throw hostile }
  const hostile = new Proxy({}, { getPrototypeOf: trap, get: trap, has: trap, ownKeys: trap })
  assert.match((await handled(() => { throw hostile })).reason, /no text/)
  assert.match((await handled(() => hostile)).reason, /no text/)
  assert.match((await handled(() => { throw Object.assign(new Error('odd'), { stack: { toString: trap } }) }, { log: undefined })).reason, /Error: odd/)
  assert.match((await handled(() => { throw Object.assign(new Dead('x'), { message: 7 }) })).reason, /its outcome was refused/)
  assert.match((await handled(() => { throw new Error('odd') }, { log: trap })).reason, /odd/)
})

test('a duration that is none fails the attempt, and a long reason keeps its end', async () => {
  for (const [Outcome, value] of [[Snooze, '-5m'], [Snooze, undefined], [Snooze, 5], [Retry, '-5m']]) {
    assert.throws(() => (Outcome === Retry ? new Retry('why', { after: value }) : new Snooze(value)), (error) => error.code === 'bad_duration')
  }
  assert.match((await handled(() => { throw new Snooze('-5m') })).reason, /bad_duration/)
  assert.equal(shortened('\ud800'), '\ufffd')
  assert.equal(shortened('short'), 'short')
  const text = shortened(`begin ${'ä€𝄞'.repeat(1000)} end`)
  assert.ok(Buffer.byteLength(text) <= 4096 && Buffer.byteLength(text) > 4080 && /^begin .* … .* end$/.test(text) && !text.includes('\ufffd'))
  assert.match((await handled(() => { throw new Dead(`${'x'.repeat(3_000_000)} end`) })).reason, / end$/)
})

// One result that the server could not read failed all messages whose acks were in the same request.
test('a result that the server refuses fails its own message alone', async () => {
  await server.client.putMany('alone', Array.from({ length: 9 }, (_, n) => ({ data: n, retry: { attempts: 1 } })))
  const leases = await server.client.lease('alone', { max: 9 })
  const acks = new Acks(server.client)
  const results = await Promise.allSettled(leases.map(({ token, data }) => acks.ack(token, JSON.stringify(data === 4 ? '\ud800' : data))))
  assert.deepEqual(results.map(({ reason }) => reason?.code), leases.map(({ data }) => (data === 4 ? 'bad_json' : undefined)))
  assert.match((await handled(() => '\ud800')).reason, /its outcome was refused: bad_json/)
  let result = 1
  for (let level = 0; level < 30; level++) result = [result]
  assert.match((await handled(() => result)).reason, /its outcome was refused: .*is at level 30 of the result, and 29 are the limit/)
  assert.equal(JSON.stringify((await handled(() => result[0])).result), JSON.stringify(result[0]))
})

// A progress of more than 1 KiB was said again and again, was refused each time, and the lease was lost.
test('progress that the server refuses is dropped, and the lease is extended', async (t) => {
  const warnings = []
  let say, finish
  const begun = new Promise((resolve) => (say = resolve))
  const worker = new Worker(server.client.queue('said'), async (_, context) => {
    say((...said) => context.progress(...said))
    await new Promise((resolve) => (finish = resolve))
  }, { lease: '10m', log: (text) => warnings.push(text) })
  t.after(() => worker.stop())
  const { id } = await server.client.put('said', 1)
  await worker.start()
  const progress = await begun
  const until = async () => (await server.client.get(id)).raw.lease_until_ms
  for (const said of [['x'.repeat(2000)], [1, { checkpoint: 'x'.repeat(20_000) }], ['\ud800'], [JSON.parse('['.repeat(99) + ']'.repeat(99))]]) {
    const before = await until()
    await server.client.advance('1m')
    progress(...said)
    const deadlineMs = performance.now() + 10_000
    while (await until() === before) {
      assert.ok(performance.now() < deadlineMs, `not extended: ${warnings}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  finish()
  assert.equal((await server.client.wait(id)).state, 'done')
  assert.deepEqual(warnings.map((text) => /(\w+): /.exec(text.split('refused: ')[1].replace('InvalidRequest: ', ''))[1]), ['bad_progress', 'checkpoint_too_large', 'bad_json', 'too_deep'])
})

/** A client whose acks fail first with these errors. */
function failing(...errors) {
  const client = new Duewheel({ url: server.url })
  const { ackTexts } = client
  client.ackTexts = async (acks) => {
    const error = errors.shift()
    if (error) throw error
    return ackTexts.call(client, acks)
  }
  return client
}

// A token that was rotated too early lost the outcomes of all running handlers.
test('an outcome that is refused for its token is reported when the token is valid again', async () => {
  const client = failing(new Unauthorized('unknown_token', 'no'), new Unauthorized('forbidden', 'no'))
  const { id } = await server.client.put('rotated', 1)
  const worker = new Worker(client.queue('rotated'), () => 'done once', quiet)
  await worker.start()
  const message = await server.client.wait(id, { timeout: '20s' })
  await worker.stop()
  assert.deepEqual([message.result, message.attempts], ['done once', 1])
})

// A second signal ended run() while acks had no response yet, and the program exited with them.
test('a second signal waits for acks that are on their way, and a stop fails no success', async () => {
  for (const [error, state] of [[undefined, 'done'], [new Unavailable('deadline', 'no'), 'leased']]) {
    const client = failing()
    const { ackTexts } = client
    let open, asked
    const gate = new Promise((resolve) => (open = resolve))
    const acking = new Promise((resolve) => (asked = resolve))
    client.ackTexts = async (acks) => {
      asked()
      await gate
      if (error) throw error
      return ackTexts(acks)
    }
    if (error) Object.defineProperty(client, 'timeMs', { value: 10 })
    const { id } = await server.client.put('hurried', 1)
    let lease
    const running = new Worker(client.queue('hurried'), (_, context) => { lease = context.lease }, quiet).run()
    await acking
    process.emit('SIGTERM')
    process.emit('SIGTERM')
    const first = await Promise.race([running.then(() => 'ended'), new Promise((resolve) => setTimeout(resolve, 300, 'waits'))])
    if (!error) assert.equal(first, 'waits')
    open()
    await running
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal((await server.client.get(id)).state, state)
    if (error) await server.client.ack(lease)
  }
})

test('a result that is no JSON or too large fails visibly', async () => {
  assert.match((await handled(async () => ({ sent: Promise.resolve() }))).reason, /result\.sent/)
  assert.match((await handled(() => 'x'.repeat(70_000))).reason, /its outcome was refused: out_of_range/)
})

test('a handler that never returns fails after its timeout', async () => {
  const message = await handled(() => new Promise(() => {}), { timeout: '50ms' })
  assert.match(message.reason, /did not return within 50ms/)
  const polite = await handled((_, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))), { timeout: '50ms' })
  assert.match(polite.reason, /longer than its timeout/)
})

test('a handler that gives up at the end of a stop returns its message', async () => {
  const { id } = await server.client.put('stopping', 1, { retry: { attempts: 1 } })
  let begin
  const begun = new Promise((resolve) => (begin = resolve))
  const worker = new Worker(server.client.queue('stopping'), (_, { signal }) => new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
    begin()
  }), quiet)
  await worker.start()
  await begun
  await worker.stop({ timeout: '10ms' })
  const { state, raw } = await server.client.get(id)
  assert.deepEqual([state, raw.timeline[0].outcome], ['ready', 'released'])
  await assert.rejects(worker.start(), /make another one/)
})

// A signal that arrived while a worker was starting was lost, and the worker went on.
test('a worker that is stopped while it starts handles nothing', async () => {
  const worker = new Worker(server.client.queue('early'), () => {}, quiet).schedule('early', { every: '1d', data: 1 })
  const started = worker.start()
  await worker.stop()
  await started
  const { id } = await server.client.put('early', 1)
  assert.equal((await server.client.get(id, { wait: '200ms' })).state, 'ready')
})

// The kind of a put once took the place of the media type of its request.
test('a message of an unknown kind fails visibly', async () => {
  const handlers = { bill: () => 'billed', mail: () => 'sent' }
  assert.match((await handled(handlers, {}, {}, { kind: 'parcel' })).reason, /no handler for the kind `parcel`: there is bill, mail/)
  assert.match((await handled(handlers, {}, {}, { kind: 'constructor' })).reason, /no handler/)
  assert.equal((await handled(handlers, {}, {}, { kind: 'bill' })).result, 'billed')
})

test('data that does not match its schema is refused at the put, and fails its attempt at the worker', async () => {
  const validate = (value) => (typeof value?.to === 'string' ? { value: { ...value, checked: true } } : { issues: [{ message: 'a string is needed', path: ['to'] }] })
  const schema = { '~standard': { version: 1, vendor: 'test', validate } }
  await assert.rejects(server.client.queue('odd', { schema }).put({ to: 7 }), refused('bad_data', 'data.to'))
  assert.match((await handled(() => 'sent', { queue: { schema } }, { to: 7 })).reason, /data\.to: a string is needed/)
  assert.deepEqual((await handled((data) => data, { queue: { schema } }, { to: 'ann' })).result, { to: 'ann', checked: true })
})

test('middleware runs around puts, batches and handlers, and learns of dead letters', async () => {
  const seen = []
  const sealed = { // as encryption would
    put: ({ data, ...put }, next) => next({ ...put, data: { sealed: data } }),
    handle: (context, { sealed: data }, next) => next(data),
  }
  const watching = {
    async put(put, next) {
      if (put.data === 'refused') throw new Conflict('no', 'not that')
      seen.push(`put ${JSON.stringify(put.data)}`)
      return next(put.data === 'elsewhere' ? { ...put, queue: 'other' } : put)
    },
    async handle(context, data, next) {
      try {
        return await next(data)
      } catch (error) {
        seen.push(`threw ${error.message}`)
        throw error
      }
    },
    dead: (context, reason) => seen.push(`dead ${reason.split('\n')[0]}`),
  }
  const client = new Duewheel({ url: server.url, middleware: [watching, sealed] })
  const { id } = await client.put('mw', 'one', { retry: { attempts: 1 } })
  assert.deepEqual((await server.client.get(id)).data, { sealed: 'one' })
  const results = await client.putMany('mw', [{ data: 'refused' }, { data: 'two' }, { data: 'elsewhere' }, { data: 'bad', delay: '-1s' }])
  assert.deepEqual(results.map((each) => each.code ?? each.state), ['no', 'ready', 'ready', 'negative_duration'])
  await server.assertPut('other', { sealed: 'elsewhere' })
  const worker = new Worker(client.queue('mw'), (data) => {
    if (data === 'one') throw new Error('no luck')
    return data
  }, quiet)
  await worker.start()
  assert.equal((await server.client.wait(results[1].id)).result, 'two')
  await server.runUntilIdle('mw')
  await worker.stop()
  assert.deepEqual(seen, ['put "one"', 'put "two"', 'put "elsewhere"', 'put "bad"', 'threw no luck', 'dead Error: no luck'])
})

/** The parts of @opentelemetry/api that are used, which keep what they are given. */
class Telemetry {
  spans = []
  values = {}
  ROOT_CONTEXT = {}
  context = { active: () => this.ROOT_CONTEXT, with: (_, run) => run() }
  trace = {
    getTracer: () => ({
      startSpan: (name, { kind, links = [] }) => {
        const span = { name, kind, linked: links.map(({ context }) => context.name), attributes: {}, setAttribute: (key, value) => { span.attributes[key] = value },
          setStatus: ({ code }) => { span.code = code }, recordException: ({ message }) => { span.exception = message }, end: () => { span.ended = true } }
        this.spans.push(span)
        return span
      },
    }),
    setSpan: (_, span) => ({ span }),
    getSpanContext: ({ span }) => span,
  }
  propagation = {
    inject: ({ span }, carrier) => { carrier.traceparent = `00-${'1'.repeat(32)}-${String(this.spans.indexOf(span) + 1).padStart(16, '0')}-01` },
    extract: (_, { traceparent }) => ({ span: this.spans[Number(traceparent.split('-')[2]) - 1] }),
  }
  metrics = {
    getMeter: () => {
      const instrument = (name) => {
        const add = (value, attributes) => (this.values[name] ??= []).push([value, attributes['duewheel.outcome']])
        return { add, record: add }
      }
      return { createHistogram: instrument, createUpDownCounter: instrument }
    },
  }
}

test('a handler has a span that is linked to the put, and metrics', async () => {
  const telemetry = new Telemetry()
  const client = new Duewheel({ url: server.url, middleware: [openTelemetry(telemetry)] })
  const { id } = await client.put('traced', 'good', { retry: { attempts: 1 } })
  await client.putMany('traced', [{ data: 'bad', retry: { attempts: 1 } }])
  await assert.rejects(client.put('traced', 'early', { delay: '-1s' }), refused('negative_duration', 'delay'))
  const worker = new Worker(client.queue('traced'), (data) => {
    if (data === 'bad') throw new Error('no luck')
  }, quiet)
  await worker.start()
  await server.runUntilIdle('traced')
  await worker.stop()
  assert.deepEqual(telemetry.spans.map(({ name, kind, linked, code, exception, ended }) => [name, kind, linked.join(), code ?? 0, exception, ended]), [
    ['send traced', 3, '', 0, undefined, true], ['send traced', 3, '', 0, undefined, true], ['send traced', 3, '', 2, telemetry.spans[2].exception, true],
    ['process traced', 4, 'send traced', 0, undefined, true], ['process traced', 4, 'send traced', 2, 'no luck', true]])
  assert.equal(telemetry.spans[0].attributes['messaging.message.id'], id)
  assert.equal(telemetry.values['duewheel.worker.busy'].reduce((sum, [value]) => sum + value, 0), 0)
  assert.deepEqual(telemetry.values['messaging.process.duration'].map(([, outcome]) => outcome), ['done', 'failed'])
})

test('a test finds what was put, and says what is there instead', async () => {
  const due = new Date((await server.now()).getTime() + 7_200_000)
  await server.client.put('found', { to: 'ann' }, { due, key: 'k' })
  const message = await server.assertPut('found', { to: 'ann' }, { due, key: 'k' })
  assert.equal(message.state, 'scheduled')
  await assert.rejects(server.assertPut('found', { to: 'ben' }), /there is:\n  \{"to":"ann"\}, due 2/)
  await assert.rejects(server.assertPut('none', 1), /there is: none/)
})

test('a thousand puts at once share connections, and calls that wait do not hold them up', async () => {
  const waiting = Array.from({ length: 100 }, (_, n) => server.client.lease(`empty-${n}`, { wait: '5s' }))
  const receipts = await Promise.all(Array.from({ length: 1000 }, (_, n) => server.client.put('many', n, { delay: '1h' })))
  assert.equal(new Set(receipts.map(({ id }) => id)).size, 1000)
  const text = await (await fetch(`${server.url}/metrics`)).text()
  const connections = Number(/^duewheel_http_open_connections (\d+)/m.exec(text)?.[1])
  assert.ok(connections < 300, `${connections} connections`)
  await server.client.advance('6s')
  assert.deepEqual((await Promise.all(waiting)).flat(), [])
})

test('a call ends when its signal is aborted', async () => {
  const reason = new Error('changed my mind')
  const controller = new AbortController()
  const lease = server.client.lease('empty', { wait: '30s', signal: controller.signal })
  setImmediate(() => controller.abort(reason))
  await assert.rejects(lease, reason)
  await assert.rejects(server.client.put('odd', 1, { signal: AbortSignal.abort(reason) }), reason)
})

test('a prepared message is committed, rolled back, or decided by its checker', async (t) => {
  const transaction = { checkBack: { queue: 'checks', after: '1m' } }
  const state = async (id) => (await server.client.get(id)).state
  let id
  const parcel = (work) => server.client.transaction('parcels', { order: 7 }, { transaction }, async (receipt) => {
    id = receipt.id
    return work()
  })
  assert.equal(await parcel(() => 'paid'), 'paid')
  assert.equal(await state(id), 'ready')
  await assert.rejects(parcel(() => { throw new Error('no money') }), /no money/)
  assert.equal(await state(id), 'cancelled')
  const open = await server.client.put('parcels', { order: 8 }, { transaction })
  const worker = checker(server.client.queue('checks'), async ({ order }) => (order === 8 ? 'commit' : 'rollback'), quiet)
  t.after(() => worker.stop())
  await worker.start()
  await server.advance('61s')
  while (await state(open.id) === 'prepared') await new Promise((resolve) => setTimeout(resolve, 20))
  assert.equal(await state(open.id), 'ready')
})

test('a test skips a day, and a worker puts its schedule once', async (t) => {
  const runs = []
  const workers = [1, 2].map(() => new Worker(server.client.queue('reports'), (data, { lease }) => runs.push([data, lease.raw.occurrence]), quiet)
    .schedule('daily', { every: '1d', data: 'report' }))
  t.after(() => Promise.all(workers.map((worker) => worker.stop())))
  for (const worker of workers) await worker.start()
  await server.advance('1d')
  while (!runs.length) await new Promise((resolve) => setTimeout(resolve, 20))
  await server.runUntilIdle('reports')
  assert.deepEqual(runs, [['report', 1]])
  assert.equal((await server.messages('reports')).length, 0)
  await server.runUntilIdle('never-used')
})

test('SIGTERM finishes running handlers, and a second one releases what is left', async () => {
  const program = `
    import { Duewheel, Worker } from '${library}index.js'
    const queue = new Duewheel({ url: '${server.url}' }).queue('signals')
    await new Worker(queue, async (data) => {
      console.log('began ' + data)
      await new Promise((resolve) => setTimeout(resolve, data === 'short' ? 300 : 1e9))
    }, { lease: '10m' }).run()
    console.log('ended')
    process.exit()`
  for (const [data, signals, state] of [['short', 1, 'done'], ['long', 2, 'ready']]) {
    const { id } = await server.client.put('signals', data)
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: ['ignore', 'pipe', 'inherit'] })
    let ended = false
    for await (const line of createInterface({ input: child.stdout })) {
      ended ||= line === 'ended'
      if (!line.startsWith('began')) continue
      for (let n = 0; n < signals; n++) {
        child.kill('SIGTERM')
        await new Promise((resolve) => setTimeout(resolve, 50)) // two signals at once are one
      }
    }
    assert.ok(ended)
    const message = await server.client.get(id)
    assert.deepEqual([message.state, message.raw.timeline?.map(({ outcome }) => outcome)], [state, [data === 'short' ? 'done' : 'released']])
    if (state === 'ready') await server.client.cancel(id)
  }
})

test('a mistake in the options is an error at once', () => {
  const queue = server.client.queue('odd')
  assert.throws(() => new Worker(queue, () => {}, { concurrency: 0 }), refused('out_of_range', 'concurrency'))
  assert.throws(() => new Worker(queue, () => {}, { lease: 'long' }), (error) => error instanceof InvalidRequest && error.field === 'lease')
  assert.ok(new Snooze('1h').message.includes('1h'))
})
