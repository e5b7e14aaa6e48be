import assert from 'node:assert/strict'
import test from 'node:test'

import { draftOf, patchOf } from './queue_draft'

const none = draftOf({ settings: {} })
const posted = draftOf({
  settings: {
    lease_ms: 90_000, retry: { first_ms: 10_000, factor: 1.5 }, limits: { pending: 10 },
    target: { webhook: { url: 'https://a.example/in', secrets: ['new', 'old'], headers: { Authorization: '***', 'X-Team': '***' }, rate: 20 } },
  },
})

test('a patch has what has changed, and null for what is empty now', () => {
  assert.deepEqual(patchOf(posted, posted), {})
  assert.deepEqual(patchOf(none, { ...none, first: '10s', factor: '1.5', jitter: '0', max: 'never' }), { retry: { first: '10s', factor: 1.5, jitter: 0, max: 'never' } })
  assert.deepEqual(patchOf(posted, { ...posted, lease: '', first: '', pending: ' 20 ', rate: '' }), {
    lease: null, retry: { first: null }, limits: { pending: 20 }, target: { webhook: { rate: null } },
  })
})

test('headers are added, changed and removed by name; the others stay', () => {
  const [authorization, team] = posted.headers
  assert.deepEqual(patchOf(posted, { ...posted, headers: [authorization!, { ...team!, value: 'b' }, { name: ' X-New ', value: '1', kept: false }] }), {
    target: { webhook: { headers: { 'X-Team': 'b', 'X-New': '1' } } },
  })
  assert.deepEqual(patchOf(posted, { ...posted, headers: [authorization!] }), { target: { webhook: { headers: { 'X-Team': null } } } })
})

test('the target changes its kind', () => {
  assert.deepEqual(patchOf(none, { ...none, target: 'webhook', url: 'https://a.example/in', secrets: 'a, b' }), {
    target: { webhook: { url: 'https://a.example/in', secrets: ['a', 'b'] } },
  })
  assert.deepEqual(patchOf(posted, { ...posted, target: 'pull' }), { target: 'pull' })
  const kafka = draftOf({ settings: { target: { kafka: { topic: 't' } } } })
  assert.deepEqual(patchOf(kafka, { ...kafka, lease: '1m' }), { lease: '1m' })
  assert.deepEqual(patchOf(kafka, { ...kafka, target: 'webhook', url: 'https://a.example/in' }), { target: { kafka: null, webhook: { url: 'https://a.example/in' } } })
})
