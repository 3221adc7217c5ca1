import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { verify } from '../../../../src/base/crypto/verify.js'
import { toHex } from '../../../../src/base/primitives/bytes.js'
import { sha256 } from '../../../../src/base/primitives/hash.js'
import { systemTimers } from '../../../../src/base/runtime/process-env.js'
import { OwnKey } from '../../../../src/voting/key-holder.js'
import { RemoteKey } from '../../../../src/voting/remote/remote-key.js'
import { signParams } from '../../../../src/voting/remote/signer-protocol.js'
import { SignerServer, type SignerServerOptions } from '../../../../src/voting/remote/signer-server.js'
import { signedTexts } from '../../../../src/voting/sign-message.js'
import { Signer } from '../../../../src/voting/signer.js'
import { encodeMessage, type UnsignedMessage } from '../../../../src/voting/tendermint/message.js'
import { quietLog } from '../../../support/builders/chain.js'
import { testKey, testPublicKey } from '../../../support/builders/spec.js'
import { MemorySigns } from '../../../support/network/voting-net.js'

const genesis = sha256('genesis')
const none = { locked: undefined, valid: undefined }
const timers = systemTimers
const log = quietLog()
const prevote = (height: number, view: number, block?: string): UnsignedMessage => {
  const blockHash = block === undefined ? undefined : sha256(block)
  return { kind: 'prevote', height, view, blockHash, signer: testPublicKey(0) }
}
const outlook = { height: 1, bestPeerHeight: 0, isBehind: false, fresh: false, alone: false }

const opened: { close(): unknown }[] = []
const folder = mkdtempSync(join(tmpdir(), 'didledger-signer-'))
let sockets = 0
const freshSocket = () => join(folder, `${sockets++}.sock`)
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close()
})
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

async function server(store: MemorySigns, options: Partial<SignerServerOptions> = {}): Promise<SignerServer> {
  const holder = new OwnKey({ key: testKey(0), store, genesis })
  const one = await SignerServer.open({ socket: freshSocket(), holder, genesis, begin: true, log, ...options })
  opened.push(one)
  return one
}
async function remote(socket: string): Promise<RemoteKey> {
  const key = await RemoteKey.open({ socket, genesis, timers, log })
  opened.push(key)
  return key
}
/** A node's view of the key at a socket. */
const signerAt = async (socket: string) => Signer.open({ holder: await remote(socket), genesis, log })

/** A raw connection: sends lines, and resolves with the answers. */
async function talk(socket: string, ...requests: unknown[]): Promise<{ id: unknown; error?: string }[]> {
  const client = connect(socket)
  client.on('error', () => {})
  let text = ''
  const answers = new Promise<void>((resolve) => {
    client.on('data', (data) => {
      text += String(data)
      if (text.split('\n').length > requests.length) resolve()
    })
    client.on('close', () => resolve())
  })
  for (const request of requests) client.write(typeof request === 'string' ? request : `${JSON.stringify(request)}\n`)
  await answers
  client.destroy()
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { id: unknown })
}
const open = { id: 1, method: 'open', params: { version: 1, genesis: toHex(genesis) } }
const asked = (message: UnsignedMessage, changes: object = {}) => ({
  id: 2,
  method: 'sign',
  params: { ...signParams(message, none, genesis), ...changes },
})

describe.skipIf(process.platform === 'win32')('a path that is too long for a socket', () => {
  // Two bytes of UTF-8 each; a name of a file may have 255.
  const long = join(folder, `${'ä'.repeat(60)}.sock`)

  it('is refused by a signer, which would listen at the path that the system cuts from it', async () => {
    const before = readdirSync(folder)
    await expect(server(new MemorySigns(), { socket: long })).rejects.toThrow(
      /^cannot listen at .*: its path has \d{3} bytes/,
    )
    expect(readdirSync(folder)).toEqual(before)
  })

  it('is named by a node that would look for a signer there', async () => {
    await expect(remote(long)).rejects.toThrow(/^no signer can be used at .*: its path has \d{3} bytes/)
  })
})

