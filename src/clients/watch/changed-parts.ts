import { isObject } from '../../base/primitives/is-object.js'

/** A part of a document that an operation added, removed or changed. Pure. */
export interface ChangedPart {
  /** Name of the member of the document. */
  readonly member: string
  readonly change: 'added' | 'removed' | 'changed'
  /** Id of the key, service or credential in it, or the text that stands there; absent: the member as a whole. */
  readonly id?: string
}

type Document = Readonly<Record<string, unknown>>

/** Signatures of a document change with everything else. */
const unnamed: readonly string[] = ['proof']

/** The parts in which two normalised documents differ, in the order of their members; undefined: there is no document. */
export function changedParts(before: Document | undefined, after: Document | undefined): ChangedPart[] {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  return [...names]
    .filter((member) => !unnamed.includes(member))
    .flatMap((member) => changesOf(member, before?.[member], after?.[member]))
}

function changesOf(member: string, before: unknown, after: unknown): ChangedPart[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return []
  const [from, to] = [partsOf(before), partsOf(after)]
  if (from !== undefined && to !== undefined) {
    const ids = new Set([...from.keys(), ...to.keys()])
    const changes = [...ids].flatMap((id) => partChange(member, id, from.get(id), to.get(id)))
    if (changes.length > 0) return changes
  }
  return [{ member, change: before === undefined ? 'added' : after === undefined ? 'removed' : 'changed' }]
}

function partChange(member: string, id: string, before: string | undefined, after: string | undefined): ChangedPart[] {
  if (before === after) return []
  return [{ member, change: before === undefined ? 'added' : after === undefined ? 'removed' : 'changed', id }]
}

/** Elements of a list by their names; a missing list has none; undefined: it is no list, or its elements have no names. */
function partsOf(value: unknown): ReadonlyMap<string, string> | undefined {
  if (value === undefined) return new Map()
  if (!Array.isArray(value)) return undefined
  const parts = new Map<string, string>()
  for (const element of value) {
    const id = isObject(element) ? element['id'] : element
    if (typeof id !== 'string') return undefined
    parts.set(id, JSON.stringify(element))
  }
  return parts
}
