import { type InterfaceError, interfaceErrors } from '../../answers/api/http/error-mapping.js'
import { type Code, meanings } from '../../base/errors/error-codes.js'

/** Meaning of one broken rule for each interface. */
export type ClientCodeEntry = InterfaceError & {
  /** One sentence. */
  readonly meaning: string
}

/** Every code with what a client can be told of it. What it costs a peer is for programs with a node: `codes` of the main entry. */
export const codes = Object.fromEntries(
  Object.entries(meanings).map(([name, meaning]) => [name, { ...interfaceErrors[name as Code], meaning }]),
) as Readonly<Record<Code, ClientCodeEntry>>
