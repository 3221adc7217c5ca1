import { quickSigner, type QuickSigner } from '../../../src/base/crypto/quick-signer.js'
import type { DidOperation } from '../../../src/base/primitives/did-operation.js'
import { LightResolver, type LightOptions } from '../../../src/clients/light/light-resolver.js'
import { bitAt, credentialMapKey, didMapKey, type MapKey } from '../../../src/identity/proofs/map-tree.js'
import { type Holder, holder } from './did.js'
import { type BlockPlan, paperGenesis, ProofBook, type Team } from './proof-book.js'
import { lightServers, type Lies } from '../fakes/light-server.js'

/** A small chain with everything of which a server could lie. */

/** Unix seconds of genesis. */
export const worldTime = 1_780_000_000
export const host = 'http://node'

export interface LightWorld {
  readonly book: ProofBook
  readonly first: readonly QuickSigner[]
  readonly second: readonly QuickSigner[]
  /** Created, updated twice. */
  readonly alice: Holder
  /** Created and deactivated. */
  readonly bob: Holder
  /** Created; its document has expired. */
  readonly carol: Holder
  /** Issues credentials. */
  readonly dave: Holder
  /** Credentials of alice by dave: the one that counts, and one that he revoked. */
  readonly kept: string
  readonly revoked: string
  /** Txids of alice, oldest first. */
  readonly versions: readonly string[]
}

export interface WorldPlan {
  readonly miners?: boolean
  readonly genesis?: string
  /** First block of the second team; none unless given. */
  readonly changeAt?: number
  /** Plan of each block. */
  readonly plan?: (height: number) => Partial<BlockPlan>
}

const four = () => Array.from({ length: 4 }, () => quickSigner())
const firstTeam = four()
// Three of them stay, in their places: enough to confirm without the others.
const secondTeam = [...firstTeam.slice(0, 3), quickSigner()]
const people = peopleWithRoom()

/** Persons beside whose leaves the map has an empty place: absences of both kinds are shown then. */
function peopleWithRoom() {
  for (;;) {
    const found = { alice: holder(), bob: holder(), carol: holder(), dave: holder() }
    const [kept, revoked] = credentialsOf(found.alice)
    const dids = Object.values(found).map(({ did }) => didMapKey(did))
    const signed = [
      [kept, found.alice],
      [revoked, found.alice],
      [revoked, found.dave],
    ] as const
    const keys = [...dids, ...signed.map(([id, { did }]) => credentialMapKey(id, did))]
    if (hasEmptyPlace(keys)) return found
  }
}

function credentialsOf({ did }: Holder): readonly [kept: string, revoked: string] {
  return [`${did}#profile`, `${did}#other`]
}

function hasEmptyPlace(keys: readonly MapKey[], depth = 0): boolean {
  if (keys.length <= 1) return keys.length === 0
  return [0, 1].some((side) =>
    hasEmptyPlace(
      keys.filter((key) => bitAt(key, depth) === side),
      depth + 1,
    ),
  )
}

export function lightWorld({
  miners = false,
  genesis = 'world',
  changeAt,
  plan = () => ({}),
}: WorldPlan = {}): LightWorld {
  const { alice, bob, carol, dave } = people
  const change: Team[] = changeAt === undefined ? [] : [{ height: changeAt, signers: secondTeam }]
  const teams = miners ? [] : [{ height: 1, signers: firstTeam }, ...change]
  const book = new ProofBook(paperGenesis(genesis, worldTime), teams)
  const versions: string[] = []
  const make = (...operations: DidOperation[]) => {
    const block = book.make({ operations, padding: 2, ...plan(book.pages.length) })
    return block.transactions.slice(1).map(({ txid }) => txid)
  }
  const [kept, revoked] = credentialsOf(alice)
  const [created] = make(alice.create(), bob.create(), carol.create({ expires: '2026-01-01T00:00:00Z' }), dave.create())
  versions.push(created as string)
  versions.push(make(alice.update(versions[0] as string, { services: [service('one')] }))[0] as string)
  make(bob.deactivate())
  make(alice.declare(dave.issue(alice.did)), alice.declare(dave.issue(alice.did, { id: revoked })))
  versions.push(make(alice.update(versions[1] as string, { services: [service('two')] }))[0] as string)
  make(dave.revoke(revoked))
  while (book.pages.length < 16) make()
  return { book, first: firstTeam, second: secondTeam, ...people, kept, revoked, versions }
}

function service(name: string) {
  return { id: `#${name}`, type: 'Hub', serviceEndpoint: 'https://hub.example' }
}

/** A resolver that knows one server of a book. */
export function lightOver(book: ProofBook, lies: Lies = {}, options: Partial<LightOptions> = {}): LightResolver {
  return new LightResolver({
    servers: [host],
    trust: book.trust(),
    fetch: lightServers({ node: { book, lies } }),
    now: () => book.tip.time * 1000,
    ...options,
  })
}

/** The name of the failure of a promise, or what it resolves with. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    return await promise
  } catch (error) {
    if (error instanceof Error && 'failure' in error) return error.failure
    throw error
  }
}
