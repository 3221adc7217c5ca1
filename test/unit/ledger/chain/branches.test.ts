import { describe, expect, it } from 'vitest'
import { putStatus } from '../../../../src/ledger/chain/block-records.js'
import { Branches, type BranchesOptions, reorganisationDepth } from '../../../../src/ledger/chain/branches.js'
import type { KnownHeader } from '../../../../src/ledger/chain/header-index.js'
import { sideBlockLimit } from '../../../../src/ledger/chain/side-blocks.js'
import { Overlay } from '../../../../src/ledger/storage/write/overlay.js'
import { type BlockStatus, tables } from '../../../../src/ledger/storage/rows/tables.js'
import { craftBlock } from '../../../support/builders/blocks.js'
import { TestChain } from '../../../support/builders/chain.js'
import { storeWithSideBlocks } from '../../../support/builders/side-rows.js'

/** A chain whose tip is at `height`, and a branch with blocks of these kinds from `fork` + 1 on; returns the error of a block on its top. */
async function reachOf(height: number, fork: number, kinds: readonly BlockStatus[]): Promise<unknown> {
  const known = (at: number, status: BlockStatus) => {
    const header = { hash: Uint8Array.of(at), previous: Uint8Array.of(at - 1), height: at, id: `block ${at}` }
    return { header, status } as unknown as KnownHeader
  }
  const branch = kinds.map((status, i) => known(fork + 1 + i, status))
  const headers = { known: ({ 0: at = 0 }: Uint8Array) => branch[at - fork - 1] ?? known(fork, 'active') }
  const database = { keys: () => Promise.resolve([]), get: () => undefined }
  const options = { database, headers, tip: () => known(height, 'active') } as unknown as BranchesOptions
  const branches = await Branches.open(options)
  try {
    branches.checkReach(branch.at(-1) ?? known(fork, 'active'))
    return undefined
  } catch (error) {
    return error
  }
}

describe('a branch', () => {
  const tip = reorganisationDepth + 10

  it('may leave the chain as deep below the tip as a reorganisation goes, and no deeper', async () => {
    for (const kinds of [[], ['side'], ['side', 'side']] as const) {
      expect(await reachOf(tip, 10, kinds)).toBeUndefined()
      expect(await reachOf(tip, 9, kinds)).toMatchObject({ code: 'block-too-deep' })
    }
  })

  it('is to come again from the block that gave way, unless that is too deep to join the chain', async () => {
    expect(await reachOf(tip, 10, ['header', 'side'])).toMatchObject({ code: 'block-parent-unknown' })
    expect(await reachOf(tip, 9, ['header', 'side'])).toMatchObject({ code: 'block-parent-unknown' })
    expect(await reachOf(tip, 8, ['header', 'side'])).toMatchObject({ code: 'block-too-deep' })
    expect(await reachOf(tip, 10, ['side', 'invalid'])).toMatchObject({ code: 'block-parent-invalid' })
    expect(await reachOf(tip, 10, ['invalid', 'side'])).toMatchObject({ code: 'block-parent-invalid' })
  })

  it('takes a block again whose bytes gave way, and only then one on top of it', async () => {
    const test = await TestChain.open()
    const genesis = test.chain.tip
    await test.accept(craftBlock(test.chain))
    await test.accept(craftBlock(test.chain))
    const block = craftBlock(test.chain, { parent: genesis })
    expect(await test.accept(block)).toBe('side')
    const { hash } = block.header
    const child = craftBlock(test.chain, { parent: test.knownHeader(hash) })
    const overlay = new Overlay(test.database)
    overlay.del(tables.sideBody.key(hash))
    putStatus(overlay, test.knownHeader(hash), 'header')
    await overlay.commit({ kind: 'header', hash: genesis.header.hash, height: 2 }, { sync: false })
    test.chain.headers.forget([hash])
    await expect(test.accept(child)).rejects.toMatchObject({ code: 'block-parent-unknown' })
    expect(await test.accept(block)).toBe('side')
    expect(test.chain.headers.get(hash)?.status).toBe('side')
    expect(await test.accept(child)).toBe('side')
    await test.close()
  })
})

describe('a full store of side blocks', () => {
  it('refuses a block with no more work, without a mark and before its rules are looked at', async () => {
    const test = await TestChain.open(undefined, { store: await storeWithSideBlocks(sideBlockLimit) })
    const parent = test.activeHeader(0)
    for (const coinbase of [{}, { lockTime: 99 }]) {
      const block = craftBlock(test.chain, { parent, coinbase })
      await expect(test.accept(block)).rejects.toMatchObject({ code: 'block-unsettled-full' })
      expect(test.chain.headers.get(block.header.hash)).toBeUndefined()
    }
    // A part of verified headers with more work is taken in place of another one.
    const wanted = craftBlock(test.chain, { parent })
    const has = ({ id }: { readonly id: string }) => id === wanted.hash
    test.chain.pursue(() => ({ base: undefined, work: test.chain.tip.chainWork + 1n, has }))
    await expect(test.accept(craftBlock(test.chain, { parent }))).rejects.toMatchObject({
      code: 'block-unsettled-full',
    })
    expect(await test.accept(wanted)).toBe('side')
    expect(await test.database.keys(tables.sideBody.range())).toHaveLength(sideBlockLimit)
    await test.close()
  })

  it('takes one more block where it is not full, and then none', async () => {
    const test = await TestChain.open(undefined, { store: await storeWithSideBlocks(sideBlockLimit - 1) })
    const parent = test.activeHeader(0)
    expect(await test.accept(craftBlock(test.chain, { parent }))).toBe('side')
    await expect(test.accept(craftBlock(test.chain, { parent }))).rejects.toMatchObject({
      code: 'block-unsettled-full',
    })
    await test.close()
  })
})
