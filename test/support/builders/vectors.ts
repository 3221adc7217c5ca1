import { readFileSync } from 'node:fs'

/** A vector file whose every read is noticed. */
export interface Vectors<T> {
  /** The parsed file; members count as read when they are reached through this object. */
  readonly data: T
  /** Throws with the paths of the members that nothing has read, except the descriptive ones. */
  finish(): void
}

/**
 * Opens `test/vectors/<file>`. `descriptive` names members, at any depth, that only tell people where a vector comes from;
 * everything else has to be read before `finish`.
 */
export function openVectors<T>(file: string, { descriptive }: { descriptive: readonly string[] }): Vectors<T> {
  const text = readFileSync(new URL(`../../vectors/${file}`, import.meta.url), 'utf8')
  const plain: unknown = JSON.parse(text)
  const read = new Set<string>()
  return {
    data: watched(plain, '', read) as T,
    finish() {
      const unread = leaves(plain, '', descriptive).filter((path) => !read.has(path))
      if (unread.length > 0) throw new Error(`${file}: nothing reads ${unread.slice(0, 20).join(', ')}`)
    },
  }
}

function watched(value: unknown, path: string, read: Set<string>): unknown {
  if (typeof value !== 'object' || value === null) return value
  const children = new Map<string, unknown>()
  return new Proxy(value, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver)
      if (typeof name === 'symbol' || !Object.hasOwn(target, name) || (Array.isArray(target) && name === 'length')) {
        return member
      }
      const place = `${path}/${name}`
      read.add(place)
      if (!children.has(name)) children.set(name, watched(member, place, read))
      return children.get(name)
    },
  })
}

/** Paths of everything that holds no other member. */
function leaves(value: unknown, path: string, descriptive: readonly string[]): string[] {
  if (typeof value !== 'object' || value === null) return [path]
  const members = Object.entries(value)
  if (members.length === 0) return [path]
  return members
    .filter(([name]) => !descriptive.includes(name))
    .flatMap(([name, member]) => leaves(member, `${path}/${name}`, descriptive))
}

/** A plain deep copy of a watched member, which counts as reading all of it. */
export function copied(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}
