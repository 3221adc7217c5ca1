import { expect, it } from 'vitest'
import { SignatureCache } from '../../../src/base/crypto/signature-cache.js'
import { RuleError } from '../../../src/base/errors/rule-error.js'
import type { DidOperation } from '../../../src/base/primitives/did-operation.js'
import type { Transaction } from '../../../src/base/primitives/transaction.js'
import { buildTemplate } from '../../support/builders/template.js'
import { parseAddress, type ProgramHash } from '../../../src/base/primitives/address.js'
import { solve } from '../../../src/ledger/production/solve.js'
import type { Block } from '../../../src/base/primitives/block.js'
import type { CraftedInput } from '../../support/builders/blocks.js'
import { craft, craftBlock, genesisCoin, outputOf } from '../../support/builders/blocks.js'
import { memoryStore, type Store, TestChain } from '../../support/builders/chain.js'
import { authenticationKey, type Holder, holder, issueCredential } from '../../support/builders/did.js'
import { quickSigner } from '../../support/builders/signatures.js'
import { testAddress } from '../../support/builders/spec.js'
import { random } from '../../support/builders/random-chain.js'

const seed = Number(process.env['DIDLEDGER_SEED'] ?? 1)
/** Room for one document of an issuer with `padding`, not for two. */
const limits = { documentShare: 0.0036 }
const padding = 'x'.repeat(30_000)
const signatures = new SignatureCache()

