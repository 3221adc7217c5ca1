import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { BlockRunError } from '../../../../src/ledger/chain/block-run.js'
import type { IncomingBlock } from '../../../../src/ledger/chain/block-run.js'
import { stateDigest } from '../../../../src/ledger/chain/replay-chain.js'
import { createInlineVerifier } from '../../../../src/base/crypto/inline.js'
import { Block } from '../../../../src/base/primitives/block.js'
import type { DidOperation } from '../../../../src/base/primitives/did-operation.js'
import type { SignatureCheck } from '../../../../src/base/primitives/signature.js'
import { Transaction } from '../../../../src/base/primitives/transaction.js'
import { craftBlock, fieldsOf, signedBy } from '../../../support/builders/blocks.js'
import { oneValidator, TestChain, withoutValidators } from '../../../support/builders/chain.js'
import { type Holder, holder, txid } from '../../../support/builders/did.js'
import { faultOf } from '../../../support/assert/row-invariants.js'
import { testAddress } from '../../../support/builders/spec.js'

/** A chain of `count` blocks with a transfer each, and another that has none of them yet. */
async function twoChains(count: number, overrides = oneValidator()) {
  const source = await TestChain.open(overrides)
  const blocks: Block[] = []
  for (let i = 0; i < count; i++) {
    await source.send(await source.transfer(testAddress(30 + i), 1000n))
    blocks.push(...(await source.mine()))
  }
  const target = await TestChain.open(overrides)
  const run = blocks.map((block) => incoming(source, block))
  return { source, target, blocks, run }
}

/** A chain of empty blocks with confirms, and another that has none of them yet. */
async function emptyChains(count: number) {
  const source = await TestChain.open(oneValidator())
  const blocks = await source.mine(count)
  const target = await TestChain.open(oneValidator())
  return { source, target, run: blocks.map((block) => incoming(source, block)) }
}

/** A chain that notes the number of checks of each call of its verifier. */
async function countingChain() {
  const inline = createInlineVerifier()
  const calls: number[] = []
  const verifyAll = (checks: readonly SignatureCheck[]) => {
    calls.push(checks.length)
    return inline.verifyAll(checks)
  }
  const target = await TestChain.open(oneValidator(), { verifier: { verifyAll, close: () => inline.close() } })
  return { target, calls }
}

/** A block whose confirm ends with a signature that does not verify. */
function withBadVote(one: IncomingBlock): IncomingBlock {
  const confirm = Uint8Array.from(one.confirm as Uint8Array)
  confirm[confirm.length - 1] = (confirm.at(-1) as number) ^ 1
  return { ...one, confirm }
}

function incoming(chain: TestChain, block: Block): IncomingBlock {
  const confirm = chain.confirmFor(block)
  return { block: block.bytes, ...(confirm === undefined ? {} : { confirm }) }
}

/** The same block with another transfer in the place of its own, right in everything but that. */
function withTransfer(source: TestChain, block: Block, change: (transfer: Transaction) => Transaction): Block {
  const parent = source.chain.headers.get(block.header.previous)
  const transactions = [change(block.transactions[1] as Transaction)]
  return craftBlock(source.chain, { ...(parent && { parent }), transactions })
}

/** A block whose transfer has a signature that does not verify. */
function badlySigned(source: TestChain, block: Block): Block {
  return withTransfer(source, block, (transfer) => {
    const programs = transfer.programs.map(({ code, parameter }) => {
      const changed = Uint8Array.from(parameter)
      changed[40] = (changed[40] as number) ^ 1
      return { code, parameter: changed }
    })
    return new Transaction({ ...fieldsOf(transfer), programs })
  })
}

async function failureOf(run: Promise<unknown>): Promise<BlockRunError> {
  const error = await run.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(BlockRunError)
  return error as BlockRunError
}

