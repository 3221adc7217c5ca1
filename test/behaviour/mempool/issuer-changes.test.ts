import { afterEach, describe, expect, it } from 'vitest'
import type { PoolLimits } from '../../../src/ledger/mempool/policy.js'
import { fixedLimits } from '../../../src/base/primitives/spec.js'
import type { DidOperation } from '../../../src/base/primitives/did-operation.js'
import type { Transaction } from '../../../src/base/primitives/transaction.js'
import { choose } from '../../../src/ledger/production/selection.js'
import type { DocumentPlan } from '../../../src/identity/did/build.js'
import { craft, craftBlock, genesisCoin, outputOf } from '../../support/builders/blocks.js'
import { TestChain } from '../../support/builders/chain.js'
import { authenticationKey, type Holder, holder, issueCredential } from '../../support/builders/did.js'
import { type QuickSigner, quickSigner } from '../../support/builders/signatures.js'

const holders = 12

/** An issuer with keys of its own for two kinds of credentials, and the pool with holders of either. */
class Scene {
  readonly issuer = holder()
  readonly keys = { a: quickSigner(), b: quickSigner() }
  #next = 0

  private constructor(
    readonly test: TestChain,
    readonly fan: Transaction,
  ) {}

  static async open(limits?: Partial<PoolLimits>): Promise<Scene> {
    const test = await TestChain.open(undefined, limits === undefined ? {} : { limits })
    const outputs = Array.from({ length: 120 }, () => ({ to: 11, value: 1_000_000_000n }))
    const fan = craft(test.spec, [genesisCoin(test.chain, 1)], outputs, [11])
    await test.accept(craftBlock(test.chain, { transactions: [fan] }))
    const scene = new Scene(test, fan)
    await scene.mine(scene.issuer.create(scene.with(scene.keys)))
    return scene
  }

  /** The document of the issuer with these keys, and as much more. */
  with(keys: Partial<Record<'a' | 'b', QuickSigner>>, padding = ''): Partial<DocumentPlan> {
    const more = Object.entries(keys).map(([fragment, key]) => authenticationKey(fragment, key))
    const service = { id: '#padding', type: 'Padding', serviceEndpoint: 'https://example.org', text: padding }
    return { keys: [...this.issuer.plan.keys, ...more], services: [service] }
  }

