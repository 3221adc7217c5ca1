import { formatAmount } from '../../../../src/base/primitives/amount.js'
import { describe, expect, it } from 'vitest'
import { toHex } from '../../../../src/base/primitives/bytes.js'
import { parseChain } from '../../../../src/clients/wallet/chain-answer.js'
import { chainTerms } from '../../../../src/clients/wallet/terms.js'
import { loadSpec } from '../../../../src/program/cli/load-spec.js'

const spec = loadSpec('devnet')
/** Bytes are a Buffer or a Uint8Array. */
const terms = (...args: Parameters<typeof chainTerms>) => {
  const { assetId, ...others } = chainTerms(...args)
  return { ...others, assetId: toHex(assetId) }
}
const asset = [...chainTerms(spec, undefined).assetId].reverse()
const answer = {
  name: 'devnet',
  genesis: '00'.repeat(32),
  height: 7,
  assetid: toHex(Uint8Array.from(asset)),
  maturity: spec.maturity,
  maxmoney: '33000000.00000000',
  fees: {
    minimum: '0.00000100',
    perbyte: '0.00000001',
    freebytes: 1024,
    leaf: '0.00001200',
    names: spec.sections[1]?.params.fees.names?.map(formatAmount),
  },
  specifications: { did: ['ledger/did/1.0'], credential: ['ledger/credential/1.0'] },
}

describe('parseChain', () => {
  it('reads rules by which terms are those of the spec', () => {
    const chain = parseChain(answer)
    expect(terms(chain, chain.height, 5)).toEqual(terms(spec, 7, 5))
    expect(chain.specifications.did).toEqual(['ledger/did/1.0'])
  })

  it('leaves the height to the caller, as a spec does', () => {
    expect(terms(parseChain(answer), undefined)).toEqual(terms(spec, undefined))
    expect(terms(parseChain(answer), 9)).toEqual(terms(spec, 9))
  })

  it.each([
    [undefined, 'the chain is not an object'],
    [{ ...answer, assetid: 'a3' }, 'a3 is no hash'],
    [{ ...answer, maxmoney: 33 }, 'maxmoney is not a string'],
    [{ ...answer, fees: { ...answer.fees, perbyte: '-1' } }, 'fees.perbyte is no amount'],
    [{ ...answer, specifications: { did: ['ledger/did/1.0'] } }, 'specifications.credential is not an array'],
  ])('refuses %j', (value, fault) => {
    expect(() => parseChain(value)).toThrow(`the node answered something unexpected: ${fault}`)
  })
})
