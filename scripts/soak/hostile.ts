/**
 * Malicious clients and peers: `hostile.ts SPEC PAYERS PAUSE NODES`, forked by soak.ts; they attack the first of the nodes. Every
 * PAUSE milliseconds a round of another kind begins, unless the last one of its kind still runs. Reports how many of which kind
 * succeeded, and how many failed, and how fast honest replays of events were beside those that are not read.
 */
import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { parseSpec } from '../../src/base/primitives/spec.js'
import type { Places } from '../bench/local-nodes.js'
import { clientAttacks } from './hostile/clients.js'
import { peerAttacks } from './hostile/peers.js'
import { replayAttacks, replaySpeeds } from './hostile/replays.js'
import { Scene } from './hostile/scene.js'
import { transactionAttacks } from './hostile/transactions.js'

const [file = '', payers = '', pause = '', nodes = ''] = process.argv.slice(2)
const spec = parseSpec(readFileSync(file, 'utf8'))
const scene = new Scene(spec, JSON.parse(nodes) as Places[], Number(payers))
const attacks = Object.entries({ ...transactionAttacks, ...clientAttacks, ...peerAttacks, ...replayAttacks })
const counts: Record<string, number> = Object.fromEntries(attacks.map(([name]) => [name, 0]))
const underWay = new Set<string>()
process.on('SIGINT', () => {})
process.on('disconnect', () => process.exit())

for (let turn = 0; ; turn++) {
  const [name, attack] = attacks[turn % attacks.length] as (typeof attacks)[number]
  if (!underWay.has(name)) void carryOut(name, attack)
  await setTimeout(Number(pause))
  process.send?.({ counts, replaySpeeds })
}

async function carryOut(name: string, attack: (scene: Scene) => Promise<void>): Promise<void> {
  underWay.add(name)
  try {
    await attack(scene)
    counts[name] = (counts[name] ?? 0) + 1
  } catch (error) {
    const reason = `${name} in vain (${(error as Error).message.slice(0, 80)})`
    counts[reason] = (counts[reason] ?? 0) + 1
  }
  underWay.delete(name)
}
