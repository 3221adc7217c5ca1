import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createNode, getResolver, HttpResolver, type LedgerNode, RuleError, UserError } from '../../../src/index.js'
import * as library from '../../../src/index.js'
import * as lightEntry from '../../../src/node/library/light-entry.js'
import * as resolverEntry from '../../../src/node/library/resolver-entry.js'
import * as testingEntry from '../../../src/node/library/testing-entry.js'
import { readTextFile } from '../../../src/clients/wallet/files.js'
import { shippedTrustFile } from '../../../src/node/library/shipped.js'

/** Options that callers without a type checker misspell or get wrong: each is named in words, and none is an accident. */

let node: LedgerNode
const trust = readTextFile(shippedTrustFile('devnet'), 'trust')
beforeAll(async () => {
  node = await createNode({ network: 'devnet', api: { portBase: 0 } })
  const { txid } = await node.wallet.createDid({ account: node.wallet.account(1) })
  await node.chain.waitFor(txid)
})
const remote = () => new HttpResolver(node.api?.rpc ?? '')
afterAll(() => node.close())

const [text, flag, whole, list, object, method] = [
  [5, {}, null],
  [5, 'yes', null],
  ['1', 1.5, -1, {}],
  [5, 'a', {}, null],
  [5, 'a', null],
  [5, 'a', {}],
] as const
const account = [0, 'a', {}, null, { publicKey: 5 }] as const

interface Case {
  /** Runs the call with these options. */
  readonly call: (options: never) => unknown
  /** Options that are right as far as they go. */
  readonly right: () => object
  /** Wrong values of each member. */
  readonly wrong: Readonly<Record<string, readonly unknown[]>>
}

const first = () => node.wallet.account(0)
const did = () => first().did
const payment = { account, payer: account, fee: [5, {}, null, '-1'] }
const signed = { ...payment, signWith: [5, null, true] }
const texts = [5, 'a', [5], {}] as const

