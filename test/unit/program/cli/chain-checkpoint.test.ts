import { describe, expect, it, onTestFinished } from 'vitest'
import { checkpointAt } from '../../../../src/program/cli/chain-checkpoint.js'
import { UserError } from '../../../../src/base/errors/rule-error.js'
import { LightResolver } from '../../../../src/clients/light/light-resolver.js'
import { quickSigner } from '../../../../src/base/crypto/quick-signer.js'
import { trustOf } from '../../../../src/identity/proofs/make-trust.js'
import { oneValidator, TestChain, withoutValidators } from '../../../support/builders/chain.js'
import { holder } from '../../../support/builders/did.js'
import { failureOf } from '../../../support/builders/light-world.js'
import { ProofBook } from '../../../support/builders/proof-book.js'
import { type SpecOverrides, testKey } from '../../../support/builders/spec.js'
import { lightServers } from '../../../support/fakes/light-server.js'

async function chainOf(overrides: SpecOverrides, blocks: number): Promise<TestChain> {
  const test = await TestChain.open(overrides)
  onTestFinished(() => test.close())
  await test.mine(blocks)
  return test
}

const at = ({ chain, spec }: TestChain, height?: number) => checkpointAt(chain, spec, height)

/** A resolver that begins at a checkpoint of a chain, over a server of it. */
async function lightFrom(test: TestChain, checkpoint: unknown): Promise<LightResolver> {
  const { chain, spec, reader } = test
  const book = new ProofBook(
    chain.genesis,
    spec.hasValidators ? [{ height: 1, signers: [quickSigner(testKey(0))] }] : [],
  )
  for (let height = 1; height <= reader.height; height++) {
    const known = test.activeHeader(height)
    book.push(await reader.block(known), reader.confirm(known.header.hash))
  }
  return new LightResolver({
    servers: ['http://node'],
    trust: trustOf(spec),
    checkpoint,
    // A node proves what its chain will not give up.
    fetch: lightServers({
      node: {
        book,
        lies: spec.hasValidators ? {} : { answer: (_, { did }) => book.answer(did, { height: reader.height - 6 }) },
      },
    }),
    now: () => test.clock.time,
  })
}

describe('the checkpoint of a chain with validators', () => {
  it('is its tip, from which a light resolver starts', async () => {
    const test = await chainOf(oneValidator(), 2)
    const { did, create } = holder()
    await test.publish(create(), did)
    const checkpoint = at(test)
    expect(checkpoint).toMatchObject({ height: 3, hash: test.chain.tip.header.id, keysHash: expect.any(String) })
    const light = await lightFrom(test, checkpoint)
    expect(await light.resolve(did)).toMatchObject({ status: 0, proved: { height: 3 } })
  })

  it('is any block of it, and another hash of keys is refused', async () => {
    const test = await chainOf(oneValidator(), 3)
    const light = await lightFrom(test, at(test, 1))
    expect(await light.resolve(holder().did)).toMatchObject({ status: 3, proved: { height: 3 } })
    const wrong = await lightFrom(test, { ...at(test, 1), keysHash: '00'.repeat(32) })
    expect(await failureOf(wrong.resolve(holder().did))).toBe('checkpoint-keys')
  })

  it.each<[string, number | undefined, string]>([
    ['genesis', 0, 'the genesis block is no checkpoint'],
    ['the tip of an empty chain', undefined, 'the genesis block is no checkpoint'],
    ['a block above the tip', 1, 'the chain ends at height 0, below 1'],
  ])('is not %s', async (_, height, reason) => {
    const test = await chainOf(oneValidator(), 0)
    expect(() => at(test, height)).toThrow(UserError)
    expect(() => at(test, height)).toThrow(reason)
  })

  it('is no block that commits to nothing', async () => {
    const later = { ...oneValidator(), didRoot: undefined }
    const upgrades = [{ height: 2, name: 'roots', parameters: { didRoot: true } }]
    const test = await chainOf({ ...later, upgrades }, 2)
    expect(() => at(test, 1)).toThrow('block 1 of test commits to no state of DIDs; they do from height 2 on')
    expect(at(test, 2).height).toBe(2)
    const never = await chainOf(later, 1)
    expect(() => at(never)).toThrow('block 1 of test commits to no state of DIDs; nor does any other')
  })
})

describe('the checkpoint of a chain without validators', () => {
  it('lies as deep as nodes go back, and a light resolver starts from it', async () => {
    const test = await chainOf(withoutValidators, 290)
    const checkpoint = at(test)
    expect(checkpoint).toMatchObject({ height: 2, hash: test.activeHeader(2).header.id })
    expect(checkpoint).not.toHaveProperty('keysHash')
    const light = await lightFrom(test, checkpoint)
    expect(await light.resolve(holder().did)).toMatchObject({ status: 3, proved: { height: 284 } })
  })

  it('has to be chosen on a short chain', async () => {
    const test = await chainOf(withoutValidators, 8)
    expect(() => at(test)).toThrow('other work may still replace its last 288 blocks: choose one by --height')
    const light = await lightFrom(test, at(test, 1))
    expect(await light.resolve(holder().did)).toMatchObject({ status: 3, proved: { height: 2 } })
  })
})
