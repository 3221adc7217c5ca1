import { EventEmitter } from 'node:events'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { UserError } from '../base/errors/rule-error.js'
import type { Verifier } from '../base/crypto/verifier.js'
import { workOf } from '../base/primitives/compact.js'
import { genesisBlock } from '../base/primitives/genesis.js'
import type { Chain } from '../ledger/chain/chain.js'
import { checkState, type CheckedState } from '../ledger/state/check-state.js'
import { PartStore } from '../ledger/state/part-store.js'
import { type Part, readParts } from '../ledger/state/parts.js'
import { StateRows } from '../ledger/state/state-rows.js'
import type { DataDirectory } from '../ledger/storage/directory.js'
import { withLock } from '../ledger/storage/care/level/lock.js'
import { type DiskFiles, diskFiles } from '../ledger/storage/disk-files.js'
import { StateDownload } from '../network/join/state-download.js'
import { PeerManager } from '../network/peers/peer-manager.js'
import { onFile } from './on-file.js'
import type { CorePeering } from './core.js'
import { openPeering, type PeeringNode } from './open-peering.js'
import { ageWarning, takenText } from './taken-state.js'

/** Value of `--state-from` for the state that peers have. */
export const fromPeers = 'peers'
const mebibyte = 1024 * 1024
/**
 * LevelDB opens each table that it has written, and little is read again: the indexes of all would stay in memory until the end.
 * @tuning count: tables of a database that is made of a state whose indexes are in memory
 */
const openTables = 64

/** How far it is: the MiB of the state that were taken, and how many it has. */
export interface JoinStep {
  readonly stage: 'joining'
  readonly done: number
  readonly total: number
}

interface JoinSettings extends Pick<PeeringNode, 'spec' | 'env' | 'tuning'> {
  readonly onStep?: (step: JoinStep) => void
}

type JoiningNode = JoinSettings & PeeringNode

/** Directories that a join has to do with. */
type JoinDirectory = Pick<DataDirectory, 'database' | 'joining' | 'joiningRows' | 'joiningPeers' | 'parts'>

/** Wires and disk of a join; a simulation has its own. */
export interface JoinSurroundings {
  readonly directory: JoinDirectory
  readonly files: DiskFiles
  /** Opens what peers are reached by; undefined: the node has none. */
  peering(): Promise<CorePeering | undefined>
}

/**
 * Makes the chain of a directory from a state, of a file or of peers, every part of which is checked against the blocks in it; nothing
 * where the directory has a chain. It is made aside and moves into its place once all was right: a kill leaves what the next start
 * removes, and parts that it uses again. Resolves with the state that was taken. A {@link UserError} where a file has no state of this chain, or a wrong
 * one, and where another process is making one; where peers have none the node begins at the first block.
 */
export async function joinState(
  from: string,
  node: JoiningNode,
  directory: DataDirectory,
  verifier: Verifier,
): Promise<CheckedState | undefined> {
  await directory.requireChain(genesisBlock(node.spec).header.hash)
  const peering = async () => (await openPeering(node, directory)).peering
  const join = () => joinWithin({ directory, files: diskFiles, peering }, from, node, verifier)
  if (diskFiles.exists(directory.database)) return join()
  // Two that make rows at one place would move those of the other, half made.
  return withLock(directory.joinLock, () => join().finally(() => diskFiles.remove(directory.joinLock)))
}

/** Removes what a join left that was ended halfway, in a directory whose node begins at the first block. */
export async function dropJoin(directory: DataDirectory): Promise<void> {
  await withLock(directory.joinLock, async () => {
    await removeLeftovers(directory, diskFiles)
    // While it is held: another process may take it from then on.
    await diskFiles.remove(directory.joinLock)
  })
}

async function removeLeftovers(
  { joining, joiningRows, joiningPeers, parts }: JoinDirectory,
  files: DiskFiles,
): Promise<void> {
  for (const path of [joining, joiningRows, joiningPeers, parts]) await files.remove(path)
}