/** Every constructor and function of the entries that takes an object with options. */
const cases: Readonly<Record<string, Case>> = {
  createNode: {
    call: createNode,
    right: () => ({ network: 'devnet' }),
    wrong: {
      network: [5, 'mainnet', null],
      dataDir: [5, '', null],
      api: [5, 'a', null],
      mining: [5, 'sometimes', null, { seconds: 'a' }],
      accounts: whole,
      mnemonic: text,
      balance: [5, {}, null],
      seedDids: whole,
      mineTo: text,
      peers: texts,
      listen: [5, 'a', null],
      mdns: flag,
      assumeValid: text,
      validatorKey: [5, {}, 'a'],
      tuning: [5, 'a', null],
      log: object,
      resetSignState: [5, 'soon'],
      spec: [5, null, '{}'],
    },
  },
  'createNode api': {
    call: (api) => createNode({ network: 'devnet', api }),
    right: () => ({}),
    wrong: { portBase: whole, hosts: texts, allowOrigins: texts },
  },
  'createNode listen': {
    call: (listen) => createNode({ network: 'pow', listen }),
    right: () => ({}),
    wrong: { port: whole, hosts: texts },
  },
  devnet: {
    call: testingEntry.devnet,
    right: () => ({}),
    wrong: {
      accounts: whole,
      mnemonic: text,
      balance: [5, {}, null],
      seedDids: whole,
      mining: [5, 'sometimes', null],
      allowOrigins: texts,
      tuning: [5, 'a', null],
      log: object,
    },
  },
  transfer: {
    call: (options) => node.wallet.transfer(options),
    right: () => ({ from: first(), to: first().address, amount: 1n }),
    wrong: {
      from: account,
      to: [5, 'a', null],
      amount: [5, {}, null],
      fee: [5, {}, null],
      feeFromAmount: flag,
      outputLock: whole,
    },
  },
  merge: {
    call: (options) => node.wallet.merge(options),
    right: () => ({ from: first() }),
    wrong: { from: account, fee: [5, {}, null] },
  },
  createDid: {
    call: (options) => node.wallet.createDid(options),
    right: () => ({ account: first() }),
    wrong: { ...payment, services: list, expires: [...text, 'soon'], recovery: object },
  },
  updateDid: {
    call: (options) => node.wallet.updateDid(options),
    right: () => ({ account: node.wallet.account(1) }),
    wrong: {
      ...signed,
      addServices: list,
      removeServices: list,
      addCredentials: list,
      removeCredentials: list,
      addKeys: list,
      removeKeys: list,
      authorize: list,
      revokeAuthorizations: list,
      expires: text,
    },
  },
  deactivateDid: {
    call: (options) => node.wallet.deactivateDid(options),
    right: () => ({ account: node.wallet.account(1) }),
    wrong: { ...signed, did: [5, 'a', null] },
  },
  declareCredential: {
    call: (options) => node.wallet.declareCredential(options),
    right: () => ({ account: node.wallet.account(1), credential: '{}' }),
    wrong: { ...payment, did: [5, 'a', null], credential: [5, null, undefined] },
  },
  revokeCredential: {
    call: (options) => node.wallet.revokeCredential(options),
    right: () => ({ account: node.wallet.account(1), id: 'did:ledger:a#b' }),
    wrong: { ...payment, did: [5, 'a', null], id: text },
  },
  publish: {
    call: (options) => node.wallet.publish({} as never, options),
    right: () => ({ account: first() }),
    wrong: payment,
  },
  'resolver.resolve': {
    call: (options) => node.resolver.resolve(did(), options),
    right: () => ({}),
    wrong: {
      all: flag,
      skip: whole,
      limit: whole,
      context: flag,
      versionId: text,
      versionTime: text,
      versionHeight: whole,
    },
  },
  'resolver.query': {
    call: (options) => node.resolver.query(options),
    right: () => ({ query: {} }),
    wrong: { service: text, credential: text, query: [5, null], skip: whole, limit: whole },
  },
  'resolver.resolveCredential': {
    call: (options) => node.resolver.resolveCredential(`${did()}#a`, options),
    right: () => ({}),
    wrong: { issuer: text },
  },
  'resolver.listCredentials': {
    call: (options) => node.resolver.listCredentials(did(), options),
    right: () => ({}),
    wrong: { skip: whole, limit: whole },
  },
  'chain.waitFor': {
    call: (options) => node.chain.waitFor('ab'.repeat(32), options),
    right: () => ({ timeout: 0 }),
    wrong: { timeout: whole },
  },
  synced: { call: (options) => node.synced(options), right: () => ({}), wrong: { timeout: whole } },
  HttpResolver: {
    call: (options) => new HttpResolver('http://127.0.0.1:1', options),
    right: () => ({}),
    wrong: { timeout: whole, maxAnswer: whole, neverOlder: flag },
  },
  'HttpResolver.resolve': {
    call: (options) => remote().resolve(did(), options),
    right: () => ({}),
    wrong: {
      all: flag,
      skip: whole,
      limit: whole,
      context: flag,
      versionId: text,
      versionTime: text,
      versionHeight: whole,
    },
  },
  'HttpResolver.query': {
    call: (options) => remote().query(options),
    right: () => ({ service: 'a' }),
    wrong: { service: [5, {}], credential: text, query: [5], skip: whole, limit: whole },
  },
  'HttpResolver.resolveCredential': {
    call: (options) => remote().resolveCredential(`${did()}#a`, options),
    right: () => ({}),
    wrong: { issuer: text },
  },
  'HttpResolver.listCredentials': {
    call: (options) => remote().listCredentials(did(), options),
    right: () => ({}),
    wrong: { skip: whole, limit: whole },
  },
  getResolver: {
    call: (options) => getResolver(node, options),
    right: () => ({}),
    wrong: { expired: [5, 'yes', null] },
  },
  'getResolver of light': {
    call: (options) => lightEntry.getResolver(new lightEntry.LightResolver({ servers: [], trust }), options),
    right: () => ({}),
    wrong: { expired: [5, 'yes', null] },
  },
  LightResolver: {
    call: (options) => new lightEntry.LightResolver(options),
    right: () => ({ servers: [], trust }),
    wrong: {
      servers: texts,
      mirrors: texts,
      trust: [undefined, 5, 'a', null, {}],
      checkpoint: [5, 'a', null, {}],
      needed: whole,
      maxAge: whole,
      trustPeriod: whole,
      confirmations: whole,
      load: method,
      save: method,
      fetch: method,
      now: method,
      subtle: [5, 'a'],
      allowOldRoot: [5, 'a', null],
    },
  },
  'LightResolver.verifyBundle': {
    call: (options) => new lightEntry.LightResolver({ servers: [], trust }).verifyBundle({}, options),
    right: () => ({}),
    wrong: { maxAge: whole },
  },
  followEvents: {
    call: resolverEntry.followEvents,
    right: () => ({ url: 'ws://127.0.0.1:1' }),
    wrong: {
      url: [undefined, 5, 'http://a', null],
      topics: texts,
      from: [5, 'a', null],
      signal: object,
      timeout: whole,
      onBegin: method,
      onLost: method,
      WebSocket: method,
    },
  },
}

