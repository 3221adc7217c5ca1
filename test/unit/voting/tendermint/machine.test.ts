import { describe, expect, it } from 'vitest'
import { checkConfirm } from '../../../../src/ledger/consensus/check-confirm.js'
import { mapKey, toHex } from '../../../../src/base/primitives/bytes.js'
import type { Header } from '../../../../src/base/primitives/header.js'
import type { Spec } from '../../../../src/base/primitives/spec.js'
import { parseSpec } from '../../../../src/base/primitives/spec-file.js'
import { TendermintMachine } from '../../../../src/voting/tendermint/machine.js'
import {
  type Effect,
  type MachineEvent,
  type RestoredState,
  timeoutOf,
} from '../../../../src/voting/tendermint/machine-events.js'
import { blockOf, type SignedMessage, type UnsignedMessage, viewOf } from '../../../../src/voting/tendermint/message.js'
import { testSpec } from '../../../support/builders/spec.js'
import { fakeHeader, fakeSignature, Voters } from '../../../support/builders/votes.js'

// Four validators: a quorum is three, and two signers make one follow. The sponsor of view v is validator v.
const height = 8
const voters = new Voters(4, height)
const [a, b] = [fakeHeader(height, 'a'), fakeHeader(height, 'b')]
const name = (hash: Uint8Array | undefined) =>
  hash === undefined ? 'nil' : mapKey(hash) === mapKey(a.hash) ? 'a' : mapKey(hash) === mapKey(b.hash) ? 'b' : '?'

/** A machine whose effects are written as short texts; own messages come back to it at once. */
class Seat {
  readonly machine: TendermintMachine
  readonly signed: UnsignedMessage[] = []
  last: readonly Effect[] = []

  /** Blocks that it is told of as soon as it wants them. */
  private readonly known = new Set<string>()

  constructor(own: number | 'none' = 3, restored?: RestoredState) {
    this.machine = new TendermintMachine({
      height,
      validators: voters.keys,
      own: own === 'none' ? undefined : own,
      restored,
    })
  }

  /** A machine that has begun, knows both blocks as valid, and whose first effects are forgotten. */
  static begun(own?: number | 'none', restored?: RestoredState): Seat {
    const seat = new Seat(own, restored)
    seat.handle({ type: 'start' })
    for (const { id } of [a, b]) seat.known.add(id)
    return seat
  }

  handle(event: MachineEvent): string[] {
    const said: string[] = []
    const events = [event]
    for (let next = events.shift(); next !== undefined; next = events.shift()) {
      this.last = this.machine.handle(next)
      for (const effect of this.last) {
        if (effect.type === 'request-verdict' && this.known.has(effect.header.id)) {
          events.push({ type: 'block', hash: effect.hash, verdict: 'valid', timely: true })
          continue
        }
        said.push(text(effect))
        if (effect.type !== 'sign') continue
        this.signed.push(effect.message)
        events.push({ type: 'message', message: signed(effect.message) })
      }
    }
    return said
  }

  hear(...messages: readonly SignedMessage[]): string[] {
    return messages.flatMap((message) => this.handle({ type: 'message', message }))
  }

  block(header: Header, verdict: 'valid' | 'invalid' = 'valid', timely = true): string[] {
    return this.handle({ type: 'block', hash: header.hash, verdict, timely })
  }

  timeout(step: 'propose' | 'prevote' | 'precommit', view = this.machine.view): string[] {
    return this.handle({ type: 'timeout', step, view })
  }

  /** Locks on block a in view 0. */
  lock(): string[] {
    this.hear(voters.proposal(0, a))
    return this.hear(voters.prevote(0, 0, a.hash), voters.prevote(1, 0, a.hash))
  }

  /** Goes to a view because two others are there. */
  to(view: number): string[] {
    return this.hear(voters.nilPrecommit(0, view), voters.nilPrecommit(1, view))
  }
}

function signed(message: UnsignedMessage): SignedMessage {
  const signature = fakeSignature('own')
  if (message.kind !== 'proposal') return { ...message, signature }
  return { ...message, signature, proposal: { ...message.proposal, signature } }
}

