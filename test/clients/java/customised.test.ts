import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DID, DIDDocument } from '@elastosfoundation/did-js-sdk'
import { HttpResolver } from 'didledger/resolver'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { program } from '../../support/process/spawn.js'
import { runTool } from '../../support/process/tool.js'
import { Sdk, storePassword } from '../sdk/sdk.js'

/** Customised DIDs as the Java SDK makes them: its life is `driver/CustomisedLife.java`, which reports each step. */

const jars = fileURLToPath(new URL('../node_modules/.jars', import.meta.url))
const driver = fileURLToPath(new URL('driver', import.meta.url))
const work = mkdtempSync(join(tmpdir(), 'didledger-java-'))
const classes = join(work, 'classes')
const named = (name: string) => `did:ledger:${name}`
/** A document whose proofs are in the order of their creators; all else is as it is, to the letter. */
function inOrder(text: string): string {
  const document = JSON.parse(text) as { proof: { creator: string }[] }
  document.proof.sort((a, b) => (a.creator < b.creator ? -1 : 1))
  return JSON.stringify(document)
}

interface Line {
  readonly step: string
  readonly value: unknown
}

let javaScript: Sdk
let league: DIDDocument
let steps: ReadonlyMap<string, unknown>
beforeAll(async () => {
  javaScript = await Sdk.start()
  league = await madeInJavaScript('league')
  mkdirSync(classes)
  const sources = ['MethodLoader', 'Devnet', 'Person', 'Report', 'CustomisedLife'].map((name) => `${name}.java`)
  await runTool(driver, 'javac', '-encoding', 'UTF-8', '-cp', join(jars, '*'), '-d', classes, ...sources)
  const { rest, rpc } = javaScript.node.line
  const life = ['CustomisedLife', process.execPath, program, rest, rpc, work, 'league']
  const { out } = await runTool(work, 'java', '-cp', classes, 'MethodLoader', jars, classes, ...life)
  const lines = out.split('\n').filter((line) => line.startsWith('{'))
  steps = new Map(lines.map((line) => JSON.parse(line) as Line).map(({ step, value }) => [step, value]))
})
afterAll(async () => {
  await javaScript.stop()
  rmSync(work, { recursive: true, force: true })
})

/** A DID of two of two controllers, by the JavaScript SDK. */
async function madeInJavaScript(name: string): Promise<DIDDocument> {
  const [first, second] = [await javaScript.published(), await javaScript.published()]
  const did = DID.from(named(name)) as DID
  const begun = await first.newCustomizedDidWithController(did, [second.getSubject()], 2, storePassword)
  const signed = await second.signWithDocument(await DIDDocument.parseAsync(begun.toString(true)), storePassword)
  await javaScript.store.storeDid(signed)
  const document = await javaScript.store.loadDid(did)
  document.setEffectiveController(second.getSubject())
  await document.publish(storePassword)
  return document
}

describe('the Java SDK', () => {
  it('runs as it is in its jar, but for the name of the method', () => {
    expect(steps.get('constants changed')).toBe('DID DID$Parser FileSystemStorage RootIdentity')
  })

  it.each([
    'shop is created',
    'shop is updated',
    'shop is updated by its own key',
    'a credential by the own key is declared by its subject, and resolved',
    'the credential is valid after that',
    'a revoke by the own key ends it',
    'a credential by the key of the controller is declared, and valid',
    'its subject revokes it',
    'shop declares a credential about itself by its own key',
    'shop presents it by its own key',
    'club is created by two of three',
    'club is updated by two others',
    'club issues a credential by the key of a controller',
    'a ticket with two of two signatures is valid',
    'club is transferred to one controller',
    'club is transferred to two controllers',
    'shop is still of ada',
    'shop is deactivated',
    'club is deactivated by one of two',
    'crew is created by one of two',
    'crew is genuine without the DID of dan',
    'crew is deactivated by the controller that is left',
    'guild is created with an own key',
  ])('%s', (step) => {
    expect(steps.get(step)).toBe(true)
  })

  it.each([
    'a ticket with one of two signatures is valid',
    'a credential by the key of a controller of before is valid',
    'crew is valid without the DID of dan',
  ])('does not say that %s', (step) => {
    expect(steps.get(step)).toBe(false)
  })

  it.each([
    ['a revoke in the name of shop by the key of its controller', 'is neither holder nor issuer of'],
    ['the same ticket again', 'whose last operation is'],
    ['a transfer to two with one of two signatures', 'the document has 1 proofs, and needs 2'],
    ['Loud by bob', 'did:ledger:Loud'],
  ])('gets from the node a refusal of %s', (step, reason) => {
    expect(steps.get(step)).toMatch(/^DIDTransactionException: [^]*"code": 45009/)
    expect(steps.get(step)).toContain(reason)
  })

  it.each([
    ['a document with one of two signatures', 'DIDNotGenuineException'],
    ['a transfer by a ticket with one of two signatures', 'Invalid ticket'],
    ['shop by bob', 'DIDControllersChangedException'],
    ['a deactivated name again', 'DIDDeactivatedException'],
  ])('refuses by itself, from what the node answers, %s', (step, reason) => {
    expect(steps.get(step)).toContain(reason)
  })

  it('reads a DID that the JavaScript SDK made, to the letter', () => {
    expect(steps.get('the DID of the other SDK is valid')).toBe(true)
    expect(inOrder(String(steps.get('text of the other SDK')))).toBe(inOrder(league.toString(true)))
  })

  it('lists the credentials that a DID with a name holds', () => {
    expect(steps.get('credentials that shop holds')).toEqual([`${named('shop')}#licence`])
  })

  it('reads the biography of a DID that changed hands', () => {
    expect(steps.get('biography of club')).toEqual(['transfer', 'transfer', 'update', 'create'])
  })
})

describe('DIDs that the Java SDK made', () => {
  it('have the history of the chain', async () => {
    const resolver = new HttpResolver(javaScript.node.line.rpc)
    const history = async (name: string) => {
      const { status, transaction } = await resolver.resolve(named(name), { all: true })
      return [status, ...(transaction ?? []).map(({ operation }) => operation.header.operation)]
    }
    expect(await history('shop')).toEqual([2, 'deactivate', 'update', 'update', 'create'])
    expect(await history('club')).toEqual([2, 'deactivate', 'transfer', 'transfer', 'update', 'create'])
    expect(await history('guild')).toEqual([0, 'create'])
    expect(await history('loud')).toEqual([3])
  })

  it('are those that the JavaScript SDK reads, to the letter', async () => {
    const document = await (DID.from(named('guild')) as DID).resolve(true)
    expect(await document.isValid()).toBe(true)
    // Proofs of different seconds have another order there.
    expect(inOrder(document.toString(true))).toBe(inOrder(String(steps.get('text of guild'))))
  })

  it('are resolved in the form of the W3C, with their controllers and their own keys', async () => {
    const response = await fetch(`${javaScript.node.line.rest}/1.0/identifiers/${named('guild')}`)
    const { didDocument } = (await response.json()) as { didDocument: Record<string, unknown> }
    const key = `${named('guild')}#work`
    expect(didDocument).toMatchObject({
      id: named('guild'),
      controller: steps.get('controllers of guild'),
      verificationMethod: [{ id: key, controller: named('guild') }],
      authentication: [key],
      assertionMethod: [key],
    })
  })
})
