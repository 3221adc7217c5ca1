import { inSlices } from '../../slices.js'

/** The JSON array of many things, written in slices so that other requests get their turns. */
export async function jsonArray<T>(items: readonly T[], json: (item: T, index: number) => unknown): Promise<string> {
  const parts: string[] = []
  await inSlices(() => {
    const item = items[parts.length]
    if (item === undefined) return false
    parts.push(JSON.stringify(json(item, parts.length)))
    return parts.length < items.length
  })
  return `[${parts.join(',')}]`
}
