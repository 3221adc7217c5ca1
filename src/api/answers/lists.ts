import { eachInSlices } from '../../slices.js'

/** The JSON array of many things, written in slices so that other requests get their turns. */
export async function jsonArray<T>(items: readonly T[], json: (item: T) => unknown): Promise<string> {
  const parts: string[] = []
  await eachInSlices(items, (item) => parts.push(JSON.stringify(json(item))))
  return `[${parts.join(',')}]`
}
