import { concat, mapKey } from '../../base/primitives/bytes.js'
import { coordinatesByRoot } from '../../base/primitives/p256.js'
import type { Checking, Ed25519Due, P256Due, SignatureDue } from '../../identity/proofs/signature-checks.js'

/** Signatures by WebCrypto, which takes no compressed points; JavaScript is loaded only where there is none. */

/** @tuning count: public keys kept for WebCrypto */
const maxKeys = 1024
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

export type Subtle = (typeof globalThis)['crypto']['subtle']
type ImportedKey = Awaited<ReturnType<Subtle['importKey']>>
type Verify = (due: P256Due) => Promise<boolean>

/** Verifies signatures of P-256 over SHA-256, and those of witnesses. */
export class Signatures {
  readonly #keys = new Map<string, Promise<ImportedKey | undefined>>()
  readonly #subtle: Subtle | null

  constructor(subtle: Subtle | null = globalThis.crypto?.subtle ?? null) {
    this.#subtle = subtle
  }

  /** Runs a check to its end. */
  async settle<T>(check: Checking<T>): Promise<T> {
    let step = check.next()
    while (step.done !== true) step = check.next(await this.#all(step.value))
    return step.value
  }

  async #all(due: readonly SignatureDue[]): Promise<boolean> {
    const verify = this.#subtle === null ? await inScript() : this.#natively(this.#subtle)
    return (await Promise.all(due.map((one) => (one.scheme === undefined ? verify(one) : ofWitness(one))))).every(
      Boolean,
    )
  }

  #natively(subtle: Subtle): Verify {
    return async ({ key, message, signature }) => {
      if (typeof key === 'string') return byKeyOf(key, message, signature)
      const known = await this.#key(subtle, key)
      return known !== undefined && subtle.verify(algorithm, known, own(signature), own(message))
    }
  }

  #key(subtle: Subtle, key: Uint8Array): Promise<ImportedKey | undefined> {
    const id = mapKey(key)
    const known = this.#keys.get(id) ?? imported(subtle, key)
    if (this.#keys.size >= maxKeys) this.#keys.clear()
    this.#keys.set(id, known)
    return known
  }
}

/** A key for WebCrypto; undefined unless it is the compressed form of a point. */
async function imported(subtle: Subtle, key: Uint8Array): Promise<ImportedKey | undefined> {
  const point = coordinatesByRoot(key)
  if (point === undefined) return undefined
  return subtle.importKey('raw', own(concat(Uint8Array.of(4), point.x, point.y)), algorithm, false, ['verify'])
}

/** WebCrypto takes no view of memory that could be shared. */
function own(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(bytes)
}

/** Not every WebCrypto has Ed25519, and a head has few cosignatures. */
async function ofWitness({ key, message, signature }: Ed25519Due): Promise<boolean> {
  const { verifyEd25519 } = await import('../../base/crypto/ed25519.js')
  return verifyEd25519(key, message, signature)
}

/** WebCrypto finds no key: few answers need that. */
async function byKeyOf(did: string, message: Uint8Array, signature: Uint8Array): Promise<boolean> {
  const { isByKeyOf } = await import('../../base/crypto/key-of-did.js')
  return isByKeyOf(did, message, signature)
}

async function inScript(): Promise<Verify> {
  const { nobleBackend } = await import('../../base/crypto/noble.js')
  return async ({ key, message, signature }) => {
    return typeof key === 'string'
      ? byKeyOf(key, message, signature)
      : nobleBackend.verifyAsync(key, message, signature)
  }
}