function text(effect: Effect): string {
  switch (effect.type) {
    case 'sign': {
      const { message } = effect
      const proven = message.kind === 'proposal' ? ` since ${message.validView}` : ''
      return `${message.kind} ${name(blockOf(message))} in ${viewOf(message)}${proven}`
    }
    case 'timer':
      return `timer ${effect.step} ${effect.view}`
    case 'request-verdict':
      return `request-verdict ${name(effect.hash)}`
    case 'confirmed':
      return `confirmed ${name(effect.hash)}`
    case 'evidence':
      return `evidence ${effect.first.kind} ${name(blockOf(effect.first))} ${name(blockOf(effect.second))}`
    default:
      return `${effect.type} ${effect.view}`
  }
}

const prevotes = (view: number, header: Header, places = [0, 1, 2]) =>
  places.map((place) => voters.prevote(place, view, header.hash))

describe('a view begins', () => {
  it('with a timer, and for the sponsor with the question for a block (11 to 21)', () => {
    expect(new Seat(3).handle({ type: 'start' })).toEqual(['view 0', 'timer propose 0'])
    const sponsor = new Seat(0)
    expect(sponsor.handle({ type: 'start' })).toEqual(['view 0', 'timer propose 0', 'request-proposal 0'])
    expect(sponsor.handle({ type: 'start' })).toEqual([])
    const said = sponsor.handle({ type: 'template', view: 0, header: a })
    expect(said).toEqual(['proposal a in 0 since -1', 'prevote a in 0'])
    expect(sponsor.handle({ type: 'template', view: 0, header: b })).toEqual([])
  })

  it('not for a block that comes too late, or to who is not on duty', () => {
    const sponsor = new Seat(0)
    sponsor.handle({ type: 'start' })
    expect(sponsor.timeout('propose')).toEqual(['prevote nil in 0'])
    expect(sponsor.handle({ type: 'template', view: 0, header: a })).toEqual([])
    expect(Seat.begun(3).handle({ type: 'template', view: 0, header: a })).toEqual([])
    expect(new Seat(0).handle({ type: 'template', view: 1, header: a })).toEqual([])
  })

  it('not before it is told, but what is heard counts then', () => {
    const seat = new Seat()
    expect(seat.hear(voters.proposal(0, a))).toEqual([])
    expect(seat.handle({ type: 'start' })).toEqual(['view 0', 'timer propose 0', 'request-verdict a'])
    expect(seat.block(a)).toEqual(['prevote a in 0'])
  })

  it('lasts longer from view to view, up to a limit', () => {
    const timing = { propose: 1000, delta: 250 }
    expect([0, 1, 4, 1000].map((view) => timeoutOf(view, timing, 5000))).toEqual([1000, 1250, 2000, 5000])
  })
})

describe('a quorum that is proved', () => {
  const proof = (view: number, header: Header) =>
    ({ kind: 'proof', height, view, header, prevotes: prevotes(view, header) }) as const
  const of = (seat: Seat) => {
    const nothing = new TendermintMachine({ height, validators: voters.keys }).summary()
    return seat.machine
      .missing(nothing)
      .flatMap((one) => (one.kind === 'proof' ? `${name(one.header.hash)} ${one.view}` : []))
  }

  it('is handed on, from view 0 on, until a later one is known', () => {
    const seat = Seat.begun('none')
    expect([of(seat), seat.machine.summary().validView]).toEqual([[], -1])
    for (const [view, header, known] of [
      [0, a, 'a 0'],
      [2, b, 'b 2'],
      [1, a, 'b 2'],
      [2, a, 'b 2'],
    ] as const) {
      seat.handle({ type: 'message', message: proof(view, header) })
      expect(of(seat)).toEqual([known])
    }
  })

  it('keeps a sponsor from proposing, whose key has proposed the block in this view already', () => {
    const seat = Seat.begun(0)
    const said = seat.handle({ type: 'message', message: proof(0, a) })
    said.push(...seat.handle({ type: 'template', view: 0, header: b }))
    expect(said.filter((one) => one.startsWith('proposal'))).toEqual([])
  })

  it('has a later sponsor propose its block only once its body is valid', () => {
    const seat = new Seat(1)
    seat.handle({ type: 'start' })
    seat.hear(...prevotes(0, a, [0, 2, 3]), voters.proposal(0, a))
    const said = seat.hear(voters.nilPrecommit(0, 1), voters.nilPrecommit(2, 1))
    expect(said).toContain('request-proposal 1')
    expect(said.filter((one) => one.startsWith('proposal'))).toEqual([])
    expect(seat.block(a)).toContain('proposal a in 1 since 0')
  })
})