describe('a key at a signer', () => {
  it('begins, signs, and signs the same once more, as a key in the node does', async () => {
    const [store, local] = [new MemorySigns(), new MemorySigns()]
    const socket = freshSocket()
    await server(store, { socket })
    expect(statSync(socket).mode & 0o777).toBe(0o600)
    const signers = [
      await signerAt(socket),
      await Signer.open({ holder: new OwnKey({ key: testKey(0), store: local, genesis }), genesis, log }),
    ]
    for (const signer of signers) {
      await signer.begin(outlook)
      const signed = await signer.sign(prevote(5, 1, 'a'), none)
      expect(signed).toMatchObject({ kind: 'prevote', height: 5, view: 1, blockHash: sha256('a') })
      if (signed?.kind !== 'prevote') throw new Error('no prevote')
      expect(verify(testPublicKey(0), signedTexts(signed, genesis)[0] as Uint8Array, signed.signature)).toBe(true)
      expect(encodeMessage((await signer.sign(prevote(5, 1, 'b'), none)) ?? signed)).toEqual(encodeMessage(signed))
      expect(await signer.sign(prevote(5, 0, 'a'), none)).toBeUndefined()
    }
    expect(store.saves).toBe(local.saves)
  })

  it('goes on from the state of the signer, whatever the node has kept', async () => {
    const store = new MemorySigns()
    const socket = freshSocket()
    await server(store, { socket })
    const first = await signerAt(socket)
    await first.begin(outlook)
    await first.sign(prevote(5, 1, 'a'), none)
    ;(opened.pop() as RemoteKey).close()
    await new Promise((resolve) => setTimeout(resolve, 50))
    const second = await signerAt(socket)
    expect(second.restored(5)).toMatchObject({ height: 5, view: 1, step: 'prevote' })
    expect(await second.sign(prevote(5, 1, 'b'), none)).toMatchObject({ blockHash: sha256('a') })
    expect(second.shownElsewhere(4, true)).toBe(false)
  })

  it('waits for a signer that is lost, and is asked again when it is back', async () => {
    const store = new MemorySigns()
    const socket = freshSocket()
    const one = await server(store, { socket })
    const signer = await signerAt(socket)
    await signer.begin(outlook)
    await one.close()
    await expect.poll(() => signer.signing(outlook).kind).toBe('signer-unreachable')
    expect(await signer.sign(prevote(1, 0, 'a'), none)).toBeUndefined()
    await server(store, { socket })
    await expect.poll(() => signer.signing(outlook).kind, { timeout: 10_000 }).toBe('voting')
    expect(await signer.sign(prevote(1, 0, 'a'), none)).toMatchObject({ blockHash: sha256('a') })
  })

  it('signs nothing more by a state that is older than what the node saw', async () => {
    const store = new MemorySigns()
    const socket = freshSocket()
    const one = await server(store, { socket })
    const signer = await signerAt(socket)
    await signer.begin(outlook)
    const old = store.bytes
    await signer.sign(prevote(5, 1, 'a'), none)
    await one.close()
    store.bytes = old
    await server(store, { socket })
    await expect
      .poll(() => signer.signing({ ...outlook, height: 6 }), { timeout: 10_000 })
      .toMatchObject({
        kind: 'sign-state-damaged',
        text: 'it is older than what this node saw',
      })
  })

  it('is for one node at a time', async () => {
    const socket = freshSocket()
    await server(new MemorySigns(), { socket })
    await remote(socket)
    await expect(RemoteKey.open({ socket, genesis, timers, log })).rejects.toThrow('another node uses the signer')
    ;(opened.pop() as RemoteKey).close()
    await expect
      .poll(async () =>
        remote(socket).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true)
  })

  it('needs a signer, for the same chain', async () => {
    await expect(RemoteKey.open({ socket: freshSocket(), genesis, timers, log })).rejects.toThrow(
      '"didledger signer" starts one',
    )
    const socket = freshSocket()
    await server(new MemorySigns(), { socket })
    await expect(RemoteKey.open({ socket, genesis: sha256('other'), timers, log })).rejects.toThrow('for another chain')
  })

  it('takes no signature that is not its own, and no message of another place', async () => {
    const answers: object[] = []
    const socket = freshSocket()
    const liar = createServer((client) => {
      client.on('data', (data) => {
        for (const line of String(data).split('\n').filter(Boolean)) {
          const { id, method } = JSON.parse(line) as { id: number; method: string }
          const result = method === 'open' ? { publicKey: toHex(testPublicKey(0)), state: null } : answers.shift()
          client.write(`${JSON.stringify({ id, result })}\n`)
        }
      })
    })
    await new Promise<void>((resolve) => liar.listen(socket, resolve))
    opened.push({ close: () => liar.close() })
    const key = await remote(socket)
    const state = { height: 1, view: -1, step: 'propose', ...none, messages: [] } as const
    const honest = await new OwnKey({ key: testKey(0), store: new MemorySigns(), genesis }).sign(
      prevote(3, 0, 'a'),
      none,
      state,
    )
    if (!('message' in honest)) throw new Error('not signed')
    answers.push(
      { signatures: [toHex(new Uint8Array(64))] },
      { signatures: [] },
      {},
      { stored: toHex(encodeMessage(honest.message)) },
    )
    for (let i = 0; i < 4; i++) expect(await key.sign(prevote(4, 0, 'a'), none, state)).toHaveProperty('refused')
    answers.push({ stored: toHex(encodeMessage(honest.message)) })
    expect(await key.sign(prevote(3, 0, 'b'), none, state)).toMatchObject({ message: { blockHash: sha256('a') } })
  })
})

