import { describe, expect, it } from 'vitest'
import { ProgramCheck } from '../../../../src/ledger/consensus/program-check.js'
import type { ProgramScript } from '../../../../src/base/primitives/program.js'
import { Transaction } from '../../../../src/base/primitives/transaction.js'
import { fieldsOf } from '../../../support/builders/blocks.js'
import { TestChain } from '../../../support/builders/chain.js'
import { testAddress } from '../../../support/builders/spec.js'
import { scriptAt, signaturesAt } from '../../../../src/base/primitives/transaction-programs.js'

const checkOf = (tx: Transaction) =>
  new ProgramCheck(tx, 0, scriptAt(tx, 0) as ProgramScript, signaturesAt(tx, 0) as Uint8Array[])

describe('The name of a program to check', () => {
  it('is that of all bytes of its transaction, not of its txid', async () => {
    const chain = await TestChain.open()
    const tx = await chain.transfer(testAddress(3), 1000n)
    const { identity } = checkOf(tx)
    expect(identity.length).toBeGreaterThan(32)
    expect(checkOf(Transaction.fromBytes(tx.bytes)).identity).toBe(identity)
    const [program] = tx.programs
    const parameter = Uint8Array.from(program?.parameter ?? [])
    for (const at of [1, 20, 64]) {
      const changed = Uint8Array.from(parameter, (byte, i) => (i === at ? byte ^ 1 : byte))
      const programs = [{ code: program?.code as Uint8Array, parameter: changed }]
      const other = new Transaction({ ...fieldsOf(tx), programs })
      expect(other.txid).toBe(tx.txid)
      expect(checkOf(other).identity).not.toBe(identity)
    }
  })

  it('tells the programs of a transaction apart', async () => {
    const chain = await TestChain.open()
    const tx = await chain.transfer(testAddress(3), 1000n)
    const [script, signatures] = [scriptAt(tx, 0) as ProgramScript, signaturesAt(tx, 0) as Uint8Array[]]
    const names = [0, 1, 11].map((index) => new ProgramCheck(tx, index, script, signatures).identity)
    expect(new Set(names).size).toBe(3)
  })
})
