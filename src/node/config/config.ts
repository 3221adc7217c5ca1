/**
 * Merges defaults, file, environment and flags into the configuration of one command.
 *
 *   X-options.ts of the rooms -> allOptions -> optionsOf(command)
 *   file text   -> readConfigText -> optionsInFile        \
 *   environment -> optionsInEnvironment -> fromText        > put: isValid -> Config.get, sourceOf
 *   flags       -> parsed by cli                          /
 *   Config.tuning -> startNode, serve (by cli); configText, configJson (print.ts)
 *
 * Imports errors, node (for the options of all rooms), runtime; used by library, cli.
 * - Flag before environment before file before default; each value has its source.
 * - `~` of a path is the home directory, whatever source it is from.
 * - An unknown name or an invalid value, from any source, is a UserError with exit code 2, and nothing starts.
 */
import { UserError } from '../../base/errors/rule-error.js'
import { type NodeTuning, optionsToNode } from '../options-to-node.js'
import { belowHome, takesPath } from '../../base/runtime/home-folder.js'
import type { NodeCommand, Option } from '../../base/runtime/option.js'
import { allOptions, flagOf, optionsOf, otherVariables, sectionOf, variableOf } from './all-options.js'
import { type FileMember, readConfigText, shortened } from './file.js'
import { fromText, nearest, requireValid } from './values.js'

/** Origin of a value; the later ones of this list win. */
export type Origin = 'default' | 'file' | 'environment' | 'flag'

/** An option with its value; undefined where it is not set and has no default. */
export interface ConfigEntry {
  readonly option: Option
  readonly value: unknown
  readonly origin: Origin
  /** Exact source: the file and its line, the variable, the flag; empty for a default. */
  readonly place: string
}

export interface ConfigSources {
  readonly command: NodeCommand
  readonly file?: { readonly path: string; readonly text: string } | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  /** Values from the command line by key: parsed already, lists as texts. */
  readonly flags: ReadonlyMap<string, unknown>
}

/** The effective configuration of a node. */
export class Config {
  readonly command: NodeCommand
  /** In the order of the options. */
  readonly settings: readonly ConfigEntry[]
  readonly #values: ReadonlyMap<string, unknown>

  constructor(command: NodeCommand, settings: readonly ConfigEntry[]) {
    this.command = command
    this.settings = settings
    this.#values = new Map(settings.map(({ option, value }) => [option.key, value]))
  }

  /** Settings of a node by the options of the command. */
  get tuning(): NodeTuning {
    return optionsToNode((option) => this.get(option))
  }

  /** The value of an option that the command has. */
  get<T>({ key }: Option<T>): T {
    return this.#values.get(key) as T
  }

  /** The same with a value for an option that was left to its default. */
  withDefault<T>(option: Option<T>, value: T): Config {
    const settings = this.settings.map((entry) =>
      entry.option.key === option.key && entry.value === undefined ? { ...entry, value } : entry,
    )
    return new Config(this.command, settings)
  }

  /** Source of an option's value, for messages: `flag --host`. */
  sourceOf({ key }: Option): string {
    const entry = this.settings.find(({ option }) => option.key === key)
    return `${entry?.origin} ${entry?.place}`.trim()
  }
}

/**
 * Merges the sources: flag before environment before file before default. An unknown option or an invalid value, from any source,
 * is a {@link UserError} with exit code 2.
 */
export function readConfig({ command, file, env, flags }: ConfigSources): Config {
  const options = optionsOf(command)
  const entries = new Map<string, ConfigEntry>()
  const put = (option: Option, given: unknown, origin: Origin, place: string) => {
    const value = typeof given === 'string' && takesPath(option.flag) ? belowHome(given, env) : given
    requireValid(option, value, place)
    entries.set(option.key, { option, value, origin, place })
  }
  if (file !== undefined) {
    for (const { option, value, line } of optionsInFile(file, command, options)) {
      put(option, value, 'file', `${file.path}:${line}`)
    }
  }
  for (const { option, text, variable } of optionsInEnvironment(env, command, options)) {
    put(option, fromText(option, text), 'environment', variable)
  }
  for (const option of options) {
    const value = flags.get(option.key)
    if (value !== undefined) put(option, value, 'flag', flagOf(option))
  }
  const settings = options.map(
    (option): ConfigEntry => entries.get(option.key) ?? { option, value: option.default, origin: 'default', place: '' },
  )
  return new Config(command, settings)
}

function* optionsInFile(
  { path, text }: { readonly path: string; readonly text: string },
  command: NodeCommand,
  options: readonly Option[],
): Generator<FileMember & { readonly option: Option }> {
  const isSection = (name: string) => allOptions.some((option) => sectionOf(option) === name)
  for (const member of readConfigText(text, path, isSection)) {
    const option = options.find(({ key }) => key === member.path)
    if (option === undefined) {
      const sections = new Set(options.map(sectionOf))
      const keys = [...options.map(({ key }) => key), ...sections]
      throw unknown(
        `${path}:${member.line}`,
        member.path,
        command,
        keys,
        allOptions.some(({ key }) => key === member.path),
      )
    }
    yield { ...member, option }
  }
}

function* optionsInEnvironment(
  env: ConfigSources['env'],
  command: NodeCommand,
  options: readonly Option[],
): Generator<{ readonly option: Option; readonly variable: string; readonly text: string }> {
  for (const [variable, text] of Object.entries(env)) {
    if (!variable.startsWith('DIDLEDGER_') || text === undefined || Object.hasOwn(otherVariables, variable)) continue
    const option = options.find((candidate) => variableOf(candidate) === variable)
    if (option === undefined && isServiceLink(variable, text)) continue
    if (option === undefined) {
      const names = [...options.map(variableOf), ...Object.keys(otherVariables)]
      const ofOther = allOptions.some((candidate) => variableOf(candidate) === variable)
      throw unknown('the environment', variable, command, names, ofOther)
    }
    yield { option, variable, text }
  }
}

/**
 * Whether Kubernetes has set a variable, as it does in each pod for each Service of its namespace: one named `didledger` or `didledger-…`
 * gives names that look like options.
 */
function isServiceLink(variable: string, text: string): boolean {
  if (/_SERVICE_HOST$/.test(variable)) return true
  if (/_SERVICE_PORT(_[A-Z0-9_]+)?$/.test(variable)) return /^\d+$/.test(text)
  return (
    /_PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?$/.test(variable) &&
    (/^[a-z]+:\/\//.test(text) || /_\d+_/.test(variable))
  )
}

function unknown(
  place: string,
  name: string,
  command: NodeCommand,
  names: readonly string[],
  ofOther: boolean,
): UserError {
  const near = ofOther ? undefined : nearest(name, names)
  const what = ofOther ? `${shortened(name)} is no option of ${command}` : `there is no option ${shortened(name)}`
  return new UserError(`${place}: ${what}${near === undefined ? '' : `; did you mean ${near}?`}`, 2)
}