describe('a signer', () => {
  it('does not begin without a state unless it is told to, and not with a damaged one', async () => {
    await expect(server(new MemorySigns(), { begin: false })).rejects.toThrow('begins with --begin')
    const store = new MemorySigns()
    const socket = freshSocket()
    await server(store, { socket })
    await (await signerAt(socket)).begin(outlook)
    const bytes = store.bytes as Uint8Array
    store.bytes = bytes.with(40, (bytes[40] ?? 0) ^ 1)
    await expect(server(store, { begin: false })).rejects.toThrow('its checksum does not match')
    store.bytes = bytes
    await expect(server(store, { begin: false, genesis: sha256('other') })).rejects.toThrow('another chain')
    await server(store, { begin: false })
  })

  it('does not listen where another one does', async () => {
    const socket = freshSocket()
    await server(new MemorySigns(), { socket })
    await expect(server(new MemorySigns(), { socket })).rejects.toThrow('another signer listens')
  })

  it.each<[string, object, string]>([
    ['another height', { height: 6 }, 'height is not that of the message'],
    ['another view', { view: 2 }, 'view is not that of the message'],
    ['another step', { step: 'precommit' }, 'step is not that of the message'],
    ['another digest', { digests: ['00'.repeat(32)] }, 'digests is not that of the message'],
    ['a message that is none', { message: 'ff' }, 'names no kind of message'],
    ['locks that are none', { locks: 'ff' }, ''],
    ['no message', { message: undefined }, 'message is no hex'],
  ])('refuses to sign with %s', async (_, changes, error) => {
    const store = new MemorySigns()
    const socket = freshSocket()
    await server(store, { socket })
    const begin = { id: 9, method: 'begin', params: { height: 1 } }
    const answers = await talk(socket, open, begin, asked(prevote(5, 1, 'a'), changes))
    expect(answers[2]).toMatchObject({ id: 2, error: expect.stringContaining(error) })
    expect(store.saves).toBe(1)
  })

  it.each<[string, unknown[], string | undefined]>([
    ['a request before it is opened', [asked(prevote(5, 1))], 'open comes first'],
    ['another version', [{ ...open, params: { ...open.params, version: 2 } }], 'version 1'],
    ['a method that there is not', [open, { id: 2, method: 'key', params: {} }], 'there is no method key'],
    ['a beginning that is no height', [open, { id: 2, method: 'begin', params: { height: 0 } }], 'no height'],
    ['a signature before the beginning', [open, asked(prevote(5, 1))], 'begin comes first'],
    [
      'a message of another key',
      [
        open,
        { id: 8, method: 'begin', params: { height: 1 } },
        asked({ ...prevote(5, 1), signer: testPublicKey(1) } as never),
      ],
      'another key',
    ],
    ['no id', [{ method: 'open', params: {} }], 'whole number as id'],
    ['no JSON', ['hello\n'], undefined],
    ['a line without an end', ['x'.repeat(300_000)], undefined],
  ])('answers %s with what is wrong, or hangs up', async (_, requests, error) => {
    const socket = freshSocket()
    await server(new MemorySigns(), { socket })
    const answers = await talk(socket, ...requests)
    expect(answers.at(-1)?.error).toEqual(error === undefined ? undefined : expect.stringContaining(error))
  })

  it('signs nothing more once its state cannot be written, and says so', async () => {
    const store = new MemorySigns()
    const socket = freshSocket()
    const one = await server(store, { socket })
    const failure = one.failure.catch((error: Error) => error.message)
    const begin = { id: 9, method: 'begin', params: { height: 1 } }
    await talk(socket, open, begin)
    store.failing = true
    const [, failed] = await talk(socket, open, asked(prevote(5, 1, 'a')))
    expect(failed?.error).toContain('the disk is full')
    expect(await failure).toContain('the sign state cannot be written')
    store.failing = false
    const [, again] = await talk(socket, open, asked(prevote(5, 2, 'a')))
    expect(again?.error).toContain('cannot be written')
  })

  it('never signs two messages of one place, through whatever nodes, kills and restarts', async () => {
    const step = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          kind: fc.constant('sign' as const),
          node: fc.nat(2),
          height: fc.integer({ min: 1, max: 3 }),
          view: fc.nat(2),
          block: fc.constantFrom('a', 'b', undefined),
        }),
      },
      { weight: 1, arbitrary: fc.constant({ kind: 'restart' as const }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('leave' as const), node: fc.nat(2) }) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const store = new MemorySigns()
        const socket = freshSocket()
        let one = await server(store, { socket })
        const nodes = new Map<number, { key: RemoteKey; signer: Signer }>()
        const signed = new Map<string, string>()
        for (const next of steps) {
          if (next.kind === 'restart') {
            await one.close()
            one = await server(store, { socket })
            continue
          }
          if (next.kind === 'leave') {
            nodes.get(next.node)?.key.close()
            nodes.delete(next.node)
            continue
          }
          const node = nodes.get(next.node) ?? (await joined(socket))
          if (node === undefined) continue
          nodes.set(next.node, node)
          await node.signer.begin(outlook)
          const message = await node.signer.sign(prevote(next.height, next.view, next.block), none)
          if (message === undefined) continue
          const place = `${next.height} ${next.view}`
          const bytes = toHex(encodeMessage(message))
          expect(signed.get(place) ?? bytes).toBe(bytes)
          signed.set(place, bytes)
        }
        for (const { key } of nodes.values()) key.close()
        await one.close()
      }),
      { numRuns: 30 },
    )

    async function joined(socket: string): Promise<{ key: RemoteKey; signer: Signer } | undefined> {
      try {
        const key = await RemoteKey.open({ socket, genesis, timers, log })
        return { key, signer: await Signer.open({ holder: key, genesis, log }) }
      } catch {
        return undefined
      }
    }
  })
})
