// A server with 100,000 queues and a million pending messages: the pages load what they show and no more.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { checkWidth, eventually, useBrowser, useDaemon, waitForText, withPage } from './browser.mjs'

const QUEUES = 99_000
const MESSAGES = 1_000_000
const BATCH = 1000
const AT_ONCE = 500

useBrowser()
const daemon = useDaemon()

/** Sends requests over one connection without waiting for each answer; resolves when all are answered with this status. */
function pipeline(count, request, status) {
  return new Promise((resolve, reject) => {
    const socket = connect(daemon.port, '127.0.0.1')
    const mark = `HTTP/1.1 ${status} `
    let sent = 0
    let answered = 0
    let rest = ''
    const send = () => {
      const requests = []
      while (sent < count && sent < answered + AT_ONCE) requests.push(request(sent++))
      if (requests.length > 0) socket.write(requests.join(''))
    }
    socket.setEncoding('utf8')
    socket.on('connect', send)
    socket.on('error', reject)
    socket.on('close', () => reject(new Error(`the server closed the connection after ${answered} answers: ${rest}`)))
    socket.on('data', (text) => {
      const pieces = (rest + text).split(mark)
      answered += pieces.length - 1
      // A mark may arrive in two parts.
      rest = pieces.at(-1).slice(-mark.length)
      if (answered === count) {
        socket.removeAllListeners('close')
        socket.end()
        resolve()
      } else send()
    })
  })
}

function post(path, type, body) {
  return `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

test('the server takes them', { timeout: 900_000 }, async () => {
  const name = (index) => `queue-${String(index).padStart(6, '0')}`
  await pipeline(QUEUES, (index) => post(`/v1/queues/${name(index)}/messages`, 'application/json', '{"body": "x", "delay": "1d"}'), 201)
  const start = Date.now() + 3_600_000
  const line = (index) => `{"body": "x", "due": "${new Date(start + index * 80).toISOString()}"}`
  const lines = (batch) => Array.from({ length: BATCH }, (_, index) => line(batch * BATCH + index)).join('\n')
  for (let batch = 0; batch < MESSAGES / BATCH; batch++) {
    await pipeline(1, () => post('/v1/queues/big/messages:batch', 'application/x-ndjson', lines(batch)), 200)
  }
})

test('the overview counts them', () =>
  withPage(daemon, '', {}, async (page) => {
    await waitForText(page.locator('.figure', { hasText: 'Pending' }), /1\.1m/i)
    await waitForText(page.locator('.figure', { hasText: 'Pending' }), '99,001 queues')
    await checkWidth(page)
  }))

test('a late queue and a dead letter are found among them', async () => {
  await daemon.putDead('queue-077777')
  await daemon.put('zz-late', { body: 'x', due: new Date(Date.now() - 600_000).toISOString() })
  await withPage(daemon, '', {}, async (page) => {
    const table = page.getByRole('table', { name: 'What needs attention' })
    await waitForText(table.getByRole('row').filter({ hasText: 'zz-late' }), /10 min.*No consumer leases from it/)
    await waitForText(table.getByRole('row').filter({ hasText: 'In other queues.' }), '1 dead letter')
  })
})

test('queues are paged and searched by the server', () =>
  withPage(daemon, '#/queues', {}, async (page) => {
    await waitForText(page.locator('tbody'), 'queue-000000')
    assert.equal(await page.locator('tbody tr').count(), 50)
    await page.keyboard.press('/')
    await page.keyboard.type('queue-098765')
    await eventually('one is found', async () => (await page.locator('tbody tr').count()) === 1)
    await page.getByRole('link', { name: 'queue-098765' }).click()
    await waitForText(page.locator('.figure', { hasText: 'Pending' }), '1')
  }))

test('the messages of a full queue are paged, and narrowed by their due time', () =>
  withPage(daemon, '#/messages?queue=big', {}, async (page) => {
    await eventually('a page is full', async () => (await page.locator('tbody tr').count()) === 50)
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByText('Page 2').waitFor()
    await eventually('a page is full', async () => (await page.locator('tbody tr').count()) === 50)
  }))