describe('a run of blocks', () => {
  it.each([
    ['a validator', oneValidator()],
    ['no validators', withoutValidators],
  ])('is connected in one batch on a chain with %s, as if each block had come alone', async (_, overrides) => {
    const { source, target, run } = await twoChains(12, overrides)
    const before = target.database.sequence
    expect(await target.chain.acceptBlocks(run)).toBe(12)
    expect(target.database.sequence).toBe(before + 1)
    expect(target.chain.tip.header.id).toBe(source.chain.tip.header.id)
    expect(target.chain.tip.chainWork).toBe(source.chain.tip.chainWork)
    expect(await stateDigest(target.database)).toBe(await stateDigest(source.database))
    expect(await faultOf(target)).toBeUndefined()
  })

  it('passes over what is on the chain already', async () => {
    const { target, run } = await twoChains(5)
    await target.chain.acceptBlocks(run.slice(0, 3))
    expect(await target.chain.acceptBlocks(run)).toBe(5)
    expect(target.chain.tip.header.height).toBe(5)
    expect(await target.chain.acceptBlocks(run)).toBe(5)
  })

  it('ends before the first block that breaks a rule', async () => {
    const { source, target, blocks, run } = await twoChains(4)
    const broken = [...run.slice(0, 2), incoming(source, badlySigned(source, blocks[2] as Block)), ...run.slice(3)]
    const { index, rule } = await failureOf(target.chain.acceptBlocks(broken))
    expect({ index, code: rule.code }).toEqual({ index: 2, code: 'tx-signature' })
    expect(target.chain.tip.header.height).toBe(2)
    expect(await faultOf(target)).toBeUndefined()
    expect(await target.chain.acceptBlocks(run)).toBe(4)
  })

  it('names a block with a bad signature before what the block after it breaks', async () => {
    const { source, target, blocks, run } = await twoChains(4)
    const bad = incoming(source, badlySigned(source, blocks[1] as Block))
    const broken = incoming(source, withTransfer(source, blocks[2] as Block, overspent))
    const { index, rule } = await failureOf(
      target.chain.acceptBlocks([run[0] as IncomingBlock, bad, broken, run[3] as IncomingBlock]),
    )
    expect({ index, code: rule.code }).toEqual({ index: 1, code: 'tx-signature' })
    expect(target.chain.tip.header.height).toBe(1)
    expect(await faultOf(target)).toBeUndefined()
    const after = target.chain.acceptBlocks([run[1] as IncomingBlock, broken])
    expect(await failureOf(after)).toMatchObject({ index: 1, rule: { code: 'tx-balance' } })
    expect(target.chain.tip.header.height).toBe(2)
    expect(await target.chain.acceptBlocks(run)).toBe(4)
    expect(await faultOf(target)).toBeUndefined()
  })

  it('checks one block further while signatures are verified, and writes nothing before they are', async () => {
    const { source, run } = await twoChains(5, withoutValidators)
    const inline = createInlineVerifier()
    const held: (() => void)[] = []
    const verifyAll = async (checks: readonly SignatureCheck[]) => {
      if (checks.length > 0) await new Promise<void>((resolve) => held.push(resolve))
      return inline.verifyAll(checks)
    }
    const target = await TestChain.open(withoutValidators, { verifier: { verifyAll, close: () => inline.close() } })
    const before = target.database.sequence
    const accepted = target.chain.acceptBlocks(run)
    for (let left = run.length; left > 0; left--) {
      // The signatures of a block, and those of the next one, which was checked meanwhile; not those of further ones.
      const most = Math.min(2, left)
      await expect.poll(() => held.length).toBe(most)
      await setTimeout(20)
      expect(held.length).toBe(most)
      expect(target.database.sequence).toBe(before)
      held.shift()?.()
    }
    expect(await accepted).toBe(5)
    expect(target.database.sequence).toBe(before + 1)
    expect(await stateDigest(target.database)).toBe(await stateDigest(source.database))
  })

  it('gives the verifier the confirms of many blocks in one call', async () => {
    const { source, run } = await emptyChains(200)
    const { target, calls } = await countingChain()
    expect(await target.chain.acceptBlocks(run)).toBe(200)
    // A proposal and a vote a block; portions end with the block that fills them.
    expect(calls.filter((count) => count > 0)).toEqual([256, 144])
    expect(await stateDigest(target.database)).toBe(await stateDigest(source.database))
  })

  it('verifies no confirm twice, and none of blocks far behind a broken one', async () => {
    const { run } = await emptyChains(400)
    const { target, calls } = await countingChain()
    const broken = run.map((one, i) => (i === 1 ? withBadVote(one) : one))
    const { index, rule } = await failureOf(target.chain.acceptBlocks(broken))
    expect({ index, code: rule.code }).toEqual({ index: 1, code: 'confirm-signature' })
    expect(target.chain.tip.header.height).toBe(1)
    expect(calls.filter((count) => count > 0)).toEqual([256, 256])
    expect(await target.chain.acceptBlocks(run)).toBe(400)
    expect(await faultOf(target)).toBeUndefined()
  })

  it.each([0, 127, 128, 199])('names block %i of a run by the signature of its confirm', async (at) => {
    const { target, run } = await emptyChains(200)
    const broken = run.map((one, i) => (i === at || i === at + 40 ? withBadVote(one) : one))
    const { index, rule } = await failureOf(target.chain.acceptBlocks(broken))
    expect({ index, code: rule.code }).toEqual({ index: at, code: 'confirm-signature' })
    expect(target.chain.tip.header.height).toBe(at)
  })

  it('verifies no confirm that was verified with its header, but another one of that block', async () => {
    const { source, run } = await emptyChains(3)
    const { target, calls } = await countingChain()
    const [first, second, third] = run as [IncomingBlock, IncomingBlock, IncomingBlock]
    for (const { block, confirm } of [first, second, third]) {
      target.chain.verifiedConfirms.add(Block.fromBytes(block).header, confirm as Uint8Array)
    }
    const bad = await failureOf(target.chain.acceptBlocks([first, withBadVote(second), third]))
    expect([bad.index, bad.rule.code]).toEqual([1, 'confirm-signature'])
    expect(target.chain.tip.header.height).toBe(1)
    calls.length = 0
    await target.chain.acceptBlocks([second])
    await target.chain.acceptBlock(third.block, third.confirm)
    expect(target.chain.tip.header.height).toBe(3)
    expect(calls.reduce((sum, count) => sum + count, 0)).toBe(0)
    await Promise.all([source.close(), target.close()])
  })

  it('names the confirm of a block before what its body breaks, and both before those of the next block', async () => {
    const { source, target, blocks, run } = await twoChains(3)
    const broken = incoming(source, withTransfer(source, blocks[1] as Block, overspent))
    const runs = { both: withBadVote(broken), body: broken }
    const [first, , last] = run as [IncomingBlock, IncomingBlock, IncomingBlock]
    for (const [one, code] of [
      [runs.both, 'confirm-signature'],
      [runs.body, 'tx-balance'],
    ] as const) {
      const { index, rule } = await failureOf(target.chain.acceptBlocks([first, one, withBadVote(last)]))
      expect({ index, code: rule.code }).toEqual({ index: 1, code })
      await expect(target.chain.acceptBlock(one.block, one.confirm)).rejects.toMatchObject({ code })
    }
    const { confirm: _, ...bare } = broken
    expect((await failureOf(target.chain.acceptBlocks([first, bare]))).rule.code).toBe('confirm-missing')
    expect(target.chain.tip.header.height).toBe(1)
  })

  it('connects the blocks before a confirm of another form', async () => {
    const { target, run } = await emptyChains(3)
    const cut = run.map((one, i) => (i === 2 ? { ...one, confirm: (one.confirm as Uint8Array).subarray(0, 20) } : one))
    const { index, rule } = await failureOf(target.chain.acceptBlocks(cut))
    expect({ index, code: rule.code }).toEqual({ index: 2, code: 'confirm-malformed' })
    expect(target.chain.tip.header.height).toBe(2)
  })

  it('marks the broken block of a chain without validators', async () => {
    const { source, target, blocks, run } = await twoChains(3, withoutValidators)
    const bad = badlySigned(source, blocks[1] as Block)
    await failureOf(target.chain.acceptBlocks([run[0] as IncomingBlock, { block: bad.bytes }]))
    expect(target.chain.headers.get(bad.header.hash)?.status).toBe('invalid')
  })

  it('asks for the confirm of each block', async () => {
    const { target, run } = await twoChains(2)
    const [first, second] = run as [IncomingBlock, IncomingBlock]
    expect((await failureOf(target.chain.acceptBlocks([first, { block: second.block }]))).rule.code).toBe(
      'confirm-missing',
    )
    const swapped = { block: second.block, ...(first.confirm && { confirm: first.confirm }) }
    expect((await failureOf(target.chain.acceptBlocks([swapped]))).rule.code).toBe('confirm-block')
  })

  it('is refused when it does not stand on the tip', async () => {
    const { target, run } = await twoChains(3)
    expect((await failureOf(target.chain.acceptBlocks(run.slice(1)))).rule.code).toBe('block-stale')
  })

  it('believes signatures only when told to, and nothing else', async () => {
    const { source, target, blocks } = await twoChains(1)
    const bad = badlySigned(source, blocks[0] as Block)
    const confirm = Uint8Array.from(source.confirmFor(bad) as Uint8Array)
    confirm[confirm.length - 1] = (confirm.at(-1) as number) ^ 1
    const run = [{ block: bad.bytes, confirm }]
    expect((await failureOf(target.chain.acceptBlocks(run))).rule.code).toBe('confirm-signature')
    const overspending = withTransfer(source, blocks[0] as Block, overspent)
    const assumed = [{ block: overspending.bytes, confirm: source.confirmFor(overspending) as Uint8Array }]
    expect((await failureOf(target.chain.acceptBlocks(assumed, { assumed: true }))).rule.code).toBe('tx-balance')
    expect(await target.chain.acceptBlocks(run, { assumed: true })).toBe(1)
  })

  it.each<[string, (source: TestChain, block: Block) => Block]>([
    ['coinbase-witness-root', otherWitness],
    ['tx-program-mismatch', (source, block) => withTransfer(source, block, signedByAnother)],
    ['tx-balance', (source, block) => withTransfer(source, block, overspent)],
  ])('refuses %s where signatures are believed', async (code, broken) => {
    const { source, target, blocks } = await twoChains(1)
    const run = [incoming(source, broken(source, blocks[0] as Block))]
    expect((await failureOf(target.chain.acceptBlocks(run, { assumed: true }))).rule.code).toBe(code)
    expect(target.chain.tip.header.height).toBe(0)
  })

  it('refuses an operation that the state of its DID does not allow, where signatures are believed', async () => {
    const [ada, target] = [holder(), await TestChain.open(oneValidator())]
    const update = await target.carry(ada.update(txid(1)), ada.did)
    const run = [incoming(target, craftBlock(target.chain, { transactions: [update] }))]
    expect((await failureOf(target.chain.acceptBlocks(run, { assumed: true }))).rule.code).toBe('did-unknown')
  })

  it.each<[string, string, (ada: Holder, bob: Holder) => DidOperation]>([
    [
      'an operation',
      'did-signature',
      (ada) => {
        const operation = ada.create()
        return { ...operation, signature: otherSignature(operation.signature) }
      },
    ],
    [
      'a credential',
      'credential-proof',
      (ada, bob) => {
        const credential = JSON.parse(ada.issue(ada.did)) as { proof: { signature: string } }
        const { signature } = (JSON.parse(bob.issue(ada.did)) as typeof credential).proof
        return ada.create({
          credentials: [JSON.stringify({ ...credential, proof: { ...credential.proof, signature } })],
        })
      },
    ],
  ])('believes the signature of %s only when told to', async (_, code, operation) => {
    const [ada, bob, target] = [holder(), holder(), await TestChain.open(oneValidator())]
    const transactions = [await target.carry(operation(ada, bob), ada.did)]
    const run = [incoming(target, craftBlock(target.chain, { transactions }))]
    expect((await failureOf(target.chain.acceptBlocks(run))).rule.code).toBe(code)
    expect(await target.chain.acceptBlocks(run, { assumed: true })).toBe(1)
  })
})

