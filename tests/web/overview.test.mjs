// The first page: an operator sees which queue is late, and why. And what all charts draw.
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { test } from 'node:test'
import { checkLooks, eventually, useBrowser, useDaemon, waitForText, withPage } from './browser.mjs'

useBrowser()
const daemon = useDaemon(['--test-clock'])

const attention = (page) => page.getByRole('table', { name: 'What needs attention' }).getByRole('row')
const line = (page, queue) => attention(page).filter({ has: page.getByRole('link', { name: queue, exact: true }) })

test('an empty server needs no attention', () =>
  withPage(daemon, '', {}, async (page) => {
    await page.getByText('Nothing. No queue is late, and no message is dead.').waitFor()
    await page.getByText('No queue yet.').waitFor()
    await page.getByText('The server is healthy').waitFor()
  }))

test('late queues come with the reason, and dead letters with their number', async () => {
  await daemon.put('mail', { body: 'no consumer takes it' })
  await daemon.put('letters', { body: 'paused' })
  await daemon.call('POST', '/v1/queues/letters:pause')
  await daemon.putDead('fragile')
  await daemon.put('in-time', { body: 'due tomorrow', delay: '1d' })
  await daemon.call('POST', '/v1/clock:advance', { by: '10m' })
  await withPage(daemon, '', {}, async (page) => {
    await waitForText(line(page, 'mail'), /10 min.*No consumer leases from it/)
    await waitForText(line(page, 'letters'), /10 min.*Paused/)
    await waitForText(line(page, 'fragile'), '1 dead letter')
    await page.getByText('The server needs attention').waitFor()
    await line(page, 'mail').getByRole('link', { name: 'mail' }).click()
    await waitForText(page.locator('main h1'), 'mail')
    await waitForText(page.locator('.about'), 'No consumer leases from it')
  })
})

test('a late queue is found among hundreds of busier ones', async () => {
  for (let first = 0; first < 240; first += 40) {
    await Promise.all(Array.from({ length: 40 }, async (_, index) => {
      for (let count = 0; count < 3; count++) await daemon.put(`busy-${first + index}`, { body: 'x', delay: '9d' })
    }))
  }
  await daemon.put('zz-quiet', { body: 'no consumer takes it' })
  await daemon.call('POST', '/v1/clock:advance', { by: '3m' })
  await withPage(daemon, '', {}, async (page) => {
    await waitForText(line(page, 'zz-quiet'), /3 min.*No consumer leases from it/)
    await line(page, 'zz-quiet').getByRole('link', { name: 'zz-quiet' }).click()
    await waitForText(page.locator('.about'), /3 min.* late.*No consumer leases from it/)
  })
  const { messages } = await daemon.call('GET', '/v1/queues/zz-quiet/messages')
  await daemon.call('DELETE', `/v1/messages/${messages[0].id}`)
})

test('the counters move without a reload', () =>
  withPage(daemon, '', {}, async (page) => {
    const pending = page.locator('.figure', { hasText: 'Pending' }).locator('.figure-value')
    // On a busy machine the first figure may be older than the last change of the test before.
    const { pending: first } = await daemon.call('GET', '/v1/stats')
    await waitForText(pending, String(first))
    await daemon.put('mail', { body: 'one more', delay: '1h' })
    await waitForText(pending, String(first + 1))
  }))

test('a queue of another namespace is led to in its namespace', async () => {
  await daemon.call('POST', '/v1/namespaces/team/queues/post/messages', { body: 'x' })
  await withPage(daemon, '', {}, async (page) => {
    await page.getByRole('table', { name: 'Busiest queues' }).getByRole('link', { name: /post/ }).click()
    await waitForText(page.locator('main h1'), 'post')
    await waitForText(page.locator('.namespace'), 'team')
    await page.getByRole('link', { name: 'Messages', exact: true }).click()
    await waitForText(page.locator('.namespace'), 'team')
  })
})

// At 1280 pixels, eight figures were in a row, and the free disk stood alone in the next one.
test('no figure stands alone in a row', () =>
  withPage(daemon, '', {}, async (page) => {
    const figures = page.locator('.figure')
    await figures.first().waitFor()
    for (const width of [400, 720, 881, 1024, 1280, 1440, 1680]) {
      await page.setViewportSize({ width, height: 800 })
      const places = await figures.evaluateAll((all) => all.map((one) => one.getBoundingClientRect()).map(({ top, width }) => ({ top, width })))
      const rows = new Map()
      for (const { top, width: own } of places) rows.set(top, [...(rows.get(top) ?? []), own])
      const alone = [...rows.values()].filter((row) => row.length === 1 && row[0] < width / 2)
      assert.deepEqual(alone, [], `${places.length} figures in ${rows.size} rows, ${width} pixels wide`)
    }
  }))

test('it can be read by all, in both themes and in a narrow window', () =>
  checkLooks(daemon, '', (page) => page.getByRole('table').first().waitFor()))

// ---- charts

const NOW_MS = Date.UTC(2026, 10, 29, 9, 0, 0)
const MINUTE_MS = 60_000
const json = (value) => (route) => route.fulfill({ json: value })
// With a folder here, pictures of the charts are written into it.
const PICTURES = process.env.DUEWHEEL_CHART_PICTURES

