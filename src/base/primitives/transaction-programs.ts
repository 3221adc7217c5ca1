import { ownerOfCode, type ParsedProgram, parseProgram, type ProgramScript } from './program.js'
import type { Transaction } from './transaction.js'

/** Programs of transactions with their parts, each parsed once while its transaction remembers it. */

/** The parsed code of one program; undefined for a code of no accepted form. */
export function scriptAt(tx: Transaction, index: number): ProgramScript | undefined {
  return programAt(tx, index)?.script
}

/** The signatures in the parameter of one program; undefined where they are not what its code needs. */
export function signaturesAt(tx: Transaction, index: number): readonly Uint8Array[] | undefined {
  return programAt(tx, index)?.signatures
}

/** The owner of the coins that one program unlocks, as coins name it; undefined for a code of no accepted form. */
export function ownerAt(tx: Transaction, index: number): string | undefined {
  const { code, script } = programAt(tx, index) ?? {}
  return code && script && ownerOfCode(code, script)
}

function programAt({ programs, parsed }: Transaction, index: number): ParsedProgram | undefined {
  const program = programs[index]
  return program && (parsed[index] ??= parseProgram(program))
}
