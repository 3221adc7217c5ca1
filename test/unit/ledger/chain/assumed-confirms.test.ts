import { describe, expect, it } from 'vitest'
import { AssumedConfirms, type StoredConfirm } from '../../../../src/ledger/chain/assumed-confirms.js'
import type { Database } from '../../../../src/ledger/storage/database.js'
import type { Overlay } from '../../../../src/ledger/storage/write/overlay.js'
import { tables } from '../../../../src/ledger/storage/rows/tables.js'
import { createInlineVerifier } from '../../../../src/base/crypto/inline.js'
import type { SignatureCheck } from '../../../../src/base/primitives/signature.js'
import { soloAuxPow } from '../../../../src/base/primitives/auxpow.js'
import { Block } from '../../../../src/base/primitives/block.js'
import { type Confirm, confirmBytes } from '../../../../src/base/primitives/confirm.js'
import { zeroHash } from '../../../../src/base/primitives/hash.js'
import { Header } from '../../../../src/base/primitives/header.js'
import { parseSpec } from '../../../../src/base/primitives/spec-file.js'
import { craftConfirm } from '../../../support/builders/blocks.js'
import { withoutValidators } from '../../../support/builders/chain.js'
import { testSpec } from '../../../support/builders/spec.js'

const spec = parseSpec(testSpec())
const inline = createInlineVerifier()

const blocks = Array.from({ length: 9 }, (_, height) => {
  const fields = { version: 0, previous: zeroHash, merkleRoot: zeroHash, time: 1, bits: 0x207fffff, nonce: 0 }
  const header = new Header({ ...fields, height })
  return new Block(header, soloAuxPow(header.hash, 1), [])
})
const confirmOf = (height: number) => craftConfirm(spec, blocks[height] as Block, { voters: [0, 1, 2] })
const headerAt = (height: number) => (blocks[height] as Block).header
const forged = (signature: Uint8Array) => Uint8Array.from(signature, (byte, i) => (i === 40 ? byte ^ 1 : byte))
/** The confirm with one signature altered: of the proposal, or of a vote. */
function wrong({ proposal, votes }: Confirm, vote?: number): Confirm {
  if (vote === undefined) return { proposal: { ...proposal, signature: forged(proposal.signature) }, votes }
  return { proposal, votes: votes.map((one, i) => (i === vote ? { ...one, signature: forged(one.signature) } : one)) }
}

/** Blocks up to height 6 were assumed to be valid; those of `bad` have a wrong confirm. */
function scene(bad: readonly number[]) {
  const rows = new Map<string, Uint8Array>()
  const verified: SignatureCheck[][] = []
  const verifier = {
    ...inline,
    verifyAll: (checks: readonly SignatureCheck[]) => (verified.push([...checks]), inline.verifyAll(checks)),
  }
  const database = { get: (key: Buffer) => rows.get(key.toString('hex')) } as unknown as Database
  const overlay = {
    put: (key: Buffer, value: Uint8Array) => rows.set(key.toString('hex'), value),
  } as unknown as Overlay
  const assumed = new AssumedConfirms({ spec, database, verifier })
  const stored = blocks.map(({ header }, height): StoredConfirm => {
    const confirm = confirmBytes(bad.includes(height) ? wrong(confirmOf(height), 1) : confirmOf(height))
    overlay.put(tables.confirm.key(header.hash), confirm)
    return { header, confirm }
  })
  assumed.stage(overlay, 6)
  const verify = (...heights: number[]) => assumed.verify(heights.map((height) => stored[height] as StoredConfirm))
  const holding = () => blocks.map((_, height) => height).filter((height) => assumed.holds(height))
  return { assumed, overlay, rows, verified, verify, holding, stored }
}

describe('a confirm that was assumed to hold', () => {
  it('is verified once before it is served, and ends what is served if it is wrong', async () => {
    const { verified, verify, holding } = scene([4])
    expect(holding()).toEqual([7, 8])
    expect(await verify(7, 8)).toBe(2)
    expect(verified).toHaveLength(0)
    expect(await verify(1, 2, 3, 4, 5)).toBe(3)
    expect(holding()).toEqual([1, 2, 3, 7, 8])
    expect(verified).toHaveLength(1)
    expect(await verify(1, 2, 3, 4, 5)).toBe(3)
    expect(await verify(2, 3)).toBe(2)
    expect(await verify(4, 5)).toBe(0)
    expect(verified).toHaveLength(1)
    expect(await verify(3, 5, 6, 7)).toBe(4)
    expect(verified.slice(1).map((checks) => checks.length)).toEqual([8])
    expect(holding()).toEqual([1, 2, 3, 5, 6, 7, 8])
    expect(await verify(6, 5)).toBe(2)
    expect(verified).toHaveLength(2)
  })

  it('is verified once, also above those that were assumed when the first was', async () => {
    const { assumed, overlay, verified, verify } = scene([])
    expect(await verify(1)).toBe(1)
    assumed.stage(overlay, 8)
    for (let i = 0; i < 2; i++) expect([await verify(7), await verify(8)]).toEqual([1, 1])
    expect(verified).toHaveLength(3)
  })

  it('gives way to one that holds, if it is wrong, and to no other', async () => {
    const { assumed, overlay, rows, verify, stored } = scene([4])
    const right = { header: headerAt(4), confirm: confirmBytes(confirmOf(4)) }
    for (const vote of [undefined, 0, 2]) {
      const other = { header: headerAt(4), confirm: confirmBytes(wrong(confirmOf(4), vote)) }
      expect(await assumed.stageRight(overlay, other)).toBe(false)
    }
    expect(await assumed.stageRight(overlay, stored[4] as StoredConfirm)).toBe(false)
    expect(await assumed.stageRight(overlay, right)).toBe(true)
    expect(rows.get(tables.confirm.key(headerAt(4).hash).toString('hex'))).toEqual(right.confirm)
    assumed.kept(4)
    expect([assumed.holds(4), await verify(3, 4, 5)]).toEqual([true, 3])
    // Where the stored one holds, another one with other votes changes nothing: known to hold, not yet known, never assumed.
    for (const height of [3, 2, 7]) {
      const block = blocks[height] as Block
      const other = { header: block.header, confirm: confirmBytes(craftConfirm(spec, block, { voters: [1, 2, 3] })) }
      expect(await assumed.stageRight(overlay, other)).toBe(false)
    }
    rows.delete(tables.confirm.key(headerAt(5).hash).toString('hex'))
    expect(await assumed.stageRight(overlay, stored[5] as StoredConfirm)).toBe(false)
  })

  it('is looked at again after a start, and is of chains with validators alone', async () => {
    const { overlay, rows, verify } = scene([])
    expect(await verify(1, 2)).toBe(2)
    const database = { get: (key: Buffer) => rows.get(key.toString('hex')) } as unknown as Database
    const again = new AssumedConfirms({ spec, database, verifier: inline })
    expect([6, 7].map((height) => again.holds(height))).toEqual([false, true])
    rows.clear()
    const work = new AssumedConfirms({ spec: parseSpec(testSpec(withoutValidators)), database, verifier: inline })
    work.stage(overlay, 6)
    expect([rows.size, work.holds(0)]).toEqual([0, true])
  })
})
