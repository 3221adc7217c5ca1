import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { checkTransactionSanity } from '../../src/ledger/consensus/sanity.js'
import { publicKeyOf, sign } from '../../src/base/crypto/keys.js'
import { holds } from '../../src/base/crypto/verify.js'
import { addressFromPublicKey, addressOf } from '../../src/base/primitives/address.js'
import { displayHash, hex, toHex } from '../../src/base/primitives/bytes.js'
import { registerAssetTransaction } from '../../src/base/primitives/genesis.js'
import { sha256 } from '../../src/base/primitives/hash.js'
import { type Output } from '../../src/base/primitives/output.js'
import {
  parseCode,
  parseParameter,
  type Program,
  programHashOf,
  type ProgramScript,
} from '../../src/base/primitives/program.js'
import { paramsAt } from '../../src/base/primitives/spec.js'
import { parseSpec } from '../../src/base/primitives/spec-file.js'
import { Transaction } from '../../src/base/primitives/transaction.js'
import type { Input } from '../../src/base/primitives/transaction-fields.js'
import { testKey, testSpec } from '../support/builders/spec.js'

const page = readFileSync(new URL('../../docs/format.md', import.meta.url), 'utf8')
const section = page.slice(page.indexOf('## 13.'))
const line = /```hex\n([0-9a-f]+)\n```/.exec(section)?.[1] as string
const rows = [...section.matchAll(/^\| (\d+) +\| (\d+) +\| `([0-9a-f]+)` +\|/gm)].map(([, offset, length, bytes]) => ({
  offset: Number(offset),
  length: Number(length),
  bytes: bytes as string,
}))

describe('the worked example of docs/format.md', () => {
  const tx = Transaction.fromHex(line)
  const spec = parseSpec(testSpec())
  const [input] = tx.inputs as [Input]
  const [paid, change] = tx.outputs as [Output, Output]
  const [program] = tx.programs as [Program]
  const script = parseCode(program.code) as ProgramScript

  it('has a table that adds up to its bytes', () => {
    expect(rows.length).toBeGreaterThan(20)
    let offset = 0
    for (const row of rows) {
      expect(row).toMatchObject({ offset, length: row.bytes.length / 2 })
      offset += row.length
    }
    expect(rows.map(({ bytes }) => bytes).join('')).toBe(line)
    expect(section).toContain(`all ${tx.bytes.length} bytes`)
    expect(section).toContain(`the unsigned part ends here, after ${tx.unsigned.length} bytes`)
  })

  it('spends, pays and gives change as the text says', () => {
    expect(section).toContain(`output ${input.index} of transaction \`${displayHash(input.txid)}\``)
    expect(section).toContain(`5.00000000 to \`${addressOf(change.programHash)}\``)
    expect(section).toContain(`1.50000000 go to \`${addressOf(paid.programHash)}\``)
    expect([paid.value, change.value]).toEqual([150_000_000n, 349_990_000n])
    expect(500_000_000n - paid.value - change.value).toBe(10_000n)
    expect(addressOf(change.programHash)).toBe(addressFromPublicKey(publicKeyOf(testKey(0))))
    expect(addressOf(paid.programHash)).toBe(addressFromPublicKey(publicKeyOf(testKey(1))))
    const { minimum, perByte } = paramsAt(spec, 1).fees
    expect([minimum, perByte]).toEqual([100n, 1n])
    expect(section).toContain(`${minimum + perByte * BigInt(tx.unsigned.length)} units`)
  })

  it('has the hashes and the signature that the text gives', () => {
    expect(section).toContain(`SHA-256 of the ${tx.unsigned.length} bytes is \`${toHex(sha256(tx.unsigned))}\``)
    expect(section).toContain(`\`${toHex(tx.hash)}\``)
    expect(section).toContain(`\`${tx.txid}\``)
    const signature = sign(tx.unsigned, testKey(0))
    const signatures = parseParameter(program.parameter, script) as Uint8Array[]
    expect(signatures.map(toHex)).toEqual([toHex(signature)])
    expect(holds({ message: tx.unsigned, keys: script.keys, signatures })).toBe(true)
    expect(toHex(programHashOf(program.code, script))).toBe(toHex(change.programHash))
  })

  it('keeps every rule of shape', () => {
    const assetId = registerAssetTransaction(spec).hash
    expect(() => checkTransactionSanity(tx, { spec, assetId })).not.toThrow()
    expect(page).toContain(displayHash(assetId))
    expect(toHex(new Transaction(tx).bytes)).toBe(toHex(hex(line)))
  })
})
