import type { OutOfStep, Standing } from '../../../src/answers/resolver/standing.js'

/** The standing of a node in step. */
export function inStep(height = 0): Standing {
  return { inStep: true, height, age: 1 }
}

/** The standing of a node that joins. */
export function behind(height: number, target: number, changes: Partial<OutOfStep> = {}): OutOfStep {
  const missing = `blocks up to height ${target} are proved and not connected yet`
  return { inStep: false, height, age: 4000, reason: 'behind', missing, answers: 'none', ...changes }
}

/** The standing of a node whose chain pauses: it answers what is there, with its age. */
export function pausing(height: number, changes: Partial<OutOfStep> = {}): OutOfStep {
  const missing = 'a chain that goes on has a block of the last 75 s'
  return { inStep: false, height, age: 600, reason: 'old', missing, answers: 'found', ...changes }
}
