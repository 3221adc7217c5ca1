/** Ports above a port base: REST is the base and 4, and so on. */
export const portOffsets = { rest: 4, ws: 5, rpc: 6, metrics: 7, p2p: 8 } as const
export const defaultPortBase = 20330

/** The port of an interface; 0, any free one, where the base is 0. */
export function portOf(name: keyof typeof portOffsets, portBase: number = defaultPortBase): number {
  return portBase === 0 ? 0 : portBase + portOffsets[name]
}
