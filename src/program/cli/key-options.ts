import type { Command } from 'commander'
import { readPrivateKey, readPublicKey } from '../../base/crypto/key-forms.js'
import { UserError } from '../../base/errors/rule-error.js'
import { equalBytes } from '../../base/primitives/bytes.js'
import type { SigningAccount } from '../../clients/wallet/accounts.js'
import { type AddedAgreementKey, readAgreementKey } from '../../clients/wallet/core-members.js'
import { didFault, parseDid } from '../../clients/wallet/did-identity.js'
import type { AddedKey, AuthorizedKey } from '../../clients/wallet/document-keys.js'
import { isThere, readKeyFile, readPrivateKeyFile } from '../../clients/wallet/files.js'
import { relativeId } from '../../identity/did/identifier.js'
import type { DidDocument, DidKey } from '../../identity/did/model.js'
import { collect } from './command-options.js'

/** Options that name keys. No message shows the text of a key: it may be a private one, given by mistake. */

export interface KeyOptions {
  readonly addKey?: AddedKey[]
  readonly removeKey?: string[]
  readonly authorize?: AuthorizedKey[]
  readonly revokeAuthorization?: string[]
}

export interface SignOptions {
  readonly signWith?: string
}

/** Options of a command that changes the keys of a document. */
export function withKeys(command: Command): Command {
  return command
    .option(
      '--add-key <name,key[,controller]>',
      'a public key to add: hex, base58, PEM, JWK, or a file with it; may be given several times',
      collect(addKeyOption),
    )
    .option('--remove-key <name>', 'a key to remove; may be given several times', collect(String))
    .option(
      '--authorize <name,did,key>',
      'a key of another DID that may deactivate this one; may be given several times',
      collect(authorizeOption),
    )
    .option('--revoke-authorization <name>', 'such a key to remove; may be given several times', collect(String))
}

/** Options of a document that other programs read: the keys with which they encrypt to the DID, and its other names. */
export function withCoreMembers(command: Command, verb: 'add' | undefined): Command {
  const [flag, what] = verb === undefined ? ['--', ''] : ['--add-', ' to add']
  return command
    .option(
      `${flag}key-agreement <name,key>`,
      `a public key of X25519 or P-256${what}, with which others encrypt to the DID: Multikey, JWK, PEM, or a file with it; may be given several times`,
      collect(agreementOption(`${flag}key-agreement`)),
    )
    .option(
      `${flag}also-known-as <uri>`,
      `another name${what} of who has the DID; may be given several times`,
      collect(String),
    )
}

function agreementOption(option: string): (text: string) => AddedAgreementKey {
  return (text) => {
    const [, name, key] = /^([^,]+),([^]+)$/.exec(text) ?? []
    if (name === undefined || key === undefined) throw new UserError(`${option} takes name,key`, 2)
    return { name, publicKey: keyArgument(option, key, readAgreementKey) }
  }
}

/** The option of a command whose operation another key of the DID may sign. */
export function withSigning(command: Command): Command {
  return command.option(
    '--sign-with <name|file>',
    'sign with this key of the DID, or of a controller: by its name or id, of the wallet, or a file with the private key',
  )
}

function addKeyOption(text: string): AddedKey {
  const [, name, key, controller] = /^([^,]+),([^]+?)(?:,(did:[^,]*))?$/.exec(text) ?? []
  if (name === undefined || key === undefined) throw new UserError('--add-key takes name,key or name,key,controller', 2)
  const added = { name, publicKey: publicKeyArgument('--add-key', key) }
  return controller === undefined ? added : { ...added, controller: didOption('--add-key', controller) }
}

function authorizeOption(text: string): AuthorizedKey {
  const [, name, did, key] = /^([^,]+),([^,]+),([^]+)$/.exec(text) ?? []
  if (name === undefined || did === undefined || key === undefined) {
    throw new UserError('--authorize takes name,did,key', 2)
  }
  return { name, controller: didOption('--authorize', did), publicKey: publicKeyArgument('--authorize', key) }
}

function didOption(option: string, text: string): string {
  const did = parseDid(text)?.did
  if (did !== undefined) return did
  throw new UserError(`${option}: ${text.slice(0, 200)} is not a DID of this chain: ${didFault(text)}`, 2)
}

/** The public key in an argument, or in the file that it names. */
export function publicKeyArgument(option: string, text: string): Uint8Array {
  return keyArgument(option, text, readPublicKey)
}

function keyArgument<T>(option: string, text: string, read: (text: string, what: string) => T): T {
  try {
    if (!isFile(text)) return read(text, `${option}: the key`)
    return read(readKeyFile(text, 'public key'), `${option}: the key in ${text}`)
  } catch (error) {
    throw error instanceof UserError ? new UserError(error.message, 2) : error
  }
}

/**
 * A longer text is not looked for among the files.
 * @tuning characters: path in an option that takes a key or a file
 */
const longestPath = 1024

function isFile(text: string): boolean {
  // A text with lines or too long for a path cannot be looked for.
  return text === '-' || (text.length <= longestPath && !/[\n{]/.test(text) && isThere(text, 'public key'))
}

/** Finds the private key that signs, once the accounts of the wallet are open; undefined without the option. */
export type KeyChoice = (accounts: readonly SigningAccount[]) => Uint8Array | undefined

/**
 * The key of `--sign-with`: that of the document with the name or of a controller with the id in full, else that in the file. A {@link
 * UserError} where neither is there.
 */
export function keyChoice(
  { signWith }: SignOptions,
  document: DidDocument,
  controllers: readonly DidDocument[] = [],
): KeyChoice {
  if (signWith === undefined) return () => undefined
  const name = signWith.startsWith('did:') || signWith.startsWith('#') ? signWith : `#${signWith}`
  const keys = [document, ...controllers].flatMap((each) => each.keys)
  const key = keys.find(({ id }) => [id, relativeId(id, document.id)].includes(name))
  if (key !== undefined) return (accounts) => privateKeyOf(name, key, accounts)
  if (signWith !== '-' && (signWith.length > longestPath || !isThere(signWith, 'private key'))) {
    const names = keys.map(({ id }) => relativeId(id, document.id)).join(', ')
    const has =
      keys.length === 0
        ? 'it has none'
        : controllers.length === 0
          ? `it has ${names}`
          : `it and its controllers have ${names}`
    throw new UserError(`--sign-with names neither a key of ${document.id} (${has}) nor a file`, 2)
  }
  const privateKey = readPrivateKey(readPrivateKeyFile(signWith, 'private key'), `the key in ${signWith}`)
  return () => privateKey
}

function privateKeyOf(name: string, { publicKey }: DidKey, accounts: readonly SigningAccount[]): Uint8Array {
  const pairs = accounts.flatMap((account) =>
    account.recovery === undefined ? [account] : [account, account.recovery],
  )
  const pair = pairs.find((each) => equalBytes(each.publicKey, publicKey))
  if (pair !== undefined) return pair.privateKey
  throw new UserError(`this wallet has no private key of ${name}; --sign-with takes a file with it as well`)
}
