/** Headers of HTTP with which every server of a mirror sends a file. */
export interface FileHeaders {
  readonly 'content-type': string
  readonly 'cache-control': string
}

const types: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
}

/** Folder of the mirror's own notes, which no server shows. */
export const ownFolder = 'own/'

/** The headers of a file by its name. In folders lie files that never change, beside them those that do. */
export function fileHeaders(name: string): FileHeaders {
  return { 'content-type': contentTypeOf(name), 'cache-control': cacheControlOf(name) }
}

function contentTypeOf(name: string): string {
  if (name === 'head' || name === 'about') return 'application/json'
  const [, ending = ''] = /\.([a-z0-9]+)$/.exec(name) ?? []
  return types[ending] ?? 'application/octet-stream'
}

function cacheControlOf(name: string): string {
  if (name.startsWith(ownFolder)) return 'no-store'
  if (name.includes('/')) return 'public, max-age=31536000, immutable'
  return name === 'head' ? 'public, max-age=1, must-revalidate' : 'public, max-age=300'
}
