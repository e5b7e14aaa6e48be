// Chromium for the tests of the dashboard. Every page collects what must not happen: errors on the console, exceptions,
// violations of the Content-Security-Policy. The packages are in build/web, where `./dev packages` puts the pinned versions.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { after, before } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Daemon } from './daemon.mjs'

const require = createRequire(fileURLToPath(new URL('../../build/web/', import.meta.url)))
const { chromium } = require('playwright-core')
const axe = require('axe-core')

export const WAIT_MS = 30_000

let browser

/** Starts Chromium for a file of tests, and ends it after them. Call it once, at the top. */
export function useBrowser() {
  before(async () => {
    browser = await chromium.launch({
      executablePath: process.env.DUEWHEEL_CHROMIUM,
      args: ['--disable-dev-shm-usage', ...(process.getuid() === 0 ? ['--no-sandbox'] : [])],
    })
  })
  after(() => browser?.close())
}

/** One daemon for a file of tests. */
export function useDaemon(argumentList = []) {
  const daemon = new Daemon(argumentList)
  before(() => daemon.start())
  after(() => daemon.remove())
  return daemon
}

/** Runs `test` with a page of another site in a browser profile of its own; its errors are its own affair. */
export async function withForeignPage(url, test) {
  const context = await browser.newContext()
  try {
    const page = await context.newPage()
    page.setDefaultTimeout(WAIT_MS)
    await page.goto(url)
    return await test(page)
  } finally {
    await context.close()
  }
}

/** Runs `test` with a page in a browser profile of its own, and checks afterwards that nothing went wrong in it.
    `expected` are patterns of console errors that the test causes, such as those of a lost connection. */
export async function withPage(daemon, path, options, test) {
  const { theme = 'light', width = 1280, height = 900, language = 'en-GB', reducedMotion, expected = [] } = options
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, locale: language, timezoneId: 'Europe/Oslo', reducedMotion })
  const faults = []
  try {
    const page = await context.newPage()
    page.setDefaultTimeout(WAIT_MS)
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') faults.push(`${message.text()} ${message.location().url}`)
    })
    page.on('pageerror', (error) => faults.push(`exception: ${error.stack}`))
    page.on('dialog', (dialog) => {
      faults.push(`a script opened a dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
    await page.goto(`${daemon.url}/${path}`)
    await page.locator('main h1').waitFor()
    await test(page)
  } finally {
    await context.close()
  }
  const unexpected = faults.filter((fault) => !expected.some((pattern) => pattern.test(fault)))
  assert.deepEqual(unexpected, [], 'the console has errors')
}

/** No finding of axe that is serious or critical, in this state of the page. */
export async function checkAccess(page) {
  await page.evaluate(axe.source)
  const findings = await page.evaluate(async () => {
    const { violations } = await window.axe.run(document, { resultTypes: ['violations'] })
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.slice(0, 3).map((node) => `${node.html} (${node.failureSummary})`).join(' | ')}`)
  })
  assert.deepEqual(findings, [])
}

/** The page fits its window: nothing makes it scroll sideways. */
export async function checkWidth(page) {
  const wide = await page.evaluate(() => {
    const width = document.documentElement.clientWidth
    if (document.documentElement.scrollWidth <= width) return []
    return [...document.querySelectorAll('body *')]
      .filter((element) => element.getBoundingClientRect().right > width + 1)
      .slice(0, 5)
      .map((element) => `${element.tagName} ${element.className} ${Math.round(element.getBoundingClientRect().right)}`)
  })
  assert.deepEqual(wide, [], 'the page scrolls sideways')
  const over = await page.evaluate(() =>
    [...document.querySelectorAll('.section table')]
      .filter((table) => table.getBoundingClientRect().right > table.closest('.section').getBoundingClientRect().right + 1)
      .map((table) => table.caption?.innerText))
  assert.deepEqual(over, [], 'a table is wider than its section')
}

/** What every page must hold: `ready` waits until its data is there. In both themes, and in a narrow window in Chinese. */
export async function checkLooks(daemon, path, ready, options = {}) {
  for (const theme of ['light', 'dark']) {
    await withPage(daemon, path, { ...options, theme }, async (page) => {
      await ready(page)
      await checkAccess(page)
      await checkWidth(page)
    })
  }
  for (const language of ['en-GB', 'zh-CN']) {
    await withPage(daemon, path, { ...options, width: 400, height: 800, language }, async (page) => {
      await ready(page)
      await checkAccess(page)
      await checkWidth(page)
      for (const width of [881, 1240]) {
        await page.setViewportSize({ width, height: 800 })
        await checkWidth(page)
      }
    })
  }
}

/** Waits until the text is in the element; fails with what is there instead. */
export async function waitForText(locator, text) {
  const pattern = text instanceof RegExp ? text : new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  try {
    await locator.filter({ hasText: pattern }).first().waitFor()
  } catch (error) {
    const found = await locator.allInnerTexts().catch(() => [])
    throw new Error(`no ${pattern} in ${JSON.stringify(found).slice(0, 2000)}`, { cause: error })
  }
}

/** Calls `check` until it returns something true. */
export async function eventually(what, check) {
  const end = performance.now() + WAIT_MS
  for (;;) {
    const value = await check()
    if (value) return value
    if (performance.now() > end) throw new Error(`not within ${WAIT_MS / 1000} s: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
