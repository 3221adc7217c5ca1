import { createReadStream, statSync } from 'node:fs'
import { join } from 'node:path'
import { genesisOfBlocks } from '../../ledger/chain/block-file.js'
import { partKind, readParts } from '../../ledger/state/parts.js'
import { readHead } from '../../ledger/state/state-head.js'
import { CodecError, Reader } from '../../base/primitives/codec.js'
import type { Hash } from '../../base/primitives/hash.js'
import { UserError } from '../../base/errors/rule-error.js'
import { isShippedSpec, shippedSpecs } from '../../node/library/shipped.js'
import { displayHash, equalBytes, toHex } from '../../base/primitives/bytes.js'
import { genesisBlock } from '../../base/primitives/genesis.js'
import type { Spec } from '../../base/primitives/spec.js'
import { DataDirectory } from '../../ledger/storage/directory.js'
import { loadSpec, specIn } from './load-spec.js'

/** The spec of the chain in a data directory, from the directory or a shipped chain; else a {@link UserError}. */
export async function heldSpec(path: string): Promise<Spec> {
  const held = await DataDirectory.held(path)
  if (held === undefined) throw unknown(`${path} does not tell which chain it holds`)
  if (held.spec === undefined) {
    const found = shippedOf(held.genesis)
    if (found !== undefined) return found
    throw unknown(`${path} holds the chain ${held.name}, and not its spec`)
  }
  const file = join(path, 'spec.json')
  const spec = keptSpec(held.spec, file)
  if (genesisOf(spec) === held.genesis) return spec
  throw new UserError(
    `${file} is the spec of another chain than ${held.name}, which is in ${path}: name the right one with --genesis FILE`,
  )
}

/** The spec that a directory keeps; a {@link UserError} names the fault, and the remedy. */
function keptSpec(text: string, file: string): Spec {
  try {
    return specIn(text, file)
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    throw new UserError(`${error.message}; start the node once with --genesis FILE, which is kept there`)
  }
}

/** Whether what is read of a file is gone, as of a pipe. Reading a directory says best what is wrong with it. */
export function isReadOnce(file: string): boolean {
  const kind = statSync(file)
  return !kind.isFile() && !kind.isDirectory()
}

/** The spec of the shipped chain whose blocks a file holds; else a {@link UserError} that leaves naming the file to the caller. */
export async function specOfBlocks(file: string): Promise<Spec> {
  if (isReadOnce(file)) throw unknown('it can be read only once')
  const stream = createReadStream(file)
  const genesis = await genesisOfBlocks(stream).finally(() => stream.destroy())
  const found = shippedOf(toHex(genesis))
  if (found !== undefined) return found
  throw unknown(`it holds blocks of a chain with the genesis block ${displayHash(genesis)}`)
}

/** The spec of the shipped chain whose state a file holds; else a {@link UserError}. */
export async function specOfState(file: string): Promise<Spec> {
  const genesis = await genesisOfState(file)
  if (genesis === undefined) throw unknown('it can be read only once')
  const found = shippedOf(toHex(genesis))
  if (found !== undefined) return found
  throw unknown(`it holds the state of a chain with the genesis block ${displayHash(genesis)}`)
}

/** Throws a {@link UserError} for a file that begins as no state of a chain; one that can be read only once is not looked at. */
export async function requireStateOf(file: string, spec: Spec): Promise<void> {
  const genesis = await genesisOfState(file)
  if (genesis === undefined || equalBytes(genesis, genesisBlock(spec).header.hash)) return
  throw new UserError(`it holds the state of another chain, with the genesis block ${displayHash(genesis)}`)
}

/** The hash of the genesis block of the chain whose state a file holds; undefined where what is read is gone. */
async function genesisOfState(file: string): Promise<Hash | undefined> {
  if (isReadOnce(file)) return undefined
  const stream = createReadStream(file)
  try {
    for await (const { kind, bytes } of readParts(stream)) {
      const genesis = kind === partKind.head ? genesisOfHead(bytes) : undefined
      if (genesis === undefined) throw new UserError('it does not begin with the head of a state')
      return genesis
    }
  } finally {
    stream.destroy()
  }
  throw new UserError('it holds no state')
}

/** The hash of the genesis block in the head of a state; undefined where the bytes are no head. */
function genesisOfHead(bytes: Uint8Array): Hash | undefined {
  try {
    return readHead(new Reader(bytes)).genesis
  } catch (error) {
    if (error instanceof CodecError) return undefined
    throw error
  }
}

/** Whether a chain is one of those that come with the package. */
export function isShippedChain(spec: Spec): boolean {
  return isShippedSpec(spec.name) && genesisOf(loadSpec(spec.name)) === genesisOf(spec)
}

/** `genesis`: in hex, internal order. */
function shippedOf(genesis: string): Spec | undefined {
  return shippedSpecs.map(loadSpec).find((spec) => genesisOf(spec) === genesis)
}

function genesisOf(spec: Spec): string {
  return toHex(genesisBlock(spec).header.hash)
}

function unknown(what: string): UserError {
  return new UserError(`${what}: name its spec with --genesis FILE`, 2)
}
