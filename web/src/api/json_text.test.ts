import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memberText, prettyJson } from './json_text'

test('a member is returned as it is written', () => {
  assert.equal(memberText('{"id": "1", "json": {"n": 12345678901234567890, "json": 2} , "x": 1}', 'json'), '{"n": 12345678901234567890, "json": 2}')
  assert.equal(memberText('{"body": "\\"json\\": 1, }", "json": [1, {"a": "}"}]}', 'json'), '[1, {"a": "}"}]')
  assert.equal(memberText('{"json": "json"}', 'json'), '"json"')
  assert.equal(memberText('{"other": {"json": 1}}', 'json'), undefined)
  assert.equal(memberText('{}', 'json'), undefined)
})

test('indentation changes nothing but whitespace', () => {
  const text = '{"a":[1.00,2e400,{}],"a":"x, {y}: \\" [","b":{ },"c":[ ],"d":null}'
  assert.equal(prettyJson(text), '{\n  "a": [\n    1.00,\n    2e400,\n    {}\n  ],\n  "a": "x, {y}: \\" [",\n  "b": {},\n  "c": [],\n  "d": null\n}')
  assert.equal(prettyJson(prettyJson(text)), prettyJson(text))
})

test('text that is not JSON comes through', () => {
  assert.equal(prettyJson('}{"').replace(/\s/g, ''), '}{"')
  assert.equal(prettyJson(''), '')
})
