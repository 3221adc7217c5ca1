import { verifyEd25519 } from '../../base/crypto/ed25519.js'
import { UserError } from '../../base/errors/rule-error.js'
import { displayHash, equalBytes, fromUtf8, utf8 } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import { asLightError } from '../light/light-error.js'
import { parse } from '../light/json-scan.js'
import { type CosignedHead, readWitnessHead, type ShownHead } from '../light/witnessed-heads.js'
import { committedBlock } from '../../identity/proofs/anchor.js'
import { fail } from '../../identity/proofs/proof-failure.js'
import {
  cosignedMessage,
  headOf,
  isAbout,
  knownCosignatures,
  readVerifierKey,
} from '../../identity/proofs/witness-note.js'
import { displayHashText, members, optionalText, requireFormat, text } from '../../identity/proofs/read-json.js'

/** The last head that a witness signed, as it is kept between two runs: what it may sign follows from it. */

export const witnessStateFormat = 'didledger/witness-state/1'

/** Owner of a state: a key, and the chain that it has signed heads of. */
export interface StateOwner {
  /** Public key as C2SP writes it. */
  readonly key: string
  /** Hash of the genesis block, internal order. */
  readonly genesis: Hash
  readonly hasValidators: boolean
}

/** State of a key. */
export interface WitnessState {
  /** The last head signed; undefined: none yet. */
  readonly head: ShownHead | undefined
  /** Text of the light resolver's memory of the chain, of a witness without a node. */
  readonly memory?: string | undefined
}

/** State of a key that has signed nothing: it is of no chain yet. */
export function emptyWitnessState(key: string): Uint8Array {
  return encoded({ format: witnessStateFormat, key })
}

export function witnessStateBytes({ head, memory }: WitnessState, { key, genesis }: StateOwner): Uint8Array {
  return encoded({ format: witnessStateFormat, key, chain: displayHash(genesis), head, memory })
}

function encoded(state: object): Uint8Array {
  return fromUtf8(`${JSON.stringify(state)}\n`)
}

/** The head of a state, which its key has to have signed: no part of it can be damaged. */
function signedHead(sent: unknown, { key, genesis, hasValidators }: StateOwner): CosignedHead {
  const head = readWitnessHead(sent, hasValidators)
  const { note, anchor, header } = head
  const own = headOf(genesis, committedBlock(anchor, header, hasValidators))
  const [known] = knownCosignatures(note.lines, [readVerifierKey(key)])
  const isSigned =
    known !== undefined &&
    isAbout(note, own) &&
    verifyEd25519(known.key.publicKey, cosignedMessage(own, known.cosignature.time), known.cosignature.signature)
  return isSigned ? head : fail('form', 'the key has not signed the head in it')
}

/** Reads the state of a key; a UserError for a damaged one, and for that of another key or chain. */
export function readWitnessState(
  bytes: Uint8Array,
  { key, genesis, hasValidators }: StateOwner,
): WitnessState & { readonly signed: CosignedHead | undefined } {
  try {
    const state = members(parse(utf8(bytes) ?? ''), 'the state')
    requireFormat(state['format'], witnessStateFormat)
    if (state['key'] !== key) throw new UserError(`it is that of another key: ${text(state['key']).slice(0, 200)}`)
    const { head, chain } = state
    if (head !== undefined && !equalBytes(displayHashText(chain), genesis)) {
      throw new UserError('it is of another chain: a key signs heads of one chain')
    }
    const signed = head === undefined ? undefined : signedHead(head, { key, genesis, hasValidators })
    return { head: head as ShownHead | undefined, signed, memory: optionalText(state['memory']) }
  } catch (error) {
    const why = error instanceof UserError ? error.message : asLightError(error).message
    throw new UserError(`the state of the witness key cannot be used: ${why}`)
  }
}
