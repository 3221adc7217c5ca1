import { test } from 'vitest'
import { VotingSimulation } from '../../support/voting-simulation.js'
test('t', () => {
  const s = new VotingSimulation(Number(process.env.SEED))
  for (let i = 0; i < 400; i++) s.disturb()
  const any = s as unknown as {
    nodes: {
      place: number
      machine: {
        view: number
        step: string
        handle(e: unknown): unknown
        summary(): unknown
        locked?: { view: number }
        valid?: { view: number }
      }
      timers: unknown
      wants: unknown[]
      asked: unknown
      confirm: unknown
    }[]
    liars: number[]
  }
  const show = () => {
    for (const n of any.nodes)
      console.log(
        n.place,
        n.machine.view,
        n.machine.step,
        'lock',
        n.machine.locked?.view,
        'valid',
        n.machine.valid?.view,
        JSON.stringify(n.timers),
        n.wants.length,
        n.asked,
        n.confirm !== undefined,
        JSON.stringify(n.machine.summary()),
      )
  }
  show()
  console.log('liars', any.liars)
  for (const n of any.nodes) {
    const h = n.machine.handle.bind(n.machine)
    n.machine.handle = (e: {
      type: string
      message?: { kind: string; view?: number; proposal?: { viewOffset: number } }
    }) => {
      const out = h(e) as { type: string; message?: { kind: string } }[]
      console.log(
        n.place,
        n.machine.view,
        n.machine.step,
        e.type,
        JSON.stringify({
          ...e,
          message: e.message && `${e.message.kind} ${e.message.view ?? e.message.proposal?.viewOffset}`,
          header: 0,
          hash: 0,
        }),
        '->',
        out.map((o) => o.type + (o.message ? ' ' + o.message.kind : '')).join(),
      )
      return out
    }
  }
  console.log(s.settle(s.views))
  show()
})
