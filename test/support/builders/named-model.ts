import type { DidOperation } from '../../../src/base/primitives/did-operation.js'
import { expires as usualExpiry, type Holder, holder, txid } from './did.js'
import { createNamed, deactivateNamed, namedDocument, ticketOf, transferNamed, updateNamed } from './named-did.js'

/** DIDs with names and their controllers, as a model that knows people and names, and no document, key or signature. */

export const modelPeople: readonly Holder[] = Array.from({ length: 5 }, holder)
export const modelNames: readonly string[] = ['a', 'club'.repeat(29)]

interface ModelDid {
  readonly ended: boolean
  /** Display txid of the last operation. */
  readonly last: string
}

/** A DID of a key. */
export interface ModelPerson extends ModelDid {
  /** Unix seconds. */
  readonly expiresAt: number
}

/** A DID with a name, by the numbers of the people who control it. */
export interface ModelName extends ModelDid {
  readonly by: readonly number[]
  readonly needed: number
  readonly count: number
}

/** An operation on a DID of a key. */
interface PersonPlan {
  readonly kind: 'join' | 'renew' | 'leave'
  readonly who: number
  readonly previous: string
  readonly expires?: string
}

/** An operation on a DID with a name, as people would say it. */
interface NamePlan {
  readonly kind: 'create' | 'update' | 'transfer' | 'deactivate'
  readonly name: string
  readonly by: readonly number[]
  readonly needed: number
  readonly signers: readonly number[]
  readonly sender: number
  readonly previous: string
  readonly ticket: { readonly name: string; readonly to: number; readonly signers: readonly number[] }
  readonly expires?: string
}

export type ModelPlan = PersonPlan | NamePlan

export class NamedModel {
  readonly names: Map<string, ModelName>
  readonly people: Map<number, ModelPerson>

  /** A copy of a model, or one in which nothing happened yet. */
  constructor(from?: NamedModel) {
    this.names = new Map(from?.names)
    this.people = new Map(from?.people)
  }

  /** Returns whether a chain takes an operation after a block of a time in Unix seconds; it has then happened under this txid. */
  take(plan: ModelPlan, id: string, time: number): boolean {
    return 'who' in plan ? this.#takeOfPerson(plan, id) : this.#takeOfName(plan, id, time)
  }

  #takeOfPerson({ kind, who, previous, expires = usualExpiry }: PersonPlan, id: string): boolean {
    const old = this.people.get(who)
    const exists = old !== undefined && !old.ended
    const may = {
      join: () => old === undefined,
      renew: () => exists && old.last === previous,
      leave: () => exists,
    }
    if (!may[kind]()) return false
    this.people.set(who, { ended: kind === 'leave', last: id, expiresAt: Date.parse(expires) / 1000 })
    return true
  }

  #takeOfName(plan: NamePlan, id: string, time: number): boolean {
    const { kind, name, by, needed, signers, sender, previous, ticket } = plan
    const old = this.names.get(name)
    const alive = (all: readonly number[]) => all.every((one) => this.people.get(one)?.ended === false)
    const maySign = (one: number) => (this.people.get(one)?.expiresAt ?? 0) > time && alive([one])
    const sign = (who: readonly number[], of: readonly number[], count: number) =>
      who.length === count && new Set(who).size === count && who.every((one) => of.includes(one) && maySign(one))
    const signed = sign(signers, by, needed) && by.includes(sender) && maySign(sender)
    const exists = old !== undefined && !old.ended
    const follows = exists && old.last === previous
    const may = {
      create: () => old === undefined && alive(by) && signed,
      update: () => follows && `${old.by} ${old.needed}` === `${by} ${needed}` && signed,
      transfer: () => {
        const isGiven = follows && ticket.name === name && sign(ticket.signers, old.by, old.needed)
        return isGiven && by.includes(ticket.to) && signers.includes(ticket.to) && alive(by) && signed
      },
      deactivate: () => exists && old.by.includes(sender) && maySign(sender),
    }
    if (!may[kind]()) return false
    const next = kind === 'deactivate' ? { ...(old as ModelName), ended: true } : { by, needed, ended: false }
    this.names.set(name, { ...next, last: id, count: (old?.count ?? 0) + 1 })
    return true
  }
}

/** An operation on a DID with a name: mostly one that a chain takes. */
export function planOfName(roll: (sides: number) => number, model: NamedModel): NamePlan {
  const pick = <T>(values: readonly T[]) => values[roll(values.length)] as T
  const some = (of: readonly number[], count: number) => {
    const left = [...of]
    return Array.from({ length: Math.min(count, of.length) }, () => left.splice(roll(left.length), 1)[0] as number)
  }
  /** Mostly the right thing. */
  const or = <T>(right: T, wrong: () => T) => (roll(12) === 0 ? wrong() : right)
  const everyone = [...modelPeople.keys()]
  const name = pick(modelNames)
  const old = model.names.get(name)
  const fresh = some(everyone, 1 + roll(3)).toSorted((a, b) => a - b)
  const kind: NamePlan['kind'] =
    old === undefined
      ? or<NamePlan['kind']>('create', () => 'update')
      : pick(['update', 'update', 'transfer', 'deactivate', 'create'] as const)
  const isUpdate = kind === 'update' && old !== undefined
  const by = isUpdate ? or(old.by, () => fresh) : fresh
  const needed = isUpdate && old.by === by ? or(old.needed, () => 1 + roll(by.length)) : 1 + roll(by.length)
  const signers = or(some(by, needed), () => some(everyone, 1 + roll(3)))
  const before = old ?? { by: fresh, needed: 1, last: txid(7) }
  return {
    kind,
    name,
    by,
    needed,
    signers,
    sender: or(pick(kind === 'deactivate' ? before.by : by), () => pick(everyone)),
    previous: or(before.last, () => txid(999)),
    ticket: {
      name: or(name, () => pick(modelNames)),
      to: or(pick(signers), () => pick(everyone)),
      signers: or(some(before.by, before.needed), () => some(everyone, 1 + roll(3))),
    },
  }
}

/** The operation of a plan, signed by those whom it names. */
export function operationOfPlan(plan: ModelPlan): DidOperation {
  const changes = plan.expires === undefined ? {} : { expires: plan.expires }
  if ('who' in plan) {
    const one = modelPeople[plan.who] as Holder
    if (plan.kind === 'join') return one.create(changes)
    return plan.kind === 'renew' ? one.update(plan.previous, changes) : one.deactivate()
  }
  const { kind, name, by, needed, signers, sender, previous, ticket } = plan
  const people = (all: readonly number[]) => all.map((one) => modelPeople[one] as Holder)
  const one = modelPeople[sender] as Holder
  if (kind === 'deactivate') return deactivateNamed(name, one)
  const document = namedDocument(name, { by: people(by), needed, signers: people(signers), plan: changes })
  if (kind === 'create') return createNamed(document, one)
  if (kind === 'update') return updateNamed(document, previous, one)
  const to = modelPeople[ticket.to] as Holder
  return transferNamed(document, ticketOf(ticket.name, { to, txid: previous, signers: people(ticket.signers) }), one)
}
