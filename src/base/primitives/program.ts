import { type ProgramHash, prefix, programHash, singleKeyCode, trailer } from './address.js'
import { compareBytes, compareLittleEndian, concat } from './bytes.js'
import { hash160, hash160Key } from './hash.js'
import { isCompressed } from './p256.js'

/** Unlocks an output: a script with its keys, and the signatures for it (format 2.1, 4.3 to 4.7). */
export interface Program {
  readonly parameter: Uint8Array
  readonly code: Uint8Array
}

/** A parsed program code. */
export interface ProgramScript {
  readonly kind: 'standard' | 'did' | 'multisig'
  /** 33-byte keys in script order. */
  readonly keys: readonly Uint8Array[]
  /** Number of signatures needed. */
  readonly required: number
}

/** A program with its parts, undefined where they are of no accepted form. */
export interface ParsedProgram {
  readonly code: Uint8Array
  readonly script: ProgramScript | undefined
  /** As {@link parseParameter} finds them. */
  readonly signatures: readonly Uint8Array[] | undefined
}

/**
 * Larger counts have no opcode.
 * @limit count: keys of a multisig program
 */
export const maxMultisigKeys = 16

/** The script in `code`; undefined unless it is one of the accepted forms in exactly its canonical bytes. */
export function parseCode(code: Uint8Array): ProgramScript | undefined {
  if (code.length === 35 && code[0] === 33) {
    const key = code.subarray(1, 34)
    if (!isCompressed(key)) return undefined
    const keys = [key]
    if (code[34] === trailer.standard) return { kind: 'standard', keys, required: 1 }
    if (code[34] === trailer.did) return { kind: 'did', keys, required: 1 }
    return undefined
  }
  const count = (code.length - 3) / 34
  if (!Number.isInteger(count) || count < 1 || count > maxMultisigKeys) return undefined
  const required = (code[0] as number) - 0x50
  const keys = Array.from({ length: count }, (_, i) => code.subarray(2 + 34 * i, 35 + 34 * i))
  if (required < 1 || required > count || !keys.every(isCompressed)) return undefined
  return compareBytes(multisigCode(required, keys), code) === 0 ? { kind: 'multisig', keys, required } : undefined
}

export function parseProgram({ code, parameter }: Program): ParsedProgram {
  const script = parseCode(code)
  return { code, script, signatures: script && parseParameter(parameter, script) }
}

/** The code of an m-of-n multisig program; the keys are put in ascending order of X (format 4.6). */
export function multisigCode(required: number, keys: readonly Uint8Array[]): Uint8Array {
  if (keys.length > maxMultisigKeys || required < 1 || required > keys.length) {
    throw new RangeError(`a multisig program needs 1 <= m <= n <= ${maxMultisigKeys}`)
  }
  const ordered = [...keys].sort((a, b) => compareBytes(a.subarray(1), b.subarray(1)))
  return concat(
    Uint8Array.of(0x50 + required),
    ...ordered.map((key) => concat(Uint8Array.of(33), key)),
    Uint8Array.of(0x50 + keys.length, trailer.multisig),
  )
}

/** The address prefix that a code of this kind unlocks. */
export function prefixOf(kind: ProgramScript['kind']): number {
  return kind === 'standard' ? prefix.standard : kind === 'did' ? prefix.did : prefix.multisig
}

export function programHashOf(code: Uint8Array, script: ProgramScript): ProgramHash {
  return programHash(prefixOf(script.kind), code)
}

/** `mapKey` of {@link programHashOf}: the owner of the coins that a program with this code unlocks. */
export function ownerOfCode(code: Uint8Array, script: ProgramScript): string {
  return String.fromCharCode(prefixOf(script.kind)) + hash160Key(code)
}

/**
 * The 64-byte signatures in a program parameter: `40 <signature>` once per signature. Undefined for any other form, or a number
 * of signatures that the script does not allow.
 */
export function parseParameter(parameter: Uint8Array, script: ProgramScript): Uint8Array[] | undefined {
  const count = parameter.length / 65
  return count < script.required || count > script.keys.length ? undefined : parseSignatures(parameter)
}

/** The 64-byte signatures in a program parameter, even if incomplete; undefined for any other form. */
export function parseSignatures(parameter: Uint8Array): Uint8Array[] | undefined {
  if (parameter.length % 65 !== 0) return undefined
  const signatures = new Array<Uint8Array>(parameter.length / 65)
  for (let i = 0; i < signatures.length; i++) {
    const at = 65 * i
    if (parameter[at] !== 64) return undefined
    signatures[i] = parameter.subarray(at + 1, at + 65)
  }
  return signatures
}

/** The parameter with these 64-byte signatures. */
export function parameterOf(signatures: readonly Uint8Array[]): Uint8Array {
  return concat(...signatures.map((signature) => concat(Uint8Array.of(64), signature)))
}

/** The one-key program of a standard address, signed with `signature`. */
export function standardProgram(publicKey: Uint8Array, signature: Uint8Array): Program {
  return { code: singleKeyCode(publicKey), parameter: parameterOf([signature]) }
}

/** Programs in wire order: by hash160 of their code, as little-endian integers (format 4.7). */
export function sortPrograms(programs: readonly Program[]): Program[] {
  return programs
    .map((program) => ({ program, hash: hash160(program.code) }))
    .sort((a, b) => compareLittleEndian(a.hash, b.hash))
    .map(({ program }) => program)
}