describe('a block for a proposal', () => {
  it('says nothing of the block to who is not on duty', () => {
    const seat = new Seat(3)
    seat.handle({ type: 'start' })
    seat.handle({ type: 'template', view: 0, header: a })
    expect(seat.hear(voters.proposal(0, a))).toContain('request-verdict a')
  })
})

describe('a proposal without an earlier quorum (22)', () => {
  it('gets a prevote when its block is valid and its time acceptable, and none other', () => {
    expect(Seat.begun().hear(voters.proposal(0, a))).toEqual(['prevote a in 0'])
    const fresh = () => {
      const seat = new Seat()
      seat.handle({ type: 'start' })
      expect(seat.hear(voters.proposal(0, a))).toEqual(['request-verdict a'])
      expect(seat.hear(voters.prevote(0, 0, a.hash))).toEqual([])
      return seat
    }
    expect(fresh().block(a)).toEqual(['prevote a in 0'])
    expect(fresh().block(a, 'invalid')).toEqual(['prevote nil in 0'])
    expect(fresh().block(a, 'valid', false)).toEqual(['prevote nil in 0'])
  })

  it('gets none from who is locked on another block', () => {
    const seat = Seat.begun()
    seat.lock()
    expect(seat.to(1)).toEqual(['timer precommit 0', 'view 1', 'timer propose 1'])
    expect(seat.hear(voters.proposal(1, b))).toEqual(['prevote nil in 1'])
  })

  it('gets one from who is locked on the same block', () => {
    const seat = Seat.begun()
    seat.lock()
    seat.to(1)
    expect(seat.hear(voters.proposal(1, a))).toEqual(['prevote a in 1'])
  })

  it('counts once in a view, and only in its own', () => {
    const seat = Seat.begun()
    expect(seat.hear(voters.proposal(1, b))).toEqual([])
    expect(seat.hear(voters.proposal(0, a), voters.proposal(0, a))).toEqual(['prevote a in 0', 'timer prevote 0'])
  })

  it('has its body asked for in each view, for it may have made room for others meanwhile', () => {
    const seat = new Seat()
    seat.handle({ type: 'start' })
    seat.hear(voters.proposal(0, a))
    expect(seat.machine.needed).toEqual([a.hash])
    expect(seat.block(a)).toEqual(['prevote a in 0'])
    seat.to(1)
    expect(seat.machine.needed).toEqual([])
    expect(seat.hear(voters.proposal(1, a))).toEqual(['request-verdict a'])
    expect(seat.block(a)).toEqual(['prevote a in 1'])
  })

  it('is looked at anew in a later view when its time was not acceptable', () => {
    const seat = new Seat()
    seat.handle({ type: 'start' })
    seat.hear(voters.proposal(0, a))
    expect(seat.block(a, 'valid', false)).toEqual(['prevote nil in 0'])
    seat.to(1)
    expect(seat.hear(voters.proposal(1, a))).toEqual(['request-verdict a'])
    expect(seat.block(a)).toEqual(['prevote a in 1'])
  })
})

