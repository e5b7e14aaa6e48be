// What must compile and what must not, with the installed package: readme_test.mjs compiles it.
import { Duewheel, Worker, type Context, type PutOptions, type StandardSchema } from 'duewheel'

interface Email { to: string }
declare const client: Duewheel
const mail = client.queue<Email>('mail')

export const right: PutOptions = {
  delay: '3d12h', within: '1m', due: new Date(), expiresIn: '1h', onKey: 'replace', orderKey: 'order 7', group: 'customer 7', priority: -1, held: true, kind: 'bill',
  headers: { a_b: 'c' }, retry: { attempts: 3, first: '10s', max: '1h', jitter: 0 }, repeat: { every: '1h', times: 3 },
  transaction: { checkBack: { queue: 'checks', after: '1m' }, otherwise: 'commit' },
}
// @ts-expect-error: a bare number is no duration
export const bare: PutOptions = { delay: 10 }
// @ts-expect-error: there is no such option
export const misspelt: PutOptions = { dleay: '10s' }
// @ts-expect-error: there is no such unit
export const unit: PutOptions = { delay: '10 minutes' }
// @ts-expect-error: the twins in milliseconds are no options
export const twin: PutOptions = { delayMs: 10 }
// @ts-expect-error: the data has another type than the messages of the queue
export const data = mail.put({ from: 'ann' })

export const worker = new Worker(mail, async (email, ctx) => {
  const to: string = email.to
  await fetch(`http://127.0.0.1/${to}`, { signal: ctx.signal })
  return { sent: true }
}, { concurrency: 20, lease: '1m' }).schedule('daily', { cron: '0 9 * * *', zone: 'Europe/Berlin', data: { to: 'all' } })
// @ts-expect-error: the handler takes another type
export const other = new Worker(mail, (email: { from: string }, _: Context) => email.from)

declare const schema: StandardSchema<Email>
const checked = client.queue('mail', { schema })
export const inferred = checked.put({ to: 'ann' })
// @ts-expect-error: the type comes from the schema
export const mismatched = checked.put({ to: 7 })

void client.queues.change('mail', { limits: { pending: 5 }, retry: null })
void client.watchdogs.set('backup', { queue: 'alarms', timeout: '25h', repeatEvery: '1h', data: 'no backup' })
