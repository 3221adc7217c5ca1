import { brokenRule } from '../../src/base/errors/broken-rule.js'
import { RuleError } from '../../src/base/errors/rule-error.js'
import { type Link, LinkError } from '../../src/network/link.js'
import { Bans } from '../../src/network/peers/bans.js'
import { checkStatus } from '../../src/network/peers/check-status.js'
import { MisbehaviourScores } from '../../src/network/peers/misbehaviour-scores.js'
import { PeerConnections } from '../../src/network/peers/peer-connections.js'
import { PeerRecord, type PenaltySink } from '../../src/network/peers/peer-record.js'
import { PeerRows } from '../../src/network/peers/peer-rows.js'
import { networkVersion, type Status, statusExchange } from '../../src/network/wire/status-message.js'
import { EventEmitter } from 'node:events'
import { toHex } from '../../src/base/primitives/bytes.js'
import { genesisBlock } from '../../src/base/primitives/genesis.js'
import { zeroHash } from '../../src/base/primitives/hash.js'
import { parseSpec } from '../../src/base/primitives/spec-file.js'
import { Database } from '../../src/ledger/storage/database.js'
import { memoryStore, quietLog } from '../support/builders/chain.js'
import { ManualTime } from '../support/fakes/manual-time.js'
import { idleStatus } from '../support/fakes/stubs.js'
import { echo, keyOf, PeersWorld } from '../support/network/peers-world.js'
import { testSpec } from '../support/builders/spec.js'
import type { RuleRow } from './row.js'

const spec = parseSpec(testSpec())
const common = { spec, genesis: genesisBlock(spec).header.hash }
const status: Status = {
  ...idleStatus,
  genesis: common.genesis,
  upgrades: spec.upgradesDigest(7),
  tipHeight: 7,
}

/** A connection whose other side has a key and answers every question with a status. */
function linkTo(number: number, inbound = false): Link {
  return {
    publicKey: keyOf(number),
    peer: `node ${number}`,
    inbound,
    host: `${number}.1.1.1`,
    port: 1,
    closed: false,
    request: async () => statusExchange.answer.encode({ status, refusal: undefined }),
    close: () => {},
  }
}

/** The connections of node 0, which takes one at most, and what node 1 is banned with. */
async function connections(banned: readonly number[] = []): Promise<PeerConnections> {
  const database = await Database.over(memoryStore())
  const log = quietLog()
  const tip = { header: { height: 0, hash: zeroHash } }
  const rows = new PeerRows({ database, tip }, log)
  const time = new ManualTime()
  const bans = await Bans.open(database, rows, () => time.now())
  for (const number of banned) await bans.add('key', toHex(keyOf(number)), time.now() + 1000, 'for the test')
  return new PeerConnections({
    clock: time,
    timers: time,
    log,
    publicKey: keyOf(0),
    common,
    inbound: 1,
    perHost: 8,
    bans,
    scores: new MisbehaviourScores(() => time.now()),
    events: new EventEmitter(),
    ownStatus: () => status,
    expected: () => 0,
    named: () => false,
    namedByKey: () => false,
  })
}

/** A peer whose every offence is thrown. */
function strict(request: Link['request']): PeerRecord {
  const judge: PenaltySink = {
    now: () => 0,
    penalise: (_, code, detail) => {
      throw detail === undefined ? brokenRule(code) : new RuleError(code, detail)
    },
    delivered: () => {},
    closing: () => {},
  }
  return new PeerRecord({ ...linkTo(1), request }, status, judge, 0)
}

/** Connects one node of a world with another that takes so many connections. */
async function connect(inbound: number): Promise<void> {
  const world = new PeersWorld()
  try {
    const full = await world.open({ inbound })
    const node = await world.open({ outbound: 0 })
    const connecting = node.peers.connect(full.address)
    const settled = Promise.allSettled([connecting])
    await world.run()
    await settled
    await connecting
  } finally {
    await world.close()
  }
}

const questions = (count: number) => {
  const peer = strict(async () => new Uint8Array(0))
  for (let i = 0; i < count; i++) peer.allowsMessage('request', 1)
}

export const peerRules: readonly RuleRow[] = [
  {
    code: 'peer-message',
    accepts: () => void echo.question.decode(new Uint8Array(500)),
    refuses: () => void echo.question.decode(new Uint8Array(501)),
  },
  {
    code: 'peer-version',
    accepts: () => checkStatus(common, status),
    refuses: () => checkStatus(common, { ...status, version: networkVersion + 1 }),
  },
  {
    code: 'peer-genesis',
    accepts: () => checkStatus(common, status),
    refuses: () => checkStatus(common, { ...status, genesis: zeroHash }),
  },
  {
    code: 'peer-upgrades',
    accepts: () => checkStatus(common, { ...status, tipHeight: 8, upgrades: spec.upgradesDigest(8) }),
    refuses: () => checkStatus(common, { ...status, upgrades: zeroHash }),
  },
  {
    code: 'peer-self',
    accepts: async () => void (await (await connections()).open(linkTo(1))),
    refuses: async () => void (await (await connections()).open(linkTo(0))),
  },
  {
    code: 'peer-banned',
    accepts: async () => void (await (await connections([2])).open(linkTo(1))),
    refuses: async () => void (await (await connections([1])).open(linkTo(1))),
  },
  { code: 'peer-crowded', accepts: () => connect(1), refuses: () => connect(0) },
  { code: 'peer-flood', accepts: () => questions(500), refuses: () => questions(501) },
  {
    code: 'peer-slow',
    accepts: async () => void (await strict(async (_, body) => body).ask(echo, new Uint8Array(1))),
    refuses: async () => {
      const late = () => Promise.reject(new LinkError('timeout', 'no answer in time'))
      await strict(late).ask(echo, new Uint8Array(1))
    },
  },
]
