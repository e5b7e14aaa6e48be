// Dead letters: which queues have some, why they died, and the actions.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkLooks, eventually, useBrowser, useDaemon, waitForText, withPage } from './browser.mjs'

useBrowser()
const daemon = useDaemon()
const dialog = (page) => page.getByRole('dialog')

test('a server without dead letters says so', () =>
  checkLooks(daemon, '#/dead', (page) => waitForText(page.locator('.empty'), /No dead letters|没有死信/)))

test('queues and dead letters in both themes and languages, and in a narrow window', async () => {
  for (let number = 0; number < 3; ++number) await daemon.putDead('mail', `letter ${number}`, 'connection refused: smtp.example.org:25')
  await daemon.putDead('größe/a', 'x', `<img src=x onerror="alert(1)"> \u202e${'long '.repeat(150)}`)
  await checkLooks(daemon, '#/dead', (page) => page.getByRole('link', { name: 'mail' }).waitFor())
  await checkLooks(daemon, '#/dead?queue=gr%C3%B6%C3%9Fe%2Fa', (page) => waitForText(page.locator('.table'), '<img src=x onerror'))
})

test('the queues are found by name', () =>
  withPage(daemon, '#/dead', {}, async (page) => {
    await waitForText(page.locator('.figure-value').first(), '4')
    await page.keyboard.press('/')
    await page.keyboard.type('größe')
    await page.getByRole('link', { name: 'mail' }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'größe/a' }).click()
    await waitForText(page.locator('main h1'), 'Dead letters of größe/a')
    await waitForText(page.locator('.table'), 'U+202E')
    await page.getByRole('button', { name: /^Show all/ }).click()
    await waitForText(page.locator('.table'), /(long ){150}/)
  }))

test('one dead letter is redriven at once, and one discarded after a question', () =>
  withPage(daemon, '#/dead?queue=mail', {}, async (page) => {
    const rows = page.locator('.table tbody tr')
    await rows.nth(2).waitFor()
    await waitForText(rows.first(), 'connection refused: smtp.example.org:25')
    await rows.first().getByRole('button', { name: 'Redrive' }).click()
    await waitForText(page.locator('.notice'), 'returned to its queue')
    await eventually('two remain', async () => (await rows.count()) === 2)
    await rows.first().getByRole('button', { name: 'Discard' }).click()
    await waitForText(dialog(page), 'One dead letter')
    await dialog(page).getByRole('button', { name: 'Cancel' }).click()
    assert.equal((await daemon.call('GET', '/v1/queues/mail')).dead, 2)
    await rows.first().getByRole('button', { name: 'Discard' }).click()
    await dialog(page).getByRole('button', { name: 'Discard' }).click()
    await waitForText(dialog(page), 'was discarded')
    assert.equal((await daemon.call('GET', '/v1/queues/mail')).dead, 1)
  }))

test('all dead letters of a queue are redriven, with their number in the question and the answer', () =>
  withPage(daemon, '#/dead?queue=mail', {}, async (page) => {
    await page.locator('.page-actions').getByRole('button', { name: 'Redrive all' }).click()
    await waitForText(dialog(page), '1 dead letter returns to the queue')
    await dialog(page).getByRole('button', { name: 'Redrive all' }).click()
    await waitForText(dialog(page), 'Returned 1 dead letter to the queue.')
    await dialog(page).getByRole('button', { name: 'Close' }).click()
    await waitForText(page.locator('.empty'), 'This queue has no dead letters.')
    assert.equal((await daemon.call('GET', '/v1/queues/mail')).pending, 2)
  }))

test('all are discarded, or only the old ones', () =>
  withPage(daemon, '#/dead?queue=gr%C3%B6%C3%9Fe%2Fa', {}, async (page) => {
    await page.getByRole('button', { name: 'Discard old ones' }).click()
    await waitForText(dialog(page), 'those that died before')
    await dialog(page).getByRole('button', { name: 'Discard old ones' }).click()
    await waitForText(dialog(page), 'Discarded the dead letters that died before')
    await dialog(page).getByRole('button', { name: 'Close' }).click()
    assert.equal((await daemon.call('GET', '/v1/queues/gr%C3%B6%C3%9Fe%2Fa')).dead, 1)
    await page.getByRole('button', { name: 'Discard all' }).click()
    await waitForText(dialog(page), '1 dead letter of this queue ends for good')
    await dialog(page).getByRole('button', { name: 'Discard all' }).click()
    await waitForText(dialog(page), 'Discarded 1 dead letter. None of them returns to the queue.')
    await eventually('none is left', async () => (await daemon.call('GET', '/v1/queues/gr%C3%B6%C3%9Fe%2Fa')).dead === 0)
  }))

test('they show the content and the last line of the reason, and are redriven and discarded by reason', async () => {
  const trace = (order) => `Traceback (most recent call last):\n  File "worker.py", line 3, in handle\nValueError: order ${order} is unknown`
  for (let order = 17; order < 20; ++order) await daemon.putDead('orders', `{"order": ${order}}`, trace(order))
  const other = await daemon.putDead('orders', 'other', 'connection refused')
  const dead = async () => (await daemon.call('GET', '/v1/queues/orders')).dead
  await withPage(daemon, '#/dead?queue=orders', { expected: [/status of 409/] }, async (page) => {
    const table = page.getByRole('table', { name: 'Dead letters, oldest first' })
    const rows = table.locator('tbody tr')
    await waitForText(rows.first(), /ValueError: order 17 is unknown.*\{"order": 17\}/)
    assert.equal(await table.getByText('Traceback').count(), 0)
    await rows.first().getByRole('button', { name: 'Show all lines' }).click()
    await waitForText(rows.first(), 'Traceback (most recent call last)')
    await page.getByRole('table', { name: 'Reasons' }).getByRole('button', { name: 'ValueError: order … is unknown' }).click()
    await eventually('three are listed', async () => (await rows.count()) === 3)
    await page.getByText('All 3 of this list').click()
    await waitForText(page.locator('.chosen-bar'), '3 chosen')
    await rows.nth(1).getByRole('checkbox').uncheck()
    await page.getByRole('button', { name: 'Redrive the chosen' }).click()
    await waitForText(dialog(page), '2 dead letters return to the queue')
    await dialog(page).getByRole('button', { name: 'Redrive the chosen' }).click()
    await waitForText(dialog(page), 'Returned 2 dead letters to the queue.')
    await dialog(page).getByRole('button', { name: 'Close' }).click()
    assert.equal(await dead(), 2)
    await page.getByRole('button', { name: 'Show all reasons' }).click()
    await page.getByText('All 2 of this list').click()
    // One that is gone meanwhile does not stop the others.
    await daemon.call('POST', `/v1/messages/${other}:kick`)
    await page.getByRole('button', { name: 'Discard the chosen' }).click()
    await dialog(page).getByRole('button', { name: 'Discard the chosen' }).click()
    await waitForText(dialog(page), /Discarded 1 dead letter\..*1 dead letter did not change:/)
    assert.equal(await dead(), 0)
  })
})
