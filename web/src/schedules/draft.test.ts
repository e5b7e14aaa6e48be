import assert from 'node:assert/strict'
import test from 'node:test'

import { NEW, patchOf, putOf, settingsOf, type Draft } from './draft'

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
