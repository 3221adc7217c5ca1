import { lstat, realpath } from 'node:fs/promises'
import { RuleError, UserError } from '../../../base/errors/rule-error.js'
import type { Log } from '../../../base/runtime/env.js'
import { fileHeaders, ownFolder } from '../../../ledger/mirror/file-headers.js'
import { isMirrorName } from '../../../ledger/mirror/mirror-store.js'
import { readMirrorFile } from '../../../ledger/mirror/read-mirror-file.js'
import { type ApiLimits, apiLimits } from '../api-limits.js'
import { Access } from '../http/access.js'
import { accessDefaults } from '../http/access-options.js'
import { jsonForm } from '../http/answer-forms.js'
import { etagOf, namesEtag } from '../http/etag.js'
import type { Exchange } from '../http/exchange.js'
import { HttpPort } from '../http/http-port.js'
import type { HttpAnswer } from '../http/path-row.js'

/** @limit bytes: a file of a mirror that `serve-static` sends */
export const maxStaticFile = 32 * 1024 * 1024

/**
 * Serves the files of a mirror's folder, for trying one.
 *
 *   GET /map/ab/0123 -> HttpPort -> isMirrorName, not below own/ -> readMirrorFile, through no link -> ETag, 304 -> bytes with the headers of a mirror
 */
export interface StaticOptions {
  /** Folder of the mirror. */
  readonly folder: string
  readonly hosts: readonly string[]
  /** 0: any free port. */
  readonly port: number
  readonly log: Log
  /** Overrides of {@link apiLimits}. */
  readonly limits?: Partial<ApiLimits>
}

/** Opens the port. A UserError for a folder that is none, or a port in use. */
export async function openStaticServer({
  folder,
  hosts,
  port,
  log,
  limits: changes,
}: StaticOptions): Promise<HttpPort> {
  const root = await rootOf(folder)
  const limits: ApiLimits = { ...apiLimits, ...changes }
  const access = new Access(accessDefaults, undefined, hosts)
  const files = {
    path: '/*',
    methods: ['GET' as const, 'HEAD' as const],
    form: jsonForm('standard'),
    run: (exchange: Exchange) => answerWith(root, exchange),
  }
  return HttpPort.open({ hosts, port, portFlag: '--port N', limits, access, rows: [files], log, limitsRate: false })
}

/** The folder by its real place. */
async function rootOf(folder: string): Promise<string> {
  const why = (error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return `there is no folder ${folder}; didledger mirror --to DIR makes one`
    return `the folder ${folder} cannot be read: ${error.message}`
  }
  const root = await realpath(folder).catch((error: NodeJS.ErrnoException) => {
    throw new UserError(why(error))
  })
  if ((await lstat(root)).isDirectory()) return root
  throw new UserError(`${folder} is a file; name the folder of a mirror`)
}

async function answerWith(root: string, { path, headers }: Exchange): Promise<HttpAnswer> {
  // Names of a mirror need no percent-encoding: a path that has some, a dot at a beginning or a backslash is no name.
  const name = path.slice(1)
  const isShown = isMirrorName(name) && !name.startsWith(ownFolder)
  const bytes = isShown ? await readMirrorFile(root, name, maxStaticFile) : undefined
  if (bytes === undefined) throw new RuleError('request-path', `there is no file ${path.slice(0, 200)} in this mirror`)
  const etag = etagOf(bytes)
  const own = { ...fileHeaders(name), etag, 'x-content-type-options': 'nosniff' }
  return namesEtag(headers['if-none-match'], etag) ? { status: 304, headers: own } : { headers: own, body: bytes }
}
