import type { LedgerNode } from '../../../src/index.js'
import { operationJson } from '../../../src/base/primitives/did-operation.js'
import { holder, issueCredential } from '../builders/did.js'
import { quickSigner } from '../builders/signatures.js'

/** Scene on a devnet before its pages are looked at: payments, DIDs with versions, credentials, and a hostile document. */

/** Texts that a page must show as text. */
export const hostile = {
  script: '<script>window.pwned = 1</script>',
  handler: '"><img src=x onerror="window.pwned = 2">',
  javascript: 'javascript:window.pwned=3',
  data: 'data:text/html,<script>window.pwned=4</script>',
  /** The name of a file that seems to end in `.txt`, by a mark that turns the direction. */
  bidi: 'invoice\u202etxt.exe',
  /** Marks that are invisible. */
  unseen: 'pay\u200bpal\u001b\u2066',
  userInfo: 'https://good.example@evil.example/',
  /** Its first letter is Cyrillic. */
  host: 'https://\u0430pple.example/',
  long: 'x'.repeat(100_000),
}

export interface Scene {
  /** Two accounts with DIDs. */
  readonly ada: string
  readonly bob: string
  /** Transactions of Ada's operations, oldest first. */
  readonly versions: readonly string[]
  readonly payment: string
  readonly address: string
  /** A credential that Ada declared. */
  readonly declared: string
  /** A DID whose document holds the texts of {@link hostile}. */
  readonly mallory: string
}

export async function playScene(node: LedgerNode): Promise<Scene> {
  const { wallet, chain } = node
  const [ada, bob, mallory] = [wallet.account(0), wallet.account(1), holder()]
  const mined = async (sent: Promise<{ readonly txid: string }>) => {
    const { txid } = await sent
    await chain.waitFor(txid)
    return txid
  }
  const payment = await wallet.transfer({ from: ada, to: bob.address, amount: '12.5' })
  await chain.waitFor(payment)
  await wallet.transfer({ from: bob, to: ada.address, amount: '0.25', outputLock: 5000 })

  await mined(wallet.createDid({ account: bob }))
  const profile = issue(ada, ada.did, 'profile', {
    type: ['BasicCredential', 'ProfileCredential'],
    expirationDate: '2029-05-01T00:00:00Z',
    credentialSubject: { id: ada.did, name: 'Ada Lovelace', email: 'ada@example.org', born: 1815 },
  })
  const versions = [
    await mined(
      wallet.createDid({ account: ada, services: [service('home', 'LinkedDomains', 'https://example.org/')] }),
    ),
    await mined(wallet.updateDid({ account: ada, addCredentials: [profile] })),
    await mined(
      wallet.updateDid({
        account: ada,
        removeServices: ['home'],
        addServices: [
          service('hub', 'IdentityHub', 'https://hub.example.org/ada'),
          service('mail', 'Mailbox', 'mailto:ada@example.org'),
        ],
        expires: '2032-06-01T00:00:00Z',
      }),
    ),
  ]
  const diploma = issue(bob, ada.did, 'diploma', {
    type: ['DiplomaCredential'],
    issuer: bob.did,
    credentialSubject: { id: ada.did, degree: 'Master of Analysis' },
  })
  await mined(wallet.declareCredential({ account: ada, credential: diploma }))
  // A chain takes endpoints that the wallet refuses.
  const operation = mallory.create({
    services: [
      { ...service('script', hostile.script, hostile.javascript), note: hostile.handler },
      service('handler', hostile.handler, hostile.data),
      service('host', 'Host', hostile.host),
      { ...service('bidi', 'Bidi', hostile.userInfo), file: hostile.bidi, [hostile.script]: hostile.unseen },
      { ...service('long', 'Long', 'https://example.org/'), text: hostile.long },
    ],
  })
  await chain.waitFor(await wallet.publish(operationJson(operation), { account: bob }))
  return {
    ada: ada.did,
    bob: bob.did,
    versions,
    payment,
    address: ada.address,
    declared: `${ada.did}#diploma`,
    mallory: mallory.did,
  }
}

function service(name: string, type: string, serviceEndpoint: string) {
  return { id: `#${name}`, type, serviceEndpoint }
}

function issue(
  issuer: { readonly did: string; readonly privateKey: Uint8Array },
  holder: string,
  name: string,
  members: Readonly<Record<string, unknown>>,
): string {
  return issueCredential(issuer.did, quickSigner(issuer.privateKey), holder, { id: `${holder}#${name}`, ...members })
}