describe('a proposal with an earlier quorum (28)', () => {
  it('frees who is locked since no later view', () => {
    const seat = Seat.begun()
    seat.lock()
    seat.to(2)
    expect(seat.hear(voters.proposal(2, b, prevotes(1, b)))).toEqual(['prevote b in 2'])
    expect(seat.machine.locked?.header.id).toBe(a.id)
    expect([seat.machine.valid?.header.id, seat.machine.valid?.view]).toEqual([b.id, 1])
  })

  it('does not free who is locked since a later view', () => {
    const seat = Seat.begun()
    seat.to(1)
    seat.hear(voters.proposal(1, a), ...prevotes(1, a, [0, 1]))
    expect(seat.machine.locked?.view).toBe(1)
    seat.to(2)
    expect(seat.hear(voters.proposal(2, b, prevotes(0, b)))).toEqual(['prevote nil in 2'])
  })

  it('needs no acceptable time, but a valid block', () => {
    const other = fakeHeader(height, 'c')
    for (const [verdict, vote] of [
      ['valid', '?'],
      ['invalid', 'nil'],
    ] as const) {
      const seat = Seat.begun()
      seat.to(1)
      expect(seat.hear(voters.proposal(1, other, prevotes(0, other)))).toEqual(['request-verdict ?'])
      expect(seat.block(other, verdict, false)).toEqual([`prevote ${vote} in 1`])
    }
  })
})

describe('a quorum of prevotes', () => {
  it('for the block locks and precommits, with its proof (36)', () => {
    const seat = Seat.begun()
    expect(seat.lock()).toEqual(['precommit a in 0'])
    const { locked, valid } = seat.machine
    expect([locked?.header.id, locked?.view, valid]).toEqual([a.id, 0, locked])
    expect(locked?.prevotes.map(({ signer }) => toHex(signer))).toEqual(
      [0, 1, 3].map((place) => toHex(voters.key(place))),
    )
    const sent = seat.signed.at(-1)
    expect(sent?.kind === 'precommit' && sent.proposal).toEqual(voters.proposal(0, a).proposal)
  })

  it('moves the lock on, with its view, to another block or the same one', () => {
    for (const [next, view] of [
      [b, 2],
      [a, 1],
    ] as const) {
      const seat = Seat.begun()
      seat.lock()
      seat.to(view)
      seat.hear(voters.proposal(view, next, next === b ? prevotes(1, b) : []))
      expect(seat.hear(...prevotes(view, next, [0, 1]))).toContain(`precommit ${name(next.hash)} in ${view}`)
      expect([seat.machine.locked?.header.id, seat.machine.locked?.view]).toEqual([next.id, view])
    }
    // Whoever was freed of a block is not free to go back to it.
    const seat = Seat.begun()
    seat.lock()
    seat.to(2)
    seat.hear(voters.proposal(2, b, prevotes(1, b)), ...prevotes(2, b, [0, 1]))
    seat.to(4)
    expect(seat.hear(voters.proposal(4, a, prevotes(0, a)))).toEqual(['prevote nil in 4'])
  })

  it('is told together with the lock, so that both get to disk', () => {
    const seat = Seat.begun()
    seat.hear(voters.proposal(0, a), voters.prevote(0, 0, a.hash))
    const effects = seat.machine.handle({ type: 'message', message: voters.prevote(1, 0, a.hash) })
    const sign = effects.find((effect) => effect.type === 'sign')
    expect(sign?.state.locked?.header.id).toBe(a.id)
    expect(sign?.state.valid?.prevotes).toHaveLength(3)
  })

  it('in the step after it only makes the block the valid one', () => {
    const seat = Seat.begun()
    seat.timeout('propose')
    seat.hear(voters.prevote(0, 0, undefined), voters.prevote(1, 0, a.hash), voters.proposal(0, a))
    expect(seat.timeout('prevote')).toEqual(['precommit-nil nil in 0'])
    // Validator 0 contradicts itself towards others, who have a quorum and tell of it.
    expect(
      seat.handle({
        type: 'message',
        message: { kind: 'proof', height, view: 0, header: a, prevotes: prevotes(0, a) },
      }),
    ).toEqual(['evidence prevote nil a'])
    expect([seat.machine.locked, seat.machine.valid?.header.id]).toEqual([undefined, a.id])
  })

  it('counts for nothing until the body is valid', () => {
    const seat = new Seat()
    seat.handle({ type: 'start' })
    seat.timeout('propose')
    expect(seat.hear(...prevotes(0, a), voters.proposal(0, a))).toEqual(['timer prevote 0', 'request-verdict a'])
    expect(seat.block(a)).toEqual(['precommit a in 0'])
  })

  it('for none precommits none (44)', () => {
    const seat = Seat.begun()
    seat.timeout('propose')
    const said = seat.hear(voters.prevote(0, 0, undefined), voters.prevote(1, 0, undefined))
    expect(said).toEqual(['precommit-nil nil in 0'])
  })

  it('for this and that starts a timer, once, and its end precommits none (34, 61)', () => {
    const seat = Seat.begun()
    seat.hear(voters.proposal(0, a))
    expect(seat.hear(voters.prevote(0, 0, undefined), voters.prevote(1, 0, a.hash))).toEqual(['timer prevote 0'])
    expect(seat.hear(voters.prevote(2, 0, undefined))).toEqual([])
    expect(seat.timeout('prevote')).toEqual(['precommit-nil nil in 0'])
    expect(seat.timeout('prevote')).toEqual([])
  })

  it('takes three signers, not three messages', () => {
    const seat = Seat.begun()
    seat.hear(voters.proposal(0, a))
    const again = { ...voters.prevote(0, 0, a.hash), signature: fakeSignature('another form') }
    expect(seat.hear(voters.prevote(0, 0, a.hash), voters.prevote(0, 0, a.hash), again)).toEqual([])
  })
})

