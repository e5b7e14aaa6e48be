import assert from 'node:assert/strict'
import test from 'node:test'

import { parseMetrics } from './metrics_text'

test('values without labels, and the use of limits, the fullest first', () => {
  const { values, limits } = parseMetrics(`# HELP duewheel_disk_free_bytes Free space.
# TYPE duewheel_disk_free_bytes gauge
duewheel_disk_free_bytes 6.4e10
duewheel_clock_ahead_seconds -0.25
duewheel_queue_ready{namespace="default",queue="a b"} 7
duewheel_limit{limit="limits.queues_max"} 100000
duewheel_limit{limit="limits.leased_max"} 100
duewheel_limit{limit="limits.body_max"} 1048576
duewheel_limit_use{limit="limits.queues_max"} 10
duewheel_limit_use{limit="limits.leased_max"} 50
duewheel_limit_use{limit="http.connections_max"} 0
`)
  assert.equal(values.get('duewheel_disk_free_bytes'), 6.4e10)
  assert.equal(values.get('duewheel_clock_ahead_seconds'), -0.25)
  assert.equal(values.has('duewheel_queue_ready'), false)
  assert.deepEqual(limits.map(({ name }) => name), ['limits.leased_max', 'limits.queues_max'])
})
