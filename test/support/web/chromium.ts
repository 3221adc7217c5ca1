import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startChild } from '../process/children.js'
import { eventually } from '../process/patience.js'

/** No text runs as code, and every host may be asked: a strict page that talks to nodes. */
const policy = "default-src 'none'; script-src 'self'; connect-src *"
const html =
  '<!doctype html><meta charset="utf-8"><script src="/guard.js"></script><script type="module" src="/page.js"></script>'
/** Posts what goes wrong before the script can do so itself: a script that does not load or does not compile. */
const guard = `
const fail = (text) => fetch('/failure', { method: 'POST', body: text })
addEventListener('error', (event) => fail(event.message ?? 'a script does not load'), true)
addEventListener('unhandledrejection', (event) => fail(String(event.reason?.stack ?? event.reason)))
addEventListener('securitypolicyviolation', (event) => fail(event.violatedDirective + ': ' + event.blockedURI))
`

interface Outcome {
  result?: string
  failure?: string
}

/**
 * Loads a page with a script into Chromium. The script fetches `/input`, as JSON, and posts its result to `/result`, which is
 * returned, or its failure to `/failure`. A page that posts nothing is given up.
 */
export async function runInChromium(script: string, input: object): Promise<string> {
  const outcome: Outcome = {}
  const server = serve(outcome, {
    '/': ['text/html', html],
    '/guard.js': ['text/javascript', guard],
    '/page.js': ['text/javascript', script],
    '/input': ['application/json', JSON.stringify(input)],
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const profile = mkdtempSync(join(tmpdir(), 'didledger-chromium-'))
  const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--no-proxy-server', '--no-first-run']
  const page = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const child = startChild(process.env['CHROMIUM'] ?? 'chromium', [...flags, `--user-data-dir=${profile}`, page], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let log = ''
  let closed = false
  child.stderr?.on('data', (data: Buffer) => (log += data.toString()))
  child.once('error', ({ message }) => {
    closed = true
    outcome.failure ??= message
  })
  child.once('close', () => {
    closed = true
    outcome.failure ??= 'Chromium ended without a result'
  })
  try {
    const over = () => outcome.result !== undefined || outcome.failure !== undefined
    await eventually('a result of the page', over).catch((error: Error) => (outcome.failure = error.message))
    if (outcome.result === undefined) throw new Error(`${outcome.failure}\n${log}`)
    return outcome.result
  } finally {
    // It ends its own processes before itself; those of one that is killed are found at the end of the test file.
    child.kill('SIGTERM')
    await eventually('the end of Chromium', () => closed).catch(() => child.kill('SIGKILL'))
    server.close()
    server.closeAllConnections()
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Serves files, each with its type, and notes what the page posts. */
function serve(outcome: Outcome, files: Readonly<Record<string, readonly [type: string, text: string]>>): Server {
  return createServer((request, response) => {
    const { url = '', method } = request
    const file = files[url]
    if (method === 'POST') {
      void textOf(request).then((text) => {
        response.end()
        if (url === '/result') outcome.result ??= text
        else outcome.failure ??= `the page failed: ${text}`
      })
    } else if (file === undefined) {
      response.writeHead(404).end()
    } else {
      const [type, text] = file
      response.writeHead(200, { 'content-type': `${type}; charset=utf-8`, 'content-security-policy': policy }).end(text)
    }
  })
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
