import { requireKnown } from '../../base/primitives/known-members.js'
import { chainIds } from '../../identity/did/chain-ids.js'
import { linksTo, readDidConfiguration, readLinkage } from '../../identity/credentials/domain-linkage.js'
import { type CheckOptions, type CredentialCheck, type CredentialReport, checkRead, form } from './check-credential.js'
import { type CredentialSource, validDocument } from './credential-source.js'
import { CheckList, Invalid } from './report.js'

/** One DID that an origin names in its DID configuration. */
export interface LinkedDid {
  /** The DID says the same: the credential is its own and valid, and claims this origin. */
  readonly linked: boolean
  /** Absent if the credential could not be read. */
  readonly did?: string
  /** Whether the document of the DID leads to the origin, by a service of type `LinkedDomains`. */
  readonly listed: boolean
  /** Why it is not linked. */
  readonly reason?: string
}

export interface DomainReport {
  readonly origin: string
  /** Those DIDs of this method that the file names. */
  readonly dids: readonly LinkedDid[]
}

/**
 * Checks the DID configuration of an origin: JSON text, as it stands at `/.well-known/did-configuration.json` there. Rejects with a RuleError
 * for a file of another form, and with a UserError where a DID cannot be looked at.
 */
export async function checkDomain(
  origin: string,
  configuration: string,
  source: CredentialSource,
  options: CheckOptions = {},
): Promise<DomainReport> {
  requireKnown('checkDomain', options, ['now'])
  const dids: LinkedDid[] = []
  for (const token of readDidConfiguration(configuration, chainIds))
    dids.push(await linked(origin, token, source, options))
  return { origin, dids }
}

async function linked(
  origin: string,
  token: string,
  source: CredentialSource,
  options: CheckOptions,
): Promise<LinkedDid> {
  const list = new CheckList<CredentialCheck>()
  const read = await list.run('form', () => {
    const linkage = readLinkage(token, chainIds)
    if (linkage.origin !== origin) throw new Invalid(`it claims ${linkage.origin.slice(0, 200)}, not ${origin}`)
    return [linkage, form(linkage)[1]] as const
  })
  if (read === undefined) return refused(list)
  const report = await checkRead(read, list, source, options)
  const did = read.issuer
  if (!report.valid) return { ...refused(report), did }
  return { linked: true, did, listed: linksTo(await validDocument(did, 'DID', source), origin) }
}

function refused({ checks }: Pick<CredentialReport, 'checks'>): LinkedDid {
  const reason = checks.find(({ holds }) => !holds)?.says
  return { linked: false, listed: false, ...(reason === undefined ? {} : { reason }) }
}
