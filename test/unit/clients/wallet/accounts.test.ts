import { describe, expect, it } from 'vitest'
import { deriveKey } from '../../../../src/base/crypto/hd.js'
import { UserError } from '../../../../src/base/errors/rule-error.js'
import { hex, toHex } from '../../../../src/base/primitives/bytes.js'
import { accountSource } from '../../../../src/clients/wallet/accounts.js'
import {
  devnetAccount,
  devnetMnemonic,
  devnetValidatorKey,
  faucetKey,
} from '../../../../src/clients/wallet/devnet-accounts.js'

const keyAt = (path: string) => toHex(deriveKey(devnetMnemonic, path) ?? new Uint8Array(0))

describe('the accounts of a mnemonic', () => {
  it('stand at the paths that every tool of the family uses, with a recovery key beside', () => {
    for (const index of [0, 1, 9]) {
      const account = devnetAccount(index)
      expect(toHex(account.privateKey)).toBe(keyAt(`m/44'/0'/0'/0/${index}`))
      expect(toHex(account.recovery?.privateKey ?? hex(''))).toBe(keyAt(`m/44'/0'/2'/0/${index}`))
      expect(account.address).toMatch(/^E[1-9A-Za-z]{33}$/)
      expect(account.did).toMatch(/^did:ledger:i[1-9A-Za-z]{33}$/)
    }
  })

  it('do not move: everybody knows these', () => {
    expect(devnetAccount(0)).toMatchObject({
      address: 'EKncjrsmMkiZLV34kRYfhZg1mehNfRB6uG',
      did: 'did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc',
    })
    expect(devnetAccount(1).address).toBe('ENDyipsk2GW4bBAmpRoNBV3GKV55Nxw2RD')
  })

  it('are not the keys of faucet and validator', () => {
    expect(toHex(faucetKey().privateKey)).toBe(keyAt("m/44'/0'/0'/1/0"))
    expect(toHex(devnetValidatorKey().privateKey)).toBe(keyAt("m/44'/0'/1'/0/0"))
  })

  it('need a valid mnemonic', () => {
    expect(() => accountSource({ kind: 'mnemonic', mnemonic: 'test test' })).toThrow(UserError)
  })
})

describe('the accounts of imported keys', () => {
  it('are the keys in their order, without recovery keys', () => {
    const account = accountSource({ kind: 'keys', privateKeys: [devnetAccount(3).privateKey] })
    expect(account(0)).toMatchObject({ index: 0, address: devnetAccount(3).address })
    expect(account(0).recovery).toBeUndefined()
    expect(() => account(1)).toThrow(/there is no account 1/)
  })
})
