import { patience, type Server } from './ask-server.js'
import type { Failed, Held, ProvedAnswer } from './compare-answers.js'
import { asLightError, LightError } from './light-error.js'

/**
 * Asks all servers at once, each by a check of its own. When as many answers hold as are needed, the others have the time of one request
 * left: a server that shows changes or headers without end must not hold up an answer.
 */
export async function askAll<P extends ProvedAnswer>(
  servers: readonly Server[],
  needed: number,
  prove: (server: Server) => Promise<P>,
): Promise<(Held<P> | Failed)[]> {
  let missing = needed
  let enough = () => {}
  const isEnough = new Promise<void>((resolve) => (enough = resolve))
  const answers = servers.map(async (server) => {
    const one = await outcomeOf(server, prove)
    if ('proved' in one && --missing === 0) enough()
    return one
  })
  await Promise.race([isEnough, Promise.all(answers)])
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, patience)))
  try {
    return await Promise.all(
      answers.map((answer, i) => Promise.race([answer, late.then(() => tooLate(servers[i] as Server))])),
    )
  } finally {
    clearTimeout(timer)
  }
}

async function outcomeOf<P extends ProvedAnswer>(
  server: Server,
  prove: (server: Server) => Promise<P>,
): Promise<Held<P> | Failed> {
  try {
    return { server: server.url, proved: await prove(server) }
  } catch (error) {
    return { server: server.url, error: asLightError(error) }
  }
}

function tooLate({ url }: Server): Failed {
  return { server: url, error: new LightError('timeout', `${url} did not answer in time, and others did`) }
}