describe('timers', () => {
  it('count in their own view and step only (57 to 67)', () => {
    const seat = Seat.begun()
    expect(seat.timeout('prevote')).toEqual([])
    expect(seat.timeout('propose', 1)).toEqual([])
    expect(seat.timeout('propose')).toEqual(['prevote nil in 0'])
    expect(seat.timeout('propose')).toEqual([])
    expect(seat.timeout('precommit')).toEqual(['view 1', 'timer propose 1'])
    expect(seat.timeout('precommit', 0)).toEqual([])
  })

  it('run for who was left behind, even without a quorum', () => {
    const seat = Seat.begun()
    seat.hear(voters.proposal(0, a))
    expect(seat.hear(voters.prevote(2, 5, undefined))).toEqual(['timer prevote 0'])
    expect(seat.timeout('prevote')).toEqual(['precommit-nil nil in 0', 'timer precommit 0'])
    expect(seat.timeout('precommit')).toEqual(['view 1', 'timer propose 1'])
  })
})

describe('precommits', () => {
  it('of a quorum for this and that start a timer, once (47)', () => {
    const seat = Seat.begun()
    const said = seat.hear(voters.precommit(0, 0, a), voters.nilPrecommit(1, 0), voters.nilPrecommit(2, 0))
    expect(said).toEqual(['timer precommit 0'])
    expect(seat.timeout('precommit')).toEqual(['view 1', 'timer propose 1'])
  })

  it('of a quorum for none end the view at once', () => {
    const seat = Seat.begun()
    const said = seat.hear(...[0, 1, 2].map((place) => voters.nilPrecommit(place, 0)))
    expect(said).toEqual(['timer precommit 0', 'view 1', 'timer propose 1'])
  })

  it('of a quorum for a block confirm it (49)', () => {
    const seat = Seat.begun()
    seat.lock()
    expect(seat.hear(voters.precommit(2, 0, a), voters.precommit(0, 0, a))).toEqual(['confirmed a'])
    const [effect] = seat.last
    if (effect?.type !== 'confirmed') throw new Error('no confirm')
    const spec: Spec = parseSpec(testSpec({ validators: voters.keys.map(toHex) }))
    expect(checkConfirm(spec, a, effect.confirm)).toHaveLength(4)
    const signers = effect.confirm.votes.map(({ signer }) => toHex(signer))
    expect(signers).toEqual([...signers].sort())
    expect(seat.hear(voters.precommit(1, 0, a))).toEqual([])
    expect(seat.timeout('precommit')).toEqual([])
  })

  it('of a quorum confirm without the proposal, before the start, and in a view that is over', () => {
    const early = new Seat()
    expect(early.hear(...[0, 1, 2].map((place) => voters.precommit(place, 0, a)))).toEqual(['request-verdict a'])
    expect(early.block(a)).toEqual(['confirmed a'])
    const late = Seat.begun()
    late.hear(voters.precommit(0, 0, a), voters.precommit(1, 0, a))
    late.timeout('precommit')
    expect(late.machine.view).toBe(1)
    expect(late.hear(voters.precommit(2, 0, a))).toEqual(['confirmed a'])
  })

  it('confirm nothing across views, blocks, or an invalid block', () => {
    const seat = Seat.begun()
    const other = fakeHeader(height, 'c')
    seat.block(other, 'invalid')
    expect(seat.hear(voters.precommit(0, 0, a), voters.precommit(1, 0, a), voters.precommit(2, 1, a))).toEqual([])
    expect(seat.hear(voters.precommit(2, 0, b))).toEqual(['timer precommit 0'])
    const third = Seat.begun()
    third.block(other, 'invalid')
    expect(third.hear(...[0, 1, 2].map((place) => voters.precommit(place, 0, other)))).toEqual(['timer precommit 0'])
  })
})

