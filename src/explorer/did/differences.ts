import { create } from 'jsondiffpatch'

/** The differences between two versions of a document, one a row, with a path that people can read. Pure. */

export interface Difference {
  /** From the document on: names of members, and ids of keys, services and credentials, such as `service › #home`. */
  readonly path: readonly string[]
  readonly kind: 'added' | 'removed' | 'changed' | 'moved'
  readonly before?: unknown
  readonly after?: unknown
}

const differ = create({
  // Entries with an id are the same entry, wherever they stand.
  objectHash: (entry, index) => nameOf(entry) ?? `at ${index}`,
  arrays: { detectMove: false },
  cloneDiffValues: false,
})

/** The differences from one version to another, in the order of the document. */
export function differencesOf(before: object, after: object): Difference[] {
  const delta = differ.diff(before, after)
  return delta === undefined ? [] : walk(delta, before, after, [])
}

type Delta = Readonly<Record<string, unknown>>

function walk(delta: unknown, before: unknown, after: unknown, path: readonly string[]): Difference[] {
  if (Array.isArray(delta)) return [change(delta, path)]
  if (typeof delta !== 'object' || delta === null) return []
  const members = delta as Delta
  return members['_t'] === 'a'
    ? walkList(members, before as readonly unknown[], after as readonly unknown[], path)
    : Object.entries(members).flatMap(([name, inner]) =>
        walk(inner, memberOf(before, name), memberOf(after, name), [...path, name]),
      )
}

/** `_3`: what stood at 3 in the list before; `3`: what stands there now. */
function walkList(
  delta: Delta,
  before: readonly unknown[],
  after: readonly unknown[],
  path: readonly string[],
): Difference[] {
  return Object.entries(delta).flatMap(([name, inner]) => {
    if (name === '_t') return []
    const removed = name.startsWith('_')
    const index = Number(removed ? name.slice(1) : name)
    const entry = removed ? before[index] : after[index]
    const label = nameOf(entry) ?? (typeof entry === 'string' ? undefined : `${index}`)
    const inside = label === undefined ? path : [...path, fragmentOf(label)]
    const earlier = label === undefined ? undefined : before.find((one) => nameOf(one) === label)
    return walk(inner, earlier, entry, inside)
  })
}

/** `[after]` added, `[before, after]` changed, `[before, 0, 0]` removed, `['', at, 3]` moved. */
function change(delta: readonly unknown[], path: readonly string[]): Difference {
  if (delta.length === 1) return { path, kind: 'added', after: delta[0] }
  if (delta.length === 2) return { path, kind: 'changed', before: delta[0], after: delta[1] }
  return delta[2] === 3 ? { path, kind: 'moved' } : { path, kind: 'removed', before: delta[0] }
}

function nameOf(entry: unknown): string | undefined {
  if (typeof entry === 'string') return entry
  const id: unknown = memberOf(entry, 'id')
  return typeof id === 'string' ? id : undefined
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined
}

/** The part of an id that is unique in its document. */
function fragmentOf(id: string): string {
  const at = id.indexOf('#')
  return at < 0 ? id : id.slice(at)
}
