import { connect } from 'node:net'
import { RuleError, UserError } from '../../base/errors/rule-error.js'
import { verify } from '../../base/crypto/verify.js'
import { equalBytes, toHex } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Env } from '../../base/runtime/env.js'
import { type KeyHolder, KeyUnreachable, type Signing } from '../key-holder.js'
import { signaturesOf, signedTexts, withSignatures } from '../sign-message.js'
import type { LockState } from '../tendermint/machine-events.js'
import {
  parseMessage,
  type SignedMessage,
  signerOf,
  stepOf,
  type UnsignedMessage,
  viewOf,
} from '../tendermint/message.js'
import { type SignState, withSigned } from '../tendermint/sign-state.js'
import { type LineSocket, lineSocket, socketPathFault } from './line-socket.js'
import {
  answerTime,
  bytesOf,
  maxAnswer,
  members,
  pingInterval,
  protocolVersion,
  readSignatures,
  signParams,
} from './signer-protocol.js'

export interface RemoteKeyOptions extends Pick<Env, 'timers' | 'log'> {
  /** Path of the signer's socket. */
  readonly socket: string
  /** Hash of the genesis block. */
  readonly genesis: Hash
}

/** @tuning ms: first wait before a signer is looked for again */
const firstWait = 100
/** @tuning ms: last wait before a signer is looked for again */
const lastWait = 5000

interface Opened {
  readonly publicKey: Uint8Array
  readonly state: Uint8Array | undefined
}

interface Waiting {
  resolve(result: Readonly<Record<string, unknown>>): void
  reject(error: Error): void
}

/**
 * A key behind the socket of a signer, which has the sign state. Lost, it is looked for again and again; the state that it then names is
 * that from which the node continues.
 */
export class RemoteKey implements KeyHolder {
  readonly path: string
  readonly #options: RemoteKeyOptions
  readonly #listeners: ((stored: Uint8Array | undefined) => void)[] = []
  readonly #waiting = new Map<number, Waiting>()
  #publicKey: Uint8Array | undefined
  #first: Uint8Array | undefined
  #socket: LineSocket | undefined
  /** Why the signer cannot be asked. */
  #fault: string | undefined = 'not asked yet'
  #last = 0
  #cancel: (() => void) | undefined
  #closed = false

  private constructor(options: RemoteKeyOptions) {
    this.#options = options
    this.path = options.socket
  }

  /** Connects. A {@link UserError} if no signer answers, or one for another chain. */
  static async open(options: RemoteKeyOptions): Promise<RemoteKey> {
    const key = new RemoteKey(options)
    try {
      const fault = socketPathFault(options.socket)
      if (fault !== undefined) throw new UserError(fault)
      const { publicKey, state } = await key.#connect()
      key.#publicKey = publicKey
      key.#first = state
      key.#fault = undefined
      key.#ping()
      return key
    } catch (error) {
      key.close()
      const reason = error instanceof Error ? error.message : String(error)
      throw new UserError(`no signer can be used at ${options.socket}: ${reason} ("didledger signer" starts one)`)
    }
  }

  get publicKey(): Uint8Array {
    return this.#publicKey as Uint8Array
  }

  fault(): string | undefined {
    return this.#fault
  }

  async load(): Promise<Uint8Array | undefined> {
    return this.#first
  }

  async begin({ height }: SignState): Promise<void> {
    await this.#ask('begin', { height })
  }

  async sign(message: UnsignedMessage, locks: LockState, state: SignState): Promise<Signing> {
    const { genesis } = this.#options
    try {
      const signed = this.#signedIn(await this.#ask('sign', signParams(message, locks, genesis)), message)
      return { message: signed, state: withSigned(state, signed, locks) }
    } catch (error) {
      if (error instanceof UserError || error instanceof RuleError) return { refused: error.message }
      throw error
    }
  }

  onReturn(listener: (stored: Uint8Array | undefined) => void): void {
    this.#listeners.push(listener)
  }

  close(): void {
    this.#closed = true
    this.#cancel?.()
    this.#socket?.close()
  }

