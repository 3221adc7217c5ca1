import type { Json } from '../fakes/light-server.js'

/** Every way to change one member of a JSON value, one at a time. */

export interface Change {
  /** Path of the member and what is done to it. */
  readonly name: string
  /** A copy with that change. */
  apply(value: Json): Json
}

type Path = readonly (string | number)[]

/** Changes of each member: another value of its type, none of its type, left out, and lists emptied. */
export function changesOf(value: Json): Change[] {
  return pathsOf(value, []).flatMap((path) => {
    const member = at(value, path)
    const ways: [string, (parent: Json, name: string | number) => void][] = others(member).map((other) => [
      JSON.stringify(other).slice(0, 40),
      (parent, name) => (parent[name] = other),
    ])
    if (path.length > 0) ways.push(['left out', (parent, name) => void delete parent[name]])
    return ways.map(([how, change]) => ({
      name: `${path.join('.')}: ${how}`,
      apply: (given: Json) => {
        const root = { value: structuredClone(given) as Json }
        const whole: Path = ['value', ...path]
        const parent = at(root, whole.slice(0, -1))
        // A later answer may be shorter than the one that the changes were made for.
        if (typeof parent === 'object' && parent !== null) change(parent, whole.at(-1) as string | number)
        return root.value
      },
    }))
  })
}

function pathsOf(value: Json, path: Path): Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  const names = Array.isArray(value) ? [...value.keys()] : Object.keys(value as object)
  return [path, ...names.flatMap((name) => pathsOf(value[name], [...path, name]))]
}

function at(value: Json, path: Path): Json {
  return path.reduce((inner, name) => inner?.[name], value)
}

/** Other values in the place of one. */
function others(member: Json): Json[] {
  if (typeof member === 'string') return [`${member.slice(0, -1)}${member.endsWith('0') ? '1' : '0'}`, `x${member}`, 7]
  if (typeof member === 'number') return [member + 1, member - 1, String(member)]
  if (typeof member === 'boolean') return [!member]
  if (Array.isArray(member)) return [[], [...member, ...member.slice(0, 1)], {}]
  return [null, []]
}
