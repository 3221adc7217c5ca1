import { timingSafeEqual } from 'node:crypto'
import { lookup } from 'node:dns/promises'
import { statSync } from 'node:fs'
import { familyOf } from '../../base/runtime/ip-family.js'
import { isAbsolute, join } from 'node:path'
import { isLoopback } from '../../answers/api/http/origin.js'
import { placeText, tokenProof } from '../../answers/api/http/token-proof.js'
import { interfaceErrors } from '../../answers/api/http/error-mapping.js'
import { NoAnswer, NodeRefusal } from '../../clients/client/http.js'
import { NodeClient } from '../../clients/client/node-client.js'
import { asText, unexpected } from '../../base/primitives/answer-form.js'
import { isObject } from '../../base/primitives/is-object.js'
import type { RpcParams } from '../../clients/client/rpc.js'
import { InvariantError, UserError } from '../../base/errors/rule-error.js'
import { fromHex, hex, toHex } from '../../base/primitives/bytes.js'
import { hexFault } from '../../base/primitives/hex-fault.js'
import { SharedSecretError } from '../../base/runtime/secret-access.js'
import { readSecretFile } from '../../clients/wallet/files.js'
import type { Command } from 'commander'
import { DataDirectory } from '../../ledger/storage/directory.js'
import type { CliContext } from './cli-context.js'
import type { RestFlags } from './command-options.js'
import { chainDataDir } from './chain-data-dir.js'

/** Calls for the owner of a running node, with the token found by itself on this machine. */

export interface OwnerFlags extends RestFlags {
  readonly dataDir?: string
  readonly tokenFile?: string
}

/** Flags by which a token is found, and what the user may do where it is not. */
interface TokenPlace extends Omit<OwnerFlags, 'rest'> {
  readonly hint?: string
}

const tokenFileHint = 'give the file admin.token of its data directory with --token-file FILE'

/** The token of a node, the client that it may be sent by, and the directory that it was found in. */
export interface Owner {
  readonly token: string
  /** Goes to the address that has proved to know the token, also where a name has several. */
  readonly client: NodeClient
  readonly dataDir?: string
}

/**
 * The result of a method. Without a directory it is asked without a token first; with one the node has to prove that the directory is
 * its own, also for what any node answers. The token goes only to a node that has proved to have it.
 */
export async function callAsOwner(
  context: CliContext,
  client: NodeClient,
  method: string,
  params: RpcParams,
  flags: OwnerFlags,
): Promise<unknown> {
  if (flags.tokenFile === undefined && flags.dataDir === undefined) {
    try {
      return await client.rpc(method, params)
    } catch (error) {
      if (!(error instanceof NodeRefusal) || error.code !== interfaceErrors['request-forbidden'].rpc) throw error
    }
  }
  const owner = await ownerOf(context, client, flags, method)
  return owner.client.rpc(method, params, owner)
}

/**
 * The token in --token-file; else that of a node on this machine, from --data-dir, the directory that the node names, or the default one of
 * its chain, once the node has proved that it has the same. A {@link UserError} explains how to pass it.
 */
export async function ownerOf(
  context: CliContext,
  client: NodeClient,
  { tokenFile, dataDir, hint = tokenFileHint }: TokenPlace,
  method: string,
): Promise<Owner> {
  if (tokenFile !== undefined) return { token: toHex(tokenIn(tokenFile)), client }
  const places = await placesOf(new URL(client.rest))
  if (places.length === 0) {
    throw new UserError(
      `${method} is for the owner of the node, and the token is sent to no other machine unasked: ${hint}`,
    )
  }
  const nonce = context.random.bytes(32)
  const told = await firstProof(places, (at) => proofOf(at, nonce, method, hint)).catch((error: unknown) => {
    throw dataDir !== undefined && error instanceof NoAnswer ? elsewhere(error, dataDir) : error
  })
  const directories = dataDir === undefined ? [told.dataDir, await defaultOf(context, told.client)] : [dataDir]
  for (const directory of directories) {
    const token = directory === undefined ? undefined : tokenBelow(directory)
    if (token === undefined) continue
    const proof = tokenProof(token, nonce, told.place)
    if (told.proof.length === proof.length && timingSafeEqual(proof, told.proof)) {
      return { token: toHex(token), client: told.client, dataDir: directory as string }
    }
  }
  const where = dataDir === undefined ? 'no data directory found here has' : `${dataDir} does not have`
  throw new UserError(`${where} the token of the node at ${client.rest}: ${hint}, or --data-dir DIRECTORY`)
}