  /** The message with the signatures of an answer, or the one that was signed in its place before; both have to be those of the key. */
  #signedIn(result: Readonly<Record<string, unknown>>, message: UnsignedMessage): SignedMessage {
    const { genesis } = this.#options
    const stored = result['stored']
    const signed =
      stored === undefined
        ? withSignatures(message, readSignatures(result['signatures'], signedTexts(message, genesis).length))
        : parseMessage(bytesOf(stored, 'stored'))
    if (signed.kind === 'proof' || !samePlace(signed, message))
      throw new UserError('the signer answered with another message')
    const texts = signedTexts(signed, genesis)
    const holds = signaturesOf(signed).every((signature, i) =>
      verify(this.publicKey, texts[i] as Uint8Array, signature),
    )
    if (holds) return signed
    throw new UserError('a signature of the signer does not verify')
  }

  /** Connects and opens; rejects with the reason. */
  async #connect(): Promise<Opened> {
    const socket = connect(this.#options.socket)
    const lines = lineSocket(socket, maxAnswer, {
      line: (value) => this.#answered(value),
      closed: (reason) => this.#lost(lines, reason),
    })
    this.#socket = lines
    const { genesis } = this.#options
    const result = await this.#request('open', { version: protocolVersion, genesis: toHex(genesis) })
    const state = result['state']
    return {
      publicKey: bytesOf(result['publicKey'], 'publicKey'),
      state: state === null ? undefined : bytesOf(state, 'state'),
    }
  }

  /** Asks while the signer can be asked; else rejects with a {@link KeyUnreachable}. */
  #ask(method: string, params: object): Promise<Readonly<Record<string, unknown>>> {
    if (this.#fault !== undefined) return Promise.reject(new KeyUnreachable(this.#fault))
    return this.#request(method, params)
  }

  #request(method: string, params: object): Promise<Readonly<Record<string, unknown>>> {
    const id = ++this.#last
    return new Promise((resolve, reject) => {
      const cancel = this.#options.timers.after(answerTime, () => {
        this.#lost(this.#socket, `no answer within ${answerTime / 1000} s`)
      })
      this.#waiting.set(id, {
        resolve: (result) => {
          cancel()
          resolve(result)
        },
        reject: (error) => {
          cancel()
          reject(error)
        },
      })
      this.#socket?.send({ id, method, params })
    })
  }

  #answered(value: unknown): void {
    try {
      const { id, result, error } = members(value, 'an answer')
      const waiting = this.#waiting.get(id as number)
      if (waiting === undefined) return
      this.#waiting.delete(id as number)
      if (typeof error === 'string') waiting.reject(new UserError(error))
      else waiting.resolve(members(result, 'result'))
    } catch (error) {
      this.#lost(this.#socket, error instanceof Error ? error.message : String(error))
    }
  }

  /** The connection is of no use any more: all that waits ends, and a new one is tried. */
  #lost(socket: LineSocket | undefined, reason: string): void {
    if (socket === undefined || socket !== this.#socket) return
    this.#socket = undefined
    const known = this.#publicKey !== undefined && this.#fault === undefined
    this.#fault = reason
    this.#cancel?.()
    socket.close()
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const { reject } of waiting) reject(new KeyUnreachable(reason))
    if (!known || this.#closed) return
    this.#options.log.warn({ path: this.path, reason }, 'the signer is lost')
    this.#again(firstWait)
  }

  #again(wait: number): void {
    this.#cancel = this.#options.timers.after(wait, () => {
      void this.#connect().then(
        (opened) => this.#returned(opened),
        (error: unknown) => {
          if (this.#closed) return
          this.#fault = error instanceof Error ? error.message : String(error)
          this.#drop()
          this.#again(Math.min(2 * wait, lastWait))
        },
      )
    })
  }

  #drop(): void {
    const socket = this.#socket
    this.#socket = undefined
    socket?.close()
  }

  #returned({ publicKey, state }: Opened): void {
    if (this.#closed) return
    if (!equalBytes(publicKey, this.publicKey)) {
      this.#fault = 'it has another key now'
      this.#drop()
      return this.#again(lastWait)
    }
    this.#fault = undefined
    this.#options.log.info({ path: this.path }, 'the signer is back')
    this.#ping()
    for (const listener of this.#listeners) listener(state)
  }

  /** Tells the signer now and then that this node is there. */
  #ping(): void {
    this.#cancel = this.#options.timers.after(pingInterval, () => {
      this.#request('ping', {}).then(
        () => this.#ping(),
        () => {},
      )
    })
  }
}

/** Whether two messages are of one signer, height, view and step. */
function samePlace(a: SignedMessage, b: UnsignedMessage): boolean {
  const sameView = a.height === b.height && viewOf(a) === viewOf(b) && stepOf(a) === stepOf(b)
  return sameView && equalBytes(signerOf(a), signerOf(b))
}
