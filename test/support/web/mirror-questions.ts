import { LightResolver } from '../../../src/node/library/light-entry.js'
import { outcomeOf } from './light-replay.js'

/** Questions to a light resolver over a mirror, by a test and by a page of another origin. */

export interface MirrorQuestions {
  /** The address of the mirror. */
  readonly mirror: string
  readonly trust: unknown
  readonly dids: readonly string[]
  /** The clock, which stands still, in seconds. */
  readonly now: number
}

/** The result of each resolution as JSON, or the name of its failure; by a resolver of its own, which knows no file yet. */
export async function outcomesOver({ mirror, trust, dids, now }: MirrorQuestions): Promise<string[]> {
  const outcomes: string[] = []
  for (const did of dids) {
    const light = new LightResolver({ mirrors: [mirror], trust, now: () => now })
    outcomes.push(await outcomeOf(() => light.resolve(did)))
  }
  return outcomes
}

/** In a page: asks all, and posts what comes of each. */
export async function mirrorQuestionsPage(): Promise<void> {
  const questions = (await (await fetch('/input')).json()) as MirrorQuestions
  await fetch('/result', { method: 'POST', body: JSON.stringify(await outcomesOver(questions)) })
}