/** Commits to the programs of the transfer, and holds others. */
function otherWitness(source: TestChain, block: Block): Block {
  const other = badlySigned(source, block).transactions[1] as Transaction
  const parent = source.chain.headers.get(block.header.previous)
  const transactions = [block.transactions[1] as Transaction]
  return craftBlock(source.chain, { ...(parent && { parent }), transactions, all: (coinbase) => [coinbase, other] })
}

/** Signed, but by whom the coins do not belong to. */
function signedByAnother(transfer: Transaction): Transaction {
  return signedBy(fieldsOf(transfer), [11])
}

/** A signature of the right form that does not verify. */
function otherSignature(signature: string): string {
  return (signature.startsWith('A') ? 'B' : 'A') + signature.slice(1)
}

/** A transfer that pays out more than it takes. */
function overspent(transfer: Transaction): Transaction {
  const [first, ...others] = fieldsOf(transfer).outputs
  if (first === undefined) throw new Error('no output')
  const outputs = [{ ...first, value: first.value + 1_000_000_000_000n }, ...others]
  return new Transaction({ ...fieldsOf(transfer), outputs })
}

describe('a prepared block', () => {
  it('needs nothing but its confirm, and its rows are those of any other', async () => {
    const { source, target, blocks, run } = await twoChains(2)
    for (const [i, block] of blocks.entries()) {
      await target.chain.prepare(block.bytes)
      expect(target.chain.tip.header.height).toBe(i)
      expect(await target.chain.acceptBlock(block.bytes, run[i]?.confirm)).toBe('connected')
    }
    expect(await stateDigest(target.database)).toBe(await stateDigest(source.database))
    expect(await faultOf(target)).toBeUndefined()
  })

  it('is not connected without a confirm that holds', async () => {
    const { target, blocks, run } = await twoChains(1)
    const [block] = blocks as [Block]
    await target.chain.prepare(block.bytes)
    await expect(target.chain.acceptBlock(block.bytes)).rejects.toMatchObject({ code: 'confirm-missing' })
    const confirm = Uint8Array.from(run[0]?.confirm as Uint8Array)
    confirm[confirm.length - 1] = (confirm.at(-1) as number) ^ 1
    await expect(target.chain.acceptBlock(block.bytes, confirm)).rejects.toMatchObject({ code: 'confirm-signature' })
    expect(target.chain.tip.header.height).toBe(0)
  })

  it('is refused like any other block, and for standing on another than the tip', async () => {
    const { source, target, blocks } = await twoChains(2)
    const [first, second] = blocks as [Block, Block]
    await expect(target.chain.prepare(badlySigned(source, first).bytes)).rejects.toMatchObject({ code: 'tx-signature' })
    await expect(target.chain.prepare(second.bytes)).rejects.toMatchObject({ code: 'block-stale' })
  })
})