describe('a higher view (55)', () => {
  it('is entered when two signers are there or beyond', () => {
    const seat = Seat.begun()
    expect(seat.hear(voters.prevote(0, 7, undefined))).toEqual([])
    expect(seat.hear(voters.nilPrecommit(0, 7))).toEqual([])
    expect(seat.hear(voters.prevote(1, 5, undefined))).toEqual(['view 5', 'timer propose 5'])
  })

  it('is entered before the start too, which then does nothing', () => {
    const seat = new Seat()
    expect(seat.to(3)).toEqual(['view 3', 'timer propose 3', 'request-proposal 3'])
    expect(seat.handle({ type: 'start' })).toEqual([])
  })

  it('has its sponsor propose its valid block with the proof', () => {
    const seat = Seat.begun()
    seat.lock()
    seat.timeout('precommit')
    expect(seat.to(3).slice(-4)).toEqual(['view 3', 'timer propose 3', 'proposal a in 3 since 0', 'prevote a in 3'])
    const proposal = seat.signed.find(({ kind }) => kind === 'proposal')
    expect(proposal?.kind === 'proposal' && proposal.prevotes).toHaveLength(3)
  })

  it('has its sponsor propose a block that turns out to be the valid one while it waits for its own', () => {
    const seat = Seat.begun()
    expect(seat.to(3)).toEqual(['view 3', 'timer propose 3', 'request-proposal 3'])
    const proof = { kind: 'proof', height, view: 1, header: b, prevotes: prevotes(1, b) } as const
    expect(seat.handle({ type: 'message', message: proof })).toEqual(['proposal b in 3 since 1', 'prevote b in 3'])
  })
})

describe('evidence', () => {
  it('is two values of one signer, view and step, and told once', () => {
    const seat = Seat.begun()
    expect(seat.hear(voters.prevote(0, 0, a.hash), voters.prevote(0, 0, b.hash))).toEqual(['evidence prevote a b'])
    expect(seat.hear(voters.prevote(0, 0, undefined))).toEqual([])
    expect(seat.hear(voters.precommit(0, 0, a), voters.nilPrecommit(0, 0))).toEqual(['evidence precommit a nil'])
    const proposals = [voters.proposal(1, b), voters.proposal(1, b, prevotes(0, b))]
    expect(seat.hear(...proposals)).toEqual(['evidence proposal b b'])
    expect(seat.hear(voters.prevote(1, 1, b.hash), voters.prevote(1, 2, undefined))).toEqual([])
  })

  it('leaves the first value to count', () => {
    const seat = Seat.begun()
    seat.hear(voters.proposal(0, a), voters.prevote(0, 0, a.hash), voters.prevote(0, 0, b.hash))
    expect(seat.hear(voters.prevote(1, 0, a.hash))).toEqual(['precommit a in 0'])
  })

  it('is not what validators say in different views', () => {
    const seat = Seat.begun()
    expect(seat.hear(voters.prevote(0, 0, a.hash), voters.prevote(0, 1, b.hash))).toEqual([])
  })
})

