import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { NodeRefusal } from '../../clients/client/http.js'
import { NodeClient } from '../../clients/client/node-client.js'
import { isObject } from '../../base/primitives/is-object.js'
import { callRpc } from '../../clients/client/rpc.js'
import { Progress } from '../console/progress.js'
import { InvariantError, UserError } from '../../base/errors/rule-error.js'
import { displayHash } from '../../base/primitives/bytes.js'
import type { Database } from '../../ledger/storage/database.js'
import { DataDirectory } from '../../ledger/storage/directory.js'
import { onOwnFile } from '../../ledger/storage/failure.js'
import { isInUse } from '../../ledger/storage/care/level/lock.js'
import type { CliContext } from './cli-context.js'
import type { QuietOptions, RestFlags } from './command-options.js'
import { openConsole } from './open-log.js'
import { leadsHere, ownerOf } from './owner-token.js'
import { report, shellWord } from './print-output.js'

/** Options of `chain backup`. */
export interface BackupFlags extends QuietOptions, RestFlags {
  readonly dataDir: string
}

/** Opens the database of the data directory, with all checks of a start, for as long as `use` takes. */
type WithDatabase = (use: (database: Database) => Promise<void>) => Promise<void>

/** Description of a complete backup. */
interface Made {
  readonly path: string
  readonly height: number
  readonly tip: string
}

/** Milliseconds that one request to the node may take. */
const requestTimeout = 60_000
/** Seconds for which the node holds back its answer while the backup is not complete. */
const secondsHeld = 1
/** Milliseconds after which a node that is busy is asked again. */
const busyPause = 500
const [codeForbidden, codeNoMethod, codeBusy] = [-32010, -32601, -32005]

/** The data directory of a node on this machine, which has proved that it has the token there. */
export async function directoryOfNode(context: CliContext, rest: string): Promise<string> {
  const hint = 'run this on its machine, as its user'
  const { dataDir } = await ownerOf(context, new NodeClient({ rest }), { hint }, 'backup')
  if (dataDir === undefined) throw new InvariantError('a token that is found has a directory')
  return dataDir
}

/** Copies the chain of a data directory: by its node where one runs, else itself. */
export async function backUp(
  context: CliContext,
  options: BackupFlags,
  to: string,
  withDatabase: WithDatabase,
): Promise<void> {
  const path = resolve(to)
  const directory = await DataDirectory.existing(options.dataDir)
  const console = openConsole(context, options)
  const progress = new Progress(console)
  const megabytes = (bytes: number) => Math.ceil(bytes / 1_000_000)
  const show = (done: number, total: number) =>
    progress.show({ stage: 'backup', unit: 'MB', done: megabytes(done), total: megabytes(Math.max(done, total)) })
  // A command that uses the database copies nothing for others, and opening it here says that it is in use.
  const hasNode = (await isInUse(directory.database)) && DataDirectory.isOpen(directory.path)
  const make = hasNode ? byNode(context, directory, path, options, show) : byItself(directory, path, withDatabase, show)
  const made = await make.finally(() => {
    progress.end()
    console?.close()
  })
  const check = `npx didledger chain verify --data-dir ${shellWord(path)}`
  report(context, options, made, [
    `${path} holds the chain up to height ${made.height}, without keys, token and sign state`,
    `check it with: ${check}`,
  ])
}

async function byItself(
  directory: DataDirectory,
  path: string,
  withDatabase: WithDatabase,
  show: (done: number, total: number) => void,
): Promise<Made> {
  const { writeBackup } = await import('../../ledger/storage/care/backup.js')
  let made: Made | undefined
  await withDatabase(async (database) => {
    const progress = ({ bytes, total }: { bytes: number; total: number }) => show(bytes, total)
    const { height, hash } = await writeBackup({ directory, database }, path, { progress })
    made = { path, height, tip: displayHash(hash) }
  })
  return made as unknown as Made
}

/** Has the node that uses the directory make the backup; when this program ends, the node ends the backup. */
async function byNode(
  context: CliContext,
  directory: DataDirectory,
  path: string,
  { rest, dataDir }: BackupFlags,
  show: (done: number, total: number) => void,
): Promise<Made> {
  const hint = `if the node of ${dataDir} serves REST elsewhere, name that with --rest URL`
  const written = await tokenOf(directory)
  const client = new NodeClient({ rest })
  // What listens at the usual port need not be the node of this directory. Of other machines only the user knows.
  const isHere = await leadsHere(client.rest)
  const owner = isHere ? await ownerOf(context, client, { dataDir, hint }, 'backup') : { token: written, client }
  const { token } = owner
  const url = owner.client.rest
  for (;;) {
    const answer = await callRpc(
      `${url}/rpc`,
      'backup',
      { path, seconds: secondsHeld },
      { timeout: requestTimeout, token, hint },
    ).catch(async (error: unknown) => {
      if (!(error instanceof NodeRefusal)) throw error
      if (error.code === codeForbidden) {
        throw new UserError(`the node at ${url} refuses (${error.reason}); ${hint}`)
      }
      if (error.code === codeNoMethod)
        throw new UserError(`the node at ${url} makes no backups (${error.reason}); ${hint}`)
      if (error.code === codeBusy) return pause(busyPause)
      throw new UserError(error.reason === '' ? error.message : error.reason)
    })
    if (!isObject(answer)) continue
    const { done, bytes, total, height, hash } = answer
    show(Number(bytes), Number(total))
    if (done === true) return { path, height: Number(height), tip: String(hash) }
  }
}

async function tokenOf({ adminToken }: DataDirectory): Promise<string> {
  const doing = `another process is using the data directory, and the token of a node ${adminToken} cannot be read`
  return onOwnFile(doing, async () => {
    const text = await readFile(adminToken, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
      throw new UserError(`${doing}: it is missing; stop what uses the directory, then try again`)
    })
    return text.trim()
  })
}
