import { jsonForm, jsonType } from '../http/answer-forms.js'
import type { PathRow } from '../http/path-row.js'

/** State of the node behind a program, as `/readyz` shows it. */
export interface Readiness {
  readonly status: 'ready' | 'out of step' | 'unproved' | 'busy' | 'unreachable'
  readonly reason?: string
}

/** Health of a program in front of a node. `/healthz`: the process answers. `/readyz`: the node answers, and has the chain. */
export function healthPaths(readinessOf: () => Promise<Readiness>): PathRow[] {
  let asked: Promise<Readiness> | undefined
  // One question for all who ask meanwhile.
  const readiness = () => (asked ??= readinessOf().finally(() => (asked = undefined)))
  const row = (path: string, state: () => Promise<{ readonly status: string }>): PathRow => ({
    path,
    methods: ['GET', 'HEAD'],
    form: jsonForm('standard'),
    isProbe: true,
    run: async () => {
      const said = await state()
      const status = said.status === 'ready' || said.status === 'ok' ? 200 : 503
      return { status, headers: { 'content-type': jsonType, 'cache-control': 'no-store' }, body: JSON.stringify(said) }
    },
  })
  return [row('/healthz', async () => ({ status: 'ok' })), row('/readyz', readiness)]
}
