import { Type } from '@sinclair/typebox'
import { maxWitnesses } from '../../clients/light/witness-bounds.js'
import { readWitnessPlace } from '../../clients/light/witness-place.js'
import { optionsFor } from '../../base/runtime/option.js'

/** Settings made by the options about witnesses. */
export interface WitnessTarget {
  /** Witnesses whose cosignatures the node collects: a key as C2SP writes it, a comma, and the URL of the witness. */
  readonly places: readonly string[]
  /** File with the private key by which this node is a witness; the command reads it. */
  readonly keyFile: string
}

const { option, table } = optionsFor<WitnessTarget>(['devnet', 'start'])

export const witnessOptions = table('witness', {
  witness: option('places', {
    flag: '--witness <key,url...>',
    schema: Type.Array(Type.String({ minLength: 1, maxLength: 2000 }), { maxItems: maxWitnesses, uniqueItems: true }),
    default: [],
    separator: /\s+/,
    description:
      'witnesses whose cosignatures go into proofs: the public key, a comma, and where the witness shows what it signed',
    expects: `a list of at most ${maxWitnesses} different witnesses, each NAME+ID+KEY,URL`,
    check: (places) => places.every(isPlace),
  }),
  witnessKey: option('keyFile', {
    flag: '--witness-key <file>',
    schema: Type.String({ minLength: 1 }),
    description:
      'cosign each new head with the private key in this file, which no other user may read and no other witness may use',
    expects: 'a file',
    commands: ['start'],
  }),
})

function isPlace(text: string): boolean {
  try {
    return readWitnessPlace(text).url !== undefined
  } catch {
    return false
  }
}
