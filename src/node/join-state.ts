import { EventEmitter } from 'node:events'
import { createReadStream, existsSync } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { UserError } from '../base/errors/rule-error.js'
import type { Verifier } from '../base/crypto/verifier.js'
import { workOf } from '../base/primitives/compact.js'
import { genesisBlock } from '../base/primitives/genesis.js'
import type { Chain } from '../ledger/chain/chain.js'
import { checkState, type CheckedState } from '../ledger/state/check-state.js'
import { PartStore } from '../ledger/state/part-store.js'
import { type Part, readParts } from '../ledger/state/parts.js'
import { StateRows } from '../ledger/state/state-rows.js'
import { Database } from '../ledger/storage/database.js'
import type { DataDirectory } from '../ledger/storage/directory.js'
import { StateDownload } from '../network/join/state-download.js'
import { PeerManager } from '../network/peers/peer-manager.js'
import { onFile } from './on-file.js'
import { openPeering, type PeeringNode } from './open-peering.js'

/** Value of `--state-from` for the state that peers have. */
export const fromPeers = 'peers'
const mebibyte = 1024 * 1024
/**
 * Rows come in another order than that of their keys: in fewer, larger tables LevelDB sorts them with a third less work.
 * @tuning bytes: rows of a state that LevelDB gathers before it writes a table
 */
const writeBuffer = 32 * mebibyte

/** How far it is: the MiB of the state that were taken, and how many it has. */
export interface JoinStep {
  readonly stage: 'joining'
  readonly done: number
  readonly total: number
}

interface JoiningNode extends PeeringNode {
  readonly onStep?: (step: JoinStep) => void
}

/**
 * Makes the chain of a directory from a state, of a file or of peers, every part of which is checked against the blocks in it; nothing
 * where the directory has a chain. It is made aside and moves into its place once all was right: a kill leaves what the next start
 * removes, and parts that it uses again. A {@link UserError} where a file has no state of this chain, or a wrong one; where peers have none the
 * node begins at the first block.
 */
export async function joinState(
  from: string,
  node: JoiningNode,
  directory: DataDirectory,
  verifier: Verifier,
): Promise<void> {
  const { env } = node
  if (existsSync(directory.database)) {
    env.log.info({ from }, 'the directory has a chain: no state is taken')
    // A stop may have left them, and a start without the option made the chain.
    for (const left of [directory.joining, directory.joiningPeers, directory.parts])
      await rm(left, { recursive: true, force: true })
    return
  }
  try {
    const state = await (from === fromPeers
      ? takeFromPeers(node, directory, verifier)
      : takeFromFile(from, node, directory, verifier))
    if (state === undefined) {
      env.log.warn({}, 'no peer has a state: the node begins at the first block')
      return
    }
    const { height, committing } = state
    await rename(directory.joining, directory.database)
    env.log.info({ height, committing: committing.height }, 'the state was taken, and checked against its blocks')
  } finally {
    await rm(directory.joining, { recursive: true, force: true })
  }
}

function takeFromFile(
  file: string,
  { spec, env, tuning, onStep }: JoiningNode,
  directory: DataDirectory,
  verifier: Verifier,
): Promise<CheckedState> {
  return onFile(file, async () => {
    const { size } = await stat(file)
    const progress = progressTo(onStep, size)
    const parts = readParts(counted(createReadStream(file), progress))
    return makeRows(parts, directory, { spec, verifier, clock: env.clock }, tuning?.storage?.cacheBytes)
  })
}

/** Undefined where peers answer, and none of them has a state. */
async function takeFromPeers(
  node: JoiningNode,
  directory: DataDirectory,
  verifier: Verifier,
): Promise<CheckedState | undefined> {
  const { spec, env, tuning } = node
  const { peering } = await openPeering(node, directory)
  if (peering === undefined) throw new UserError(`--state-from ${fromPeers} has no use: the node has no peers`, 2)
  const parts = await PartStore.open(directory.parts)
  // Addresses and bans of these minutes; the chain has rows of its own for them.
  const rows = await Database.open(directory.joiningPeers)
  const { header } = genesisBlock(spec)
  const tip = { header, chainWork: workOf(header.bits) }
  const chain = {
    spec,
    genesis: { header },
    tip,
    database: rows,
    prunes: false,
    prunedHeight: 0,
    events: new EventEmitter() as Chain['events'],
  }
  const peers = await PeerManager.open({ ...env, ...peering, chain })
  const download = new StateDownload({
    ...env,
    ...{ spec, verifier, peers, parts },
    progress: (done, total) => progressTo(node.onStep, total)(done),
  })
  try {
    await peers.start()
    const checking = { spec, verifier, clock: env.clock }
    const check = (some: AsyncIterable<Part>) => makeRows(some, directory, checking, tuning?.storage?.cacheBytes)
    const state = await onFile(directory.parts, () => download.run(check))
    await parts.remove()
    return state
  } finally {
    download.close()
    await peers.close()
    await rows.close()
    await rm(directory.joiningPeers, { recursive: true, force: true })
  }
}

/** Checks the parts of a state and makes its rows, in a database beside that of the directory. */
async function makeRows(
  parts: AsyncIterable<Part>,
  { joining }: DataDirectory,
  checking: Parameters<typeof checkState>[1],
  cache: number | undefined,
): Promise<CheckedState> {
  await rm(joining, { recursive: true, force: true })
  const database = await Database.open(joining, cache, { writeBuffer })
  try {
    const rows = await StateRows.begin(database, checking.spec)
    try {
      const state = await checkState(parts, { ...checking, taker: rows })
      await rows.finish(state)
      return state
    } finally {
      await rows.close()
    }
  } finally {
    await database.close()
  }
}

function progressTo(onStep: JoiningNode['onStep'], total: number): (bytes: number) => void {
  const all = Math.ceil(total / mebibyte)
  return (bytes) => onStep?.({ stage: 'joining', done: Math.ceil(bytes / mebibyte), total: all })
}

async function* counted(
  pieces: AsyncIterable<Uint8Array>,
  progress: (bytes: number) => void,
): AsyncGenerator<Uint8Array, void, void> {
  let bytes = 0
  for await (const piece of pieces) {
    bytes += piece.length
    progress(bytes)
    yield piece
  }
}