/** Keeps the texts that each canvas shows, with their left and right ends. */
function recordTexts() {
  const { clearRect, fillText } = CanvasRenderingContext2D.prototype
  CanvasRenderingContext2D.prototype.clearRect = function (...place) {
    this.canvas.texts = []
    return clearRect.apply(this, place)
  }
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    const width = this.measureText(text).width
    const left = this.getTransform().e + x - { left: 0, start: 0, center: width / 2, right: width, end: width }[this.textAlign]
    this.canvas.texts?.push({ text, left, right: left + width, axis: this.textAlign === 'center' ? 'time' : 'value' })
    return fillText.call(this, text, x, y)
  }
}

async function checkCharts(page, count, what) {
  const charts = page.locator('.chart canvas')
  await eventually(`${count} charts`, async () => (await charts.count()) === count)
  const drawn = () => charts.evaluateAll((all) => all.map(({ width, texts = [] }) => ({ width, texts })))
  await eventually('the charts are drawn', async () => (await drawn()).every(({ texts }) => texts.length > 1))
  if (PICTURES) {
    mkdirSync(PICTURES, { recursive: true })
    await page.locator('main').screenshot({ path: `${PICTURES}/${what}.png` })
  }
  const values = []
  for (const { width, texts } of await drawn()) {
    for (const axis of ['time', 'value']) {
      const marks = texts.filter((one) => one.axis === axis).map(({ text }) => text)
      assert.equal(new Set(marks).size, marks.length, `${what}: a repeated mark in ${marks}`)
    }
    for (const { text, left, right } of texts) assert.ok(left >= 0 && right <= width, `${what}: "${text}" is cut, from ${left} to ${right} of ${width}`)
    values.push(texts.filter(({ axis }) => axis === 'value').map(({ text }) => text))
  }
  return values
}

// The axis of lateness showed "in 20 sec" for "3 min 20 sec", one message had the axis "1 1 1 0 0 0", rates "10 8 5 3 0", and
// a time axis the same second five times.
test('the marks of all charts are whole, different, and not cut', async () => {
  await daemon.put('charts', { body: 'x', delay: '1h' })
  const { queues: _, ...stats } = await daemon.call('GET', '/v1/stats')
  const cases = [
    { value: 0, lateness: 0, range: 'hour', marks: ['0', '1'] }, { value: 1, lateness: 1, range: 'two', marks: ['0', '1'] },
    { value: 3, lateness: 3, range: 'six', marks: ['0', '1', '2', '3'] }, { value: 10_000, lateness: 200_000, range: 'month' },
  ]
  for (const language of ['en-GB', 'zh-CN']) {
    await withPage(daemon, '#/access', { language, expected: [/v1\/events/] }, async (page) => {
      let current = cases.at(-1)
      let polls = 0
      const row = (minute) => ({ time_ms: NOW_MS - minute * MINUTE_MS, count: 1, p50_ms: current.lateness / 2, p99_ms: current.lateness, max_ms: current.lateness, wait_p50_ms: 0, wait_p99_ms: current.lateness })
      await page.addInitScript(recordTexts)
      await page.route('**/v1/events*', (route) => route.abort())
      await page.route('**/v1/lateness*', (route) => json({ row_ms: MINUTE_MS, from_ms: NOW_MS - 60 * MINUTE_MS, until_ms: NOW_MS, rows: [40, 39, 20, 1].map(row) })(route))
      await page.route('**/v1/stats*', (route) => {
        polls += 1
        return json({ ...stats, queues: [], server_time_ms: NOW_MS + polls * 2000, accepted: polls * 2 * current.value, delivered: polls * current.value })(route)
      })
      await page.route('**/v1/forecast*', (route) => {
        const query = new URL(route.request().url()).searchParams
        const step_ms = parseInt(query.get('step'), 10) * MINUTE_MS
        const minutes = Array.from({ length: (Number(query.get('minutes')) * MINUTE_MS) / step_ms }, (_one, index) => {
          const due = index % 7 === 3 ? current.value : 0
          return { start_ms: NOW_MS + index * step_ms, due, scheduled: due, retrying: 0, recurring: 0, runs: 0 }
        })
        return json({ now_ms: NOW_MS, exact: true, total: { due: 0 }, minutes })(route)
      })
      await page.reload()
      for (current of language === 'en-GB' ? cases : cases.slice(-1)) {
        await page.goto(`${daemon.url}/#/queues/charts`)
        await checkCharts(page, 2, `queue ${language} ${current.lateness}`)
        await page.goto(`${daemon.url}/#/timeline?range=${current.range}`)
        const [marks] = await checkCharts(page, 1, `timeline ${language} ${current.value}`)
        if (current.marks) assert.deepEqual(marks.toSorted(), current.marks)
      }
      await page.goto(`${daemon.url}/#/`)
      await checkCharts(page, 3, `overview ${language}`)
      await page.setViewportSize({ width: 400, height: 800 })
      await page.goto(`${daemon.url}/#/timeline?range=two`)
      await checkCharts(page, 1, `timeline ${language} narrow`)
    })
  }
})
