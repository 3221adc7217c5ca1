import { requireKnown } from '../../base/primitives/known-members.js'
import { requireObject } from '../../clients/client/arguments.js'
import { allOptions, nameOf, sectionOf } from '../config/all-options.js'
import { requireValid } from '../config/values.js'
import { type NodeTuning, type OptionOf, optionsToNode, type Section } from '../options-to-node.js'
import type { Option } from '../../base/runtime/option.js'

/** The options for tuning of a section. */
type TuningOption<S extends Section> = Extract<OptionOf<S>, { readonly tuning: true }>

type NameOf<O> = O extends { readonly key: `${string}.${infer Name}` } ? Name : never

type ValueOf<O> = O extends Option<infer T> ? NonNullable<T> : never

/** Options for tuning by section and name: those that the help of `didledger start` lists apart. */
export type TuningOptions = {
  readonly [S in Section as TuningOption<S> extends never ? never : S]?: {
    readonly [O in TuningOption<S> as NameOf<O>]?: ValueOf<O>
  }
}

/** Reads options for tuning of a node. A UserError names an option that does not exist, or whose value is invalid. */
export function readTuning(given: TuningOptions): NodeTuning {
  const options = allOptions.filter(({ tuning }) => tuning)
  requireNames('tuning', given, options.map(sectionOf))
  const values = new Map<string, unknown>()
  for (const [section, members = {}] of Object.entries(given)) {
    const own = options.filter((option) => sectionOf(option) === section)
    requireNames(`tuning.${section}`, members, own.map(nameOf))
    for (const [name, value] of Object.entries(members)) values.set(`${section}.${name}`, value)
  }
  for (const option of options) {
    const value = values.get(option.key)
    if (value !== undefined) requireValid(option, value, 'tuning')
  }
  return optionsToNode(({ key }) => values.get(key))
}

function requireNames(where: string, given: object, names: readonly string[]): void {
  requireKnown(where, requireObject(`${where}: an object of options is needed`, given), [...new Set(names)])
}
