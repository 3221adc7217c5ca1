import { type Static, type TInteger, type TSchema, Type } from '@sinclair/typebox'

/** The commands that run a node. */
export type NodeCommand = 'devnet' | 'start'

/**
 * An option of a node. Each module has a table of its own in `X-options.ts`; file, environment, flags, help, reference page and
 * effect all follow from these rows. `Target` is what the module takes.
 */
export interface Option<T = unknown, Target extends object = object> {
  /** Module and name: `api.host`. */
  readonly key: string
  /** As the help shows it: `--host <address...>`, or `--no-…` for an option that is on by default. */
  readonly flag: string
  /** Schema of integers, booleans, texts, literals or lists of texts. */
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
  /** Whether most users never need it; the help lists it apart, and `createNode` takes it. */
  readonly tuning: boolean
  /** Returns the members of the target that a valid value sets. */
  effect(value: NonNullable<T>): Partial<Target>
}

/** Setting of an option: the member of the target that takes its value, or members made from it. */
type Sets<T, Target> = MemberFor<T, Target> | ((value: T) => Partial<Target>)

type MemberFor<T, Target> = { [Name in keyof Target]-?: T extends Target[Name] ? Name : never }[keyof Target]

type Row<S extends TSchema, Target, Key, Tuning> = Omit<
  Option<Static<S>>,
  'key' | 'schema' | 'default' | 'tuning' | 'effect'
> & {
  readonly key: Key
  readonly schema: S
  readonly tuning?: Tuning
} & {
  // Apart: nothing is inferred from a row that lacks a member of the same object type; the error would name another member.
  readonly sets: Sets<Static<S>, Target>
}

/** An option of which the types know the key, and whether it is for tuning. */
type TypedOption<T, Target extends object, Key, Tuning> = Option<T, Target> & {
  readonly key: Key
  readonly tuning: Tuning
}

/** The function that makes the options of a module: keys begin with its name, and what they set is of `Target`. */
export function optionsFor<Section extends string, Target extends object>() {
  function option<const Key extends `${Section}.${string}`, S extends TSchema, const Tuning extends boolean = false>(
    row: Row<S, Target, Key, Tuning> & { readonly default: Static<S> },
  ): TypedOption<Static<S>, Target, Key, Tuning>
  function option<const Key extends `${Section}.${string}`, S extends TSchema, const Tuning extends boolean = false>(
    row: Row<S, Target, Key, Tuning>,
  ): TypedOption<Static<S> | undefined, Target, Key, Tuning>
  function option({ sets, ...row }: Row<TSchema, Target, string, boolean> & { readonly default?: unknown }): Option {
    const effect = typeof sets === 'function' ? sets : (value: unknown) => ({ [sets]: value })
    return { ...row, default: row.default, tuning: row.tuning ?? false, effect }
  }
  return option
}

/** Schema of a whole number with inclusive bounds; `what` names it: `a number of bytes`. */
export function wholeNumber(
  minimum: number,
  maximum: number,
  what: string,
): { readonly schema: TInteger; readonly expects: string } {
  return { schema: Type.Integer({ minimum, maximum }), expects: `${what} from ${minimum} to ${maximum}` }
}