  carry(operation: DidOperation): Transaction {
    const pay = [{ to: 30, value: 900_000_000n }]
    return craft(this.test.spec, [outputOf(this.fan, this.#next++)], pay, [11], { payload: { type: 10, operation } })
  }

  credential(did: string, key: 'a' | 'b' = 'a'): string {
    return issueCredential(this.issuer.did, this.keys[key], did, {}, `#${key}`)
  }

  /** Puts holders of a credential into the pool. */
  async hold(count: number, key: 'a' | 'b' = 'a'): Promise<Transaction[]> {
    const sent: Transaction[] = []
    for (let i = 0; i < count; i++) {
      const one = holder()
      sent.push(await this.test.send(this.carry(one.create({ credentials: [this.credential(one.did, key)] }))))
    }
    return sent
  }

  /** Mines operations alone, by a block of another node. */
  async mine(...operations: readonly DidOperation[]): Promise<void> {
    const transactions = operations.map((operation) => this.carry(operation))
    await this.test.accept(craftBlock(this.test.chain, { transactions }))
  }

  /** An update of the issuer on the chain. */
  update(changes: Partial<DocumentPlan>): DidOperation {
    return this.issuer.update(this.test.chain.state.did(this.issuer.did)?.lastTxid ?? '', changes)
  }

  /** How many entries were evaluated again since it was called last. */
  evaluations(): number {
    const { reevaluations } = this.test.mempool
    const more = reevaluations - this.#seen
    this.#seen = reevaluations
    return more
  }

  get waiting(): string[] {
    return [...this.test.mempool.entries()].map(({ transaction }) => transaction.txid)
  }

  #seen = 0
}

let scene: Scene
afterEach(() => scene.test.close())
const ids = (transactions: readonly Transaction[]) => transactions.map(({ txid }) => txid)

describe('pooled holders of credentials', () => {
  it('are not evaluated again, and stay in templates, when the issuer changes anything but their key', async () => {
    scene = await Scene.open()
    const { test, keys } = scene
    const sent = await scene.hold(holders)
    scene.evaluations()
    const { follow } = test.mempool
    let chosen: readonly Transaction[] = []
    test.mempool.follow = async (change) => {
      await follow.call(test.mempool, change)
      chosen = (await choose(test.chain, test.mempool, { parent: test.chain.tip })).transactions
    }
    const changes = [
      scene.with(keys, 'another service'),
      scene.with({ a: keys.a }),
      scene.with({ a: keys.a, b: quickSigner() }, 'x'.repeat(60_000)),
    ]
    for (const change of changes) {
      await scene.mine(scene.update(change))
      expect(scene.evaluations()).toBe(0)
      expect(ids(chosen).sort()).toEqual(ids(sent).sort())
    }
    const [block] = await test.mine()
    expect(block?.transactions).toHaveLength(1 + holders)
  })

  const gone: Record<string, { operation: (one: Scene) => DidOperation; code: string }> = {
    'its key goes': { operation: (one) => one.update(one.with({ b: one.keys.b })), code: 'credential-key' },
    'another key takes its id': {
      operation: (one) => one.update(one.with({ a: quickSigner(), b: one.keys.b })),
      code: 'credential-proof',
    },
    'the issuer ends': { operation: (one) => one.issuer.deactivate(), code: 'credential-issuer-deactivated' },
  }
  for (const [name, { operation, code }] of Object.entries(gone)) {
    it(`are evaluated again once each, all of them and no others, when ${name}`, async () => {
      scene = await Scene.open()
      const { test } = scene
      const other = holder()
      await scene.mine(other.create())
      const lost = await scene.hold(holders)
      const declare = await test.send(scene.carry(other.declare(scene.credential(other.did))))
      const kept = [...(await scene.hold(3, 'b')), await test.send(scene.carry(holder().create()))]
      const child = await test.send(
        craft(test.spec, [outputOf(lost[0] as Transaction)], [{ to: 31, value: 800_000_000n }], [30]),
      )
      scene.evaluations()
      await scene.mine(operation(scene))
      const left = code === 'credential-issuer-deactivated' ? kept.slice(3) : kept
      expect(scene.waiting).toEqual(ids(left))
      // The child of one is looked at as well.
      expect(scene.evaluations()).toBe(holders + 2 + kept.length - left.length)
      for (const { hash } of [...lost, declare]) expect(test.mempool.droppedReason(hash)).toContain(code)
      expect(test.mempool.droppedReason(child.hash)).toContain('tx-input-unknown')
      const [block] = await test.mine()
      expect(block?.transactions).toHaveLength(1 + left.length)
    })
  }

  it('stay when a key goes and is back by the last of several blocks', async () => {
    scene = await Scene.open()
    const { test, keys } = scene
    const sent = await scene.hold(2)
    scene.evaluations()
    const away = scene.carry(scene.update(scene.with({})))
    const back = scene.carry(scene.issuer.update(away.txid, scene.with(keys)))
    await test.accept(craftBlock(test.chain, { transactions: [away, back] }))
    expect([scene.waiting, scene.evaluations()]).toEqual([ids(sent), 0])
  })

  it('are evaluated again, and hold, when their own DID changes, before those whose key goes', async () => {
    scene = await Scene.open()
    const { test } = scene
    const own = holder()
    await scene.mine(own.create())
    const created = test.chain.state.did(own.did)?.lastTxid ?? ''
    const lost = await scene.hold(holders)
    const declare = await test.send(scene.carry(own.declare(scene.credential(own.did, 'b'))))
    scene.evaluations()
    const evaluated = () =>
      [...test.mempool.byFeeRate()].flatMap((one) => one?.entries.map(({ transaction }) => transaction.txid) ?? [])
    // Each that leaves is logged in its turn.
    const atDrops: string[][] = []
    test.log.debug = () => void atDrops.push(evaluated())
    await scene.mine(scene.update(scene.with({ b: scene.keys.b })), own.update(created))
    expect(atDrops).toEqual(lost.map(() => [declare.txid]))
    expect([scene.waiting, scene.evaluations()]).toEqual([[declare.txid], holders + 1])
  })

  it('leave when the documents of their issuers grow beyond what one transaction may have read, and not before', async () => {
    // Room for documents of 50,331 bytes together.
    const documentShare = 0.003
    const most = Math.floor(documentShare * fixedLimits.documentBytes)
    scene = await Scene.open({ documentShare })
    const { test } = scene
    const [second, one] = [holder(), holder()] as [Holder, Holder]
    await scene.mine(second.create())
    const credentials = [
      scene.credential(one.did),
      issueCredential(second.did, second.primary, one.did, { id: `${one.did}#other` }, '#primary'),
    ]
    const wide = await test.send(scene.carry(one.create({ credentials })))
    const [narrow] = await scene.hold(1)
    const size = (did: string) => test.chain.state.did(did)?.documentPayloadSize ?? 0
    const others = size(second.did)
    await scene.mine(scene.update(scene.with(scene.keys, 'x')))
    const padding = 1 + most - others - size(scene.issuer.did)
    scene.evaluations()
    await scene.mine(scene.update(scene.with(scene.keys, 'x'.repeat(padding))))
    expect(size(scene.issuer.did) + others).toBe(most)
    expect([scene.waiting, scene.evaluations()]).toEqual([ids([wide, narrow as Transaction]), 0])
    await scene.mine(scene.update(scene.with(scene.keys, 'x'.repeat(padding + 1))))
    expect([scene.waiting, scene.evaluations()]).toEqual([ids([narrow as Transaction]), 1])
    expect(test.mempool.droppedReason(wide.hash)).toContain('pool-documents')
  })
})
