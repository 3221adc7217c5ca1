import { type Static, type TInteger, type TSchema, Type } from '@sinclair/typebox'

/** The commands that run a node. */
export type NodeCommand = 'devnet' | 'start'

/**
 * An option of a node. Each module has a table of its own in `X-options.ts`; file, environment, flags, help and reference page
 * all follow from these rows.
 */
export interface Option<T = unknown> {
  /** Module and name: `api.host`. */
  readonly key: string
  /** As the help shows it: `--host <address...>`, or `--no-…` for an option that is on by default. */
  readonly flag: string
  /** Of integers, booleans, texts, literals or lists of texts. */
  readonly schema: TSchema
  /** Undefined if there is none. */
  readonly default: T
  /** Description for the help, beginning with a small letter. */
  readonly description: string
  /** Completes a message after "not": `a port from 0 to 65527`. */
  readonly expects: string
  readonly unit?: string
  /** A check beyond the schema. */
  check?(value: NonNullable<T>): boolean
  /** Commands that have the option; all when absent. */
  readonly commands?: readonly NodeCommand[]
  /** Whether most users never need it; the help lists it apart. */
  readonly tuning?: boolean
}

type Row<S extends TSchema> = Omit<Option<Static<S>>, 'schema' | 'default'> & { readonly schema: S }

export function option<S extends TSchema>(row: Row<S> & { readonly default: Static<S> }): Option<Static<S>>
export function option<S extends TSchema>(row: Row<S>): Option<Static<S> | undefined>
export function option(row: Omit<Option, 'default'> & { readonly default?: unknown }): Option {
  return { ...row, default: row.default }
}

/** Schema of a whole number with inclusive bounds; `what` names it: `a number of bytes`. */
export function wholeNumber(
  minimum: number,
  maximum: number,
  what: string,
): { readonly schema: TInteger; readonly expects: string } {
  return { schema: Type.Integer({ minimum, maximum }), expects: `${what} from ${minimum} to ${maximum}` }
}
