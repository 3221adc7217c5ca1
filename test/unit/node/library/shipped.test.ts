import { usualNamePrices } from '../../../../src/base/primitives/fees.js'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { shippedSpecs } from '../../../../src/node/library/shipped.js'
import { addressOf } from '../../../../src/base/primitives/address.js'
import { displayHash, toHex } from '../../../../src/base/primitives/bytes.js'
import { genesisBlock, registerAssetTransaction } from '../../../../src/base/primitives/genesis.js'
import { paramsAt } from '../../../../src/base/primitives/spec.js'
import { parseSpec } from '../../../../src/base/primitives/spec-file.js'
import {
  devnetAccount,
  devnetAccountCount,
  devnetValidatorKey,
  localnetValidatorCount,
} from '../../../../src/clients/wallet/devnet-accounts.js'

function shipped(name: string) {
  return parseSpec(readFileSync(new URL(`../../../../genesis/${name}.json`, import.meta.url), 'utf8'))
}

/** A change of these is another chain: whoever runs one would no longer find it. */
const genesisHashes = {
  devnet: '8932a845f56785fb9ce6da4786d876d83d34f9dc10747f46dc3701c2f9a3a5e4',
  localnet: 'c856a89d4b488449521379d3bccce7dbbe10797f2c53aef8a848a036c7355896',
  pow: '443dc8edf8f7c6e6aaf75013525ae8502c08b7c35823990ba77a83153627dafd',
}

describe.each(shippedSpecs)('genesis/%s.json', (name) => {
  const spec = shipped(name)

  it('is the chain it has always been', () => {
    expect(genesisBlock(spec).hash).toBe(genesisHashes[name])
  })

  it('asks 1 unit for each byte beyond the first 1,024, and 1,200 for the leaf of a credential', () => {
    expect(paramsAt(spec, 1).fees).toEqual({
      minimum: 100n,
      perByte: 1n,
      freeBytes: 1024,
      leaf: 1200n,
      names: usualNamePrices,
    })
  })

  it('orders the proofs of side-chain work where validators sign them', () => {
    expect(spec.sideChainOrder).toBe(spec.hasValidators)
  })

  it('registers the asset that wallets of the family know', () => {
    const id = displayHash(registerAssetTransaction(spec).hash)
    expect(id).toBe('a3d0eaa466df74983b5d7c543de6904f4c9418ead5ffd6d25814234a96db37b0')
  })

  it('funds the ten well-known accounts', () => {
    const addresses = spec.allocations.slice(0, devnetAccountCount).map(({ programHash }) => addressOf(programHash))
    expect(addresses).toEqual(Array.from({ length: devnetAccountCount }, (_, i) => devnetAccount(i).address))
  })

  it("accepts this project's DID operations first and those of existing SDKs too", () => {
    const { did, credential } = paramsAt(spec, 1).specifications
    expect(did).toEqual(['ledger/did/1.0', 'elastos/did/1.0'])
    expect(credential).toEqual(['ledger/credential/1.0', 'elastos/credential/1.0'])
  })
})

it('the devnet is confirmed by its well-known validator, the localnet by four of them, the other chain by work alone', () => {
  const keys = (name: string) => paramsAt(shipped(name), 1).validators.map(toHex)
  const known = Array.from({ length: localnetValidatorCount }, (_, i) => toHex(devnetValidatorKey(i).publicKey))
  expect(keys('devnet')).toEqual(known.slice(0, 1))
  expect(keys('localnet')).toEqual(known)
  expect(keys('pow')).toEqual([])
})

it('no two of them take each other’s work or transactions of Ethereum clients', () => {
  const specs = shippedSpecs.map(shipped)
  for (const id of ['auxpowChainId', 'evmChainId'] as const) {
    expect(new Set(specs.map((spec) => spec[id])).size).toBe(specs.length)
  }
})
