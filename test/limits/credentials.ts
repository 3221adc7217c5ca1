import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { didConfiguration, readDidConfiguration } from '../../src/identity/credentials/domain-linkage.js'
import { makeJws, readJws } from '../../src/identity/credentials/compact-jws.js'
import { readSignedPresentation } from '../../src/identity/credentials/read-presentation.js'
import { jwtPresentationPayload } from '../../src/identity/credentials/jwt-presentation.js'
import { jwtCredentialPayload } from '../../src/identity/credentials/jwt-credential.js'
import { created, didRules, holder, signer } from '../support/builders/did.js'
import { Workbench } from '../support/process/workbench.js'
import { everyDoor, limit, mib, onlyFor } from './limit.js'

const rules = { method: didRules.method, chain: true }
const ada = holder()
const key = `${ada.did}#primary`
const sign = signer(ada.primary)

/** A JWT of exactly so many characters: lengths of base64url leave gaps, which the header fills. */
function sizedJwt(length: number): string {
  for (const kid of [key, `${key}a`, `${key}ab`, `${key}abc`]) {
    const rest = length - makeJws({ pad: '' }, kid, sign).length
    for (let more = -4; more <= 4; more++) {
      const text = makeJws({ pad: 'x'.repeat(Math.floor((rest * 3) / 4) + more) }, kid, sign)
      if (text.length === length) return text
    }
  }
  throw new TypeError(`no JWT has ${length} characters`)
}

function jsonPresentation(count: number): string {
  const verifiableCredential = Array.from(
    { length: count },
    (_, i) => JSON.parse(ada.issue(ada.did, { id: `#c${i}` })) as unknown,
  )
  const proof = { verificationMethod: '#primary', realm: 'r', nonce: 'n', signature: 'A'.repeat(86) }
  return JSON.stringify({ type: 'VerifiablePresentation', holder: ada.did, created, verifiableCredential, proof })
}

function jwtPresentation(count: number): string {
  const plan = { types: ['T'], issuer: ada.did, subject: ada.did, claims: { a: 1 }, issued: created }
  const credential = makeJws(jwtCredentialPayload({ ...plan, id: `${ada.did}#c` }), key, sign)
  const credentials = new Array<string>(count).fill(credential)
  const presentation = { holder: ada.did, credentials, realm: 'r', nonce: 'n', created: 0, expires: 1 }
  return makeJws(jwtPresentationPayload(presentation), key, sign)
}

/** Asks a server whose DID configuration has so many bytes. */
async function configurationOf(bytes: number): Promise<string | undefined> {
  const body = Buffer.alloc(bytes, ' ')
  body.write(JSON.stringify(didConfiguration([])))
  const server = createServer((_, response) => response.end(body))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const bench = new Workbench()
  try {
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { err } = await bench.run('did', 'check-domain', origin, '--rest', 'http://127.0.0.1:1')
    return err
  } finally {
    bench.close()
    server.close()
  }
}

export const credentialLimits = [
  limit({
    name: 'identity/credentials/compact-jws.maxJwtLength',
    unit: 'characters',
    value: 1024 * 1024,
    feed: (n) => void readJws(sizedJwt(n)),
    refusal: 'the JWT has more than 1048576 characters',
  }),
  limit({
    name: 'identity/credentials/presentation.maxPresented',
    unit: 'count',
    value: 32,
    feed: everyDoor(
      (n) => void readSignedPresentation(jsonPresentation(n), rules),
      (n) => void readSignedPresentation(jwtPresentation(n), rules),
    ),
    refusal: 'document-entries: the presentation has 33 credentials, and 32 are taken',
  }),
  limit({
    name: 'identity/credentials/domain-linkage.maxLinked',
    unit: 'count',
    value: 32,
    feed: (n) => void readDidConfiguration(JSON.stringify(didConfiguration(new Array<string>(n).fill('a.b.c'))), rules),
    refusal: 'linked_dids has 33 entries, and 32 are taken',
  }),
  limit({
    name: 'program/cli/did-check-command.maxConfiguration',
    unit: 'bytes',
    value: mib,
    feed: onlyFor(/answered more than/, configurationOf),
    refusal: 'answered more than 1048576 bytes',
  }),
]
