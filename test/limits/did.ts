import type { DocumentPlan } from '../../src/identity/did/build.js'
import { parseDocumentBytes } from '../../src/identity/did/document.js'
import { absoluteId, isDid } from '../../src/identity/did/identifier.js'
import { parseOperation } from '../../src/identity/did/operation.js'
import { fromUtf8 } from '../../src/base/primitives/bytes.js'
import { RuleError } from '../../src/base/errors/rule-error.js'
import { decodeBase64url, encodeBase64url } from '../../src/identity/did/base64url.js'
import type { DidOperation } from '../../src/base/primitives/did-operation.js'
import { didRules, holder, Registry } from '../support/builders/did.js'
import { namedDocument, namedRules, ticketOf, transferNamed } from '../support/builders/named-did.js'
import { codeOf } from '../support/assert/code-of.js'
import { everyDoor, limit, onlyFor } from './limit.js'

const owner = holder()
const issuer = holder()
const service = (name: number | string, serviceEndpoint: unknown = 'https://hub.example') => {
  return { id: `#${name}`, type: 'Hub', serviceEndpoint }
}

/** Reads, and checks against the rules, an operation that begins a DID. */
function begin(changes: Partial<DocumentPlan>): void {
  new Registry().apply(owner.create(changes))
}

/** A create whose payload decodes to so many bytes. */
function sized(size: number): DidOperation {
  const build = (length: number) => owner.create({ services: [service('long', 'x'.repeat(length))] })
  const base = decodeBase64url(build(1).payload)?.length ?? 0
  return build(1 + size - base)
}

const rules = { method: didRules.method, chain: true } as const
const chosen = { method: didRules.method, chain: false } as const
const did = `did:${didRules.method}:`

/** The JSON text of a list with so many tokens. */
const tokens = (count: number) => `[${new Array(count - 1).fill(0).join(',')}]`

const controllers = Array.from({ length: 17 }, () => holder())

/** A ticket of so many bytes, of which only a member that it does not have is wrong. */
function ticketOfBytes(size: number): void {
  const build = (length: number) => encodeBase64url(fromUtf8(`{"id":"${'x'.repeat(length)}"}`))
  const ticket = build(size - 9)
  const { ticket: _, ...transfer } = transferNamed(namedDocument('team', { by: [owner] }), teamTicket, owner)
  const code = codeOf(() => parseOperation({ ...transfer, ticket }, namedRules))
  if (code !== 'document-form') throw new RuleError(code ?? 'did-ticket', 'the ticket is not read as it was made')
}
const teamTicket = ticketOf('team', { to: owner, txid: 'ab'.repeat(32), signers: [owner] })

export const didLimits = [
  limit({
    name: 'base/primitives/did-name.longestName',
    unit: 'characters',
    value: 116,
    feed: (n) => void namedDocument('n'.repeat(n), { by: [owner] }),
    refusal: 'document-did',
  }),
  limit({
    name: 'identity/did/control.mostControllers',
    unit: 'count',
    value: 16,
    feed: (n) => void namedDocument('team', { by: controllers.slice(0, n), needed: n }),
    refusal: 'document-controller',
  }),
  limit({
    name: 'identity/did/ticket.mostTicketBytes',
    unit: 'bytes',
    value: 8192,
    feed: ticketOfBytes,
    refusal: 'did-ticket-form',
  }),
  limit({
    name: 'identity/did/did-rules.defaultDidLimits.payloadBytes',
    unit: 'bytes',
    value: 128 * 1024,
    feed: (n) => void parseOperation(sized(n), didRules),
    refusal: 'did-payload-size',
  }),
  limit({
    name: 'identity/did/did-rules.defaultDidLimits.entries',
    unit: 'count',
    value: 256,
    feed: everyDoor(
      (n) => begin({ services: Array.from({ length: n - owner.plan.keys.length }, (_, i) => service(i)) }),
      (n) => begin({ alsoKnownAs: Array.from({ length: n - owner.plan.keys.length }, (_, i) => `urn:x:${i}`) }),
    ),
    refusal: 'document-entries: 257',
  }),
  limit({
    name: 'identity/did/endpoint.mostEndpoints',
    unit: 'count',
    value: 32,
    feed: (n) =>
      begin({
        services: [
          service(
            'many',
            Array.from({ length: n }, (_, i) => `https://${i}.example`),
          ),
        ],
      }),
    refusal: 'document-form: service[0].serviceEndpoint has 33 endpoints',
  }),
  limit({
    name: 'identity/did/endpoint.longestName',
    unit: 'characters',
    value: 1024,
    feed: (n) => begin({ alsoKnownAs: [`urn:${'x'.repeat(n - 4)}`] }),
    refusal: 'document-text: alsoKnownAs[0]',
  }),
  limit({
    name: 'identity/did/did-rules.defaultDidLimits.foreignCredentials',
    unit: 'count',
    value: 32,
    feed: (n) => {
      const registry = new Registry()
      registry.apply(issuer.create())
      const credentials = Array.from({ length: n }, (_, i) => issuer.issue(owner.did, { id: `${owner.did}#c${i}` }))
      registry.apply(owner.create({ credentials }))
    },
    refusal: 'credential-foreign-limit: 33',
  }),
  limit({
    name: 'identity/did/document.documentJsonLimits.depth',
    unit: 'levels',
    value: 16,
    feed: onlyFor(/^json-depth/, (n) => void parseDocumentBytes(fromUtf8('['.repeat(n) + ']'.repeat(n)), rules)),
    refusal: 'json-depth',
  }),
  limit({
    name: 'identity/did/document.documentJsonLimits.tokens',
    unit: 'count',
    value: 20_000,
    feed: onlyFor(/^json-tokens/, (n) => void parseDocumentBytes(fromUtf8(tokens(n)), rules)),
    refusal: 'json-tokens',
  }),
  limit({
    name: 'identity/did/identifier.maxIdLength',
    unit: 'bytes',
    value: 256,
    feed: everyDoor(
      (n) => (isDid(did.padEnd(n, 'a'), chosen) ? undefined : 'no DID'),
      (n) => {
        const base = did.padEnd(200, 'a')
        return absoluteId(`#${'f'.repeat(n - 201)}`, base, chosen) === undefined ? 'no id below a DID' : undefined
      },
      (n) => (absoluteId(`${did.padEnd(n - 2, 'a')}#f`, '', chosen) === undefined ? 'no absolute id' : undefined),
    ),
    refusal: 'no DID\nno id below a DID\nno absolute id',
  }),
]
