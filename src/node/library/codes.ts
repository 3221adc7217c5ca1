import { type InterfaceError, interfaceErrors } from '../../answers/api/http/error-mapping.js'
import { type Code, meanings } from '../../base/errors/error-codes.js'
import { type Offence, offences } from '../../network/penalties.js'

/** Meaning of one broken rule for each interface, and for a peer. */
export type CodeEntry = InterfaceError & {
  /** Scope of the data that decides that the rule is broken: see docs/errors.md. */
  readonly pinned: Offence['pinned']
  /** Points a peer loses for sending this; at 100 its key is banned. */
  readonly penalty: number
  /** One sentence. */
  readonly meaning: string
}

/** Every code with all that is known of it, in one table for programs that embed a node or a resolver. */
export const codes = Object.fromEntries(
  Object.entries(meanings).map(([name, meaning]) => {
    const code = name as Code
    const { pinned, points } = offences[code]
    return [code, { ...interfaceErrors[code], pinned, penalty: points, meaning }]
  }),
) as Readonly<Record<Code, CodeEntry>>
