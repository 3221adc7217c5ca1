import { expect, it } from 'vitest'
import { txType } from '../../../../src/base/primitives/payload.js'
import { kindOfType, txKinds } from '../../../../src/base/primitives/payload-kinds.js'

it('every type has a name of its own', () => {
  expect(txKinds.map((kind) => kindOfType(txType[kind]))).toEqual(txKinds)
  expect([0, 1, 2, 3, 5, 6, 7, 8, 10].map((type) => kindOfType(type as Parameters<typeof kindOfType>[0]))).toEqual([
    'coinbase',
    'registerAsset',
    'transfer',
    'record',
    'sideChainPow',
    'recharge',
    'withdraw',
    'crossChainTransfer',
    'did',
  ])
})
