import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { NodeClient } from '../../src/clients/client/node-client.js'
import { commandFile, devnetValidatorKey } from './dist.js'
import { type Command, run, type Running } from './processes.js'

/** Nodes of a chain with the validators of localnet, as separate processes. */

/** Addresses of a node's interfaces. */
export interface Places {
  readonly rest: string
  readonly ws: string
  readonly rpc: string
  readonly p2p: readonly string[]
}

export interface LocalNode extends Running, Places {}

export interface LocalNodeOptions {
  /** Parent of the node's data directory and key, which have its name. */
  readonly directory: string
  readonly name: string
  /** The file with the chain spec. */
  readonly spec: string
  /** The number of its validator key; no key when absent. */
  readonly validator?: number
  readonly peers?: readonly string[]
  readonly command?: Command
}

/** Starts a node by the command line and waits until it serves. It ends with this process, even after a kill. */
export async function startLocalNode(options: LocalNodeOptions): Promise<LocalNode> {
  const { directory, name, spec, validator, peers = [], command } = options
  const key = join(directory, `${name}.key`)
  if (validator !== undefined) writeFileSync(key, validatorKeyOf(validator).toString('hex'), { mode: 0o600 })
  const node = await run(
    [
      ...[commandFile, 'start', '--genesis', spec, '--data-dir', join(directory, name)],
      ...(validator === undefined ? [] : ['--validator-key', key, '--reset-sign-state=now']),
      ...['--port-base', '0', '--p2p-host', '127.0.0.1', '--log-level', 'error', '--stop-on-eof', '--json'],
      ...peers.flatMap((peer) => ['--peer', peer]),
    ],
    /^(\{.*\})$/,
    command,
  )
  return { ...node, ...(JSON.parse(node.announced) as Places) }
}

/** The private key of a validator of localnet. */
export function validatorKeyOf(number: number): Buffer {
  return Buffer.from(devnetValidatorKey(number).privateKey)
}

/** Waits until a node has reached a height. */
export async function reach(height: number, { rest }: Places, seconds = 60): Promise<void> {
  for (const deadline = Date.now() + seconds * 1000; Date.now() < deadline; await setTimeout(100)) {
    const answer = await fetch(`${rest}/api/v1/block/height`)
    if (((await answer.json()) as { Result: number }).Result >= height) return
  }
  throw new Error(`${rest} has not reached height ${height} within ${seconds} s`)
}

/** Sends a transaction in hex to a node. */
export async function send({ rest }: Pick<Places, 'rest'>, data: string): Promise<void> {
  await new NodeClient({ rest }).sendRawTransaction(data)
}