/** What a call throws or rejects with; undefined where it is taken. */
async function faultOf(call: () => unknown): Promise<unknown> {
  try {
    const result = await call()
    // What was taken must not stay open.
    await (result as { close?(): unknown } | undefined)?.close?.()
    return undefined
  } catch (error) {
    return error
  }
}

function expectNamed(fault: unknown, name: string): void {
  expect(fault, `${name} is taken`).toBeDefined()
  const shown = fault instanceof Error ? `${fault.name}: ${fault.message}` : String(fault)
  expect(
    fault instanceof UserError || fault instanceof RuleError || fault instanceof lightEntry.LightError,
    shown,
  ).toBe(true)
  expect(shown).not.toMatch(/Cannot (read|destructure)|is not (a function|iterable)|undefined \(/)
  expect(shown.toLowerCase()).toContain(name.toLowerCase())
}

describe.each(Object.entries(cases))('%s', (_, { call, right, wrong }) => {
  it('refuses a member that it does not know, and names it', async () => {
    expectNamed(await faultOf(() => call({ ...right(), netwrok: 1 } as never)), 'netwrok')
  })

  it('refuses what is no object', async () => {
    for (const nothing of [null, 5, 'a']) {
      const fault = await faultOf(() => call(nothing as never))
      expect(fault, String(nothing)).toSatisfy(
        (error) => error instanceof UserError || error instanceof RuleError || error instanceof lightEntry.LightError,
      )
    }
  })

  it.each(Object.entries(wrong))('refuses a wrong %s, and names it', async (name, values) => {
    for (const value of values) {
      const options = { ...right(), ...(name === 'spec' ? { network: undefined } : {}), [name]: value }
      // A list has one fault at a time, which names the server.
      expectNamed(await faultOf(() => call(options as never)), ['servers', 'mirrors'].includes(name) ? 'server' : name)
    }
  })
})

describe('what is no source', () => {
  it.each([undefined, null, 5, {}, { resolver: {} }, { resolve: 5 }])('%j is refused by both getResolver', (source) => {
    for (const make of [getResolver, lightEntry.getResolver]) {
      expect(() => make(source as never)).toThrow(UserError)
      expect(() => make(source as never)).toThrow(/getResolver: .* is needed/)
    }
  })

  it.each([undefined, null, 5, {}, { url: 'http://127.0.0.1:1' }])('%j is no URL of an HttpResolver', (url) => {
    expect(() => new HttpResolver(url as never)).toThrow(UserError)
    expect(() => new HttpResolver(url as never)).toThrow(/URL/)
  })
})

describe('the table', () => {
  it('has every function with options of the entries for programs', () => {
    const entries = { ...library, ...resolverEntry, ...lightEntry, ...testingEntry }
    const withOptions = Object.keys(entries).filter((name) => /^(create|get|Http|Light|follow|devnet)/.test(name))
    const without = ['LightError']
    expect(withOptions.filter((name) => !(name in cases) && !without.includes(name))).toEqual([])
  })
})
