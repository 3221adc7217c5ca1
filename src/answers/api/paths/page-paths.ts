import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { RuleError } from '../../../base/errors/rule-error.js'
import type { PageFiles } from '../http/page-files.js'
import { pathOf } from '../http/request-path.js'

/** Paths of the pages on the REST port, as the router takes them. Inside the pages the part behind `#` leads on. */
export const pagePaths = ['/', '/favicon.svg', '/assets/:file']

/** Whether a path belongs to the pages. */
export function isPagePath(path: string): boolean {
  return path === '/' || path === '/favicon.svg' || /^\/assets\/[^/]+$/.test(path)
}

/** Puts the pages into a scope of the app: GET and HEAD, from memory. */
export function registerPages(app: FastifyInstance, files: PageFiles): void {
  for (const path of pagePaths) app.get(path, async (request, reply) => sendPage(request, reply, files))
}

function sendPage(request: FastifyRequest, reply: FastifyReply, files: PageFiles): FastifyReply {
  const { headers, url } = request
  const path = pathOf(url)
  const file = files.get(path)
  if (file === undefined) {
    const missing = path === '/' ? 'the pages are not built: npm run build' : `nothing is at ${path.slice(0, 200)}`
    throw new RuleError('request-path', missing)
  }
  void reply.headers({
    'content-type': file.contentType,
    etag: file.etag,
    'cache-control': file.hashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    vary: 'accept-encoding',
    'content-security-policy': policy(headers.host),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
  })
  if (matches(headers['if-none-match'], file.etag)) return reply.code(304).send()
  if (!/\bgzip\b/.test(headers['accept-encoding'] ?? '')) return reply.send(file.bytes)
  return reply.header('content-encoding', 'gzip').send(file.gzip)
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

function matches(header: string | undefined, etag: string): boolean {
  return header?.split(',').some((one) => [etag, '*'].includes(one.trim().replace(/^W\//, ''))) === true
}