/** Issuers whose keys come and go, and holders of their credentials, who write to a pool and to blocks. */
class World {
  readonly issuers = [holder(), holder(), holder()]
  readonly holders = Array.from({ length: 8 }, holder)
  readonly #keys = Array.from({ length: 4 }, quickSigner)
  readonly #credentials: {
    readonly id: string
    readonly text: string
    readonly holder: Holder
    readonly issuer: Holder
  }[] = []
  #coin = 0
  #number = 0

  constructor(
    readonly roll: (sides: number) => number,
    readonly fan: Transaction,
  ) {}

  carry(test: TestChain, operation: DidOperation, coin?: CraftedInput): Transaction {
    const input = coin ?? outputOf(this.fan, this.#coin++)
    const value = coin === undefined ? 300_000_000n : 200_000_000n
    const signer = coin === undefined ? 11 : 30
    return craft(test.spec, [input], [{ to: 30, value }], [signer], { payload: { type: 10, operation } })
  }

  /** An operation for the pool, on top of what waits there; it may break a rule. */
  operation(test: TestChain): DidOperation {
    const one = this.#of(this.holders)
    const last = this.last(test, one, { pooled: true })
    const choice = this.roll(10)
    if (last === undefined) return one.create({ credentials: this.#issued(test, one, this.roll(3)) })
    if (choice < 4) return one.update(last, { credentials: this.#issued(test, one, this.roll(3)) })
    if (choice < 8 || this.#credentials.length === 0) return one.declare(this.#issued(test, one, 1)[0] as string)
    const { id, issuer, holder: by } = this.#of(this.#credentials)
    return this.roll(2) === 0 ? issuer.revoke(id) : by.revoke(id)
  }

  /** An operation of a block of another node. */
  surprise(test: TestChain): DidOperation {
    const issuer = this.#of(this.issuers)
    const last = this.last(test, issuer) ?? ''
    const choice = this.roll(12)
    if (choice === 0) return issuer.deactivate()
    if (choice < 6) return issuer.update(last, this.document(issuer))
    if (choice < 10 && this.#credentials.length > 0) {
      // Of those that may wait.
      const { id, text, holder: by, issuer: of } = this.#of(this.#credentials.slice(-6))
      return this.roll(3) > 0 ? of.revoke(id) : by.declare(text)
    }
    const one = this.#of(this.holders)
    const before = this.last(test, one)
    return before === undefined ? one.create() : one.update(before, { credentials: this.#issued(test, one, 1) })
  }

  /** A document of an issuer: each of two ids has one of two keys or none, and it is long or short. */
  document({ plan }: Holder): Parameters<Holder['update']>[1] {
    const keys = ['a', 'b'].flatMap((fragment, i) => {
      const choice = this.roll(5)
      const key = this.#keys[choice < 3 ? i : 2 + i]
      return choice === 4 || key === undefined ? [] : [authenticationKey(fragment, key)]
    })
    const text = this.roll(3) === 0 ? padding : String(this.roll(1000))
    const services = [{ id: '#text', type: 'Text', serviceEndpoint: 'https://example.org', text }]
    return { keys: [...plan.keys, ...keys], services }
  }

  last({ chain, mempool }: TestChain, { did }: Holder, { pooled = false } = {}): string | undefined {
    const pending = pooled ? [...mempool.entries()].filter((entry) => entry.did?.id === did).at(-1) : undefined
    return (pending?.did?.state ?? chain.state.did(did))?.lastTxid
  }

  #issued({ chain }: TestChain, one: Holder, count: number): string[] {
    return Array.from({ length: count }, () => {
      const issuer = this.#of(this.issuers)
      const id = `${one.did}#${this.#number++}`
      const i = this.roll(2)
      const known = chain.state.did(issuer.did)?.document.authentication.get(`${issuer.did}#${'ab'[i]}`)
      // Mostly by the key of now, so that most are taken.
      const now = this.#keys.find(({ publicKey }) => Buffer.from(publicKey).toString('latin1') === known)
      const key = now ?? issuer.primary
      const text = issueCredential(issuer.did, key, one.did, { id }, now === undefined ? '#primary' : `#${'ab'[i]}`)
      this.#credentials.push({ id, text, holder: one, issuer })
      return text
    })
  }

  #of<T>(list: readonly T[]): T {
    return list[this.roll(list.length)] as T
  }
}

/** A chain whose pool is evaluated from the start after each block, by a restart. */
class Restarted {
  private constructor(
    readonly store: Store,
    public test: TestChain,
  ) {}

  static async open(): Promise<Restarted> {
    const store = memoryStore()
    return new Restarted(store, await TestChain.open(undefined, { store, limits, signatures }))
  }

  async accept(block: Block, time: number): Promise<void> {
    await this.test.accept(block)
    await this.test.close()
    this.test = await TestChain.open(undefined, { store: this.store, limits, signatures })
    this.test.clock.time = time
  }
}

const outcome = (test: TestChain, transaction: Transaction): Promise<string> =>
  test.send(transaction).then(
    () => 'taken',
    (error: unknown) => {
      if (error instanceof RuleError) return error.code
      throw error
    },
  )

it(
  `a pool that looks again at what a block changed holds what one holds that looks at everything (DIDLEDGER_SEED=${seed})`,
  { timeout: 300_000 },
  async () => {
    const seen = { taken: 0, evaluated: 0, left: 0, codes: new Set<string>() }
    for (let round = 0; round < 2; round++) {
      const roll = random((seed + 1) * 1000 + round)
      const test = await TestChain.open(undefined, { limits, signatures })
      const always = await Restarted.open()
      const outputs = Array.from({ length: 400 }, () => ({ to: 11, value: 400_000_000n }))
      const fan = craft(test.spec, [genesisCoin(test.chain, 1)], outputs, [11], {})
      const world = new World(roll, fan)
      const accept = async (transactions: readonly Transaction[]) => {
        test.clock.time += 60_000
        const block = craftBlock(test.chain, { transactions: [...transactions] })
        await test.accept(block)
        await always.accept(block, test.clock.time)
      }
      await accept([fan])
      await accept(world.issuers.map((one) => world.carry(test, one.create(world.document(one)))))
      for (let blocks = 0; blocks < 14; blocks++) {
        for (let i = roll(12); i > 0; i--) {
          test.clock.time += 1
          always.test.clock.time = test.clock.time
          const waiting = [...test.mempool.entries()].filter(({ transaction }) => {
            return (
              test.mempool.spender(outputOf(transaction)) === undefined &&
              transaction.outputs[0]?.value === 300_000_000n
            )
          })
          const parent = roll(4) === 0 ? waiting.at(-1)?.transaction : undefined
          const transaction = world.carry(test, world.operation(test), parent && outputOf(parent))
          const outcomes = [await outcome(test, transaction), await outcome(always.test, transaction)]
          expect(outcomes[0]).toBe(outcomes[1])
          if (outcomes[0] === 'taken') seen.taken++
        }
        const held = [...test.mempool.entries()].map(({ transaction }) => transaction)
        const before = test.mempool.reevaluations
        if (roll(4) === 0) {
          const payTo = parseAddress(testAddress(20)) as ProgramHash
          const time = Math.floor(test.clock.time / 1000)
          const block = (await solve(
            await buildTemplate(test.chain, test.mempool, { payTo, time, nonce: Buffer.alloc(8, blocks) }),
          )) as Block
          await test.accept(block)
          await always.accept(block, test.clock.time)
        } else {
          const fits: Transaction[] = []
          for (let i = roll(4); i > 0; i--) {
            const transaction = world.carry(test, world.surprise(test))
            const { bytes } = craftBlock(test.chain, { transactions: [...fits, transaction] })
            const isValid = await test.chain.prepare(bytes).then(
              () => true,
              () => false,
            )
            if (isValid) fits.push(transaction)
          }
          await accept(fits)
        }
        const ids = (one: TestChain) => [...one.mempool.entries()].map(({ transaction }) => transaction.txid).sort()
        expect(ids(test)).toEqual(ids(always.test))
        seen.evaluated += test.mempool.reevaluations - before
        for (const { hash } of held) {
          const [reason, other] = [test, always.test].map((one) => one.mempool.droppedReason(hash))
          expect(reason === undefined).toBe(other === undefined)
          if (reason === undefined) continue
          seen.left++
          seen.codes.add(reason.split(':')[0] as string)
        }
      }
      expect(test.log.errors).toEqual([])
      await test.close()
      await always.test.close()
    }
    // It was about something.
    expect(seen.taken).toBeGreaterThan(60)
    expect(seen.left).toBeGreaterThan(10)
    expect(seen.evaluated).toBeGreaterThan(seen.left)
    expect([...seen.codes]).toEqual(expect.arrayContaining(['credential-key', 'did-previous-txid']))
  },
)
