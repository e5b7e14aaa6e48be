import assert from 'node:assert/strict'
import test from 'node:test'

import { reasonKind, reasonLine } from './reason'

test('the line that says what happened', () => {
  assert.equal(reasonLine('connection refused'), 'connection refused')
  assert.equal(reasonLine('Traceback (most recent call last):\n  File "work.py", line 3\nValueError: no such order\n'), 'ValueError: no such order')
  assert.equal(reasonLine('java.lang.IllegalStateException: closed\n\tat a.B.c(B.java:7)\n\t... 3 more'), 'java.lang.IllegalStateException: closed')
  assert.equal(reasonLine('TypeError: x is undefined\n    at work (work.js:1:2)'), 'TypeError: x is undefined')
  assert.equal(reasonLine(' \n'), '')
})

test('reasons that differ in numbers and ids are of one kind', () => {
  assert.equal(reasonKind('order 17 not found'), reasonKind('order 2048 not found'))
  assert.equal(reasonKind('order 17 not found'), 'order … not found')
  assert.equal(reasonKind('connect 10.0.0.7:25: refused'), 'connect …: refused')
  assert.equal(reasonKind('no user 3f2c1a9e-77aa-4b01-9e11-0123456789ab'), 'no user …')
  assert.equal(reasonKind('a bad face'), 'a bad face')
})
