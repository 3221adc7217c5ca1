import { type Static, type TInteger, type TSchema, Type } from '@sinclair/typebox'

/** The commands that run a node. */
export type NodeCommand = 'devnet' | 'start'

/**
 * Something that whoever runs a node may choose. Each module has a table of its own in `options.ts`; file, environment,
 * flags, help and reference page all follow from these rows.
 */
export interface Option<T = unknown> {
  /** Module and name: `api.host`. */
  readonly key: string
  /** As the help shows it: `--host <address...>`, or `--no-…` for what is on unless it is switched off. */
  readonly flag: string
  /** Of integers, booleans, texts, literals or lists of texts. */
  readonly schema: TSchema
  /** undefined where there is none. */
  readonly default: T
  /** For the help: what it is, beginning with a small letter. */
  readonly description: string
  /** What a value has to be, after "not": `a port from 0 to 65527`. */
  readonly expects: string
  readonly unit?: string
  /** What the schema cannot say. */
  check?(value: NonNullable<T>): boolean
  /** Who has it; all where absent. */
  readonly commands?: readonly NodeCommand[]
  /** Whether most never need it; the help lists it apart. */
  readonly tuning?: boolean
}

type Row<S extends TSchema> = Omit<Option<Static<S>>, 'schema' | 'default'> & { readonly schema: S }

export function option<S extends TSchema>(row: Row<S> & { readonly default: Static<S> }): Option<Static<S>>
export function option<S extends TSchema>(row: Row<S>): Option<Static<S> | undefined>
export function option(row: Omit<Option, 'default'> & { readonly default?: unknown }): Option {
  return { ...row, default: row.default }
}

/** A whole number with its bounds, both allowed; `what` is what it is: `a number of bytes`. */
export function wholeNumber(
  minimum: number,
  maximum: number,
  what: string,
): { readonly schema: TInteger; readonly expects: string } {
  return { schema: Type.Integer({ minimum, maximum }), expects: `${what} from ${minimum} to ${maximum}` }
}
