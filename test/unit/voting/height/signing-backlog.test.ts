import { beforeEach, describe, expect, it } from 'vitest'
import { zeroHash } from '../../../../src/base/primitives/hash.js'
import { SigningBacklog } from '../../../../src/voting/height/signing-backlog.js'
import type { Effect } from '../../../../src/voting/tendermint/machine-events.js'
import { type SignedMessage, viewOf } from '../../../../src/voting/tendermint/message.js'
import { testPublicKey } from '../../../support/builders/spec.js'

const signature = new Uint8Array(64)

function effect(view: number): Extract<Effect, { type: 'sign' }> {
  const message = { kind: 'prevote', height: 1, view, blockHash: zeroHash, signer: testPublicKey(0) } as const
  return { type: 'sign', message, state: { locked: undefined, valid: undefined } }
}

let allowed: boolean
let closed: boolean
let sent: number[]
let handled: number[]
let refused: number
let backlog: SigningBacklog

beforeEach(() => {
  allowed = true
  closed = false
  sent = []
  handled = []
  refused = -1
  backlog = new SigningBacklog({
    signer: {
      sign: async (message) => (viewOf(message) === refused ? undefined : ({ ...message, signature } as SignedMessage)),
    },
    maySign: () => allowed,
    send: (message) => sent.push(viewOf(message)),
    handle: async (event) => void (event.type === 'message' && handled.push(viewOf(event.message as SignedMessage))),
    closed: () => closed,
  })
})

describe('messages that are signed', () => {
  it('go out at once where nothing waits, and come back as event', async () => {
    expect(await backlog.sign(effect(1))).toMatchObject({ type: 'message', message: { view: 1 } })
    expect([sent, handled]).toEqual([[1], []])
  })

  it('wait while signing is not allowed, and go out in order before a newer one', async () => {
    allowed = false
    for (const view of [1, 2]) expect(await backlog.sign(effect(view))).toBeUndefined()
    await backlog.retry()
    expect([sent, backlog.empty]).toEqual([[], false])
    allowed = true
    expect(await backlog.sign(effect(3))).toBeUndefined()
    expect([sent, handled, backlog.empty]).toEqual([[1, 2, 3], [1, 2, 3], true])
  })

  it('are dropped with their view, and not signed after the height is closed', async () => {
    allowed = false
    await backlog.sign(effect(1))
    backlog.clear()
    allowed = true
    await backlog.retry()
    expect(sent).toEqual([])
    allowed = false
    await backlog.sign(effect(2))
    allowed = true
    closed = true
    await backlog.retry()
    expect(sent).toEqual([])
  })

  it('that the sign state forbids are left out', async () => {
    allowed = false
    for (const view of [1, 2, 3]) await backlog.sign(effect(view))
    allowed = true
    refused = 2
    await backlog.retry()
    expect([sent, handled]).toEqual([
      [1, 3],
      [1, 3],
    ])
  })
})

it('without a key nothing is signed', async () => {
  const none = { maySign: () => true, send: () => {}, handle: async () => {}, closed: () => false }
  expect(await new SigningBacklog(none).sign(effect(1))).toBeUndefined()
})
