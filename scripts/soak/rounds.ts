import { setTimeout } from 'node:timers/promises'

/**
 * Carries out rounds of kinds in turn, in a process forked by soak.ts: one begins every so many milliseconds, unless what is under way
 * forbids it. Reports to the parent how many of which kind succeeded, and how many failed, and ends with it.
 */
export async function carryOut(
  kinds: Readonly<Record<string, () => Promise<void>>>,
  every: number,
  mayBegin: (name: string, underWay: readonly string[]) => boolean,
  reported: object = {},
): Promise<never> {
  const names = Object.keys(kinds)
  const counts: Record<string, number> = Object.fromEntries(names.map((name) => [name, 0]))
  const underWay: string[] = []
  const count = (what: string) => (counts[what] = (counts[what] ?? 0) + 1)
  const round = async (name: string) => {
    underWay.push(name)
    // The node may be busy, or full.
    const inVain = (error: Error) => count(`${name} in vain (${error.message.slice(0, 80)})`)
    await (kinds[name] as () => Promise<void>)().then(() => count(name), inVain)
    underWay.splice(underWay.indexOf(name), 1)
  }
  process.on('SIGINT', () => {})
  process.on('disconnect', () => process.exit())
  for (let turn = 0; ; turn++) {
    const name = names[turn % names.length] as string
    if (mayBegin(name, underWay)) void round(name)
    await setTimeout(every)
    process.send?.({ counts, ...reported })
  }
}
