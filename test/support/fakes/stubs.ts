import type { ApiContext } from '../../../src/answers/api/api-context.js'
import type { DevnetControl } from '../../../src/answers/api/node-handles.js'
import { type Link, LinkError, type LinkHandler } from '../../../src/network/link.js'
import { networkVersion, type Status } from '../../../src/network/wire/status-message.js'
import { zeroHash } from '../../../src/base/primitives/hash.js'

/** The control of a devnet that can do nothing. */
const unable = () => Promise.reject(new Error('this devnet does nothing'))
export const idleDevnet: DevnetControl = {
  accounts: [],
  mnemonic: '',
  mine: unable,
  increaseTime: unable,
  setTime: unable,
  setNextBlockTime: unable,
  faucet: unable,
  snapshot: unable,
  revert: unable,
  reorg: unable,
  dropTransaction: unable,
  dumpState: unable,
  loadState: unable,
}

/** The part of a resolver that proves, of a test that asks for no proof. */
const unproved = () => Promise.reject(new Error('this node proves nothing'))
export const provesNothing: ApiContext['resolver']['proofs'] = {
  did: unproved,
  credential: unproved,
  anchor: unproved,
  changes: unproved,
  headers: unproved,
  trust: () => {
    throw new Error('this node proves nothing')
  },
}

/** An open link without another end. */
export const idleLink: Link = {
  publicKey: new Uint8Array(32),
  peer: 'idle',
  inbound: false,
  host: '127.0.0.1',
  port: 1,
  closed: false,
  request: () => Promise.reject(new LinkError('closed', 'the link has no other end')),
  close: () => {},
}

/** The status of a node without a chain of its own. */
export const idleStatus: Status = {
  version: networkVersion,
  genesis: zeroHash,
  upgrades: zeroHash,
  tipHeight: 1,
  tipHash: zeroHash,
  chainWork: 1n,
  services: 1,
  relay: true,
  listenPort: 1,
  agent: '',
}

/** Takes every connection and answers no request. */
export const idleHandler: LinkHandler = {
  allowsConnection: () => true,
  connected: () => {},
  disconnected: () => {},
  answer: () => Promise.reject(new Error('this node answers nothing')),
  allowsGossip: () => true,
  onFlood: () => {},
  onGossip: () => Promise.resolve('ignore'),
  onAddress: () => {},
}
