import { type AddressInfo, createServer } from 'node:net'
import { type BindOptions, bindPort, closeServer } from '../../base/runtime/bind-port.js'
import { multiaddrText } from './dial-target.js'

/**
 * The multiaddrs to listen on, and their port; port 0: any that is free on all hosts. Fails as {@link bindPort}, which binds them once and
 * lets them go: libp2p opens its own sockets.
 */
export async function listenPlaces({
  hosts,
  port,
}: Pick<BindOptions, 'hosts' | 'port'>): Promise<{ readonly port: number; readonly places: readonly string[] }> {
  // As the sockets of libp2p.
  const bound = await bindPort({ hosts, port, ipv6Only: true }, () => createServer())
  const servers = [...bound.servers.values()]
  const places = servers.map((server) =>
    multiaddrText({ host: (server.address() as AddressInfo).address, port: bound.port }),
  )
  await Promise.all(servers.map((server) => closeServer(server)))
  return { port: bound.port, places }
}
