import { chmod, rm } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { CodecError } from '../../base/primitives/codec.js'
import { RuleError, UserError } from '../../base/errors/rule-error.js'
import { equalBytes, toHex } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Log } from '../../base/runtime/env.js'
import { JobQueue } from '../../base/runtime/job-queue.js'
import { refusalOf } from '../../ledger/storage/failure.js'
import type { KeyHolder } from '../key-holder.js'
import { signaturesOf } from '../sign-message.js'
import { encodeMessage, signerOf, stepOf, viewOf } from '../tendermint/message.js'
import { freshSignState, parseSignState, signRuling, type SignState, SignStateError } from '../tendermint/sign-state.js'
import { type LineSocket, lineSocket, socketPathFault } from './line-socket.js'
import {
  bytesOf,
  maxRequest,
  nodeSilence,
  protocolVersion,
  readRequest,
  readSign,
  type Request,
} from './signer-protocol.js'

/**
 * The signer: a key with its sign state in a process of its own, for one node at a time.
 *
 *   line -> readRequest -> open: the state -> begin: a first state -> sign: readSign, signRuling, KeyHolder.sign -> answer
 *
 * - Nothing is signed that contradicts the state, which is on disk before the answer leaves.
 * - A message is read and held against its place and digests: the node may lie about what it wants signed.
 * - While one node sends requests no other one is served: the locks of the vote belong to one.
 */
export interface SignerServerOptions {
  /** Path of the socket. */
  readonly socket: string
  readonly holder: KeyHolder
  /** Hash of the genesis block. */
  readonly genesis: Hash
  /** Whether a key without a state may begin. */
  readonly begin: boolean
  readonly log: Log
}

/** @limit count: requests of a node that a signer has not answered */
const maxWaiting = 16
/** @limit count: connections to a signer at once */
const maxConnections = 8

