import { describe, expect, it } from 'vitest'
import { scalePage } from '../../scripts/docs/scale-page.js'
import { createdSpec } from '../../scripts/docs/fill-costs.js'
import { repositoryFile, section, tableRows } from '../support/assert/markdown.js'

const page = repositoryFile('docs/scale.md')
const bytesOf = (what: string) => {
  const [, digits = ''] = new RegExp(`${what}.* \\| ([\\d,]+) \\|`).exec(repositoryFile('docs/operate.md')) ?? []
  return Number(digits.replaceAll(',', ''))
}

describe('docs/scale.md', () => {
  it('is what npm run docs writes', () => {
    expect(page).toBe(scalePage())
  })

  it('has the bytes a second of the rules', () => {
    const [created] = tableRows(section(page, 'What limits the chain'))
    const { limits, timing } = createdSpec
    const most = (limits.blockSize * 1000) / timing.minInterval
    const shown = Number(created?.[2]?.replaceAll(',', ''))
    expect(shown).toBeGreaterThan(0.99 * most)
    expect(shown).toBeLessThanOrEqual(most)
  })

  it('has the disk of a year with an update a second, with and without what was superseded', () => {
    const [created] = tableRows(section(page, 'Disk'))
    const year = 365 * 86_400
    const block = bytesOf('block without transactions, 4')
    const sizeOf = (bytes: number) => `${((year * (block + bytes)) / 1e9).toPrecision(3).replace(/\.0*$/, '')} GB`
    const [update, givenUp] = [bytesOf('update of a DID'), bytesOf('given up of it')]
    expect(created?.slice(2, 4)).toEqual([sizeOf(update), sizeOf(update - givenUp)])
  })
})
