import { describe, expect, it } from 'vitest'
import { dialFailure } from '../../../../src/network/transport/libp2p-failures.js'

const place = '192.0.2.7:20338'
const closed = `${place} closed the connection: it may have banned this node, or what listens there is no node`
const refused = `${place} refuses the connection, or what listens there is no node`

describe('a dial that came to nothing', () => {
  it.each([
    ['a code', Object.assign(new Error('read'), { code: 'ECONNRESET' }), closed],
    ['a text with the code', new Error('Error: read ECONNRESET'), closed],
    ['one of several', new AggregateError([new Error('?'), Object.assign(new Error(''), { code: 'EPIPE' })]), closed],
    ['an event', new Error('[object Event]'), refused],
    ['nothing', new Error(''), refused],
    ['another text', new Error('unexpected end'), `${refused}: unexpected end`],
  ])('for %s says what that means', (_, error, message) => {
    expect(dialFailure(place, error)).toMatchObject({ failure: 'refused', message })
  })

  it.each([
    ['EACCES', 'a firewall or a route of this machine forbids it'],
    ['EPERM', 'a firewall or a route of this machine forbids it'],
    ['EINVAL', 'a route of this machine leads nowhere'],
    ['ENETDOWN', 'the network of this machine is down'],
  ])('for %s of the system is no refusal of a node', (code, reason) => {
    const error = Object.assign(new Error(`connect ${code} ${place}`), { code })
    const message = `${place} cannot be reached: ${reason}`
    expect(dialFailure(place, error)).toMatchObject({ failure: 'unreachable', message })
  })
})
