/**
 * The members whose value is not undefined, in their order. For options that differ from defaults: spread over them, a member
 * that is undefined would take a default away.
 */
export function defined<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const kept: Partial<Record<keyof T, unknown>> = {}
  for (const name of Object.keys(members) as (keyof T)[]) if (members[name] !== undefined) kept[name] = members[name]
  return kept as { [K in keyof T]?: Exclude<T[K], undefined> }
}
