import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CommandProcess, NodeProcess } from '../../support/process/spawn.js'
import { runTool } from '../../support/process/tool.js'

/**
 * The Universal Registrar, unmodified, before `didledger registrar`: a DID is created, updated and ended by `driver/UniversalLife.java`. Its
 * jars are in no public repository of Maven, so that UNIVERSAL_REGISTRAR names a folder of them.
 */

const jars = process.env['UNIVERSAL_REGISTRAR'] ?? ''
const driver = fileURLToPath(new URL('driver', import.meta.url))
const work = mkdtempSync(join(tmpdir(), 'didledger-universal-'))
/** Characters that an address has to escape are among those that a token may have. */
const token = 'token-of@the:universal/registrar'

interface Step {
  readonly kind: string
  readonly state: {
    readonly didState: Readonly<Record<string, unknown>> & { readonly state: string; readonly did?: string }
    readonly didRegistrationMetadata: Readonly<Record<string, unknown>>
    readonly didDocumentMetadata: Readonly<Record<string, unknown>>
  }
}

let node: NodeProcess
let registrar: CommandProcess
/** Of two lives: without the method in the address, and with it. */
let steps: readonly Step[]
beforeAll(async () => {
  node = await NodeProcess.start('devnet')
  const clients = join(work, 'clients.json')
  const client = { name: 'universal', token, budget: '1', perMinute: 1000 }
  writeFileSync(clients, JSON.stringify({ clients: [client] }), { mode: 0o600 })
  const paying = ['--devnet-account', '9', '--clients', clients, '--rest', node.line.rest]
  registrar = new CommandProcess(['registrar', ...paying, '--port', '0', '--json'])
  const line = JSON.parse((await registrar.firstLine()) ?? 'null') as { listens: readonly string[] }
  const url = new URL(line.listens[0] ?? '')
  const withToken = `http://any:${encodeURIComponent(token)}@${url.host}/`
  const classes = join(work, 'classes')
  mkdirSync(classes)
  await runTool(driver, 'javac', '-encoding', 'UTF-8', '-cp', join(jars, '*'), '-d', classes, 'UniversalLife.java')
  const { out } = await runTool(work, 'java', '-cp', `${classes}:${join(jars, '*')}`, 'UniversalLife', withToken, work)
  steps = out.split('\n').flatMap((text) => (text.startsWith('{') ? [JSON.parse(text) as Step] : []))
})
afterAll(async () => {
  registrar.kill('SIGTERM')
  await registrar.finished
  await node.stop()
  rmSync(work, { recursive: true, force: true })
})

describe.each([
  ['at an address with a token', 0],
  ['with the method in the query', 7],
])('the Universal Registrar %s', (_, first) => {
  const step = (index: number) => steps[first + index] as Step

  it('creates, updates and ends a DID, whose key the client has', async () => {
    const [created, updated, ended] = [step(0), step(1), step(5)]
    const { did = '' } = created.state.didState
    const { txid } = created.state.didRegistrationMetadata
    expect(created.state).toMatchObject({
      didState: { state: 'finished', didDocument: { id: did, authentication: [`${did}#primary`] } },
      didDocumentMetadata: { versionId: txid },
    })
    const service = [{ id: `${did}#site`, type: 'LinkedDomains', serviceEndpoint: 'https://example.org' }]
    expect(updated.state.didState).toMatchObject({ state: 'finished', did, didDocument: { service } })
    expect(ended.state).toMatchObject({
      didState: { state: 'finished', did },
      didDocumentMetadata: { deactivated: true },
    })
    const { status, transaction = [] } = await node.client.resolve(did, { all: true })
    const kinds = transaction.map(({ operation }) => operation.header.operation)
    expect([status, kinds]).toEqual([2, ['deactivate', 'update', 'create']])
  })

  it.each([
    [2, 'invalidRequest', /nonsense is no member/],
    [3, 'unknownJob', /no create with the jobId none/],
    [4, 'invalidRequest', /storeSecrets is false/],
    [6, 'invalidRequest', /is deactivated, which is final/],
  ])('reads why step %i is refused', (index, error, reason) => {
    const refused = { state: 'failed', error, reason: expect.stringMatching(reason) as string }
    expect(step(index).state.didState).toMatchObject(refused)
  })
})
