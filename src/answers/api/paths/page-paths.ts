import { RuleError } from '../../../base/errors/rule-error.js'
import { jsonForm } from '../http/answer-forms.js'
import { codingFor } from '../http/content-coding.js'
import { namesEtag } from '../http/etag.js'
import type { Exchange } from '../http/exchange.js'
import type { PageFiles } from '../http/page-files.js'
import type { HttpAnswer, PathRow } from '../http/path-row.js'

/** The pages, from memory. Inside them the part behind `#` leads on. */
export function pagePaths(files: PageFiles): PathRow[] {
  return ['/', '/favicon.svg', '/assets/:file'].map((path) => ({
    path,
    methods: ['GET'],
    form: jsonForm('standard'),
    run: (exchange) => page(exchange, files),
  }))
}

function page({ headers, path }: Exchange, files: PageFiles): HttpAnswer {
  const file = files.get(path)
  if (file === undefined) {
    const missing = path === '/' ? 'the pages are not built: npm run build' : `nothing is at ${path.slice(0, 200)}`
    throw new RuleError('request-path', missing)
  }
  const own = {
    'content-type': file.contentType,
    etag: file.etag,
    'cache-control': file.hashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    vary: 'accept-encoding',
    'content-security-policy': policy(headers.host),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
  }
  if (namesEtag(headers['if-none-match'], file.etag)) return { status: 304, headers: own }
  const coding = codingFor(headers['accept-encoding'])
  const body = coding === undefined ? undefined : file.coded.get(coding)
  if (coding === undefined || body === undefined) return { headers: own, body: file.bytes }
  return { headers: { ...own, 'content-encoding': coding }, body }
}

/**
 * Lets a page load files of the node and ask the node, and nothing else: no script or style in the text of a page, no other host,
 * no frame around it. Some browsers do not count WebSocket to the same host as `'self'`.
 */
function policy(host: string | undefined): string {
  const sockets = host !== undefined && /^[\w.:[\]-]{1,255}$/.test(host) ? ` ws://${host} wss://${host}` : ''
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    `connect-src 'self'${sockets}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
}
