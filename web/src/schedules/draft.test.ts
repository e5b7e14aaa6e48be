import assert from 'node:assert/strict'
import test from 'node:test'

import { durationMs, NEW, patchOf, putOf, settingsOf, type Draft } from './draft'

const nightly: Draft = { ...NEW, name: 'nightly', queue: 'jobs', cron: '30 2 * * *', zone: 'Europe/Oslo', closed: '12-25', body: undefined }

test('a put has the rule of the chosen kind, and no empty members', () => {
  assert.deepEqual(putOf({ ...NEW, queue: ' jobs ', kind: 'every', every: '10s', body: 'x' }), {
    queue: 'jobs', every: '10s', misfire: 'once', overlap: 'allow', body: 'x',
  })
  assert.deepEqual(settingsOf({ ...nightly, times: '3', jitter: '5m' }), {
    queue: 'jobs', cron: '30 2 * * *', zone: 'Europe/Oslo', closed: '12-25', dst: 'shift', dst_repeat: 'first', misfire: 'once', overlap: 'allow',
    times: 3, jitter: '5m',
  })
})

test('a patch has what has changed, and null for what is empty now', () => {
  assert.deepEqual(patchOf(nightly, nightly), {})
  assert.deepEqual(patchOf(nightly, { ...nightly, closed: '', times: '5', dst_repeat: 'both' }), { closed: null, times: 5, dst_repeat: 'both' })
})

test('a rule of another kind replaces the rule, and the clock policies go with it', () => {
  assert.deepEqual(patchOf(nightly, { ...nightly, kind: 'every', every: '1h' }), { every: '1h' })
})

test('the content is only in the patch if it was edited', () => {
  assert.deepEqual(patchOf(nightly, { ...nightly, body: 'new' }), { body: 'new' })
  assert.deepEqual(patchOf(nightly, { ...nightly, body: '{}', content_type: 'application/json' }), { body: '{}', content_type: 'application/json' })
})

test('a duration is read as the API writes it', () => {
  assert.deepEqual(['10s', '1d12h', '250ms', '0s', '10', '1x', 'PT1S', ''].map(durationMs), [10_000, 129_600_000, 250, 0, undefined, undefined, undefined, undefined])
  assert.deepEqual(['1.5s', '2m0.5s', '1800.0s', '0.29s', '1.5h', '2w', '1.0005s', '1.5h1m', '1.s'].map(durationMs), [1500, 120_500, 1_800_000, 290, 5_400_000, 1_209_600_000, undefined, undefined, undefined])
})
