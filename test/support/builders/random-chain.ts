import type { DidOperation } from '../../../src/base/primitives/did-operation.js'
import {
  createNamed,
  deactivateNamed,
  named,
  namedDocument,
  ticketOf,
  transferNamed,
  updateNamed,
} from './named-did.js'
import type { DidState } from '../../../src/identity/did/state.js'
import { RuleError } from '../../../src/base/errors/rule-error.js'
import type { TestChain } from './chain.js'
import { type Holder, holder } from './did.js'
import { testAddress } from './spec.js'

/** A small generator of numbers that follow from a seed. */
export function random(seed: number): (sides: number) => number {
  let state = seed >>> 0
  return (sides) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * sides)
  }
}

/** Names that the DIDs of a {@link Crowd} may have, unless it has others. */
export const crowdNames: readonly string[] = ['a', 'shop', 'the.club.of.those-who-had-no-shorter-name']

/** People who pay each other and keep DIDs, with what they know of the last operation of each. */
export class Crowd {
  readonly #roll: (sides: number) => number
  readonly #holders: readonly Holder[]
  /** The last operation that was accepted, and its kind, by DID. */
  readonly #last = new Map<string, { txid: string; kind: string }>()

  readonly #named = new Map<string, NamedState>()
  readonly #names: readonly string[]

  constructor(roll: (sides: number) => number, holders = Array.from({ length: 6 }, holder), names = crowdNames) {
    this.#roll = roll
    this.#holders = holders
    this.#names = names
  }

  /** Submits something at random. Some of it breaks a rule: that must be refused and change nothing. */
  async act(chain: TestChain): Promise<void> {
    try {
      if (this.#roll(3) === 0) await this.#operate(chain)
      else await this.#pay(chain)
    } catch (error) {
      // Not enough coins is the wallet's word; everything else must be a rule.
      if (!(error instanceof RuleError) && !String(error).includes('not enough coins')) throw error
    }
  }

  async #pay(chain: TestChain): Promise<void> {
    const from = 10 + this.#roll(4)
    const to = testAddress(10 + this.#roll(4))
    await chain.send(await chain.transfer(to, BigInt(1 + this.#roll(2_000_000_000)), from))
  }

  /** An operation on a DID with a name. Its controllers may be none any more, or have ended: then it is refused. */
  async #operateNamed(chain: TestChain): Promise<void> {
    const name = pick(this.#roll, this.#names)
    const last = this.#named.get(name)
    const next = { by: this.#some(), needed: 1 }
    const parts = { ...next, needed: 1 + this.#roll(next.by.length) }
    const sender = (by: readonly Holder[]) => pick(this.#roll, by)
    const signers = (by: readonly Holder[], needed: number) => shuffled(this.#roll, by).slice(0, needed)
    const documentOf = ({ by, needed }: Omit<NamedState, 'txid'>) => {
      const expires = `203${this.#roll(10)}-01-01T00:00:00Z`
      return namedDocument(name, { by, needed, signers: signers(by, needed), plan: { expires } })
    }
    const choice = this.#roll(8)
    let operation: DidOperation
    if (last === undefined || choice === 0) {
      operation = createNamed(documentOf(parts), sender(parts.by))
    } else if (choice < 5) {
      operation = updateNamed(documentOf(last), last.txid, sender(last.by))
    } else if (choice < 7) {
      const document = documentOf(parts)
      const to = parts.by.find(({ did }) => document.proofs.some(({ creator }) => creator.startsWith(did))) as Holder
      const ticket = ticketOf(name, { to, txid: last.txid, signers: signers(last.by, last.needed) })
      operation = transferNamed(document, ticket, sender(parts.by))
    } else {
      operation = deactivateNamed(name, sender(last.by))
    }
    await chain.send(await chain.carry(operation, named(name), 10 + this.#roll(2)))
    this.look(chain)
  }

  /** One to three holders. */
  #some(): Holder[] {
    return shuffled(this.#roll, this.#holders).slice(0, 1 + this.#roll(3))
  }

  async #operate(chain: TestChain): Promise<void> {
    if (this.#roll(3) === 0) return this.#operateNamed(chain)
    const one = this.#holders[this.#roll(this.#holders.length)] as Holder
    const last = this.#last.get(one.did)
    const choice = this.#roll(10)
    const kind = last === undefined ? 'create' : choice < 7 ? 'update' : choice < 8 ? 'deactivate' : 'create'
    const operation =
      kind === 'create' ? one.create() : kind === 'update' ? one.update(last?.txid ?? '') : one.deactivate()
    const { txid } = await chain.send(await chain.carry(operation, one.did, 10 + this.#roll(2)))
    this.#last.set(one.did, { txid, kind })
  }

  /** Looks at the chain again: after a reorganisation other operations may be the last. */
  look(chain: TestChain): void {
    for (const { did } of this.#holders) {
      const state = latestState(chain, did)
      if (state === undefined) this.#last.delete(did)
      else this.#last.set(did, { txid: state.lastTxid, kind: state.status })
    }
    this.#named.clear()
    for (const name of this.#names) {
      const state = latestState(chain, named(name))
      const control = state?.status === 'valid' ? state.document.control : undefined
      if (state === undefined || control === undefined) continue
      const by = this.#holders.filter(({ did }) => control.controllers.includes(did))
      if (by.length === control.controllers.length)
        this.#named.set(name, { txid: state.lastTxid, by, needed: control.needed })
    }
  }
}

/** The state of a DID after its last operation in the pool, or on the chain. */
export function latestState({ mempool, chain }: TestChain, did: string): DidState | undefined {
  const pending = [...mempool.entries()].filter((entry) => entry.did?.id === did).at(-1)
  return pending?.did?.state ?? chain.state.did(did)
}

/** The last operation on a DID with a name, and who controls it. */
interface NamedState {
  readonly txid: string
  readonly by: readonly Holder[]
  readonly needed: number
}

function pick<T>(roll: (sides: number) => number, values: readonly T[]): T {
  return values[roll(values.length)] as T
}

function shuffled<T>(roll: (sides: number) => number, values: readonly T[]): T[] {
  const left = [...values]
  return values.map(() => left.splice(roll(left.length), 1)[0] as T)
}
