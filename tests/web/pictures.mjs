// Makes the pictures of docs/learning from the page of the wheel: DUEWHEEL_BIN=build/test/bin node tests/web/pictures.mjs
//
// They are vector graphics: the drawing of the page with the styles that the browser computes for it, in its light colours.
import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Daemon } from './daemon.mjs'

const { chromium } = createRequire(fileURLToPath(new URL('../../build/web/', import.meta.url)))('playwright-core')
const folder = fileURLToPath(new URL('../../docs/learning/pictures/', import.meta.url))
// The timer that is followed is due at 200.
const PICTURES = [['wheel_100.svg', 100], ['wheel_128.svg', 128], ['wheel_192.svg', 192]]

/** Runs in the page: the drawing as a document of its own. */
function drawing() {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
  const hex = (color) => {
    canvas.clearRect(0, 0, 1, 1)
    canvas.fillStyle = color
    canvas.fillRect(0, 0, 1, 1)
    const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data
    return alpha === 0 ? 'none' : `#${[red, green, blue].map((part) => part.toString(16).padStart(2, '0')).join('')}`
  }
  const GEOMETRY = ['d', 'cx', 'cy', 'r', 'x', 'y', 'x1', 'y1', 'x2', 'y2']
  const parts = []
  for (const element of document.querySelectorAll('svg.wheel :is(path, line, circle, text)')) {
    if (element.matches('.target')) continue
    const style = getComputedStyle(element)
    const attributes = GEOMETRY.filter((name) => element.hasAttribute(name)).map((name) => [name, element.getAttribute(name)])
    const fill = style.fill === 'none' ? 'none' : hex(style.fill)
    if (element.tagName !== 'line') attributes.push(['fill', fill])
    if (fill !== 'none' && style.fillOpacity !== '1') attributes.push(['fill-opacity', Number(style.fillOpacity).toFixed(2)])
    const stroke = style.stroke === 'none' ? 'none' : hex(style.stroke)
    if (stroke !== 'none') attributes.push(['stroke', stroke], ['stroke-width', style.strokeWidth.replace('px', '')])
    if (stroke !== 'none' && style.strokeLinecap !== 'butt') attributes.push(['stroke-linecap', style.strokeLinecap])
    if (fill === 'none' && stroke === 'none') continue
    if (element.tagName === 'text') {
      attributes.push(['font-size', style.fontSize.replace('px', '')], ['font-weight', style.fontWeight], ['text-anchor', 'middle'])
    }
    const text = element.tagName === 'text' ? element.textContent : ''
    parts.push(`  <${element.tagName} ${attributes.map(([name, value]) => `${name}="${value}"`).join(' ')}>${text}</${element.tagName}>`.replace(/><\/(path|line|circle)>$/, '/>'))
  }
  const summary = document.querySelector('svg.wheel').getAttribute('aria-label')
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 400" width="400" height="400" font-family="system-ui, sans-serif">
  <title>${summary}</title>
  <rect width="400" height="400" rx="8" fill="#f7f7f5"/>
${parts.join('\n')}
</svg>
`
}

const daemon = await new Daemon().start()
const browser = await chromium.launch({
  executablePath: process.env.DUEWHEEL_CHROMIUM ?? '/usr/bin/chromium', args: process.getuid() === 0 ? ['--no-sandbox'] : [],
})
try {
  mkdirSync(folder, { recursive: true })
  const page = await browser.newPage({ reducedMotion: 'reduce', colorScheme: 'light', locale: 'en-GB', viewport: { width: 1280, height: 900 } })
  await page.goto(`${daemon.url}/#/wheel`)
  await page.locator('.dot.followed').waitFor()
  let tick = 100
  for (const [name, at] of PICTURES) {
    for (; tick < at; ++tick) await page.keyboard.press('ArrowRight')
    await page.mouse.move(0, 0)
    writeFileSync(join(folder, name), await page.evaluate(drawing))
    console.log(`docs/learning/pictures/${name}`)
  }
} finally {
  await browser.close()
  await daemon.remove()
}
