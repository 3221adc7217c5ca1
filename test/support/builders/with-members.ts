/** A copy of a JSON object with these members, by paths such as `vc.type`; undefined takes one away. */
export function withMembers(object: object, members: Readonly<Record<string, unknown>>): object {
  const copy = structuredClone(object)
  for (const [path, value] of Object.entries(members)) {
    const names = path.split('.')
    const last = names.pop() as string
    let at = copy as Record<string, unknown>
    for (const name of names) at = at[name] as Record<string, unknown>
    if (value === undefined) delete at[last]
    else at[last] = value
  }
  return copy
}
