import { expect } from 'vitest'
import type { Explorer } from './explorer.js'

/** Sum of the shifts of a page that is not touched; Google calls 0.1 good. */
const most = 0.02

/** Notes in a page from its beginning what moves, and by how much. */
export const observeShifts = `
window.shifts = []
new PerformanceObserver((list) => {
  for (const { value, sources } of list.getEntries()) {
    window.shifts.push([value, sources.map(({ node, previousRect: a, currentRect: b }) =>
      ((node?.outerHTML ?? node?.textContent ?? '?').slice(0, 90)) + ' ' + [a.y, a.height, b.y, b.height].map(Math.round)).join('\\n  ')])
  }
}).observe({ type: 'layout-shift', buffered: true })`

/** Fails with what moved in a page since it was loaded, once all of its answers are there. */
export async function expectStill({ page }: Explorer): Promise<void> {
  await expect.poll(() => page.locator('main .awaited').count()).toBe(0)
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
  const seen = await page.evaluate<(readonly [number, string])[]>('window.shifts')
  const sum = seen.reduce((total, [value]) => total + value, 0)
  expect(sum, `${page.url()}\n` + seen.map(([value, source]) => `${value} ${source}`).join('\n')).toBeLessThanOrEqual(
    most,
  )
}
