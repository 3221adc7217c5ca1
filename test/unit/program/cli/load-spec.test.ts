import { writeFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { loadSpec } from '../../../../src/program/cli/load-spec.js'
import { UserError } from '../../../../src/base/errors/rule-error.js'
import { displayHash } from '../../../../src/base/primitives/bytes.js'
import { assetIdOf, rulesAfter } from '../../../../src/clients/wallet/terms.js'
import { specText, Workbench } from '../../../support/process/workbench.js'

describe('the chain spec of a command', () => {
  const bench = new Workbench()
  afterAll(() => bench.close())

  it('is a shipped one by its name', () => {
    const spec = loadSpec('devnet')
    expect(spec.name).toBe('devnet')
    expect(displayHash(assetIdOf(spec))).toBe('a3d0eaa466df74983b5d7c543de6904f4c9418ead5ffd6d25814234a96db37b0')
    expect(rulesAfter(spec, 0).specifications.did[0]).toBe('ledger/did/1.0')
  })

  it('is a file otherwise, with the rules of the next block', () => {
    const later = { height: 5, name: 'dearer', parameters: { fees: { minimum: '900', perByte: '9' } } }
    writeFileSync(bench.spec, JSON.stringify({ ...(JSON.parse(specText()) as object), upgrades: [later] }))
    const spec = loadSpec(bench.spec)
    expect(rulesAfter(spec, 3).fees.minimum).toBe(100n)
    expect(rulesAfter(spec, 4).fees.minimum).toBe(900n)
    // Offline the height is not known; the last rules the spec names are the safest guess.
    expect(rulesAfter(spec, undefined).fees.minimum).toBe(900n)
  })

  it.each<[string, string, RegExp]>([
    ['no JSON', '{', /bad\.json: the chain spec is not valid/],
    ['a member too many', '{"x":1}', /is not valid/],
  ])('refuses a file with %s', (_, text, message) => {
    const path = bench.write('bad.json', text)
    expect(() => loadSpec(path)).toThrow(UserError)
    expect(() => loadSpec(path)).toThrow(message)
  })

  it('says when there is no such file', () => {
    expect(() => loadSpec(bench.path('none.json'))).toThrow(/cannot read the chain spec/)
  })
})
