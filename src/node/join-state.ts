import { createReadStream } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import type { Verifier } from '../base/crypto/verifier.js'
import type { Spec } from '../base/primitives/spec.js'
import type { Env } from '../base/runtime/env.js'
import { checkState, type CheckedState } from '../ledger/state/check-state.js'
import { readParts } from '../ledger/state/parts.js'
import { StateRows } from '../ledger/state/state-rows.js'
import { Database } from '../ledger/storage/database.js'
import type { DataDirectory } from '../ledger/storage/directory.js'
import { onFile } from './on-file.js'

const mebibyte = 1024 * 1024

export interface JoiningOptions {
  /** A file of the state. */
  readonly from: string
  readonly databaseCache?: number | undefined
  /** Takes the MiB of the file that were read, and how many it has. */
  readonly progress?: (done: number, total: number) => void
}

/**
 * Makes the chain of a directory from a state, every part of which is checked against the blocks in it. It is made aside and moves into
 * its place once all was right: a kill leaves what the next start removes. A {@link UserError} that begins with the name of the file where
 * it has no state of this chain, or a wrong one.
 */
export async function joinState(
  spec: Spec,
  directory: DataDirectory,
  verifier: Verifier,
  env: Pick<Env, 'clock' | 'log'>,
  { from, databaseCache, progress = () => {} }: JoiningOptions,
): Promise<void> {
  const place = directory.joining
  await rm(place, { recursive: true, force: true })
  try {
    const { height, committing } = await onFile(from, async () => {
      const { size } = await stat(from)
      const pieces = counted(createReadStream(from), (bytes) => progress(toMebibytes(bytes), toMebibytes(size)))
      const database = await Database.open(place, databaseCache)
      try {
        return await takeState(readParts(pieces), database, { spec, verifier, clock: env.clock })
      } finally {
        await database.close()
      }
    })
    await rename(place, directory.database)
    env.log.info({ height, committing: committing.height }, 'the state was taken, and checked against its blocks')
  } catch (error) {
    await rm(place, { recursive: true, force: true })
    throw error
  }
}

async function takeState(
  parts: Parameters<typeof checkState>[0],
  database: Database,
  checking: Parameters<typeof checkState>[1],
): Promise<CheckedState> {
  const rows = await StateRows.begin(database, checking.spec)
  const state = await checkState(parts, { ...checking, taker: rows })
  await rows.finish(state)
  return state
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

function toMebibytes(bytes: number): number {
  return Math.ceil(bytes / mebibyte)
}
