import assert from 'node:assert/strict'
import test from 'node:test'

import { draftOf, groupDraftOf, groupPatchOf, patchOf } from './queue_draft'

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

test('limits and rates of a queue and of groups are patched one by one', () => {
  const limited = draftOf({ settings: { limits: { leased: 4 }, rate: { count: 10, per_ms: 60_000, burst: 2 }, groups: { leased: 2, rate: { count: 5 } } } })
  assert.deepEqual(patchOf(none, { ...none, leased: '3', pace: { count: '10', per: '1m', burst: '' }, groupLeased: '1' }), {
    limits: { leased: 3 }, rate: { count: 10, per: '1m' }, groups: { leased: 1 },
  })
  assert.deepEqual(patchOf(limited, { ...limited, pace: { ...limited.pace, count: '' }, groupPace: { count: '5', per: '1h', burst: '' } }), {
    rate: null, groups: { rate: { per: '1h' } },
  })
  const group = groupDraftOf({ settings: { leased: 5, weight: 2 } })
  assert.deepEqual(groupPatchOf(group, group), {})
  assert.deepEqual(groupPatchOf(group, { leased: '', weight: '3', pace: { count: '7', per: '', burst: '1' } }), { leased: null, weight: 3, rate: { count: 7, burst: 1 } })
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
