import type { LightOptions, LightResolver } from '../../../src/node/library/light-entry.js'
import { lightOver, type LightWorld, host } from '../builders/light-world.js'
import { type Lie, lies, mined, minedHeight, minedLies, world } from '../builders/lies.js'
import type { ProofBook } from '../builders/proof-book.js'
import { lightServers } from '../fakes/light-server.js'
import { type LightRecord, outcomeOf } from './light-replay.js'

/** Lies and true answers of servers, with what a light resolver in this process makes of them. */

type Ask = (light: LightResolver) => Promise<unknown>

/** Every lie of the tables, and what honest servers say of all that a world has. */
export async function lightRecords(): Promise<LightRecord[]> {
  const records: LightRecord[] = []
  for (const [name, , lie] of [...lies, ...minedLies]) {
    const book = lie.book ?? (minedLies.some(([one]) => one === name) ? mined.book : world.book)
    records.push(await recorded(name, book, lie, lie.ask ?? ((light) => light.resolve(world.alice.did))))
  }
  for (const [kind, of] of Object.entries({ confirmed: world, mined })) {
    for (const [name, ask] of Object.entries(questionsOf(of))) {
      records.push(await recorded(`${kind}: ${name}`, of.book, of === mined ? deep : { lies: {} }, ask))
    }
  }
  return records
}

/** Answers of miners are as of a block below the tip. */
const deep: Lie = {
  lies: {
    answer: (_, params) =>
      'id' in params
        ? mined.book.credential(params.id, { issuer: params.issuer, height: minedHeight })
        : mined.book.answer(params.did, { ...params, height: minedHeight }),
  },
}

function questionsOf({ alice, bob, carol, dave, kept, revoked, versions }: LightWorld): Record<string, Ask> {
  return {
    'the latest state': (light) => light.resolve(alice.did),
    'all versions': (light) => light.resolve(alice.did, { all: true, history: true }),
    'an earlier version': (light) => light.resolve(alice.did, { versionId: versions[1] ?? '' }),
    'a deactivated DID': (light) => light.resolve(bob.did),
    'an expired one': (light) => light.resolve(carol.did),
    'an issuer': (light) => light.resolve(dave.did),
    'one that does not exist': (light) => light.resolve('did:ledger:nobody'),
    'a credential': (light) => light.resolveCredential(kept),
    'a revoked one': (light) => light.resolveCredential(revoked),
    'an unknown one': (light) => light.resolveCredential(`${alice.did}#unknown`),
  }
}

async function recorded(
  name: string,
  book: ProofBook,
  { lies: told, options = {} }: Lie,
  ask: Ask,
): Promise<LightRecord> {
  const exchanges: LightRecord['exchanges'][number][] = []
  const servers = lightServers({ node: { book, lies: told } })
  const { now = () => book.tip.time * 1000, ...plain } = options as Partial<LightOptions>
  const calls: LightRecord['calls'][number][] = []
  const light = lightOver(book, told, {
    ...plain,
    now,
    fetch: async (url, init) => {
      const response = await servers(url, init)
      const text = await response.clone().text()
      exchanges.push({ url, status: response.status, text })
      return response
    },
  })
  const asked = new Proxy(light, {
    get: (target, method: 'resolve' | 'resolveCredential') => {
      return (...args: unknown[]) => {
        calls.push({ method, args })
        return Reflect.apply(target[method] as (...all: unknown[]) => unknown, target, args)
      }
    },
  })
  const outcome = await outcomeOf(() => ask(asked))
  return { name, trust: book.trust(), options: { servers: [host], ...plain, now: now() }, calls, exchanges, outcome }
}
