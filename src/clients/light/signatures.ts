import { concat, mapKey } from '../../base/primitives/bytes.js'
import { coordinatesByRoot } from '../../base/primitives/p256.js'
import type { Checking, Ed25519Due, P256Due, SignatureDue } from '../../identity/proofs/signature-checks.js'

/** Signatures by WebCrypto, which takes no compressed points; JavaScript is loaded only where there is none. */

/** @tuning count: public keys kept for WebCrypto */
const maxKeys = 1024
/** @tuning count: signatures given to WebCrypto at a time */
const portion = 16
/** @tuning ms: a check holds the thread for about so long before timers, sockets and pages get a turn */
const slice = 8
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

export type Subtle = (typeof globalThis)['crypto']['subtle']
type ImportedKey = Awaited<ReturnType<Subtle['importKey']>>
type Keys = Map<string, Promise<ImportedKey | undefined>>
type Verify = (due: P256Due & { readonly key: Uint8Array }) => Promise<boolean>

/** Keys by the WebCrypto that has imported them: importing one takes longer than a signature, and a program's resolvers ask of the same validators. */
const importedBy = new WeakMap<Subtle, Keys>()
/** Keys of which DIDs are made: finding one takes as long as dozens of signatures, and a controller signs many documents. */
const keysOfDids = new Map<string, Uint8Array>()

/** Verifies signatures of P-256 over SHA-256, and those of witnesses. */
export class Signatures {
  readonly #subtle: Subtle | null

  constructor(subtle: Subtle | null = globalThis.crypto?.subtle ?? null) {
    this.#subtle = subtle
  }

  /** Runs a check to its end, in slices: that of a long history takes seconds. */
  async settle<T>(check: Checking<T>): Promise<T> {
    const turn = sliced()
    let step = check.next()
    while (step.done !== true) {
      await turn()
      step = check.next(step.value.length === 0 || (await this.#all(step.value, turn)))
    }
    return step.value
  }

  async #all(due: readonly SignatureDue[], turn: () => Promise<void>): Promise<boolean> {
    const verify = this.#subtle === null ? await inScript() : natively(this.#subtle)
    for (let from = 0; from < due.length; from += portion) {
      const begun: Promise<boolean>[] = []
      for (const one of due.slice(from, from + portion)) {
        begun.push(one.scheme === undefined ? byKey(one, verify) : ofWitness(one))
        if (typeof one.key !== 'string') continue
        await begun.at(-1)
        await turn()
      }
      if (!(await Promise.all(begun)).every(Boolean)) return false
      await turn()
    }
    return true
  }
}

/** By the key that a DID is made of, once a signature has shown it. */
async function byKey({ key, message, signature }: P256Due, verify: Verify): Promise<boolean> {
  if (typeof key !== 'string') return verify({ key, message, signature })
  const known = keysOfDids.get(key)
  if (known !== undefined) return verify({ key: known, message, signature })
  // WebCrypto finds no key.
  const { keyInSignature } = await import('../../base/crypto/key-of-did.js')
  const found = keyInSignature(key, message, signature)
  if (found === undefined) return false
  keep(keysOfDids, key, found)
  return true
}

function natively(subtle: Subtle): Verify {
  const keys = importedBy.get(subtle) ?? (new Map() as Keys)
  importedBy.set(subtle, keys)
  return async ({ key, message, signature }) => {
    const id = mapKey(key)
    const known = await (keys.get(id) ?? keep(keys, id, imported(subtle, key)))
    return known !== undefined && subtle.verify(algorithm, known, own(signature), own(message))
  }
}

/** Adds to a table, which is emptied when it is full. */
function keep<T>(table: Map<string, T>, id: string, value: T): T {
  if (table.size >= maxKeys) table.clear()
  table.set(id, value)
  return value
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

/** A function to call between steps, which lets other work run when a slice is over. */
function sliced(): () => Promise<void> {
  let began = performance.now()
  return async () => {
    if (performance.now() - began < slice) return
    await new Promise((resolve) => setTimeout(resolve))
    began = performance.now()
  }
}

async function inScript(): Promise<Verify> {
  const { nobleBackend } = await import('../../base/crypto/noble.js')
  return ({ key, message, signature }) => nobleBackend.verifyAsync(key, message, signature)
}
