import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { UserError } from '../../../../src/base/errors/rule-error.js'
import { parseAddress, singleKeyCode } from '../../../../src/base/primitives/address.js'
import { sha256 } from '../../../../src/base/primitives/hash.js'
import { Transaction } from '../../../../src/base/primitives/transaction.js'
import { buildTransfer } from '../../../../src/clients/wallet/build-transaction.js'
import { devnetAccount } from '../../../../src/clients/wallet/devnet-accounts.js'
import { signTransaction } from '../../../../src/clients/wallet/sign-transaction.js'
import {
  feeOf,
  fileOf,
  parseTransactionFile,
  transactionFileJson,
} from '../../../../src/clients/wallet/transaction-file.js'
import { readTransactionFile, transactionFileText } from '../../../../src/clients/wallet/transaction-on-disk.js'
import { seededRandom } from '../../../support/builders/seeded-bytes.js'

const alice = devnetAccount(0)
const built = buildTransfer(
  {
    code: singleKeyCode(alice.publicKey),
    coins: [100n, 200n].map((value, index) => ({ txid: sha256('coin'), index, value })),
    fee: 7n,
    assetId: sha256('asset'),
    maxMoney: 1000n,
    random: seededRandom('file'),
  },
  [{ programHash: parseAddress(devnetAccount(1).address) as Uint8Array, value: 250n }],
)
const file = fileOf(built)
const json = transactionFileJson(file)
const text = JSON.stringify(json)
const { transaction } = built

describe('a transaction file', () => {
  const directory = mkdtempSync(join(tmpdir(), 'didledger-transaction-'))
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  it('tells what is spent, the fee, and whether it is signed', () => {
    expect(json).toMatchObject({
      format: 'didledger-transaction',
      version: 1,
      txid: transaction.txid,
      signed: false,
      fee: '0.00000007',
      spent: [
        { index: 1, value: '0.00000200', address: alice.address },
        { index: 0, value: '0.00000100', address: alice.address },
      ],
      hex: transaction.toHex(),
    })
    const signed = signTransaction(transaction, [alice.privateKey]).transaction
    expect(transactionFileJson({ ...file, transaction: signed })).toMatchObject({
      signed: true,
      txid: transaction.txid,
    })
    const bare = new Transaction({ ...transaction, payload: transaction.payload, programs: [] })
    expect(transactionFileJson({ transaction: bare })).toMatchObject({ signed: false })
  })

  it('reads back what it wrote', () => {
    const path = join(directory, 'a.json')
    writeFileSync(path, transactionFileText(file))
    const read = readTransactionFile(path)
    expect(read.spent).toEqual(file.spent)
    expect(read.transaction.toHex()).toBe(transaction.toHex())
    expect(feeOf(read)).toBe(7n)
  })

  it('reads plain hex, with no fee to tell', () => {
    const read = parseTransactionFile(`${transaction.toHex().toUpperCase()}\r\n`)
    expect(read.transaction.txid).toBe(transaction.txid)
    expect([read.spent, feeOf(read)]).toEqual([undefined, undefined])
  })

  const changed = (more: object) => JSON.stringify({ ...json, ...more })
  const [first, second] = file.spent ?? []
  it.each<[string, string, RegExp]>([
    ['no hex', '{}', /not a transaction file/],
    ['another format', changed({ format: 'x' }), /not a transaction file/],
    ['another version', changed({ version: 2 }), /version 2, not 1/],
    ['hex that is none', changed({ hex: 'zz' }), /holds no transaction: the text is not hex/],
    ['a truncated transaction', changed({ hex: transaction.toHex().slice(0, -2) }), /holds no transaction: at byte/],
    ['trailing bytes', changed({ hex: `${transaction.toHex()}00` }), /1 bytes follow the end/],
    ['a missing spent output', changed({ spent: [first] }), /2 inputs, but 1 spent outputs/],
    ['spent outputs of other inputs', changed({ spent: [second, first] }), /spent\[0\] is not what input 0 spends/],
    [
      'an amount that is none',
      changed({ spent: [first, { ...second, value: '-1' }] }),
      /spent\[1\]\.value is no amount/,
    ],
    ['no address', changed({ spent: [first, { ...second, address: 1 }] }), /spent\[1\]\.address is no address/],
    [
      'a command',
      changed({ spent: [first, { ...second, address: 'x; reboot' }] }),
      /spent\[1\]\.address is no address/,
    ],
    ['inputs worth less than outputs', changed({ spent: [first, { ...second, value: '0.00000001' }] }), /exceed/],
    ['text', 'hello', /holds no transaction/],
    ['nothing', '', /holds no transaction/],
  ])('refuses %s', (_, wrong, message) => {
    expect(() => parseTransactionFile(wrong)).toThrow(UserError)
    expect(() => parseTransactionFile(wrong)).toThrow(message)
    expect(parseTransactionFile(text).transaction.txid).toBe(transaction.txid)
  })
})
