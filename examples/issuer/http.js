import { createServer } from 'node:http'

/** Most bytes of a request. */
const most = 100_000

/** Serves functions of JSON by path, such as `POST /check`; resolves with the address. What they throw is a 400 with its words. */
export async function serve(port, routes) {
  const server = createServer(async (request, response) => {
    const answer = (status, value) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    const route = routes[`${request.method} ${request.url}`]
    if (route === undefined) return answer(404, { error: `nothing is at ${request.method} ${request.url}` })
    try {
      answer(200, await route(await bodyOf(request)))
    } catch ({ message }) {
      answer(400, { error: message })
    }
  })
  await new Promise((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  return `http://127.0.0.1:${server.address().port}`
}

async function bodyOf(request) {
  const parts = []
  let size = 0
  for await (const part of request) {
    size += part.length
    if (size > most) throw new Error(`a request has at most ${most} bytes`)
    parts.push(part)
  }
  const body = JSON.parse(Buffer.concat(parts).toString() || '{}')
  if (typeof body !== 'object' || body === null) throw new Error('the request is no JSON object')
  return body
}
