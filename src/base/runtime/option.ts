import {
  type Static,
  type TBoolean,
  type TInteger,
  type TLiteral,
  type TSchema,
  type TUnion,
  Type,
} from '@sinclair/typebox'

/** The commands that run a node, or answer as one. */
export type NodeCommand = 'devnet' | 'start' | 'gateway'

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
  /** Between the texts of a list, on the command line and in the environment; a comma where it is absent. */
  readonly separator?: RegExp
  /** A check beyond the schema. */
  check?(value: NonNullable<T>): boolean
  /** Ends the refusal of a value of the schema with how it is mended; empty where that is not plain. */
  hint?(value: NonNullable<T>): string
  /** Commands that have the option; all when absent. */
  readonly commands?: readonly NodeCommand[]
  /** Whether most users never need it; the help lists it apart, and `createNode` takes it. */
  readonly tuning: boolean
  /** Returns the members of the target that a valid value sets. */
  effect(value: NonNullable<T>): Partial<Target>
}

/** An option as its module writes it; its place in the table tells the key. */
type Row<S extends TSchema, Default> = Omit<Option<Static<S>>, 'key' | 'schema' | 'default' | 'tuning' | 'effect'> & {
  readonly schema: S
  readonly default?: Default
}

/** Setting of an option: the member of the target that takes its value, or members made from it. */
type Sets<T, Target> = MemberFor<T, Target> | ((value: T) => Partial<Target>)

type MemberFor<T, Target> = { [Name in keyof Target]-?: T extends Target[Name] ? Name : never }[keyof Target]

/** An option without its key. `ByName`: it sets the member of its own name. */
interface Unplaced<S extends TSchema, Default, Tuning extends boolean, ByName extends boolean> {
  readonly row: Row<S, Default>
  readonly tuning: Tuning
  readonly sets: ByName extends true ? undefined : unknown
}

interface RowMaker<Target, Tuning extends boolean> {
  <S extends TSchema, Default extends Static<S> | undefined = undefined>(
    row: Row<S, Default>,
  ): Unplaced<S, Default, Tuning, true>
  <S extends TSchema, Default extends Static<S> | undefined = undefined>(
    sets: Sets<Static<S>, Target>,
    row: Row<S, Default>,
  ): Unplaced<S, Default, Tuning, false>
}

type Rows = Readonly<Record<string, Unplaced<TSchema, unknown, boolean, boolean>>>

/** The rows; `never` for one that sets the member of its name where the target has none for the value. */
type Fitting<R extends Rows, Target> = {
  readonly [Name in keyof R]: R[Name] extends Unplaced<infer S, unknown, boolean, true>
    ? Name extends MemberFor<Static<S>, Target>
      ? R[Name]
      : never
    : R[Name]
}

/** Options of which the types know the keys, and whether they are for tuning. */
type Table<Section extends string, R extends Rows, Target extends object> = {
  readonly [Name in keyof R & string]: R[Name] extends Unplaced<infer S, infer Default, infer Tuning, boolean>
    ? Option<Default extends undefined ? Static<S> | undefined : Static<S>, Target> & {
        readonly key: `${Section}.${Name}`
        readonly tuning: Tuning
      }
    : never
}

/**
 * Functions that make the options of a module, usual ones and those for tuning, and the table of them; they set members of `Target`.
 * `commands` have those whose rows name none.
 */
export function optionsFor<Target extends object>(commands?: readonly NodeCommand[]) {
  const maker =
    (tuning: boolean) =>
    (...args: readonly unknown[]): unknown => ({
      row: args.at(-1),
      tuning,
      sets: args.length > 1 ? args[0] : undefined,
    })
  function table<Section extends string, R extends Rows>(section: Section, rows: Fitting<R, Target>) {
    const options = Object.entries<Rows[string]>(rows).map(([name, { row, tuning, sets = name }]) => {
      const effect = typeof sets === 'function' ? sets : (value: unknown) => ({ [sets as string]: value })
      const shared = { default: undefined, ...(commands && { commands }) }
      return [name, { ...shared, ...row, key: `${section}.${name}`, tuning, effect }]
    })
    return Object.fromEntries(options) as Table<Section, R, Target>
  }
  return { option: maker(false) as RowMaker<Target, false>, tuning: maker(true) as RowMaker<Target, true>, table }
}

const longUnits: Readonly<Record<string, string>> = { ms: 'milliseconds', s: 'seconds' }

/** Schema of a whole number of some unit, with inclusive bounds. */
export function wholeNumber(
  minimum: number,
  maximum: number,
  unit: string,
): { readonly schema: TInteger; readonly expects: string; readonly unit: string } {
  const expects = `a number of ${longUnits[unit] ?? unit} from ${minimum} to ${maximum}`
  return { schema: Type.Integer({ minimum, maximum }), expects, unit }
}

/** Schema of a switch. */
export function onOrOff(initial: boolean): {
  readonly schema: TBoolean
  readonly default: boolean
  readonly expects: string
} {
  return { schema: Type.Boolean(), default: initial, expects: 'true or false' }
}

/** Schema of one of several words. */
export function oneOf<Word extends string>(
  words: readonly Word[],
): { readonly schema: TUnion<TLiteral<Word>[]>; readonly expects: string } {
  return { schema: Type.Union(words.map((word) => Type.Literal(word))), expects: `one of ${words.join(', ')}` }
}
