// The page of the timing wheel: the demonstration step by step, and the wheel of the server.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkLooks, eventually, useBrowser, useDaemon, waitForText, withPage } from './browser.mjs'

useBrowser()
const daemon = useDaemon()

/** A demonstration that does not run by itself. */
function paused(path, options, run) {
  return withPage(daemon, path, { ...options, reducedMotion: 'reduce' }, run)
}

async function tick(page) {
  return Number((await page.locator('.wheel-now').textContent()).replace(/\D/g, ''))
}

test('the page in both themes and languages, and in a narrow window', () =>
  checkLooks(daemon, '#/wheel', (page) => page.locator('svg.wheel').waitFor()))

test('the wheel of the server in both themes and languages, and in a narrow window', () =>
  checkLooks(daemon, '#/wheel?show=server', (page) => page.locator('svg.wheel').waitFor()))

test('it plays until it is paused; with reduced motion it starts paused', async () => {
  await withPage(daemon, '#/wheel', {}, async (page) => {
    const first = await tick(page)
    await eventually('the time moves', async () => (await tick(page)) > first)
    await page.getByRole('button', { name: 'Pause' }).click()
    const stopped = await tick(page)
    await page.getByRole('button', { name: 'Step' }).click()
    assert.equal(await tick(page), stopped + 1)
  })
  await paused('#/wheel', {}, async (page) => {
    await page.getByRole('button', { name: 'Play' }).waitFor()
    assert.equal(await tick(page), 100)
  })
})

test('a timer can be followed as it moves down the levels until it fires', () =>
  paused('#/wheel', {}, async (page) => {
    const steps = page.locator('.wheel-route li')
    assert.deepEqual(await steps.allInnerTexts(), [
      'On level 2, slot 192 to 255', 'At 128 it moves to level 1, slot 200 to 207', 'At 192 it moves to level 0, slot 200', 'At 200 it fires',
    ])
    const dot = page.locator('.dot.followed')
    assert.match(await dot.getAttribute('class'), /level-2/)
    await page.locator('main').focus()
    for (let step = 100; step < 128; ++step) await page.keyboard.press('ArrowRight')
    assert.equal(await tick(page), 128)
    assert.match(await dot.getAttribute('class'), /level-1/)
    await waitForText(page.locator('.wheel-lines li'), 'Timer 1 moves from level 2 to level 1')
    while ((await tick(page)) < 200) await page.keyboard.press('e')
    await waitForText(page.locator('.wheel-lines li'), 'Timer 1 fires.')
    await waitForText(page.locator('.wheel-side'), 'It has fired.')
  }))

test('a timer is added by its delay and by a click on a slot, postponed and cancelled', () =>
  paused('#/wheel', {}, async (page) => {
    await page.getByLabel('Delay in ticks').fill('3000')
    await page.getByRole('button', { name: 'Add timer' }).click()
    await waitForText(page.locator('.wheel-side'), 'Due at 3,100, in 3,000 ticks.')
    await waitForText(page.locator('.wheel-lines li'), 'Timer 13 is due at 3,100. It goes to level 3')
    await page.getByRole('button', { name: 'Postpone by 40' }).click()
    await waitForText(page.locator('.wheel-side'), 'Due at 3,140')
    await page.getByRole('button', { name: 'Cancel timer' }).click()
    await waitForText(page.locator('.wheel-side'), 'It was cancelled. Its entry stays in the slot')
    assert.equal(await page.locator('.dot.followed').count(), 1)
    await page.locator('.ring.level-0 .target').nth(2).click()
    await waitForText(page.locator('.wheel-lines li'), 'Timer 14 is due at 103. It goes to level 0')
    await page.getByLabel('Delay in ticks').fill('4001')
    assert.equal(await page.getByRole('button', { name: 'Add timer' }).isDisabled(), true)
  }))

test('random load adds timers, and starting over removes them', () =>
  withPage(daemon, '#/wheel', {}, async (page) => {
    await page.getByLabel('Random load').check()
    await page.getByLabel('Speed').selectOption('64')
    await eventually('timers are added', async () => Number(await page.locator('.figure-value').nth(1).innerText()) > 20)
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('button', { name: 'Start over' }).click()
    assert.equal(await tick(page), 100)
    assert.equal(await page.locator('.figure-value').first().innerText(), '12')
  }))

test('the levels as a table, in words for a screen reader', () =>
  paused('#/wheel', {}, async (page) => {
    await page.getByText('The levels as a table').click()
    const rows = page.locator('.wheel-table tbody tr')
    assert.deepEqual((await rows.first().innerText()).split(/\s+/).filter(Boolean), ['0', '1', 'tick', '111', '2', '2'])
    assert.match(await page.locator('svg.wheel').getAttribute('aria-label'), /^The wheel at tick 100: 12 timers. Level 0: 2\./)
  }))

test('the wheel of the server has the timers of its messages, and a message is followed', async () => {
  const { id } = await daemon.put('later', { body: 'x', delay: '10m' })
  await withPage(daemon, '#/wheel?show=server', {}, async (page) => {
    await eventually('the timer is in the wheel', async () => Number(await page.locator('.figure-value').first().innerText()) >= 1)
    await page.getByLabel('Message id').fill(id)
    await page.getByRole('button', { name: 'Follow' }).click()
    await waitForText(page.locator('.wheel-route li').first(), 'On level 3')
    assert.equal(await page.locator('.ring.level-3 .mark').count(), 1)
  })
  await daemon.call('DELETE', `/v1/messages/${id}`)
})
