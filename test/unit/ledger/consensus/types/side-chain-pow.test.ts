import { describe, expect, it } from 'vitest'
import { type ProvedSideBlock, StateOverlay } from '../../../../../src/ledger/consensus/ledger.js'
import { sideChainPow } from '../../../../../src/ledger/consensus/types/side-chain-pow.js'
import { concat } from '../../../../../src/base/primitives/bytes.js'
import { parseSpec } from '../../../../../src/base/primitives/spec-file.js'
import { codeOf } from '../../../../support/assert/code-of.js'
import { TestChain } from '../../../../support/builders/chain.js'
import { testSpec } from '../../../../support/builders/spec.js'

const [sideBlockHash, sideGenesisHash] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
const payloadOf = (blockHeight: number) =>
  ({ type: 5, sideBlockHash, sideGenesisHash, blockHeight, signedData: new Uint8Array(64) }) as const
const test = await TestChain.open()

describe('a side-chain proof of work', () => {
  it('is of a height whose bytes no other message begins with', () => {
    const code = (height: number) => codeOf(() => sideChainPow.sanity?.(payloadOf(height)))
    expect([0, 2 ** 29 - 1].map(code)).toEqual([undefined, undefined])
    expect([2 ** 29, 2 ** 32 - 1].map(code)).toEqual(['tx-side-chain-height', 'tx-side-chain-height'])
  })

  it('is signed by any validator, over both hashes and the height', () => {
    const keys = [new Uint8Array(33).fill(2), new Uint8Array(33).fill(3)]
    const tx = { payload: payloadOf(0x01020304), txid: 'aa' } as never
    const checks = sideChainPow.checks?.(tx, { validators: keys } as never)
    const message = concat(sideBlockHash, sideGenesisHash, Uint8Array.of(4, 3, 2, 1))
    expect(checks).toEqual([
      {
        ...{ message, keys, signatures: [new Uint8Array(64)], code: 'tx-side-chain-signer' },
        subject: 'side-chain proof of work aa',
      },
    ])
    expect(codeOf(() => sideChainPow.checks?.(tx, { validators: [] } as never))).toBe('tx-side-chain-signer')
  })

  it('is of a later block than the last that is proved, where the chain asks for that', () => {
    for (const sideChainOrder of [true, false]) {
      const state = new StateOverlay(test.chain.state)
      const context = { ...test.chain.sanity, height: 1, spec: { ...parseSpec(testSpec()), sideChainOrder } }
      const prove = (height: number) => sideChainPow.prove?.(payloadOf(height), state, context)
      expect(prove(0)).toEqual({ genesis: sideGenesisHash, height: 0, before: undefined })
      state.setProved(prove(7) as ProvedSideBlock)
      expect(prove(8)).toEqual({ genesis: sideGenesisHash, height: 8, before: 7 })
      for (const height of [6, 7]) {
        const wanted = sideChainOrder ? 'tx-side-chain-proved' : undefined
        expect(codeOf(() => prove(height))).toBe(wanted)
        if (!sideChainOrder) expect(prove(height)).toBe(undefined)
      }
    }
  })
})
