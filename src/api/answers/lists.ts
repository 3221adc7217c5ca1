import { eachInSlices } from '../../slices.js'

/** The JSON array of many things, written in slices so that other requests get their turns. */
export async function jsonArray<T>(items: readonly T[], json: (item: T, index: number) => unknown): Promise<string> {
  const parts: string[] = []
  await eachInSlices(items.entries(), ([index, item]) => parts.push(JSON.stringify(json(item, index))))
  return `[${parts.join(',')}]`
}