/** {@link joinState}, within any surroundings. */
export async function joinWithin(
  surroundings: JoinSurroundings,
  from: string,
  node: JoinSettings,
  verifier: Verifier,
): Promise<CheckedState | undefined> {
  const { env, spec } = node
  const { directory, files } = surroundings
  if (files.exists(directory.database)) {
    env.log.info({ from }, 'the directory has a chain: no state is taken')
    // A stop may have left them, and a start without the option made the chain.
    await removeLeftovers(directory, files)
    return undefined
  }
  try {
    const state = await (from === fromPeers
      ? takeFromPeers(surroundings, node, verifier)
      : takeFromFile(from, surroundings, node, verifier))
    if (state === undefined) env.log.warn({}, 'no peer has a state: the node begins at the first block')
    else {
      await files.rename(directory.joining, directory.database)
      const { height, committing } = state
      env.log.info({ height, committing: committing.height }, takenText(spec, from, state))
      const warning = ageWarning(spec, state, env.clock)
      if (warning !== undefined) env.log.warn({}, warning)
    }
    // A kill before the rows are in their place has them made again of the same parts.
    await files.remove(directory.parts)
    return state
  } finally {
    for (const path of [directory.joining, directory.joiningRows]) await files.remove(path)
  }
}

function takeFromFile(
  file: string,
  surroundings: JoinSurroundings,
  { spec, env, tuning, onStep }: JoinSettings,
  verifier: Verifier,
): Promise<CheckedState> {
  return onFile(file, async () => {
    const { size } = await stat(file)
    const progress = progressTo(onStep, size)
    const parts = readParts(counted(createReadStream(file), progress))
    return makeRows(parts, surroundings, { spec, verifier, clock: env.clock }, tuning?.storage?.cacheBytes)
  })
}

/** Undefined where peers answer, and none of them has a state. */
async function takeFromPeers(
  surroundings: JoinSurroundings,
  node: JoinSettings,
  verifier: Verifier,
): Promise<CheckedState | undefined> {
  const { spec, env, tuning } = node
  const { directory, files } = surroundings
  const peering = await surroundings.peering()
  if (peering === undefined) throw new UserError(`--state-from ${fromPeers} has no use: the node has no peers`, 2)
  const parts = await PartStore.open(directory.parts, files)
  // Addresses and bans of these minutes; the chain has rows of its own for them.
  const rows = await files.openDatabase(directory.joiningPeers)
  const { header } = genesisBlock(spec)
  const tip = { header, chainWork: workOf(header.bits) }
  const chain = {
    spec,
    genesis: { header },
    tip,
    database: rows,
    prunes: false,
    prunedHeight: 0,
    prunesDocuments: false,
    supersededHeight: 0,
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
    const check = (some: AsyncIterable<Part>) => makeRows(some, surroundings, checking, tuning?.storage?.cacheBytes)
    return await onFile(directory.parts, () => download.run(check))
  } finally {
    download.close()
    await peers.close()
    await rows.close()
    await files.remove(directory.joiningPeers)
  }
}

/** Checks the parts of a state and makes its rows, in a database beside that of the directory. */
async function makeRows(
  parts: AsyncIterable<Part>,
  { directory: { joining, joiningRows }, files }: JoinSurroundings,
  checking: Parameters<typeof checkState>[1],
  cache: number | undefined,
): Promise<CheckedState> {
  for (const path of [joining, joiningRows]) await files.remove(path)
  await files.makeDirectory(joiningRows)
  const database = await files.openDatabase(joining, cache, { openTables })
  try {
    const scratch = (name: string) => files.openScratch(join(joiningRows, name))
    const rows = await StateRows.begin(database, checking.spec, scratch)
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

function progressTo(onStep: JoinSettings['onStep'], total: number): (bytes: number) => void {
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
