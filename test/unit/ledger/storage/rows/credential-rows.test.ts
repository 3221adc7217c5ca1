import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import type { ProgramHash } from '../../../../../src/base/primitives/address.js'
import { tables } from '../../../../../src/ledger/storage/rows/tables.js'
import { craftBlock } from '../../../../support/builders/blocks.js'
import { TestChain, withoutValidators } from '../../../../support/builders/chain.js'
import { holder } from '../../../../support/builders/did.js'
import { testAddress } from '../../../../support/builders/spec.js'
import { parseDid } from '../../../../../src/clients/wallet/did-identity.js'

/** Rows 13 to 15 and the undo record, written by hand after docs/schema.md. */

const sha256 = (text: string) => createHash('sha256').update(text).digest()
const u16 = (value: number) => Buffer.of(value & 255, value >> 8)
function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

it('a block that declares and revokes leaves the rows and the undo list of the page', async () => {
  const allocations = [10, 11].map((person) => ({ address: testAddress(person), amount: '100000000000' }))
  const test = await TestChain.open({ ...withoutValidators, allocations })
  const [ada, bob] = [holder(), holder()]
  for (const each of [ada, bob]) await test.publish(each.create(), each.did)
  const id = `${ada.did}#profile`
  const credential = bob.issue(ada.did)
  const [declare, revoke] = [
    await test.carry(ada.declare(credential), ada.did, 10),
    await test.carry(bob.revoke(id), bob.did, 11),
  ]
  const block = craftBlock(test.chain, { transactions: [declare, revoke] })
  await test.accept(block)

  const { height, time } = block.header
  const entry = (index: number, operation: number, txid: Uint8Array, payload: string) =>
    Buffer.concat([u16(index), Buffer.of(operation), u32(height), u32(time), txid, sha256(payload)])
  const key = (signer: string) => Buffer.concat([Buffer.of(0x13), sha256(`vc\0${id}\0${signer}`)])
  const base64url = Buffer.from(credential).toString('base64url')
  const row = (of: Uint8Array) => Buffer.from(test.database.get(Buffer.from(of)) ?? [])
  const payload = declare.payload.type === 10 ? declare.payload.operation.payload : base64url
  expect(row(key(ada.did))).toEqual(Buffer.concat([Buffer.of(1, 1), entry(1, 4, declare.hash, payload)]))
  expect(row(key(bob.did))).toEqual(Buffer.concat([Buffer.of(2, 1), entry(2, 5, revoke.hash, id)]))
  const programHash = Buffer.from(parseDid(ada.did)?.programHash as ProgramHash)
  expect(row(Buffer.concat([Buffer.of(0x14), programHash, Buffer.alloc(4)])).toString()).toBe('profile')
  expect(row(Buffer.concat([Buffer.of(0x15), programHash]))).toEqual(u32(1))
  const list = [
    ...[Buffer.of(2), Buffer.of(4), key(ada.did).subarray(1), programHash],
    ...[Buffer.of(5), key(bob.did).subarray(1), programHash],
  ]
  const undo = row(tables.undo.key(height))
  expect(undo.subarray(-(1 + 2 * 54))).toEqual(Buffer.concat(list))
})
