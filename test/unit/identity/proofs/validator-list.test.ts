import { describe, expect, it } from 'vitest'
import { quickSigner } from '../../../../src/base/crypto/quick-signer.js'
import { toHex } from '../../../../src/base/primitives/bytes.js'
import { validatorKeys } from '../../../../src/identity/proofs/validator-list.js'
import { failureOf } from '../../../support/builders/light-world.js'

const texts = Array.from({ length: 101 }, () => toHex(quickSigner().publicKey))
const [one = '', two = ''] = texts
const read = async (given: readonly string[]) =>
  failureOf(Promise.resolve().then(() => validatorKeys(given, 'changes-keys').map(toHex)))

describe('the keys of validators', () => {
  it('are 1 to 100 points of the curve, in their order', async () => {
    for (const given of [[one], [two, one], texts.slice(0, 100)]) expect(await read(given)).toEqual(given)
  })

  it.each<[string, readonly string[]]>([
    ['none', []],
    ['101', texts],
    ['one twice', [one, two, one]],
    ['one off the curve', [one, `02${'ff'.repeat(32)}`]],
    ['one of a form that no point has', [`05${one.slice(2)}`]],
  ])('are refused where there are %s', async (_, given) => {
    expect(await read(given)).toBe('changes-keys')
  })
})
