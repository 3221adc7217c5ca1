import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LightOptions, LightResolver } from '../../../src/clients/light/light-resolver.js'
import { mapKey } from '../../../src/base/primitives/bytes.js'
import type { EngineRow } from '../../../src/ledger/engine/row-engine.js'
import { seal, unseal } from '../../../src/ledger/storage/rows/sealed-row.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import type { Gateway } from '../../../src/node/gateway/gateway.js'
import { oneValidator, withoutValidators } from '../../support/builders/chain.js'
import { closeScene, lightIn, type Scene, sceneOf } from '../../support/builders/light-scene.js'
import { failureOf } from '../../support/builders/light-world.js'
import { SeededRandom } from '../../support/builders/seeded-random.js'
import { LedgerEngine } from '../../support/fakes/ledger-engine.js'
import { gatewayOver } from '../../support/network/gateways.js'
import { rounds } from '../../support/process/thorough.js'

const shards = 2
const seed = Number(process.env['DIDLEDGER_SEED'] ?? 1)
const timesPerTable = rounds(6, 60)

/** Tables out of whose rows proved answers are made. */
const proving = ['active', 'transaction', 'didHead', 'didOperation', 'credential', 'mapPage'] as const
const ofValidators = [...proving, 'confirm'] as const
const ofWork = [...proving, 'header'] as const

/** A hostile engine: each row of a table has one bit that is not as the node wrote it, under a checksum that is right. */
function flipping(table: number, random: SeededRandom): LedgerEngine['change'] {
  const changed = new Map<string, Buffer>()
  return ([key, sealed]: EngineRow) => {
    if (key[0] !== table) return [key, sealed]
    const known = changed.get(mapKey(key))
    if (known !== undefined) return [key, known]
    const value = Buffer.from(unseal(key, sealed))
    const at = random.below(value.length)
    value[at] = (value[at] as number) ^ (1 << random.below(8))
    const lie = seal(key, value)
    changed.set(mapKey(key), lie)
    return [key, lie]
  }
}

const urlOf = ({ ports }: Gateway) => `http://127.0.0.1:${ports.rest}`

describe.each([
  ['of a validator', oneValidator(), ofValidators],
  ['of work', withoutValidators, ofWork],
] as const)('a light resolver over gateways of a chain %s', (_, spec, read) => {
  let scene: Scene
  let honest: readonly unknown[]
  const history = (light: LightResolver) => light.resolve(scene.alice.did, { all: true })
  const asked: readonly ((light: LightResolver) => Promise<unknown>)[] = [
    history,
    (light) => light.resolve(scene.dave.did),
    (light) => light.resolve('did:ledger:absent'),
    (light) => light.resolveCredential(scene.ids.kept),
    (light) => light.resolveCredential(scene.ids.revoked),
  ]

  beforeAll(async () => {
    scene = await sceneOf(spec)
    honest = await Promise.all(asked.map((ask) => answerOf(lightIn(scene), ask)))
  })
  afterAll(() => closeScene(scene))

  /** The answer without who gave it, or the name of its failure. */
  async function answerOf(light: LightResolver, ask: (light: LightResolver) => Promise<unknown>): Promise<unknown> {
    const answer = await failureOf(ask(light))
    if (typeof answer === 'string') return answer
    const { proved, ...rest } = answer as { proved: { height: number; hash: string } }
    return { ...rest, at: proved.height, hash: proved.hash }
  }

  const lightOver = (servers: readonly string[], options: Partial<LightOptions> = {}) =>
    lightIn(scene, { servers, needed: 1, ...options })

  async function gatewayWith(change: LedgerEngine['change'] = (row) => row): Promise<Gateway> {
    const engine = new LedgerEngine(scene.test, shards)
    const gateway = await gatewayOver(scene.test, engine)
    engine.change = change
    return gateway
  }

  it('gets proved answers from a gateway, the same as from its node', async () => {
    const gateway = await gatewayWith()
    const node = `http://127.0.0.1:${scene.server.port}`
    for (const [i, ask] of asked.entries()) {
      expect(honest[i]).toBeTypeOf('object')
      expect(await answerOf(lightOver([urlOf(gateway)]), ask)).toEqual(honest[i])
      expect(await answerOf(lightOver([urlOf(gateway), node], { needed: 2 }), ask)).toEqual(honest[i])
    }
    await gateway.close()
  })

  it.each(read)('believes no answer out of rows of "%s" that an engine changed', async (name) => {
    const random = new SeededRandom(seed)
    const failures = new Set<string>()
    for (let time = 0; time < timesPerTable; time++) {
      const gateway = await gatewayWith(flipping(tables[name].number, random))
      for (const [i, ask] of asked.entries()) {
        const answer = await answerOf(lightOver([urlOf(gateway)]), ask)
        if (typeof answer === 'string') failures.add(answer)
        // Of this one nothing was changed that it shows.
        else expect(answer, `seed ${seed}`).toEqual(honest[i])
      }
      await gateway.close()
    }
    expect(failures.size).toBeGreaterThan(0)
    // Rows that the gateway itself cannot read give no answer, which is a failure too.
    if (name === 'mapPage') expect([...failures]).toContain('path-root')
    if (name === 'confirm') expect([...failures]).toContain('confirm-signature')
    if (name === 'header') expect([...failures].filter((failure) => failure.startsWith('work-'))).not.toEqual([])
  })

  it('gets the answer of the node beside a gateway whose engine lies, and names the liar where both have to agree', async () => {
    const change = flipping(tables.mapPage.number, new SeededRandom(seed))
    const gateway = await gatewayWith(change)
    const servers = [urlOf(gateway), `http://127.0.0.1:${scene.server.port}`]
    expect(await answerOf(lightOver(servers), history)).toEqual(honest[0])
    await expect(history(lightOver(servers, { needed: 2 }))).rejects.toMatchObject({
      failure: 'quorum',
      failures: [{ server: servers[0] }],
    })
    await gateway.close()
  })
})