describe('who only follows', () => {
  it('signs nothing and confirms all the same', () => {
    const seat = Seat.begun('none')
    seat.hear(voters.proposal(0, a), ...prevotes(0, a))
    expect(seat.signed).toEqual([])
    expect(seat.hear(...[0, 1, 2].map((place) => voters.precommit(place, 0, a)))).toContain('confirmed a')
  })
})

describe('after a restart', () => {
  const lockOf = (header: Header, view: number) => ({ header, view, prevotes: prevotes(view, header) })

  it('the machine goes on in its place and knows its own messages', () => {
    const messages = [voters.prevote(3, 2, undefined)]
    const seat = Seat.begun(3, { view: 2, step: 'prevote', locked: undefined, valid: undefined, messages })
    expect([seat.machine.view, seat.machine.step]).toEqual([2, 'prevote'])
    expect(seat.hear(voters.proposal(2, a))).toEqual([])
    expect(seat.hear(voters.prevote(0, 2, undefined), voters.prevote(1, 2, undefined))).toEqual([
      'precommit-nil nil in 2',
    ])
  })

  it('a lock outlives a prevote for none and a crash', () => {
    const before = Seat.begun()
    before.lock()
    before.to(1)
    expect(before.hear(voters.proposal(1, b))).toEqual(['prevote nil in 1'])
    const { locked, valid, view, step } = before.machine
    const messages = before.signed.map(signed)
    const after = Seat.begun(3, { view, step, locked, valid, messages })
    after.to(2)
    expect(after.hear(voters.proposal(2, b))).toEqual(['prevote nil in 2'])
    expect(after.to(3)).toContain('proposal a in 3 since 0')
  })

  it('a block that had its quorum gets a precommit when its body is at hand again', () => {
    const messages = [voters.prevote(3, 0, a.hash)]
    const seat = new Seat(3, { view: 0, step: 'prevote', locked: undefined, valid: lockOf(a, 0), messages })
    expect(seat.handle({ type: 'start' })).toEqual(['view 0'])
    expect(seat.hear(voters.proposal(0, a))).toEqual(['request-verdict a'])
    expect(seat.block(a)).toEqual(['precommit a in 0'])
  })

  it('a sponsor that has proposed does not propose again', () => {
    const messages = [voters.proposal(3, a)]
    const seat = new Seat(3, { view: 3, step: 'propose', locked: undefined, valid: lockOf(b, 1), messages })
    expect(seat.handle({ type: 'start' })).toEqual(['view 3', 'timer propose 3', 'request-verdict a'])
    expect(seat.block(a)).toEqual(['prevote a in 3'])
  })

  it('a sponsor that has not proposed does so', () => {
    const seat = new Seat(3, { view: 2, step: 'precommit', locked: lockOf(a, 1), valid: lockOf(a, 1), messages: [] })
    seat.handle({ type: 'start' })
    expect(seat.timeout('precommit')).toEqual([
      'view 3',
      'timer propose 3',
      'proposal a in 3 since 1',
      'request-verdict a',
    ])
  })
})

describe('one validator alone', () => {
  it('confirms its own block', () => {
    const one = new Voters(1, height)
    const machine = new TendermintMachine({ height, validators: one.keys, own: 0 })
    const seen: string[] = []
    const events: MachineEvent[] = [{ type: 'start' }, { type: 'template', view: 0, header: a }]
    for (let next = events.shift(); next !== undefined; next = events.shift()) {
      for (const effect of machine.handle(next)) {
        seen.push(effect.type)
        if (effect.type === 'sign') events.push({ type: 'message', message: signed(effect.message) })
      }
    }
    expect(seen.at(-1)).toBe('confirmed')
    expect(seen.filter((type) => type === 'sign')).toHaveLength(3)
  })
})