export class SignerServer {
  readonly #options: SignerServerOptions
  readonly #server: Server
  readonly #queue = new JobQueue(maxWaiting)
  readonly #sockets = new Set<Socket>()
  /** The node that is served. */
  #node: LineSocket | undefined
  #state: SignState | undefined
  /** The state could not be written: what it says is not known, and nothing is signed any more. */
  #broken: string | undefined
  #fail: (error: Error) => void = () => {}
  /** Rejects when the signer cannot continue. */
  readonly failure = new Promise<never>((_, reject) => (this.#fail = reject))

  private constructor(options: SignerServerOptions, state: SignState | undefined) {
    this.#options = options
    this.#state = state
    this.#server = createServer((socket) => this.#serve(socket))
    this.#server.maxConnections = maxConnections
  }

  /** Reads the state and listens. A {@link UserError} for a state that is damaged, missing, or that of another key or chain. */
  static async open(options: SignerServerOptions): Promise<SignerServer> {
    const { holder, genesis, begin, socket } = options
    const fault = socketPathFault(socket)
    if (fault !== undefined) throw new UserError(`cannot listen at ${socket}: ${fault}; choose another with --socket`)
    const stored = await holder.load()
    if (stored === undefined && !begin) {
      throw new UserError(
        `there is no sign state at ${holder.path}: a key that has never signed begins with --begin, and a key that has must not`,
      )
    }
    const server = new SignerServer(options, stored && parsedState(stored, { holder, genesis }))
    await removeStale(socket)
    await new Promise<void>((resolve, reject) => {
      server.#server.once('error', (error) => reject(new UserError(`cannot listen at ${socket}: ${error.message}`)))
      server.#server.listen(socket, resolve)
    })
    try {
      await chmod(socket, 0o600)
    } catch (error) {
      // It would keep the process.
      await server.close()
      throw new UserError(
        `cannot keep others away from ${socket}: ${error instanceof Error ? error.message : String(error)}`,
      )
    }
    return server
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
    await this.#queue.idle()
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket)
    let waiting = 0
    const node = lineSocket(socket, maxRequest, {
      line: (value) => {
        if (++waiting > maxWaiting) return node.close()
        void this.#queue
          .run(() => this.#answer(value, node))
          .then((answer) => node.send(answer))
          .finally(() => waiting--)
      },
      closed: () => {
        this.#sockets.delete(socket)
        if (this.#node === node) this.#node = undefined
      },
    })
    socket.setTimeout(nodeSilence, () => node.close())
  }

  async #answer(value: unknown, node: LineSocket): Promise<object> {
    let id: number | null = null
    try {
      const request = readRequest(value)
      id = request.id
      return { id, result: await this.#result(request, node) }
    } catch (error) {
      if (!isRefusal(error)) throw error
      this.#options.log.warn({ reason: error.message }, 'a request is refused')
      return { id, error: error.message }
    }
  }

  async #result({ method, params }: Request, node: LineSocket): Promise<object> {
    if (method === 'open') return this.#open(params, node)
    if (this.#node !== node) throw new UserError('open comes first')
    if (method === 'ping') return {}
    if (method === 'begin') return this.#begin(params)
    if (method === 'sign') return this.#sign(params)
    throw new UserError(`there is no method ${method.slice(0, 40)}`)
  }

  async #open({ version, genesis }: Request['params'], node: LineSocket): Promise<object> {
    const { holder } = this.#options
    if (version !== protocolVersion) throw new UserError(`the signer speaks version ${protocolVersion}`)
    if (!equalBytes(bytesOf(genesis, 'genesis'), this.#options.genesis))
      throw new UserError('the signer is for another chain')
    if (this.#node !== undefined && this.#node !== node) throw new UserError('another node uses the signer')
    this.#node = node
    const stored = await holder.load()
    return { publicKey: toHex(holder.publicKey), state: stored === undefined ? null : toHex(stored) }
  }

  async #begin({ height }: Request['params']): Promise<object> {
    if (typeof height !== 'number' || !Number.isSafeInteger(height) || height < 1 || height > 0xffffffff) {
      throw new UserError('height is no height')
    }
    if (this.#state !== undefined) throw new UserError('the key has a sign state already')
    const state = freshSignState(height)
    await this.#stored(() => this.#options.holder.begin(state))
    this.#state = state
    return {}
  }

  async #sign(params: Request['params']): Promise<object> {
    const { holder, genesis, log } = this.#options
    const { message, locks } = readSign(params, genesis)
    if (!equalBytes(signerOf(message), holder.publicKey)) throw new UserError('the message is one of another key')
    const state = this.#state
    if (state === undefined) throw new UserError('begin comes first: the key has no sign state')
    const ruling = signRuling(state, message)
    if (ruling.ruling === 'refused') throw new UserError(ruling.reason)
    if (ruling.ruling === 'stored') return { stored: toHex(encodeMessage(ruling.message)) }
    const signing = await this.#stored(() => holder.sign(message, locks, state))
    if ('refused' in signing) throw new UserError(signing.refused)
    this.#state = signing.state
    const { message: signed } = signing
    log.debug({ height: message.height, view: viewOf(message), step: stepOf(message) }, 'signed')
    return { signatures: signaturesOf(signed).map(toHex) }
  }

  /** Runs what writes the state; once that fails nothing is signed any more. */
  async #stored<T>(store: () => Promise<T>): Promise<T> {
    if (this.#broken !== undefined) throw new UserError(this.#broken)
    try {
      return await store()
    } catch (error) {
      const reason = refusalOf(error)?.what ?? (error instanceof Error ? error.message : String(error))
      this.#broken = `the sign state cannot be written (${reason}); start the signer again once that is mended`
      this.#fail(new UserError(this.#broken))
      throw new UserError(this.#broken)
    }
  }
}

/** An error that says what is wrong with a request. */
function isRefusal(error: unknown): error is Error {
  return [UserError, RuleError, CodecError, SignStateError].some((kind) => error instanceof kind)
}

function parsedState(
  stored: Uint8Array,
  { holder, genesis }: Pick<SignerServerOptions, 'holder' | 'genesis'>,
): SignState {
  try {
    return parseSignState(stored, { genesis, publicKey: holder.publicKey })
  } catch (error) {
    if (!(error instanceof SignStateError)) throw error
    throw new UserError(`the sign state ${holder.path} cannot be used: ${error.message}`)
  }
}

/** Removes the socket of a signer that was killed; a {@link UserError} if one still listens there. */
async function removeStale(path: string): Promise<void> {
  const listens = await new Promise<boolean>((resolve) => {
    const probe = connect(path)
    probe.once('connect', () => {
      probe.destroy()
      resolve(true)
    })
    probe.once('error', () => resolve(false))
  })
  if (listens) throw new UserError(`another signer listens at ${path}`)
  await rm(path, { force: true })
}
