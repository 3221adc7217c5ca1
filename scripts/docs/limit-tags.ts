import ts from 'typescript'
import { membersOf, numberOf, type Sources } from './constant-values.js'

/**
 * Reads the tags of constants, and of members of constant objects: `@limit <unit>: <what is bounded>` of bounds on what comes from
 * outside, `@tuning <unit>: <what it is>` of values of the node's own, such as sizes of caches and portions of work.
 */

/** Units that a tag may have; `number` is of a value that counts nothing, such as a height, `part` of one below 1. */
const units = 'bytes bytes/s characters count count/s levels ms number part points s years'.split(' ')

/** A constant with a tag `@limit`. */
export interface Limit {
  /** Path below `src`. */
  readonly file: string
  /** Name of the constant, or `constant.member`. */
  readonly name: string
  readonly value: number
  readonly unit: string
  readonly what: string
}

/** Declaration that can carry a tag. */
interface Carrier {
  readonly node: ts.Node
  readonly name: string
  readonly initializer: ts.Expression
  /** Whether the name says that it is a limit. */
  readonly limits: boolean
}

const tagNames: readonly string[] = ['limit', 'tuning']
const nameOfLimit = /^(max|most)[A-Z]|(Limits?|Cap)$/
const nameOfLimits = /Limits?$/

/** All tags `@limit` in the order of files and lines. Throws with file and line for each tag that is wrong or missing. */
export function readLimits(sources: Sources): Limit[] {
  const modules = [...sources].map(([path, source]) => readModule(path, source, sources))
  const refusals = modules.flatMap((module) => module.refusals)
  if (refusals.length > 0) throw new Error(refusals.join('\n'))
  return modules.flatMap(({ limits }) => limits)
}

/** The limits of one file, and what is wrong with its tags. */
function readModule(file: string, source: ts.SourceFile, sources: Sources): { limits: Limit[]; refusals: string[] } {
  const limits: Limit[] = []
  const refusals: string[] = []
  const refuse = (position: number, text: string) => {
    refusals.push(`src/${file}:${source.getLineAndCharacterOfPosition(position).line + 1}: ${text}`)
  }
  const read = new Set<number>()
  for (const carrier of carriers(source)) {
    const tag = ts.getJSDocTags(carrier.node).find(({ tagName }) => tagNames.includes(tagName.text))
    const value = numberOf(carrier.initializer, sources)
    if (tag !== undefined) {
      read.add(tag.pos)
      const limit = limitOf(carrier.name, value, ts.getTextOfJSDocComment(tag.comment) ?? '')
      if (typeof limit === 'string') refuse(tag.pos, `@${tag.tagName.text}: ${limit}`)
      else if (tag.tagName.text === 'limit') limits.push({ file, ...limit })
    } else if (carrier.limits && value !== undefined) {
      refuse(carrier.node.getStart(), `${carrier.name} has neither a tag @limit nor @tuning`)
    }
  }
  for (const { index } of source.text.matchAll(/@(limit|tuning)\b/g)) {
    if (!read.has(index)) refuse(index, 'no constant of the module follows this tag')
  }
  return { limits, refusals }
}

/** The limit that a tag describes, or what is wrong with the tag. */
function limitOf(name: string, value: number | undefined, text: string): Omit<Limit, 'file'> | string {
  const [, unit, what] = /^(\S+): (\S.*)$/s.exec(text) ?? []
  if (unit === undefined || what === undefined) return 'a tag is followed by <unit>: <what is bounded>'
  if (!units.includes(unit)) return `${unit} is no unit of limits: ${units.join(', ')}`
  if (value === undefined) return `${name} is not a number made of literals and constants`
  return { name, value, unit, what: what.replace(/\s+/g, ' ').replace(/\{@link (\w+)\}/g, '`$1`') }
}

/** The constants of a module, and the members of those that are objects. */
function carriers(source: ts.SourceFile): Carrier[] {
  const constants = source.statements
    .filter(ts.isVariableStatement)
    .filter(({ declarationList }) => (declarationList.flags & ts.NodeFlags.Const) !== 0)
    .flatMap((statement) => [...statement.declarationList.declarations])
  return constants.flatMap((node) => {
    const { initializer } = node
    if (initializer === undefined) return []
    const name = node.name.getText()
    const members = membersOf(initializer) ?? []
    return [
      { node, name, initializer, limits: nameOfLimit.test(name) },
      ...members.map((member) => ({
        node: member,
        name: `${name}.${member.name.getText()}`,
        initializer: member.initializer,
        limits: nameOfLimits.test(name),
      })),
    ]
  })
}
