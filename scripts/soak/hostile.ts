/**
 * Malicious clients and peers: `hostile.ts SPEC PAYERS PAUSE NODES`, forked by soak.ts; they attack the first of the nodes. Every
 * PAUSE milliseconds a round of another kind begins, unless the last one of its kind still runs. Reports how fast honest replays of
 * events were beside those that are not read, too.
 */
import { readFileSync } from 'node:fs'
import { parseSpec } from '../../src/base/primitives/spec-file.js'
import type { Places } from '../bench/processes.js'
import { clientAttacks } from './hostile/clients.js'
import { peerAttacks } from './hostile/peers.js'
import { replayAttacks, replaySpeeds } from './hostile/replays.js'
import { Scene } from './hostile/scene.js'
import { transactionAttacks } from './hostile/transactions.js'
import { carryOut } from './rounds.js'

const [file = '', payers = '', pause = '', nodes = ''] = process.argv.slice(2)
const spec = parseSpec(readFileSync(file, 'utf8'))
const scene = new Scene(spec, JSON.parse(nodes) as Places[], Number(payers))
const attacks = Object.entries({ ...transactionAttacks, ...clientAttacks, ...peerAttacks, ...replayAttacks })
const kinds = Object.fromEntries(attacks.map(([name, attack]) => [name, () => attack(scene)]))
await carryOut(kinds, Number(pause), (name, underWay) => !underWay.includes(name), { replaySpeeds })
