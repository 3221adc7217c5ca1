interface DialOptions {
  readonly signal: AbortSignal
}

interface Dialler {
  dial(address: unknown, options: DialOptions): Promise<unknown>
}

/**
 * Lets a transport give up one address after `milliseconds`, TCP and handshake together. libp2p 3.2 bounds the dial of all addresses
 * of a host alone: a silent one would leave no time for the others.
 */
export function boundAddressDials<T extends object>(transport: T, milliseconds: number): T {
  const dialler = transport as unknown as Dialler
  const dial = dialler.dial.bind(dialler)
  dialler.dial = async (address, options) => {
    // Not AbortSignal.any with AbortSignal.timeout, which early releases of Node 20 may collect as garbage before it acts.
    const controller = new AbortController()
    const stop = () => controller.abort(options.signal.reason)
    const giveUp = () => controller.abort(new DOMException('the dial of the address timed out', 'TimeoutError'))
    const timer = setTimeout(giveUp, milliseconds)
    options.signal.addEventListener('abort', stop)
    if (options.signal.aborted) stop()
    try {
      return await dial(address, { ...options, signal: controller.signal })
    } finally {
      clearTimeout(timer)
      options.signal.removeEventListener('abort', stop)
    }
  }
  return transport
}