/** The address of a node: as given, else where the node of the given directory serves on this machine, else the usual one. */
export async function restOf(command: Command, { rest, dataDir }: Omit<OwnerFlags, 'tokenFile'>): Promise<string> {
  if (dataDir === undefined || command.getOptionValueSource('rest') === 'cli') return rest
  const served = await DataDirectory.servedAt(dataDir)
  return served !== undefined && (await leadsHere(served)) ? served : rest
}

/** Whether a URL leads to this machine. */
export async function leadsHere(rest: string): Promise<boolean> {
  return (await placesOf(new URL(rest))).length > 0
}

/** The error for a node whose directory is named, and which does not answer where nodes usually do. */
function elsewhere({ fact }: NoAnswer, dataDir: string): UserError {
  return new UserError(
    DataDirectory.isOpen(dataDir)
      ? `${fact}; if the node of ${dataDir} serves REST elsewhere, name that with --rest URL`
      : `${fact}, and no node has ${dataDir} open`,
  )
}

interface Proof {
  readonly proof: Uint8Array
  readonly dataDir: string | undefined
}

/** The proof of the first place where a node answers. */
async function firstProof(
  places: readonly Place[],
  ask: (client: NodeClient) => Promise<Proof>,
): Promise<Proof & { readonly place: string; readonly client: NodeClient }> {
  for (const [i, { url, text }] of places.entries()) {
    const client = new NodeClient({ rest: url })
    try {
      return { ...(await ask(client)), place: text, client }
    } catch (error) {
      if (!(error instanceof UserError) || i === places.length - 1) throw error
    }
  }
  throw new InvariantError('a place to ask is there')
}

async function proofOf(client: NodeClient, nonce: Uint8Array, method: string, hint: string): Promise<Proof> {
  try {
    const answer = await client.rpc('provetoken', { nonce: toHex(nonce) })
    if (!isObject(answer)) throw unexpected('the proof of the token is not an object')
    const proof = fromHex(asText(answer['proof'], 'proof'))
    if (proof === undefined) throw unexpected('the proof of the token is not hex')
    const directory = answer['datadir']
    return { proof, dataDir: typeof directory === 'string' && isPlace(directory) ? directory : undefined }
  } catch (error) {
    if (!(error instanceof NodeRefusal)) throw error
    const why = error.reason === '' ? error.description : error.reason
    throw new UserError(`${method} is for the owner of the node, which does not prove its token (${why}): ${hint}`)
  }
}

/** Whether a path that a node names is one of this machine: Windows would send a password to the host in `\\\\host`. */
function isPlace(path: string): boolean {
  return isAbsolute(path) && !/^[\\/]{2}/.test(path)
}

interface Place {
  readonly url: string
  readonly text: string
}

/** Addresses of this machine to which a URL leads, with its name resolved; empty for another machine. */
async function placesOf({ protocol, hostname, port: shown, pathname }: URL): Promise<Place[]> {
  const name = hostname.replace(/^\[|\]$/g, '')
  const addresses = name === 'localhost' ? (await lookup(name, { all: true })).map(({ address }) => address) : [name]
  const port = Number(shown) || (protocol === 'https:' ? 443 : 80)
  return addresses
    .filter((address) => familyOf(address) !== 0 && isLoopback(address))
    .map((address) => {
      const host = familyOf(address) === 6 ? `[${address}]` : address
      return { url: `${protocol}//${host}:${port}${pathname}`, text: placeText(address, port) }
    })
}

/** The default directory of the node's chain. */
async function defaultOf(context: CliContext, client: NodeClient): Promise<string | undefined> {
  const chain = await client.chain()
  const isName =
    chain !== undefined && /^[a-z][a-z0-9-]{0,31}$/.test(chain.name) && /^[0-9a-f]{64}$/.test(chain.genesis)
  return isName ? chainDataDir(context, chain.name, chain.genesis) : undefined
}

/** The token in a data directory; undefined if there is none that can be read. A pipe, which would never end, is none. */
function tokenBelow(directory: string): Uint8Array | undefined {
  const file = join(directory, 'admin.token')
  try {
    return statSync(file).isFile() ? tokenIn(file) : undefined
  } catch (error) {
    if (error instanceof SharedSecretError) throw error
    return undefined
  }
}

function tokenIn(file: string): Uint8Array {
  const text = readSecretFile(file, 'admin token', { guest: true }).trim()
  const fault = hexFault(text, 32)
  if (fault !== undefined) throw new UserError(`${file} holds no admin token of 64 hex digits: ${fault}`)
  return hex(text)
}
